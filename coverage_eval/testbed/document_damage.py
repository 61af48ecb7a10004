"""Whole lines of a document left out, joined, cut, moved, repeated or added, at known places.

What language models do to documents. ``rate`` is the expected share of the lines that an error
concerns. With several kinds, a document gets all of them, each at this rate. The errors depend only
on the seed and the document's number and text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from coverage_eval.testbed.injection import draw_runs

if TYPE_CHECKING:
    from coverage_eval.alignment.segmentation import Segmentation

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


@dataclass(frozen=True)
class DocumentError:
    """An error in a document, as a line of the gold file.

    Attributes:
        document: Number of the document, from 1.
        kind: One of :data:`DOCUMENT_KINDS`.
        lines: The source lines that it concerns, from 1, ascending; empty for a preface.
        output: The span of its characters in the document's output, from 0, the end excluded;
            empty where a passage is missing, and for two lines that are joined or cut the place.
        removed: The lines that are missing, joined by line ends.
    """

    document: int
    kind: str
    lines: tuple[int, ...]
    output: tuple[int, int]
    removed: str = ""

    def to_json(self) -> str:
        """The error as a line of the gold file."""
        return json.dumps(vars(self), ensure_ascii=False)


@dataclass
class _Unit:
    """A line of the output: its text, its source line from 0, and what was done to it."""

    text: str
    line: int | None
    errors: list[tuple[str, tuple[int, ...], str]]
    joined: bool = False
    """Whether no line end stands before it."""


class DamagedDocument(NamedTuple):
    """A document with errors.

    Attributes:
        lines: The lines of its output.
        errors: The errors.
        spans: The first and last character (excluded) of each piece of the output, and its source
            line, from 0; None if it has none or repeats one.
        missing: The source lines, from 0, that have no translation.
    """

    lines: list[str]
    errors: list[DocumentError]
    spans: list[tuple[int, int, int | None]]
    missing: Set[int]


def damage(
    lines: Sequence[str],
    kinds: Sequence[str],
    rate: float,
    *,
    seed: int = 0,
    number: int = 1,
    first: int = 1,
    notes: Sequence[str] = NOTES,
) -> DamagedDocument:
    """Put errors into a correct translation of a document.

    >>> lines = [f"Sentence {n}." for n in range(9)]
    >>> found = damage(lines, ["passage"], 0.2, seed=3)
    >>> len(found.lines), [error.lines for error in found.errors]
    (8, [(9,)])

    Args:
        lines: The translation of each source line.
        kinds: Names of :data:`DOCUMENT_KINDS`.
        rate: Expected share of the lines that an error of each kind concerns, 0 to 0.5.
        seed: Seed of the random choices.
        number: The document's number.
        first: The number of its first line in its file, for the errors only.
        notes: Texts for prefaces and notes.

    Raises:
        ValueError: An unknown kind.
    """
    if unknown := set(kinds) - set(DOCUMENT_KINDS):
        raise ValueError(f"kinds are some of {', '.join(DOCUMENT_KINDS)}, not {min(unknown)!r}")
    text = "\n".join(lines)
    generator = Random(f"{seed}\n{number}\n{text}")  # noqa: S311 (not for secrets)
    units = [_Unit(line, place, []) for place, line in enumerate(lines)]
    missing: set[int] = set()
    for kind in DOCUMENT_KINDS:
        if kind in kinds:
            units = _DAMAGES[kind](units, rate, generator, notes, missing)
    return _write(units, number, first, missing)


def _passages(size: int, rate: float, generator: Random) -> list[range]:
    """Runs of lines, each line in one with probability ``rate``, never all lines; last first."""
    runs = draw_runs(size, rate, PASSAGE_LENGTH, generator)
    return [run for run in reversed(runs) if len(run) < size]


def _leave_out(
    units: list[_Unit], rate: float, generator: Random, _: Sequence[str], missing: set[int]
) -> list[_Unit]:
    kept = list(units)
    for run in _passages(len(units), rate, generator):
        gone = sorted(units[run.start : run.stop], key=lambda unit: unit.line or 0)
        numbers = tuple(unit.line for unit in gone if unit.line is not None)
        missing.update(numbers)
        removed = "\n".join(unit.text for unit in gone)
        error = ("passage", numbers, removed)
        marker = _Unit("", None, [error])  # where it was
        kept[run.start : run.stop] = [marker]
    return kept


def _repeat(
    units: list[_Unit], rate: float, generator: Random, _: Sequence[str], __: set[int]
) -> list[_Unit]:
    found = list(units)
    for run in _passages(len(units), rate, generator):
        copied = [unit for unit in units[run.start : run.stop] if unit.line is not None]
        again = [
            _Unit(unit.text, None, [("repeat-paragraph", (int(unit.line or 0),), "")])
            for unit in copied
        ]
        found[run.stop : run.stop] = again
    return found


def _add_notes(
    units: list[_Unit], rate: float, generator: Random, notes: Sequence[str], _: set[int]
) -> list[_Unit]:
    found = []
    for unit in units:
        if generator.random() < rate:
            found.append(_Unit(generator.choice(notes), None, [("preface", (), "")]))
        found.append(unit)
    return found


def _exchange(
    units: list[_Unit], rate: float, generator: Random, _: Sequence[str], __: set[int]
) -> list[_Unit]:
    found = list(units)
    place = 0
    while place < len(found) - 1:
        if generator.random() < rate / 2:
            one, two = found[place : place + 2]
            lines = tuple(sorted(int(unit.line or 0) for unit in (one, two)))
            two.errors.append(("reorder", lines, ""))
            found[place : place + 2] = [two, one]
            place += 1
        place += 1
    return found


def _merge(
    units: list[_Unit], rate: float, generator: Random, _: Sequence[str], __: set[int]
) -> list[_Unit]:
    before: _Unit | None = None
    for unit in units:
        if not unit.text:
            continue
        if before is not None and generator.random() < rate:
            unit.joined = True
            lines = {one.line for one in (before, unit) if one.line is not None}
            unit.errors.append(("merge", tuple(sorted(lines)), ""))
        before = unit
    return units


def _split(
    units: list[_Unit], rate: float, generator: Random, _: Sequence[str], __: set[int]
) -> list[_Unit]:
    found = []
    for unit in units:
        words = unit.text.split(" ")
        found.append(unit)
        if len(words) < 2 or unit.line is None or generator.random() >= rate:
            continue
        place = generator.randrange(1, len(words))
        unit.text = " ".join(words[:place])
        rest = _Unit(" ".join(words[place:]), unit.line, [("split", (unit.line,), "")])
        found.append(rest)
    return found


_DAMAGES = {
    "reorder": _exchange,
    "passage": _leave_out,
    "repeat-paragraph": _repeat,
    "preface": _add_notes,
    "merge": _merge,
    "split": _split,
}


def _write(units: Sequence[_Unit], number: int, first: int, missing: set[int]) -> DamagedDocument:
    text = ""
    errors = []
    spans: list[tuple[int, int, int | None]] = []
    for unit in units:
        if unit.text:
            text += ("" if not text else " " if unit.joined else "\n") + unit.text
            spans.append((len(text) - len(unit.text), len(text), unit.line))
        for kind, lines, removed in unit.errors:
            start = len(text) - len(unit.text)
            end = start if kind in {"passage", "merge", "split"} else len(text)
            errors.append(
                DocumentError(number, kind, tuple(n + first for n in lines), (start, end), removed)
            )
    return DamagedDocument(text.split("\n") if text else [], errors, spans, missing)


@dataclass(frozen=True)
class SegmentationCounts:
    """How far segmentations agree with gold; counts of several documents add up.

    Attributes:
        words: Words of the output, between spaces.
        right: Those on the right line, or rightly on none.
        lines: Source lines.
        missing: Lines that are missing and were found, were found only, and are missing only.
        extra: The same for words that belong to no line.
    """

    words: int = 0
    right: int = 0
    lines: int = 0
    missing: tuple[int, int, int] = (0, 0, 0)
    extra: tuple[int, int, int] = (0, 0, 0)

    @classmethod
    def of(cls, found: Segmentation, gold: DamagedDocument) -> SegmentationCounts:
        """Compare a segmentation of ``gold.lines`` with the truth."""
        text = "\n".join(gold.lines)
        true, given = (
            _line_of_each(text, gold.spans),
            _line_of_each(text, [(piece.start, piece.end, piece.line) for piece in found.pieces]),
        )
        begins = [word.start() for word in re.finditer(r"\S+", text)]
        pairs = [(true[n], given[n]) for n in begins]
        own = set(found.missing)
        return cls(
            len(pairs),
            sum(a == b for a, b in pairs),
            len(found.lines),
            (len(own & gold.missing), len(own - gold.missing), len(gold.missing - own)),
            (
                sum(a is b is None for a, b in pairs),
                sum(a is not None and b is None for a, b in pairs),
                sum(a is None and b is not None for a, b in pairs),
            ),
        )

    def __add__(self, other: SegmentationCounts) -> SegmentationCounts:
        return SegmentationCounts(
            self.words + other.words,
            self.right + other.right,
            self.lines + other.lines,
            _plus(self.missing, other.missing),
            _plus(self.extra, other.extra),
        )

    @property
    def accuracy(self) -> float:
        """The share of words on the right line, 0 to 1."""
        return self.right / max(1, self.words)

    @property
    def false_missing(self) -> float:
        """The share of lines that are called missing and are not."""
        return self.missing[1] / max(1, self.lines)


def f_measure(counts: tuple[int, int, int]) -> float:
    """F1 of what was found rightly, what was found only, and what was not found; 1 for nothing."""
    both, first, second = counts
    return 2 * both / (2 * both + first + second) if any(counts) else 1.0


def _plus(one: tuple[int, int, int], two: tuple[int, int, int]) -> tuple[int, int, int]:
    return one[0] + two[0], one[1] + two[1], one[2] + two[2]


def _line_of_each(text: str, spans: Sequence[tuple[int, int, int | None]]) -> list[int | None]:
    found: list[int | None] = [None] * len(text)
    for start, end, line in spans:
        found[start:end] = [line] * (end - start)
    return found
