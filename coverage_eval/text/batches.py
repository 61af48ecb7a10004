"""A function over a stream of segments, batch by batch, in one process or in several."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import chain, islice
from typing import TypeVar

__all__ = ["BATCH_LENGTH", "BATCH_SEGMENTS", "batched", "map_batches"]

T = TypeVar("T")
R = TypeVar("R")
S = TypeVar("S", bound=Sequence[Sized])

BATCH_SEGMENTS = 4096
"""Segments in a batch: enough to hide the cost of a process, little enough to hold in memory."""

BATCH_LENGTH = 1 << 22
"""Characters, or tokens, in a batch of long segments, whose counts take many times their room."""


def batched(items: Iterable[T], size: int = BATCH_SEGMENTS) -> Iterator[list[T]]:
    """Cut a stream into lists of ``size`` items, the last one shorter."""
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch


def _shorter(rows: list[S], length: int) -> Iterator[list[S]]:
    """Halve a batch until no part is longer than ``length`` in all, or it is a single row."""
    if len(rows) <= 1 or sum(map(len, chain.from_iterable(rows))) <= length:
        yield rows
        return
    middle = len(rows) // 2
    yield from _shorter(rows[:middle], length)
    yield from _shorter(rows[middle:], length)


def map_batches(
    function: Callable[[Sequence[S]], R],
    items: Iterable[S],
    *,
    jobs: int = 1,
    size: int = BATCH_SEGMENTS,
    length: int = BATCH_LENGTH,
) -> Iterator[R]:
    """Apply a function to each batch of a stream; results come in the order of the stream.

    Batches are the same whatever ``jobs`` is, so results are too. With several processes only a
    few batches are under way at once, so the stream is never held in memory.

    Args:
        function: Picklable when ``jobs`` is above 1.
        items: The stream of rows, each with one segment a column.
        jobs: Number of processes.
        size: Rows in a batch.
        length: Characters, or tokens, in a batch of more than one row.
    """
    batches = chain.from_iterable(_shorter(rows, length) for rows in batched(items, size))
    first = list(islice(batches, jobs))  # no more processes than there is work for
    batches = chain(first, batches)
    if len(first) <= 1:
        yield from map(function, batches)
        return
    with ProcessPoolExecutor(len(first)) as pool:
        pending: deque[Future[R]] = deque()
        try:
            for batch in batches:
                pending.append(pool.submit(function, batch))
                if len(pending) > 2 * jobs:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()
