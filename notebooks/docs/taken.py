"""What the site takes from elsewhere: files of the repository, tables of the evidence, lists."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    "contributing.md": ".github/CONTRIBUTING.md",
    "evidence.md": "notebooks/evidence.md",
    "reproduction.md": "notebooks/reproduction/README.md",
}


def on_files(files: Files, config: Any) -> Files:
    """Add pages and pictures that stand elsewhere in the repository."""
    pictures = {f"figures/{path.name}": path for path in (ROOT / "notebooks/figures").iterdir()}
    pages = {target: ROOT / source for target, source in PAGES.items()}
    for target, source in {**pages, **pictures}.items():
        files.append(File.generated(config, target, abs_src_path=str(source)))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put in the tables and lists that a page asks for in comments."""
    return re.sub(
        r"^<!-- (\w+)(?:: (.*))? -->$",
        lambda match: LISTS[match[1]](match[2]),
        markdown.replace("../notebooks/docs/pages/", ""),  # of pages that stand elsewhere
        flags=re.MULTILINE,
    )


def _evidence(title: str) -> str:
    """The table of the evidence that has this title, with the notes below it."""
    text = (ROOT / "notebooks/evidence.md").read_text(encoding="utf-8")
    found = re.search(rf"^\*\*{re.escape(title)}\*\*\n\n(.*?)(?=^\*\*|\Z)", text, re.M | re.S)
    if not found:
        raise PluginError(f"notebooks/evidence.md has no table {title!r}")
    return found[1]


def _formats(_: str | None) -> str:
    """Every format of attention by name."""
    from coverage_eval.attention_maps import FORMATS

    rows = (f"| `{item.name}` | {item.title} |" for item in FORMATS.values())
    return "\n".join(["| format | what writes it |", "|---|---|", *rows])


LISTS = {"evidence": _evidence, "formats": _formats}
