"""Pairs of real text, and of text made to be awkward, for comparison with the jar."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from pydoc_data.topics import topics

Rows = list[tuple[str, str]]

# Marks that Meteor's normaliser treats each in its own way, and what may stand around them.
_PIECES = [
    *"ab5AZs.,'-`\"", *"ab5AZs.,'-`\"", *"      ", "--", "''", "’", "‘", "“", "”", "–", "—", "é",
    "É", "д", "日", "\u00a0", "&", "(", ")", ":", "...", "U.S.", "Mr.", "No.", "pp.", "e.g.", "'s",
    "'t", "\t", "1,000", "5's", "\u3000", "\u200b", "😀", "ǅ", "²", "_", "/", "\\", "$", "\x0b",
    "\x01", "ß", "İ", "I'm", "can't", "\x0c", "|||", "Aa", "BB",
]  # fmt: skip


def awkward_text(generator: random.Random) -> str:
    """A line of pieces that normalisers stumble over."""
    return "".join(generator.choice(_PIECES) for _ in range(generator.randint(0, 25)))


def manual_lines(count: int) -> list[str]:
    """Lines of Python's own manual: raw English with quotes, dashes, abbreviations, brackets."""
    lines = [line for text in topics.values() for line in text.splitlines() if line.strip()]
    return lines[:: max(1, len(lines) // count)][:count]


def corpus_lines(shared: Path, count: int) -> list[str]:
    """English of both corpora: captions, and everyday sentences with punctuation."""
    lines: list[str] = []
    for name in ("multi30k-de-en/val.en", "multi30k-de-en/test_2016_flickr.en", "small-enja/dev.en",
                 "small-enja/test.en"):  # fmt: skip
        lines += (shared / "data" / name).read_text(encoding="utf-8").split("\n")[:-1]
    return lines[:: max(1, len(lines) // count)][:count]


def perturbed(lines: list[str], generator: random.Random) -> Rows:
    """Each line as a reference, and as its hypothesis the line with words lost, doubled, moved."""
    words = " ".join(lines).split()
    return [(_perturb(line.split(), words, generator.random), line) for line in lines]


def _perturb(line: list[str], words: list[str], uniform: Callable[[], float]) -> str:
    changed: list[str] = []
    for word in line:
        kind = uniform()
        if kind < 0.08:
            continue
        changed += [word, word] if kind < 0.14 else [word]
        if kind > 0.86:
            changed[-1] = words[int(uniform() * len(words))]
    if len(changed) > 4 and uniform() < 0.5:
        start = int(uniform() * (len(changed) - 3))
        changed[start : start + 3] = reversed(changed[start : start + 3])
    return " ".join(changed)
