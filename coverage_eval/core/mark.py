"""Marks: the words that a metric points at, in one form for all metrics.

A metric *explains* a segment's score by marks (:class:`Mark`), and declares once what they are
called (:class:`MarkKind`). A mark says which characters of the user's own text its words are, so
brackets in texts, tables of words, JSON, reports and meta-evaluation cut them out of the text, and
never ask which metric they came from or how it splits a text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from coverage_eval.core.tokenizers import Span, Words

LIST_WORDS = "words"
LIST_PHRASES = "phrases"


@dataclass(frozen=True)
class Mark:
    """Words of a segment that a metric points at.

    >>> from coverage_eval.core.tokenizers import Tokenizer
    >>> words = Tokenizer("13a").locate("Ein Hund.")
    >>> mark = Mark.of(words, range(1, 3), "source", "left out", amount=1.7)
    >>> mark.spans, mark.text, str(mark)
    (((4, 8), (8, 9)), 'Hund.', 'Hund. at 2-3')

    Attributes:
        side: ``"source"`` or ``"output"``.
        spans: The characters of each word in that text as the user wrote it, in its order: the
            position of the first, from 0, and the position behind the last. A segment that is a
            list of tokens is a text with a space between each. Empty for text that is not in the
            segment, or if the text is not known.
        kind: The name of its :class:`MarkKind`.
        text: The characters from the first word to the last, or else the text that it is about.
        amount: How much is wrong, at its metric's scale: what it adds to the score's numerator, or
            its strength.
        first: For words said again, the characters of each word where they are said first.
        phrase: What tables of phrases count it as, if that is not its text.
        detail: What only this metric has to say, as plain values for JSON.
        label: The mark as plain text; by default its text. Positions of words in it count from 1,
            and words are those of the metric. Marks that are occurrences of one phrase share it.
    """

    side: str
    spans: tuple[Span, ...]
    kind: str
    text: str = ""
    amount: float = 1.0
    first: tuple[Span, ...] = ()
    phrase: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict, hash=False)
    label: str = ""

    @classmethod
    def of(
        cls, words: Words, positions: Sequence[int], side: str, kind: str, **attributes: Any
    ) -> Mark:
        """The mark of some words of a text.

        Args:
            words: The words of the text, as the metric counts them.
            positions: Which of them it is about, ascending from 0.
            side: Which text it is.
            kind: The name of its kind.
            **attributes: The others, such as ``amount``; the label is by default the text and its
                positions.
        """
        text = words.text_of(positions)
        spans = tuple(words.spans[position] for position in positions)
        label = f"{text} at {count_positions(positions)}"
        return cls(side, spans, kind, text, **{"label": label, **attributes})

    def to_dict(self) -> dict[str, Any]:
        """The mark as plain values: its text, and the characters where it starts and ends."""
        start, end = ends_of(self.spans)
        first_start, first_end = ends_of(self.first)
        return {
            "side": self.side,
            "kind": self.kind,
            "text": self.text,
            "start": start,
            "end": end,
            "amount": self.amount,
            "first_start": first_start,
            "first_end": first_end,
            "detail": dict(self.detail),
        }

    def __str__(self) -> str:
        return self.label or self.text


def ends_of(spans: Sequence[Span]) -> tuple[int | None, int | None]:
    """Where the first of some words starts and the last one ends; both None if there are none."""
    return (spans[0][0], spans[-1][1]) if spans else (None, None)


def count_positions(positions: Sequence[int]) -> str:
    """Positions as people count them, from 1: ``3``, ``3-5`` or ``3,7``.

    >>> count_positions((2,)), count_positions((2, 3, 4)), count_positions((2, 6))
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
            tuple, one value per word, is only in JSON.
        words: The words of the text that the marks are in, as the metric counts them, if tables
            list the marks (:attr:`MarkKind.listed`); None if there is nothing to list.
        expected: The positions of source words that should be translated.
    """

    marks: tuple[Mark, ...] = ()
    score: float | None = None
    probability: float | None = None
    detail: Mapping[str, Any] = field(default_factory=dict, hash=False)
    words: Words | None = None
    expected: Sequence[int] = ()

    @property
    def columns(self) -> dict[str, Any]:
        """All that is known, by name: score and probability only if there are some."""
        numbers = {"score": self.score, "probability": self.probability}
        known = {name: value for name, value in numbers.items() if value is not None}
        return {**known, "marks": list(self.marks), **self.detail}


def plain_columns(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Columns as plain values for JSON: findings as mappings, with characters from 0."""
    return {
        name: [getattr(item, "to_dict", lambda item=item: item)() for item in value]
        if isinstance(value, (list, tuple))
        else value
        for name, value in columns.items()
    }


def list_findings(found: Sequence[object]) -> str:
    """Findings in one line; marks of one kind with the same label are listed once.

    >>> list_findings([Mark("output", ((2, 3),), "n-gram", label="a (2x)"), "b", "b"])
    'a (2x); b'
    """
    labels = {(getattr(item, "kind", ""), str(item)): str(item) for item in found}
    return "; ".join(labels.values())


@dataclass(frozen=True)
class MarkKind:
    """What a metric calls its marks, and how they are drawn and listed.

    Args:
        name: The :attr:`Mark.kind` of these marks.
        side: ``"source"`` or ``"output"``.
        key: What filters and columns call such words, such as ``dropped``. Several kinds of a
            metric may share one; marks of several metrics with the same key are shown only once.
        singular: A mark, such as ``dropped word``.
        plural: The words marked, such as ``dropped words``.
        meaning: What a marked word is, such as ``source word that the output drops``.
        error: The error that marks point at, ``omission``, ``repetition`` or
            ``addition``.
        style: How a report draws them, with a colour and a shape: ``dropped``, ``lost``,
            ``suspected``, ``repeated`` or ``added``; empty for words without either.
        listed: ``"words"`` if tables count the marked words among those that the metric expects
            (:attr:`Explanation.expected`), ``"phrases"`` if they count the marks' phrases; empty
            for neither.
        allowed_by: The text whose own repetitions are no errors, ``reference`` or ``source``; empty
            if all count.
        error_threshold: The smallest amount that is an error by itself; 0 if every mark is one.
            Where it is above 0, nearly every word is marked, so a report shows them on demand.
    """

    name: str
    side: str
    key: str
    singular: str
    plural: str
    meaning: str
    error: str
    style: str = ""
    listed: str = ""
    allowed_by: str = ""
    error_threshold: float = 0.0

    @property
    def on_demand(self) -> bool:
        """Whether nearly every word has such a mark, so that a mark alone tells little."""
        return self.error_threshold > 0

    def to_dict(self) -> dict[str, str]:
        """What a reader of JSON must know about marks of this kind."""
        return {"kind": self.name, "side": self.side, "meaning": self.meaning}
