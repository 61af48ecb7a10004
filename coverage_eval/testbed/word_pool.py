"""The material of injected errors: the words of a text by frequency, and its segments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from random import Random

from coverage_eval.errors import DataError

FUNCTION_SHARE = 0.4
"""The most frequent words, up to this share of the text, count as function words."""

RARE_SHARE = 0.1
"""The least frequent words, up to this share of the text, count as rare; at least all words that
occur once."""

KEPT_SEGMENTS = 10_000
"""The most segments to take detached text from."""

WORD_CLASSES = ("content", "function", "rare")


@dataclass(frozen=True)
class WordPool:
    """Words and segments of a text.

    Frequency decides the class of a word, since it is known for every language: the most frequent
    words are function words, all others content words; the least frequent words are rare.

    Attributes:
        counts: How often each word occurs.
        segments: The first segments with words, as tokens.
    """

    counts: Counter[str]
    segments: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, segments: Iterable[Sequence[str]]) -> WordPool:
        """Read a text once, and keep its first 10,000 segments.

        Raises:
            DataError: It has no words.
        """
        counts: Counter[str] = Counter()
        kept: list[tuple[str, ...]] = []
        for tokens in segments:
            counts.update(tokens)
            if tokens and len(kept) < KEPT_SEGMENTS:
                kept.append(tuple(tokens))
        if not counts:
            raise DataError("the text that errors are made from has no words")
        return cls(counts, tuple(kept))

    def words(self, word_class: str) -> Set[str]:
        """The words of a class, one of :data:`WORD_CLASSES`."""
        return self._classes[word_class].keys()

    def share(self, word_class: str) -> float:
        """The share of a class among all words of the text, 0 to 1."""
        return sum(self._classes[word_class].values()) / self.counts.total()

    def function_words(self, number: int, generator: Random) -> list[str]:
        """Draw function words by their frequencies in the text."""
        words = self._classes["function"]
        return generator.choices(list(words), list(words.values()), k=number)

    def other_segment(self, tokens: Sequence[str], generator: Random) -> tuple[str, ...]:
        """Draw a segment that differs from this one.

        Raises:
            DataError: There is no other.
        """
        first = generator.randrange(len(self.segments))
        for step in range(len(self.segments)):
            found = self.segments[(first + step) % len(self.segments)]
            if list(found) != list(tokens):
                return found
        raise DataError("the text has no second segment to take detached words from")

    def other_words(self, number: int, tokens: Sequence[str], generator: Random) -> list[str]:
        """Draw a run of words from another segment, or from several if it is too short."""
        found: list[str] = []
        while len(found) < number:
            segment = self.other_segment(tokens, generator)
            missing = number - len(found)
            start = generator.randrange(max(1, len(segment) - missing + 1))
            found += segment[start : start + missing]
        return found

    @cached_property
    def _classes(self) -> Mapping[str, dict[str, int]]:
        """Class → counts of its words, in a fixed order, since draws depend on it."""
        total = self.counts.total()
        ranked = sorted(self.counts, key=lambda word: (-self.counts[word], word))
        sums = accumulate(self.counts[word] for word in ranked)
        most = sum(seen <= FUNCTION_SHARE * total for seen in sums) or 1
        of_count = Counter(self.counts.values())
        ascending = sorted(of_count)
        sums = accumulate(count * of_count[count] for count in ascending)
        rare = ascending[max(sum(seen <= RARE_SHARE * total for seen in sums), 1) - 1]
        return {
            "function": {word: self.counts[word] for word in ranked[:most]},
            "content": {word: self.counts[word] for word in ranked[most:]},
            "rare": {word: count for word, count in self.counts.items() if count <= rare},
        }
