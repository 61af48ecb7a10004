"""Outputs that are the source itself, or nearly, or have it beside a translation."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from coverage_eval.outputs.parsed_segment import Pair, ParsedSegment, Vocabulary
from coverage_eval.outputs.phrases import PHRASES


@dataclass(frozen=True)
class CopyProfile:
    """Which words of the source a system's outputs keep.

    Attributes:
        kept: For each source word, in how many segments it occurs, and in how many the output has
            it, too.
        copies: Share of the outputs that are their sources, or have them whole.
        vocabulary: The words that a model knows.
    """

    kept: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    copies: float = 0.0
    vocabulary: Vocabulary | None = None

    @classmethod
    def learn(cls, pairs: Sequence[Pair], vocabulary: Vocabulary | None) -> CopyProfile:
        """Which words these outputs keep, and how many are copies."""
        segments, kept = Counter[str](), Counter[str]()
        for source, output in pairs:
            segments.update(source.vocabulary)
            kept.update(source.vocabulary & output.vocabulary)
        copies = sum(_has_whole(output, source) for source, output in pairs) / len(pairs)
        return cls({word: (n, kept[word]) for word, n in segments.items()}, copies, vocabulary)

    def is_translatable(self, word: str) -> bool | None:
        """Whether outputs usually have another word for a word of the source; None if unknown."""
        if self.copies < 0.5:
            segments, kept = self.kept.get(word, (0, 0))
            if segments >= 3:
                return kept <= segments / 2
        if self.vocabulary is not None and word in self.vocabulary[0]:
            return word not in self.vocabulary[1]
        return None


def _has_whole(output: ParsedSegment, source: ParsedSegment) -> bool:
    """Whether the words of the source stand in the output in one piece."""
    if not source.words or not source.vocabulary <= output.vocabulary:
        return False
    return f" {' '.join(source.words)} " in f" {' '.join(output.words)} "


MIN_TRANSLATABLE = 2
"""Words of a copy that should have been translated."""

NEARLY = 0.8
"""Words of the output that are the source's, for it to be nearly a copy."""

_LINK = re.compile(r"(?<!\S)(?:\S+://|\S[^\s@]*@\S+\.)\S+|www\.\S+")


def what_is_copied(
    output: ParsedSegment, source: ParsedSegment, profile: CopyProfile
) -> str | None:
    """How much of the output is copied from the source, "" for all; None if it is no copy."""
    if source.vocabulary.isdisjoint(output.vocabulary):
        return None
    output_words, source_words = Counter(output.words), Counter(source.words)
    shared = output_words & source_words
    share = shared.total() / max(output_words.total(), 0.8 * source_words.total())
    is_exact = output_words == source_words
    is_nearly = share >= NEARLY and output_words.total() >= 4
    is_beside = not is_nearly and source_words.total() >= 4 and _has_whole(output, source)
    if not (is_exact or is_nearly or is_beside) or (is_exact and _is_code(source)):
        return None
    known, guessed = _count_translatable(shared, source, profile)
    enough = MIN_TRANSLATABLE if is_exact else MIN_TRANSLATABLE + 1
    if known + guessed < enough and not (is_exact and known == len(shared)):
        return None
    if is_beside:
        return "the source, and more"
    return "" if is_exact else f"{min(share, 0.99):.0%} of its words"


def _count_translatable(
    words: Mapping[str, int], source: ParsedSegment, profile: CopyProfile
) -> tuple[int, int]:
    """How many words of the source should have been translated, for certain, and by a guess."""
    links = {word for link in _LINK.findall(source.text) for word in ParsedSegment.of(link).words}
    lower = {piece for piece in source.pieces if piece.islower() or not piece.isascii()}
    known = guessed = 0
    for word in words:
        if word in links or word.isdigit():
            continue
        is_translatable = profile.is_translatable(word)
        if is_translatable is None:
            is_long = len(word) > 2 or not word.isascii()
            guessed += word in lower and is_long and word[0].isalpha()
        else:
            known += is_translatable
    return known, guessed


_CODE = re.compile(
    rf"^\s*(?:[$#>]\s+)?(?:{PHRASES['commands']})\b.*[^.!?…。\s]\s*$|[;{{}}]\s*$", re.IGNORECASE
)
_CODE_MARK = re.compile(r"[{}()\[\];=<>|\\$_/#&*+~^@`]+|(?<!\S)--?[A-Za-z]")
CODE_SHARE = 1 / 3
"""Marks of code for each word, from which on a text is code."""


def _is_code(source: ParsedSegment) -> bool:
    marks = len(_CODE_MARK.findall(source.text))
    is_marked = marks >= max(2, CODE_SHARE * len(source.text.split()))
    return is_marked or _CODE.search(source.text) is not None
