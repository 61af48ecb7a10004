"""Which words of a picture to mark: repeated ones of a hypothesis, dropped ones of a source."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from coverage_eval.plotting.arrays import checked_positions
from coverage_eval.special_tokens import SPECIAL_TOKENS


@dataclass(frozen=True)
class Marks:
    """The words that a map marks.

    Attributes:
        repeated: positions of hypothesis words.
        dropped: positions of source words.
        threshold: the cumulative attention below which they count as dropped; None if the caller
            named them.
    """

    repeated: tuple[int, ...]
    dropped: tuple[int, ...]
    threshold: float | None

    @classmethod
    def of_map(
        cls,
        weights: NDArray[np.float64],
        source: Sequence[str],
        hypothesis: Sequence[str],
        repeated: Iterable[int] | None,
        dropped: Iterable[int] | None,
        threshold: float,
    ) -> Marks:
        """Take the positions that the caller names, and compute those that are None.

        Raises:
            DataError: a position lies outside the sentence.
        """
        if repeated is None:
            repeated = repeated_positions(hypothesis)
        computed = dropped is None
        if dropped is None:
            dropped = dropped_positions(weights.sum(axis=0), source, threshold)
        return cls(
            checked_positions(repeated, len(hypothesis), "repeated"),
            checked_positions(dropped, len(source), "dropped"),
            threshold if computed else None,
        )

    def meanings(self) -> dict[str, str]:
        """Return what to say of each kind of mark that there is."""
        below = "" if self.threshold is None else f" (attention < {self.threshold:g} in all)"
        said = {"repeated": "repeated word"} if self.repeated else {}
        return said | ({"dropped": f"dropped word{below}"} if self.dropped else {})


def repeated_positions(hypothesis: Sequence[str]) -> tuple[int, ...]:
    """Return the positions of words said again, first occurrences left out.

    A word is said again when it equals the word before it, or when it lies in a bigram that
    occurred before: the two kinds of repetition of REP-score (Malaviya et al. 2018, section 5),
    here without a reference to excuse any of them. A lone frequent word ("the … the") is not
    marked.
    """
    seen: set[tuple[str, str]] = set()
    repeated: set[int] = set()
    for position, bigram in enumerate(pairwise(hypothesis), start=1):
        if bigram[0] == bigram[1]:
            repeated.add(position)
        elif bigram in seen:
            repeated.update((position - 1, position))
        seen.add(bigram)
    return tuple(sorted(repeated))


def dropped_positions(
    coverage: NDArray[np.float64], source: Sequence[str], threshold: float
) -> tuple[int, ...]:
    """Return the positions of source words whose cumulative attention is below the threshold.

    Args:
        coverage: ``[source]``, the attention each word has received, summed over target words.
        source: the source words; special tokens such as ``<SINK>`` are never dropped.
        threshold: in units of attention, 1 being the whole of one target word's.
    """
    below = np.flatnonzero(coverage < threshold)
    return tuple(int(j) for j in below if source[int(j)] not in SPECIAL_TOKENS)


def runs(positions: Iterable[int]) -> list[tuple[int, int]]:
    """Return the maximal runs of consecutive positions, each as its first one and its length."""
    ordered = np.unique(np.fromiter(positions, dtype=np.int64))
    pieces = np.split(ordered, np.flatnonzero(np.diff(ordered) > 1) + 1)
    return [(int(piece[0]), len(piece)) for piece in pieces if len(piece)]
