"""Marks: the words that a metric points at, in one form for all metrics.

A metric *explains* a segment's score by marks (:class:`Mark`), and declares once what they are
called (:class:`MarkKind`) and how a sentence says that a system has fewer or more of them
(:class:`Wording`). Brackets in texts, tables of words, JSON, reports and meta-evaluation read marks
and never ask which metric they came from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

SIDES = ("source", "output")

WORDS = "words"
PHRASES = "phrases"


@dataclass(frozen=True)
class Mark:
    """Words of a segment that a metric points at.

    >>> str(Mark("source", (1, 2), "left out", "ein hund", 1.7))
    'ein hund at 2-3'

    Attributes:
        side: ``"source"`` or ``"output"``.
        positions: Token positions from 0, ascending.
        kind: The name of its :class:`MarkKind`.
        text: The words that it is about; empty if the text is not known.
        amount: How much is wrong, at its metric's scale: what it adds to the score's numerator, or
            its strength.
        first: For something said again, where it is said first: token positions of the output.
        detail: What only this metric has to say, as plain values for JSON.
        said: The mark as plain text, with positions from 1; by default its text and positions.
            Marks that are occurrences of one phrase share it.
    """

    side: str
    positions: tuple[int, ...]
    kind: str
    text: str = ""
    amount: float = 1.0
    first: tuple[int, ...] = ()
    detail: Mapping[str, Any] = field(default_factory=dict, hash=False)
    said: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The mark as plain values; positions from 0."""
        return {
            "side": self.side,
            "kind": self.kind,
            "positions": list(self.positions),
            "text": self.text,
            "amount": self.amount,
            "first": list(self.first),
            "detail": dict(self.detail),
        }

    def __str__(self) -> str:
        return self.said or " at ".join(filter(None, (self.text, places(self.positions))))


def places(positions: Sequence[int]) -> str:
    """Positions as people count them, from 1: ``3``, ``3-5`` or ``3,7``.

    >>> places((2,)), places((2, 3, 4)), places((2, 6))
    ('3', '3-5', '3,7')
    """
    if len(positions) > 1 and positions[-1] - positions[0] == len(positions) - 1:
        return f"{positions[0] + 1}-{positions[-1] + 1}"
    return ",".join(str(position + 1) for position in positions)


@dataclass(frozen=True)
class Explanation:
    """Why a segment has its score.

    Attributes:
        marks: The words concerned, as a reader meets them or the greatest amount first.
        score: The segment's score, if it is no formula of statistics; otherwise None.
        probability: The probability of an error; None if the metric has none.
        detail: Further values by name. Numbers and lists of findings are columns of tables; a
            tuple, one number per word, is only in JSON.
        words: The source words that :attr:`expected` counts, if tables list the marks as words
            (:attr:`MarkKind.listed`).
        expected: The positions of those that should be translated.
    """

    marks: tuple[Mark, ...] = ()
    score: float | None = None
    probability: float | None = None
    detail: Mapping[str, Any] = field(default_factory=dict, hash=False)
    words: Sequence[str] = ()
    expected: Sequence[int] = ()

    @property
    def columns(self) -> dict[str, Any]:
        """All that is known, by name: score and probability only if there are some."""
        numbers = {"score": self.score, "probability": self.probability}
        known = {name: value for name, value in numbers.items() if value is not None}
        return {**known, "marks": list(self.marks), **self.detail}


def plain_columns(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Columns as plain values for JSON: findings as mappings, with positions from 0."""
    return {
        name: [getattr(item, "to_dict", lambda one=item: one)() for item in value]
        if isinstance(value, (list, tuple))
        else value
        for name, value in columns.items()
    }


def list_findings(found: Sequence[object]) -> str:
    """Findings in one line; marks of one kind that say the same are said once.

    >>> list_findings([Mark("output", (1,), "n-gram", said="a (2x)"), "b", "b"])
    'a (2x); b'
    """
    said = {(getattr(one, "kind", ""), str(one)): str(one) for one in found}
    return "; ".join(said.values())


@dataclass(frozen=True)
class MarkKind:
    """What a metric calls its marks, and how they are drawn and listed.

    Args:
        name: The :attr:`Mark.kind` of these marks.
        side: ``"source"`` or ``"output"``.
        key: What filters and columns call such words, such as ``dropped``. Several kinds of a
            metric may share one; marks of several metrics with the same key are shown only once.
        one: A mark, such as ``dropped word``.
        many: The words marked, such as ``dropped words``.
        meaning: What a marked word is, such as ``source word that the output drops``.
        error: The error that marks point at, ``omission``, ``repetition`` or
            ``addition``.
        style: How a report draws them, with a colour and a shape: ``dropped``, ``lost``,
            ``suspected``, ``repeated`` or ``added``; by default the key.
        listed: ``"words"`` if tables count the marked words among those that the metric expects
            (:attr:`Explanation.expected`), ``"phrases"`` if they count the marks' texts; empty for
            neither.
        amount: What :attr:`Mark.amount` is, if it is worth telling, such as ``strength``.
        least: The smallest amount that a report shows.
        error_threshold: The smallest amount that is an error by itself; 0 if every mark is one.
            Where it is above 0, nearly every word is marked, so a report shows them on demand.
    """

    name: str
    side: str
    key: str
    one: str
    many: str
    meaning: str
    error: str
    style: str = ""
    listed: str = ""
    amount: str = ""
    least: float = 0.0
    error_threshold: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "style", self.style or self.key)

    @property
    def on_demand(self) -> bool:
        """Whether nearly every word has such a mark, so that a mark alone tells little."""
        return self.error_threshold > 0

    def to_dict(self) -> dict[str, str]:
        """What a reader of JSON must know about marks of this kind."""
        return {"kind": self.name, "side": self.side, "meaning": self.meaning}


@dataclass(frozen=True)
class Wording:
    """The phrases of sentences about a metric of errors.

    Attributes:
        less: What the better of two systems does, such as ``repeats less``.
        does: What a system with such errors does, such as ``repeats words``.
        of_segments: Whether the score is a percentage of segments, said as ``57 of 104``.
    """

    less: str
    does: str
    of_segments: bool = False
