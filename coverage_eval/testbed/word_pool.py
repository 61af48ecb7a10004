"""A text that injected errors are made with: what is frequent in it, and other segments of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from random import Random

from coverage_eval.errors import DataError

FUNCTION_SHARE = 0.4
"""The most frequent words that together make up this share of the text count as function words."""

RARE_SHARE = 0.1
"""The least frequent words that together make up this share of it count as rare; where words that
occur once are more, all of these."""

KEPT_SEGMENTS = 10_000
"""Segments that detached text is taken from."""

WORD_CLASSES = ("content", "function", "rare")


@dataclass(frozen=True)
class WordPool:
    """Words and segments of a text.

    Classes of words go by frequency, which is known of every language: the function words are the
    most frequent, all others content words, the least frequent of which are rare.

    Attributes:
        counts: How often each word occurs.
        segments: The first segments that have words, as tokens.
    """

    counts: Counter[str]
    segments: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, segments: Iterable[Sequence[str]]) -> WordPool:
        """Read a text once; of long ones, the first 10,000 segments are kept.

        Raises:
            DataError: There is no word in it.
        """
        counts: Counter[str] = Counter()
        kept: list[tuple[str, ...]] = []
        for tokens in segments:
            counts.update(tokens)
            if tokens and len(kept) < KEPT_SEGMENTS:
                kept.append(tuple(tokens))
        if not counts:
            raise DataError("there is no word in the text that errors are made with")
        return cls(counts, tuple(kept))

    def words(self, word_class: str) -> Set[str]:
        """The words of a class, one of :data:`WORD_CLASSES`."""
        if word_class == "rare":
            return self._rare
        return self._function.keys() if word_class == "function" else self._content

    def share(self, word_class: str) -> float:
        """The share of a class in the running words, 0 to 1."""
        return sum(self.counts[word] for word in self.words(word_class)) / self.counts.total()

    def function_words(self, number: int, generator: Random) -> list[str]:
        """Draw function words, each as often as it occurs."""
        return generator.choices(self._fillers, cum_weights=self._weights, k=number)

    def other_segment(self, tokens: Sequence[str], generator: Random) -> tuple[str, ...]:
        """Draw a segment other than this.

        Raises:
            DataError: There is no other.
        """
        first = generator.randrange(len(self.segments))
        for step in range(len(self.segments)):
            found = self.segments[(first + step) % len(self.segments)]
            if list(found) != list(tokens):
                return found
        raise DataError("the text has no second segment that detached words could be taken from")

    def other_words(self, number: int, tokens: Sequence[str], generator: Random) -> list[str]:
        """Draw a run of words from segments other than this, from several if one is too short."""
        found: list[str] = []
        while len(found) < number:
            segment = self.other_segment(tokens, generator)
            missing = number - len(found)
            start = generator.randrange(max(1, len(segment) - missing + 1))
            found += segment[start : start + missing]
        return found

    @cached_property
    def _function(self) -> dict[str, None]:
        """Ordered, so that draws do not depend on the hashes of strings."""
        ranked = sorted(self.counts, key=lambda word: (-self.counts[word], word))
        limit = FUNCTION_SHARE * self.counts.total()
        sums = accumulate(self.counts[word] for word in ranked)
        most = [word for word, seen in zip(ranked, sums, strict=True) if seen <= limit]
        return dict.fromkeys(most or ranked[:1])

    @cached_property
    def _content(self) -> frozenset[str]:
        return frozenset(self.counts) - frozenset(self._function)

    @cached_property
    def _rare(self) -> frozenset[str]:
        limit = RARE_SHARE * self.counts.total()
        of_count = Counter(self.counts.values())
        ascending = sorted(of_count)
        sums = accumulate(count * of_count[count] for count in ascending)
        fits = [count for count, seen in zip(ascending, sums, strict=True) if seen <= limit]
        most = max(fits, default=ascending[0])
        return frozenset(word for word, count in self.counts.items() if count <= most)

    @cached_property
    def _fillers(self) -> list[str]:
        return list(self._function)

    @cached_property
    def _weights(self) -> list[int]:
        return list(accumulate(self.counts[word] for word in self._function))
