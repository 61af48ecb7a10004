"""Posteriors of an aligner: the probability of each link, as an attention map."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fast_align_wrapper.settings import Direction

MAGIC = b"CEPOST1\n"
"""The first bytes of the binary stream."""


@dataclass(frozen=True)
class Posterior:
    """The probability of every link of a pair under one direction of a model.

    Attributes:
        matrix: Probabilities ``[target words, source words]``, float32. In the forward direction
            it is p(a_j = i | pair): each row, with the row's entry of ``null``, sums to 1. In the
            reverse direction each column does, with the column's entry of ``null``.
        null: Probability of NULL: ``[target words]`` forward, ``[source words]`` reverse.
        direction: ``forward`` or ``reverse``.
    """

    matrix: NDArray[np.float32]
    null: NDArray[np.float32]
    direction: Direction

    @property
    def coverage(self) -> NDArray[np.float64]:
        """How much each word that others are linked to is covered: min(1, Σ p of its links).

        ``[source words]`` forward, ``[target words]`` reverse, 0 to 1.
        """
        links = self.matrix if self.direction == "forward" else self.matrix.T
        return np.asarray(np.minimum(1.0, links.sum(axis=0, dtype=np.float64)))

    @classmethod
    def of_empty_side(
        cls, source_length: int, target_length: int, direction: Direction
    ) -> Posterior:
        """Of a pair with no word on a side: all that is left to link, is linked to NULL."""
        generated = target_length if direction == "forward" else source_length
        matrix = np.zeros((target_length, source_length), np.float32)
        return cls(matrix, np.ones(generated, np.float32), direction)


def take_posteriors(data: bytearray, direction: Direction) -> Iterator[Posterior]:
    """Take the complete records off the beginning of a stream, the magic being gone already."""
    start = 0
    while len(data) - start >= 8:
        rows, columns = (int(n) for n in np.frombuffer(data, "<u4", 2, start))
        end = start + 8 + 4 * rows * (columns + 1)
        if len(data) < end:
            break
        values = np.frombuffer(data, "<f4", rows * (columns + 1), start + 8).astype(np.float32)
        matrix = values[rows:].reshape(rows, columns)
        yield Posterior(matrix if direction == "forward" else matrix.T, values[:rows], direction)
        start = end
    del data[:start]
