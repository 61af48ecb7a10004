"""Constrained softmax: softmax under upper bounds (Martins and Kreutzer 2017)."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coverage_eval.attention._inputs import Batch, Float64Array, FloatArray, prepare
from coverage_eval.attention._rows import ROUNDING, leave_choice, rows_of, sum_rows

__all__ = ["constrained_softmax"]

#: Rounds before sorting takes over: rows of attention rarely need more than four.
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
    rows = rows_of(z, u, axis=axis, mask=mask)
    attention, settled = _attempt(rows.scores, rows.bounds)
    if not settled.all():
        batch = prepare(z, u, axis=axis, mask=mask)
        attention[~settled] = _carefully(batch.only(~settled)).T
    return rows.restore(attention)


@np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore")
def _attempt(scores: Float64Array, bounds: Float64Array) -> tuple[Float64Array, NDArray[np.bool_]]:
    """The attention of ``[R, J]`` scores, and which rows of it are proven."""
    # Any number near the largest score will do, and in float32 the transposed copy is cheap.
    top = np.array(scores.T, dtype=np.float32, order="C").max(axis=0, initial=-np.inf)
    weights = scores - top[:, None]
    np.exp(weights, out=weights)
    if not bounds.min(initial=np.inf) > 0:
        weights *= bounds > 0
    attention, mass = _rounds(weights, bounds, _scale(np.ones(len(top)), sum_rows(weights)))
    # A NaN hides whether there is padding, and no comparison with it holds.
    usable = None if scores.min(initial=0.0) > -np.inf else scores > -np.inf
    return attention, (np.abs(mass - 1.0) <= ROUNDING) & leave_choice(bounds, usable, axis=1)


def _rounds(
    weights: Float64Array, bounds: Float64Array, scale: Float64Array, depth: int = 0
) -> tuple[Float64Array, Float64Array]:
    """Share 1 out by weight, cut at the bounds, share the rest out among those not cut, and so on.

    Every round is a step of Newton's method for the scale λ at which min{u, λ exp(z)} sums to 1:
    that sum is concave in λ, so λ only grows and who is at the bound stays there. Only rows where
    something is left take part in the next round.

    Returns:
        ``[R, J]`` the attention and ``[R]`` its sums.
    """
    share = weights * scale[:, None]
    attention = np.minimum(share, bounds)
    mass = sum_rows(attention)
    left = np.flatnonzero(mass < 1.0 - ROUNDING)
    if len(left) and depth < QUICK_ROUNDS:
        # take() copies rows at twice the speed of an index.
        rest, limits = weights.take(left, axis=0), bounds.take(left, axis=0)
        free_weight = sum_rows(rest * (share == attention).take(left, axis=0))
        scale = scale[left] + _scale(1.0 - mass[left], free_weight)
        attention[left], mass[left] = _rounds(rest, limits, scale, depth + 1)
    return attention, mass


def _scale(mass: Float64Array, weight: Float64Array) -> Float64Array:
    """How much mass there is for each unit of weight; NaN where the weight is faint."""
    return np.where(weight >= FAINT, mass / weight, np.nan)


def _carefully(batch: Batch) -> Float64Array:
    """The attention, positions first, whatever the spread of the scores."""
    scores, bounds, top = batch.scores, batch.upper_bounds, batch.top
    with np.errstate(over="ignore"):  # the difference of two huge scores is -inf, rightly
        weights = np.exp(scores - top)
    free = bounds > 0
    weights *= free
    attention = _share_out(weights, np.ones_like(top), scores, bounds, free, np.arange(len(top)))
    attention[:, batch.tight] = bounds[:, batch.tight]
    return attention


def _share_out(
    weights: Float64Array,
    left: Float64Array,
    scores: Float64Array,
    bounds: Float64Array,
    free: NDArray[np.bool_],
    columns: NDArray[np.intp],
    depth: int = 0,
) -> Float64Array:
    """Share the mass left by weight; fix who exceeds the bound there; share the rest out again.

    Fixing frees mass for the others, so it never has to be undone, and only rows where someone
    was fixed go on to the next round. Where rounds do not end, sorting tells all at once.
    ``columns`` are the places of the others' columns in the scores, which are rarely needed.
    """
    total = weights.sum(axis=0)
    faint = (total < FAINT) & (left > 0)
    if faint.any():
        weights[:, faint] = _reweighted(scores[:, columns[faint]], free[:, faint])
        total = weights.sum(axis=0)
    scale = np.divide(left, total, out=np.zeros_like(total), where=total > 0)
    share: Float64Array = weights * scale
    over = share > bounds
    unfinished: NDArray[np.bool_] = np.asarray(over.any(axis=0))
    count = np.count_nonzero(unfinished)
    if count == 0:
        return share
    # Leaving the finished rows out costs copies; taking them along changes nothing in them.
    rows = np.flatnonzero(unfinished) if 2 * count < len(unfinished) else slice(None)
    over, bounds, free, columns = over[:, rows], bounds[:, rows], free[:, rows], columns[rows]
    if depth == QUICK_ROUNDS:
        over |= _fixed_by_sorting(scores[:, columns], bounds) & free
    stays = ~over
    fixed = bounds * over
    left = np.maximum(left[rows] - fixed.sum(axis=0), 0.0)
    weights, free = weights[:, rows] * stays, free & stays
    share[:, rows] = _share_out(weights, left, scores, bounds, free, columns, depth + 1) + fixed
    return share


def _reweighted(scores: Float64Array, free: NDArray[np.bool_]) -> Float64Array:
    """Exponentials that do not underflow once the high scores are fixed."""
    open_scores = np.where(free, scores, -np.inf)
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
