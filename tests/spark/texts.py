"""A small test set, written as text files, for all tests of this folder."""

from __future__ import annotations

from pathlib import Path

SOURCES = ["ein haus", "das rote haus", "ein hund schläft", "", "der hund schläft im haus"]
TARGETS = ["a house", "the red house", "a dog sleeps", "", "the dog sleeps in the house"]
OUTPUTS = ["house house", "the red red house", "a a dog", "x", "dog the dog in the house"]


def write_texts(folder: Path, times: int = 1) -> dict[str, list[str]]:
    """Files ``src``, ``ref``, ``a`` and ``b``; their lines by name."""
    texts = {
        "src": SOURCES * times,
        "ref": TARGETS * times,
        "a": OUTPUTS * times,
        "b": (OUTPUTS[::-1] + TARGETS)[: len(OUTPUTS)] * times,
    }
    for name, lines in texts.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return texts
