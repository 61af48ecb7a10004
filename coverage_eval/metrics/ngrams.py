"""N-grams of many segments at once: how often each side has them, as arrays.

Words become integers, n-grams pairs of integers, and counting becomes sorting; a tenth of the time
that dictionaries of tuples take, which is what makes REP cheap on large corpora.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from coverage_eval.corpus import Segment, count_all_tokens, tokenize

__all__ = ["TokenIds", "Vocabulary", "excess_ngrams"]

Integers = NDArray[np.int64]

_LIMIT = 2**62


@dataclass(frozen=True)
class TokenIds:
    """The tokens of some segments, one after the other.

    Attributes:
        ids: One integer a token; equal tokens have equal integers. ``[tokens]``
        segments: The segment that each token belongs to, ascending. ``[tokens]``
    """

    ids: Integers
    segments: Integers

    def ngrams(self, n: int, base: int) -> tuple[Integers, Integers]:
        """Codes and segments of the n-grams, none of which crosses a segment's end.

        Args:
            n: Length of the n-grams.
            base: A number above every token's integer.

        Returns:
            Equal codes for equal n-grams, below ``2**62``, and the segment of each.
        """
        length = max(0, len(self.ids) - n + 1)
        if not length:
            return self.ids[:0], self.segments[:0]
        inside = self.segments[:length] == self.segments[n - 1 :]
        codes = self.ids[:length][inside]
        for offset in range(1, n):
            codes = _pair(codes, self.ids[offset : offset + length][inside], base)
        return codes, self.segments[:length][inside]


class Vocabulary:
    """Gives tokens their integers, the same for all texts that one instance has seen."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        self._next = 0

    @property
    def base(self) -> int:
        """A number above every integer given so far."""
        return max(1, self._next)

    def read(self, segments: Sequence[Segment]) -> TokenIds:
        """The tokens of segments as integers."""
        lengths = count_all_tokens(segments)
        tokens = _all_tokens(segments)
        first = self._next
        self._next += len(tokens)
        ids = np.fromiter(
            map(self._ids.setdefault, tokens, count(first)), dtype=np.int64, count=len(tokens)
        )
        return TokenIds(ids, np.repeat(np.arange(len(segments)), lengths))


def _all_tokens(segments: Sequence[Segment]) -> Sequence[str]:
    """All tokens in a row; one call over joined text where no segment is a list of tokens."""
    texts = [segment for segment in segments if isinstance(segment, str)]
    if len(texts) == len(segments):
        return tokenize(" ".join(texts))
    return [token for segment in segments for token in tokenize(segment)]


def _pair(left: Integers, right: Integers, base: int) -> Integers:
    """One code for two; the left ones are renumbered where the product would not fit."""
    if len(left) and int(left.max()) >= _LIMIT // base:
        left = np.unique(left, return_inverse=True)[1].astype(np.int64)
    return left * base + right


def _counts(keys: Integers) -> tuple[Integers, Integers]:
    """The distinct keys, ascending, and how often each occurs."""
    if not len(keys):
        return keys, keys
    keys = np.sort(keys)
    starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
    return keys[starts], np.diff(starts, append=len(keys))


def _keys(grams: Sequence[tuple[Integers, Integers]], size: int) -> list[Integers]:
    """One integer for an n-gram and its segment; codes are renumbered where it would not fit."""
    codes = [code for code, _ in grams]
    if max(int(code.max(initial=0)) for code in codes) >= _LIMIT // max(1, size):
        ranks = np.unique(np.concatenate(codes), return_inverse=True)[1].astype(np.int64)
        codes = np.split(ranks, np.cumsum([len(code) for code in codes])[:-1])
    return [code * size + segments for code, (_, segments) in zip(codes, grams, strict=True)]


def excess_ngrams(
    hypothesis: tuple[Integers, Integers],
    reference: tuple[Integers, Integers],
    size: int,
    *,
    least: int,
) -> Integers:
    """Σ max(0, t(s) − r(s)) per segment over the n-grams s with t(s) ≥ ``least``.

    Args:
        hypothesis: Codes and segments of the hypotheses' n-grams.
        reference: The same of the references, from the same vocabulary.
        size: Number of segments.
        least: Least count in the hypothesis.

    Returns:
        Sums, ``[size]``.
    """
    hyp_keys, ref_keys = _keys([hypothesis, reference], size)
    keys, counts = _counts(hyp_keys)
    keys, counts = keys[counts >= least], counts[counts >= least]
    ref_keys, ref_counts = _counts(ref_keys)
    places = np.searchsorted(ref_keys, keys)
    found = places < len(ref_keys)
    found[found] = ref_keys[places[found]] == keys[found]
    counts[found] -= ref_counts[places[found]]
    totals = np.bincount(keys % size, weights=np.maximum(counts, 0), minlength=size)
    return totals.astype(np.int64)
