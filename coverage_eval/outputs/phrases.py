"""What language models write around a translation or in its place, from ``phrases.txt``."""

from __future__ import annotations

import re
from pathlib import Path


def _read_phrases() -> dict[str, str]:
    """The sections of the file, each as alternatives of a regular expression."""
    text = Path(__file__).with_name("phrases.txt").read_text("utf-8")
    lines = (line for line in text.splitlines() if line and not line.startswith("# "))
    sections = re.split(r"^\[(.+)\]\n", "\n".join(lines), flags=re.MULTILINE)
    named = zip(sections[1::2], sections[2::2], strict=True)
    return {name: section.strip().replace("\n", "|") for name, section in named}


PHRASES = _read_phrases()
