"""Counts of the n-grams of one segment, and how many of each other texts allow.

REP asks for them for every segment of a test set, and where the other systems are the witnesses,
for every system against all others; there, each text is counted once for all systems.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeAlias

Tokens: TypeAlias = Sequence[str]
Ngram: TypeAlias = tuple[str, ...]

Allowed: TypeAlias = Callable[[int], Callable[[Ngram], int]]
"""From the length of n-grams to a function that says how often each of them may occur."""

DOUBLED = 0
"""In place of a length: the bigrams of two equal words; in "a a a" there are two."""


def find_ngrams(tokens: Tokens, n: int) -> list[Ngram]:
    """The n-grams of a text, from left to right.

    >>> find_ngrams(["a", "b", "b"], 2), find_ngrams(["a", "b", "b"], DOUBLED)
    ([('a', 'b'), ('b', 'b')], [('b', 'b')])
    """
    if n == DOUBLED:
        return [pair for pair in pairwise(tokens) if pair[0] == pair[1]]
    return list(zip(*[tokens[first:] for first in range(n)], strict=False))


def allowed_by(texts: Sequence[Tokens], n: int) -> Callable[[Ngram], int]:
    """How often each n-gram may occur: as often as in the text that has it most often."""
    first, *others = (Counter(find_ngrams(text, n)) for text in texts)
    if not others:
        return first.__getitem__  # 0 for what it lacks
    return lambda ngram: max([first[ngram], *(counts[ngram] for counts in others)])


class Others:
    """The outputs of one segment, each of which is allowed what any other has.

    The time is proportional to their words. Asking :func:`allowed_by` for each of them would take
    the square of their number.

    Args:
        texts: The tokens of different texts, at least two.
    """

    def __init__(self, texts: Sequence[Tokens]) -> None:
        self._texts = texts
        self._ranked: dict[int, dict[Ngram, tuple[int, int, int]]] = {}

    def allow(self, own: int, n: int) -> Callable[[Ngram], int]:
        """How often each n-gram may occur in one of the texts, given by its place."""
        ranked = self._rank(n)

        def allowed(ngram: Ngram) -> int:
            first, most, next_most = ranked.get(ngram, (own, 0, 0))
            return next_most if first == own else most

        return allowed

    def _rank(self, n: int) -> dict[Ngram, tuple[int, int, int]]:
        """For each n-gram, the place of a text that has it most often, its count, and the next."""
        if n not in self._ranked:
            found = self._ranked[n] = {}
            for place, text in enumerate(self._texts):
                for ngram, count in Counter(find_ngrams(text, n)).items():
                    first, most, next_most = found.get(ngram, (place, 0, 0))
                    if count > most:
                        found[ngram] = place, count, most
                    elif count > next_most:
                        found[ngram] = first, most, count
        return self._ranked[n]
