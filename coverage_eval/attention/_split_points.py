r"""How the constrained transformations find their threshold: by halving sorted split points.

Both make attention from the scores, the bounds and one number per row: the threshold τ of
constrained sparsemax, the normaliser Z of constrained softmax. The larger it is, the smaller the
mass, that is, the sum of the attention. Each position has split points, where it comes to its bound
or to 0. The last split point at which the mass is still at least 1 tells which positions are at
their bound and which at 0; for the others there is a formula.
"""

from collections.abc import Callable

import numpy as np

from coverage_eval.attention._inputs import BoolArray, Float64Array, row_sums


def last_where(points: Float64Array, holds: Callable[[Float64Array], BoolArray]) -> Float64Array:
    """For each row, the last of its points where a condition holds, by halving.

    Args:
        points: ``[R, K]``, ascending along each row.
        holds: from one point of each row, ``[R, 1]``, to whether the condition holds there,
            ``[R, 1]``. It must hold at the first point, and wherever it holds at a later one.

    Returns:
        ``[R, 1]``. Time O(K) and log K calls of the condition.
    """
    rows = np.arange(len(points))
    low, high = np.zeros_like(rows), np.full_like(rows, points.shape[1])
    for _ in range(points.shape[1].bit_length()):
        middle = (low + high) // 2
        there = holds(points[rows, middle, None])[:, 0]
        low, high = np.where(there, middle, low), np.where(there, high, middle)
    return points[rows, low, None]


def reaching_score(scores: Float64Array, bounds: Float64Array) -> Float64Array:
    """The score at which the bounds of each row, added up from its highest score down, reach 1.

    The threshold of either transformation lies near it, and it is one of the scores. So, relative
    to it, the scores that matter are near 0 and exact, whatever their magnitude.

    Args:
        scores: ``[R, J]``.
        bounds: ``[R, J]``, summing to at least 1 in each row.

    Returns:
        ``[R, 1]``.
    """
    return last_where(
        np.sort(scores, axis=1), lambda score: row_sums(bounds * (scores >= score)) >= 1.0
    )
