"""Whole lines of a document left out, joined, cut, moved, repeated or added, at known places.

What language models do to documents. ``rate`` is the expected share of the lines that an error
concerns. With several kinds, a document gets all of them, each at this rate. The errors depend only
on the seed and the document's number and text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from tests.planting import draw_runs

if TYPE_CHECKING:
    from coverage_eval.documents.segmentation import Segmentation

DOCUMENT_KINDS = ("reorder", "passage", "repeat-paragraph", "preface", "merge", "split")
"""Names of the errors, in the order in which they are put into a document."""

PASSAGE_LENGTH = 3.0
"""Mean number of lines of a passage; lengths have a geometric distribution."""

NOTES = (
    "Here is the translation of the text:",
    "Certainly! Below you will find the translation that you asked for, line by line.",
    "Note: I have kept all names as they are in the original.",
    "Translator's note: this word may also be read in another way here, which the context leaves "
    "open.",
    "I hope this helps! Please tell me if you would like the tone to be more formal, or if I "
    "should explain any of the choices that I made in this translation.",
)
"""Prefaces and notes without a source, if there is no other text to take them from."""


@dataclass
class _Unit:
    """A line of the output: its text, and its source line from 0."""

    text: str
    line: int | None
    joined: bool = False
    """Whether no line end stands before it."""


class DamagedDocument(NamedTuple):
    """A document with errors.

    Attributes:
        lines: The lines of its output.
        spans: The first and last character (excluded) of each piece of the output, and its source
            line, from 0; None if it has none or repeats one.
        missing: The source lines, from 0, that have no translation.
    """

    lines: list[str]
    spans: list[tuple[int, int, int | None]]
    missing: Set[int]


def damage(
    lines: Sequence[str], kinds: Sequence[str], rate: float, number: int = 1
) -> DamagedDocument:
    """Put errors into a correct translation of a document, one line for each source line.

    Args:
        lines: The translation of each source line.
        kinds: Names of :data:`DOCUMENT_KINDS`.
        rate: Expected share of the lines that an error of each kind concerns, 0 to 0.5.
        number: The document's number, for the random choices.
    """
    text = "\n".join(lines)
    generator = Random(f"0\n{number}\n{text}")  # noqa: S311 (not for secrets)
    units = [_Unit(line, position) for position, line in enumerate(lines)]
    missing: set[int] = set()
    for kind in DOCUMENT_KINDS:
        if kind in kinds:
            units = _DAMAGES[kind](units, rate, generator, missing)
    return _write(units, missing)


def _passages(size: int, rate: float, generator: Random) -> list[range]:
    """Runs of lines, each line in one with probability ``rate``, never all lines; last first."""
    runs = draw_runs(size, rate, PASSAGE_LENGTH, generator)
    return [run for run in reversed(runs) if len(run) < size]


def _leave_out(
    units: list[_Unit], rate: float, generator: Random, missing: set[int]
) -> list[_Unit]:
    kept = list(units)
    for run in _passages(len(units), rate, generator):
        gone = units[run.start : run.stop]
        missing.update(unit.line for unit in gone if unit.line is not None)
        kept[run.start : run.stop] = [_Unit("", None)]  # where it was
    return kept


def _repeat(units: list[_Unit], rate: float, generator: Random, _: set[int]) -> list[_Unit]:
    found = list(units)
    for run in _passages(len(units), rate, generator):
        copied = [unit for unit in units[run.start : run.stop] if unit.line is not None]
        found[run.stop : run.stop] = [_Unit(unit.text, None) for unit in copied]
    return found


def _add_notes(units: list[_Unit], rate: float, generator: Random, _: set[int]) -> list[_Unit]:
    found = []
    for unit in units:
        if generator.random() < rate:
            found.append(_Unit(generator.choice(NOTES), None))
        found.append(unit)
    return found


def _exchange(units: list[_Unit], rate: float, generator: Random, _: set[int]) -> list[_Unit]:
    found = list(units)
    position = 0
    while position < len(found) - 1:
        if generator.random() < rate / 2:
            found[position : position + 2] = found[position + 1], found[position]
            position += 1
        position += 1
    return found


def _merge(units: list[_Unit], rate: float, generator: Random, _: set[int]) -> list[_Unit]:
    before = False
    for unit in units:
        if unit.text:
            unit.joined = before and generator.random() < rate
            before = True
    return units


def _split(units: list[_Unit], rate: float, generator: Random, _: set[int]) -> list[_Unit]:
    found = []
    for unit in units:
        words = unit.text.split(" ")
        found.append(unit)
        if len(words) < 2 or unit.line is None or generator.random() >= rate:
            continue
        position = generator.randrange(1, len(words))
        unit.text = " ".join(words[:position])
        found.append(_Unit(" ".join(words[position:]), unit.line))
    return found


_DAMAGES = {
    "reorder": _exchange,
    "passage": _leave_out,
    "repeat-paragraph": _repeat,
    "preface": _add_notes,
    "merge": _merge,
    "split": _split,
}


def _write(units: Sequence[_Unit], missing: set[int]) -> DamagedDocument:
    text = ""
    spans: list[tuple[int, int, int | None]] = []
    for unit in units:
        if unit.text:
            text += ("" if not text else " " if unit.joined else "\n") + unit.text
            spans.append((len(text) - len(unit.text), len(text), unit.line))
    return DamagedDocument(text.split("\n") if text else [], spans, missing)


def compare(found: Segmentation, gold: DamagedDocument) -> Counter[str]:
    """How far a segmentation of ``gold.lines`` agrees with the truth; counts add up.

    Words between spaces, those on the right line or rightly on none, and source lines; and of lines
    that are missing and of words that belong to no line: how many there are, how many the
    segmentation finds, and how many of these rightly.
    """
    text = "\n".join(gold.lines)
    true, damaged = (
        _line_of_each(text, gold.spans),
        _line_of_each(text, [(piece.start, piece.end, piece.line) for piece in found.pieces]),
    )
    pairs = [(true[word.start()], damaged[word.start()]) for word in re.finditer(r"\S+", text)]
    return Counter({
        "words": len(pairs),
        "right": sum(a == b for a, b in pairs),
        "lines": len(found.lines),
        "missing": len(gold.missing),
        "missing, found": len(found.missing),
        "missing, right": len(gold.missing & set(found.missing)),
        "extra": sum(a is None for a, _ in pairs),
        "extra, found": sum(b is None for _, b in pairs),
        "extra, right": sum(a is b is None for a, b in pairs),
    })  # fmt: skip


def f_measure(counts: Counter[str], what: str) -> float:
    """F1 of what is ``missing`` or ``extra``; NaN if nothing is."""
    if not counts[what]:
        return float("nan")
    return 2 * counts[f"{what}, right"] / (counts[what] + counts[f"{what}, found"])


def _line_of_each(text: str, spans: Sequence[tuple[int, int, int | None]]) -> list[int | None]:
    found: list[int | None] = [None] * len(text)
    for start, end, line in spans:
        found[start:end] = [line] * (end - start)
    return found
