"""The scan: the run of words whose values have the greatest sum (Kadane's algorithm).

Words that are left out stand together, so a run of them stands out where no single word does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class WordRun(NamedTuple):
    """A run of words.

    Attributes:
        start: Its first position, from 0.
        end: The position behind its last word.
        sum: The sum of its values, above 0.
    """

    start: int
    end: int
    sum: float


def best_run(values: NDArray[np.float64]) -> WordRun | None:
    """The run with the greatest sum; of equal ones the first, and of these the shortest.

    >>> best_run(np.array([-1.0, 2.0, -1.0, 2.0, -3.0, 1.0]))
    WordRun(start=1, end=4, sum=3.0)

    Args:
        values: ``[words]``, of any sign.

    Returns:
        The run; None if no value is above 0.
    """
    sums = np.concatenate([[0.0], np.cumsum(values)])
    lowest = np.minimum.accumulate(sums)
    end = int(np.argmax(sums - lowest))
    gain = float(sums[end] - lowest[end])
    if gain <= 0:
        return None
    start = int(np.flatnonzero(sums[:end] == lowest[end])[-1])
    return WordRun(start, end, gain)


def disjoint_runs(values: NDArray[np.float64]) -> list[WordRun]:
    """The best run, the best runs to its left and to its right, and so on, in their order.

    These are the maximal scoring runs of Ruzzo and Tompa (1999).

    >>> [run[:2] for run in disjoint_runs(np.array([-1.0, 2.0, -1.0, 2.0, -3.0, 1.0]))]
    [(1, 4), (5, 6)]
    """
    found = []
    open_parts = [(0, len(values))]
    while open_parts:
        first, last = open_parts.pop()
        run = best_run(values[first:last])
        if run is not None:
            start, end = first + run.start, first + run.end
            found.append(WordRun(start, end, run.sum))
            open_parts += [(first, start), (end, last)]
    return sorted(found)
