"""Keeps a part of a stream that is too long to be held, for the checks that need neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Generic, TypeVar

T = TypeVar("T")

BLOCK_ROWS = 50
"""Rows that are kept together, so that each can be compared with its neighbours."""

MOST_BLOCKS = 40
"""2,000 rows are enough for every check here; an even number, so that halving is exact."""


class Sampler(Generic[T]):
    """Watches a stream of rows while it is scored, and keeps blocks of neighbouring rows.

    The blocks are spread evenly over all that was watched: when there are :data:`MOST_BLOCKS`,
    every second one is dropped and from then on only half as many are kept. So no more than
    2,000 rows are held, the same ones each time.
    """

    def __init__(self) -> None:
        self._kept: dict[int, list[T]] = {}
        self._stride = 1

    def watch(self, rows: Iterable[T]) -> Iterator[T]:
        """Pass rows through unchanged; to be used for one stream only."""
        for number, row in enumerate(rows):
            block, place = divmod(number, BLOCK_ROWS)
            if block % self._stride == 0:
                if place == 0:
                    self._open(block)
                self._kept[block].append(row)
            yield row

    def _open(self, block: int) -> None:
        if len(self._kept) == MOST_BLOCKS:
            self._stride *= 2
            self._kept = {b: kept for b, kept in self._kept.items() if b % self._stride == 0}
        self._kept[block] = []

    @property
    def rows(self) -> list[T]:
        """The kept rows, in their order."""
        return list(chain.from_iterable(self._kept.values()))

    @property
    def blocks(self) -> list[int]:
        """Index in :attr:`rows` of each block's first row."""
        return list(range(0, BLOCK_ROWS * len(self._kept), BLOCK_ROWS))

    @property
    def lines(self) -> list[int]:
        """The number, counted from 1, that each block's first row had in the stream."""
        return [block * BLOCK_ROWS + 1 for block in self._kept]
