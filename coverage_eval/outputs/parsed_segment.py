"""A segment in the forms in which errors of whole outputs are looked for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from coverage_eval.core.tokenizers import UNSPACED, Segment, Span, segment_text
from coverage_eval.outputs.special_tokens import MAY_HAVE_TOKEN, without_special_tokens
from coverage_eval.repetition.loops import TOKEN_PATTERN

FINAL_PUNCTUATION = re.compile(r"[.!?…。！？।؟:;)\]\"“”»'’*`]\s*$")

_BETWEEN_UNSPACED = rf"(?<=[{UNSPACED}]) (?=[{UNSPACED}])"
"""A pattern, which is not compiled here: that takes longer than a score of short texts."""


def word_spans(text: str) -> list[Span]:
    """The characters of each of the :attr:`~ParsedSegment.words` of a text."""
    return [found.span() for found in TOKEN_PATTERN.finditer(text) if found[0][0].isalnum()]


class ParsedSegment(NamedTuple):
    """A segment in the forms that the checks look at.

    >>> ParsedSegment.of("It's 3 o'clock, 猫。 की है").tokens
    ['It', "'", 's', '3', 'o', "'", 'clock', ',', '猫', '。', 'की', 'है']

    Attributes:
        text: The segment.
        tokens: Words, numbers, marks of punctuation, and letters of scripts without spaces.
        words: Its words and numbers in lower case.
        vocabulary: The different ones.
        length: Number of its letters, digits and marks.
    """

    text: str
    tokens: list[str]
    words: list[str]
    vocabulary: frozenset[str]
    length: int

    @classmethod
    def of(cls, segment: Segment, *, is_output: bool = False) -> ParsedSegment:
        """The forms of a segment; those of an output are without marks that are no words."""
        text = segment_text(segment)
        if is_output and MAY_HAVE_TOKEN.search(text):
            text = without_special_tokens(text)
        return _parse(text) if len(text) <= _MAX_KEPT else _parse.__wrapped__(text)


_MAX_KEPT = 2000
"""The longest text whose parsed form is kept: what is learnt from a sample is then judged."""


@lru_cache(maxsize=6000)
def _parse(text: str) -> ParsedSegment:
    tokens = TOKEN_PATTERN.findall(text)
    words = [token.lower() for token in tokens if token[0].isalnum()]
    return ParsedSegment(text, tokens, words, frozenset(words), sum(map(len, tokens)))


Pair: TypeAlias = tuple[ParsedSegment, ParsedSegment]
"""A source and its output."""

Vocabulary: TypeAlias = tuple[frozenset[str], frozenset[str]]
"""The words of the source and of the target language that a model knows."""


def quote_tokens(tokens: Sequence[str]) -> str:
    """Some tokens for a message, shortened."""
    text = re.sub(_BETWEEN_UNSPACED, "", " ".join(tokens))
    return f"'{text[:40]}…'" if len(text) > 40 else f"'{text}'"
