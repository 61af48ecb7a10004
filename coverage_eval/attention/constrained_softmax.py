"""Constrained softmax: softmax under upper bounds (Martins and Kreutzer 2017)."""

from itertools import count

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coverage_eval.attention._inputs import Float64Array, FloatArray, prepare

__all__ = ["constrained_softmax"]

#: Rounds of fixing before sorting takes over: rows of attention rarely need more than five.
QUICK_ROUNDS = 12

#: Where the exponentials left sum to less than this, they are taken anew from the scores left, so
#: that none underflows that matters.
FAINT = 1e-8


def constrained_softmax(
    z: ArrayLike, u: ArrayLike, *, axis: int = -1, mask: ArrayLike | None = None
) -> FloatArray:
    r"""Constrained softmax along one axis.

    Solves :math:`\arg\min_{\alpha \in \Delta^J} \mathrm{KL}(\alpha \| \mathrm{softmax}(z))`
    subject to :math:`\alpha \le u` (Malaviya et al. 2018, eq. 4, after Martins and Kreutzer
    2017). The solution is :math:`\alpha_j = \min\{u_j, \lambda \exp(z_j)\}`; positions reach
    their bound in the order of :math:`u_j / \exp(z_j)`. Time O(J log J) per row at most, all rows
    at once; usually a few passes without a sort.

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
    batch = prepare(z, u, axis=axis, mask=mask)
    attention = _solve(batch.scores, batch.top, batch.upper_bounds)
    if batch.tight.any():
        attention[:, batch.tight] = batch.upper_bounds[:, batch.tight]
    return batch.restore(attention)


def _solve(scores: Float64Array, top: Float64Array, bounds: Float64Array) -> Float64Array:
    """Share the mass by softmax, fix who exceeds the bound there, share the rest out again.

    Fixing frees mass for the others, so it never has to be undone, and a few rounds are enough
    for most batches. When they are not, sorting tells all that have to be fixed.
    """
    with np.errstate(over="ignore"):
        weights = np.exp(scores - top)
    fixed = np.zeros(scores.shape, dtype=np.bool_)
    left = np.ones_like(top)
    share = np.empty_like(weights)
    for round_ in count():
        total = weights.sum(axis=0)
        faint = (total < FAINT) & (left > 0)
        if faint.any():
            weights[:, faint] = _reweighted(scores[:, faint], fixed[:, faint])
            total = weights.sum(axis=0)
        scale = np.divide(left, total, out=np.zeros_like(total), where=total > 0)
        np.multiply(weights, scale, out=share)
        over = share > bounds
        if not over.any():
            break
        if round_ == QUICK_ROUNDS:
            rows = over.any(axis=0)
            over[:, rows] |= _fixed_by_sorting(scores[:, rows], bounds[:, rows])
        fixed |= over
        weights *= ~over
        left = np.maximum(1.0 - (bounds * fixed).sum(axis=0), 0.0)
    return np.where(fixed, bounds, share)


def _reweighted(scores: Float64Array, fixed: NDArray[np.bool_]) -> Float64Array:
    """Exponentials that do not underflow once the high scores are fixed."""
    open_scores = np.where(fixed, -np.inf, scores)
    top = open_scores.max(axis=0)
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(open_scores - np.where(top > -np.inf, top, 0.0)))


def _fixed_by_sorting(scores: Float64Array, bounds: Float64Array) -> NDArray[np.bool_]:
    """The algorithm of Martins and Kreutzer: one sort by u / exp(z) tells who is at the bound.

    In that order the first position that stays below its bound ends those at their bound; whether
    it does depends on the sum of exponentials of itself and all after it.
    """
    with np.errstate(divide="ignore"):
        log_bounds = np.log(bounds)
    usable = scores > -np.inf
    ratio = np.subtract(log_bounds, scores, out=np.full_like(scores, np.inf), where=usable)
    order = np.argsort(ratio, axis=0)
    ordered = np.take_along_axis(scores, order, axis=0)
    ordered_bounds = np.take_along_axis(bounds, order, axis=0)
    left = 1.0 - (np.cumsum(ordered_bounds, axis=0) - ordered_bounds)
    tail = np.logaddexp.accumulate(ordered[::-1], axis=0)[::-1]
    with np.errstate(invalid="ignore"):
        below = left * np.exp(ordered - tail) <= ordered_bounds
    fixed = np.empty_like(below)
    np.put_along_axis(fixed, order, ~np.maximum.accumulate(below, axis=0), axis=0)
    return fixed & usable
