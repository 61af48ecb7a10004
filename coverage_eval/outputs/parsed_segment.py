"""A segment in the forms in which errors of whole outputs are looked for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from coverage_eval.core.tokenizers import UNSPACED, Segment

# Accents, vowel points and vowel signs that belong to the letter before; ``\\w`` has none of them.
_COMBINING = (
    "\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0963"
    "\u0971-\u0df3\u200c\u200d"
)
_PIECES = re.compile(rf"[^\W{UNSPACED}]+(?:[{_COMBINING}][^\W{UNSPACED}]*)*|[{UNSPACED}]|[^\w\s]")

FINAL_MARK = re.compile(r"[.!?…。！？।؟:;)\]\"“”»'’*`]\s*$")

_BETWEEN_UNSPACED = re.compile(rf"(?<=[{UNSPACED}]) (?=[{UNSPACED}])")


class ParsedSegment(NamedTuple):
    """A segment in the forms that the checks look at.

    >>> ParsedSegment.of("It's 3 o'clock, 猫。 की है").pieces
    ['It', "'", 's', '3', 'o', "'", 'clock', ',', '猫', '。', 'की', 'है']

    Attributes:
        text: The segment.
        pieces: Words, numbers, marks of punctuation, and letters of scripts without spaces.
        words: Its words and numbers in lower case.
        vocabulary: The different ones.
        length: Number of its letters, digits and marks.
    """

    text: str
    pieces: list[str]
    words: list[str]
    vocabulary: frozenset[str]
    length: int

    @classmethod
    def of(cls, segment: Segment) -> ParsedSegment:
        """The forms of a segment."""
        text = segment if isinstance(segment, str) else " ".join(segment)
        pieces = _PIECES.findall(text)
        words = [piece.lower() for piece in pieces if piece[0].isalnum()]
        return cls(text, pieces, words, frozenset(words), sum(map(len, pieces)))


Pair: TypeAlias = tuple[ParsedSegment, ParsedSegment]
"""A source and its output."""

Vocabulary: TypeAlias = tuple[frozenset[str], frozenset[str]]
"""The words of the source and of the target language that a model knows."""


def quote_pieces(pieces: Sequence[str]) -> str:
    """Some pieces for a message, shortened."""
    text = _BETWEEN_UNSPACED.sub("", " ".join(pieces))
    return f"'{text[:40]}…'" if len(text) > 40 else f"'{text}'"
