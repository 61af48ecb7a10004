"""Constrained softmax: softmax under upper bounds (Martins and Kreutzer 2017)."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coverage_eval.attention._inputs import Float64Array, FloatArray, prepare

__all__ = ["constrained_softmax"]


def constrained_softmax(
    z: ArrayLike, u: ArrayLike, *, axis: int = -1, mask: ArrayLike | None = None
) -> FloatArray:
    r"""Constrained softmax along one axis.

    Solves :math:`\arg\min_{\alpha \in \Delta^J} \mathrm{KL}(\alpha \| \mathrm{softmax}(z))`
    subject to :math:`\alpha \le u` (Malaviya et al. 2018, eq. 4, after Martins and Kreutzer
    2017). The solution is :math:`\alpha_j = \min\{u_j, \lambda \exp(z_j)\}`; positions reach
    their bound in the order of :math:`u_j / \exp(z_j)`, so one sort finds which do. Time
    O(J log J) per row, all rows at once.

    Args:
        z: scores, any shape; −inf marks padding.
        u: upper bounds, broadcast against ``z``: 0 for an exhausted word, +inf for the sink.
        axis: the axis that is normalised, in the broadcast shape.
        mask: True where a position may be used, broadcast against ``z``; None for all.

    Returns:
        Attention of the broadcast shape, 0 <= α <= u, summing to 1 along ``axis``. Bounds that
        sum to 1 are returned exactly. float32 if all input is, else float64.

    Raises:
        AttentionError: a NaN or +inf score, a NaN or negative bound, or a row without a usable
            position; names the row.
        InfeasibleBoundsError: bounds that sum to less than 1 beyond rounding; names the row.
    """
    batch = prepare(z, u, axis=axis, mask=mask, order="F")
    assert batch.bounds is not None
    assert batch.tight is not None
    bounds = batch.bounds
    free = _free_positions(batch.scores, bounds)
    scores = np.where(free, batch.scores, -np.inf)
    top = scores.max(axis=0, initial=-np.inf)
    weights = np.exp(scores - np.where(top > -np.inf, top, 0.0))
    left = 1.0 - np.where(free, 0.0, bounds).sum(axis=0)
    total = weights.sum(axis=0)
    scale = np.divide(left, total, out=np.zeros_like(total), where=total > 0)
    result = np.where(free, np.clip(weights * scale, 0.0, bounds), bounds)
    return batch.restore(np.where(batch.tight, bounds, result))


def _free_positions(scores: Float64Array, bounds: Float64Array) -> NDArray[np.bool_]:
    """``[J, R]`` True where the solution stays below its bound.

    Softmax over the free positions, scaled to the mass that the others leave; whoever exceeds
    its bound is fixed there. Fixing frees mass, so it never has to be undone.
    """
    usable = scores > -np.inf
    free = usable & (bounds > 0)
    while True:
        open_scores = np.where(free, scores, -np.inf)
        top = open_scores.max(axis=0, initial=-np.inf)
        weights = np.exp(open_scores - np.where(top > -np.inf, top, 0.0))
        left = 1.0 - np.where(free, 0.0, bounds).sum(axis=0)
        over = free & (weights * left > bounds * weights.sum(axis=0))
        if not over.any():
            return free
        free &= ~over
