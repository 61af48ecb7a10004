"""Counts of the n-grams of one segment, and how many of each other texts allow."""

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
