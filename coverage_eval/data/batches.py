"""A function over a stream of segments, batch by batch, in one process or in several."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeVar

from coverage_eval.errors import check_whole

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")
R = TypeVar("R")

BATCH_SEGMENTS = 4096
"""Segments in a batch: enough to hide the cost of a process, little enough to hold in memory."""

BATCH_LENGTH = 1 << 22
"""Characters, or tokens, in a batch of long segments, whose counts take many times their room."""


def batched(items: Iterable[T], size: int = BATCH_SEGMENTS) -> Iterator[list[T]]:
    """Cut a stream into lists of ``size`` items, the last one shorter."""
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch


def _shorter(items: list[T], weigh: Callable[[T], int]) -> Iterator[list[T]]:
    """Halve a batch until no part weighs more than a batch may, or it is a single item."""
    if len(items) <= 1 or sum(map(weigh, items)) <= BATCH_LENGTH:
        yield items
        return
    middle = len(items) // 2
    yield from _shorter(items[:middle], weigh)
    yield from _shorter(items[middle:], weigh)


def map_batches(
    function: Callable[[Sequence[T]], R],
    items: Iterable[T],
    *,
    weigh: Callable[[T], int],
    jobs: int = 1,
    size: int = BATCH_SEGMENTS,
) -> Iterator[R]:
    """Apply a function to each batch of a stream; results come in the order of the stream.

    Batches are the same whatever ``jobs`` is, so results are too. With several processes only a
    few batches are under way at once, so the stream is never held in memory.

    Args:
        function: Picklable when ``jobs`` is above 1.
        items: The stream.
        weigh: The length of an item, in the unit of :data:`BATCH_LENGTH`.
        jobs: Number of processes.
        size: Items in a batch.

    Raises:
        TypeError: ``jobs`` is no whole number.
        ValueError: It is below 1.
    """
    check_whole("jobs", jobs, 1)
    batches = chain.from_iterable(_shorter(batch, weigh) for batch in batched(items, size))
    first = list(islice(batches, jobs))  # no more processes than there is work for
    batches = chain(first, batches)
    if len(first) <= 1:
        yield from map(function, batches)
        return
    from concurrent.futures import ProcessPoolExecutor

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
