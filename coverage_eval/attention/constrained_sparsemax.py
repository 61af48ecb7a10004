"""Constrained sparsemax: sparsemax under upper bounds (Malaviya et al. 2018, eq. 6)."""

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from coverage_eval.attention._inputs import (
    AttentionError,
    Batch,
    Float64Array,
    FloatArray,
    prepare,
)
from coverage_eval.attention._rows import ROUNDING, rows_of
from coverage_eval.attention._short_rows import LONGEST, REACH, attempt
from coverage_eval.attention.pardalos_kovoor import threshold_by_medians

__all__ = ["Method", "constrained_sparsemax"]

Method = Literal["auto", "sort", "pardalos-kovoor"]
Search = Callable[[Float64Array, Float64Array], tuple[Float64Array, Float64Array]]

#: Rows at least this long are solved one by one with medians by ``method="auto"``: the measured
#: crossover (tests/bench/bench_attention.py). Below it, one sort of the whole batch is faster.
CROSSOVER_LENGTH = 16_384

#: Rounds of refinement; one is enough unless split points are closer than the search can tell.
SETTLING_ROUNDS = 4


def constrained_sparsemax(
    z: ArrayLike,
    u: ArrayLike,
    *,
    axis: int = -1,
    mask: ArrayLike | None = None,
    method: Method = "auto",
) -> FloatArray:
    r"""Constrained sparsemax along one axis.

    Solves :math:`\arg\min_{\alpha \in \Delta^J} \|\alpha - z\|^2` subject to
    :math:`\alpha \le u` (Malaviya et al. 2018, eq. 6). The solution is
    :math:`\alpha_j = \max\{0, \min\{u_j, z_j - \tau\}\}` (Proposition 1).

    The methods find τ and agree to rounding; all refine it by eq. 11 in coordinates around the
    threshold, so that no magnitude of the scores costs accuracy:

    * ``"sort"``: sorts the 2J split points of every row and halves them, all rows at once; time
      O(J log J) per row.
    * ``"pardalos-kovoor"``: median search (Appendix A.3), one row after the other; time O(J).
    * ``"auto"``: the faster of the two for the length of the rows. Short rows are sorted in
      float32 first; where that does not lead to a sum of 1, they are sorted again in float64.

    Args:
        z: scores, any shape; −inf marks padding.
        u: upper bounds, broadcast against ``z``: 0 for an exhausted word, +inf for the sink.
        axis: the axis that is normalised, in the broadcast shape.
        mask: True where a position may be used, broadcast against ``z``; None for all.
        method: ``"auto"``, ``"sort"`` or ``"pardalos-kovoor"``.

    Returns:
        Attention of the broadcast shape, 0 <= α <= u, summing to 1 along ``axis``, exactly 0 off
        the support and exactly u at the bound. Bounds that sum to 1 are returned exactly.
        float32 if all input is, else float64.

    Raises:
        AttentionError: a NaN or +inf score, a NaN or negative bound, a row without a usable
            position (names the row); an unknown method.
        InfeasibleBoundsError: bounds that sum to less than 1 beyond rounding; names the row.
    """
    if method not in get_args(Method):
        raise AttentionError(f"unknown method {method!r}: use one of {', '.join(get_args(Method))}")
    rows = rows_of(z, u, axis=axis, mask=mask) if method == "auto" else None
    if rows is None or not 0 < rows.scores.shape[1] <= LONGEST:
        batch = prepare(z, u, axis=axis, mask=mask)
        return batch.restore(_solve(batch, method))
    attention, settled = attempt(rows.scores, rows.bounds)
    if not settled.all():
        batch = prepare(z, u, axis=axis, mask=mask)
        attention[~settled] = _solve(batch.only(~settled), "sort").T
    return rows.restore(attention)


def _solve(batch: Batch, method: Method) -> Float64Array:
    """The attention, positions first, whatever the spread of the scores."""
    scores, bounds, anchor = batch.scores, batch.upper_bounds, batch.top
    by_medians = method == "pardalos-kovoor" or (
        method == "auto" and len(scores) >= CROSSOVER_LENGTH
    )
    search, settle = (
        (_search_by_medians, _settle_on_support) if by_medians else (_search_by_sorting, _settle)
    )
    lowest, guess = search(_above(scores, anchor), bounds)
    far = lowest <= 1.0 - REACH
    if far.any():
        anchor = anchor.copy()
        anchor[far] = _reached_score(scores[:, far], bounds[:, far])
        near = np.minimum(_above(scores[:, far], anchor[far]), 2.0)
        guess[far] = search(near, bounds[:, far])[1]
    attention = settle(scores, bounds, anchor, guess)
    attention[:, batch.tight] = bounds[:, batch.tight]
    return attention


def _above(scores: Float64Array, anchor: Float64Array) -> Float64Array:
    """Scores relative to an anchor, raised to -REACH: what is lower is off the support."""
    with np.errstate(over="ignore"):
        relative = scores - anchor
    return np.maximum(relative, -REACH, out=relative)


def _reached_score(scores: Float64Array, bounds: Float64Array) -> Float64Array:
    """The score at which the bounds, in order of falling score, reach 1.

    The threshold lies below it, because at that score the mass is less than 1, and within 1 of
    it, because 1 below it the mass is already at least 1.
    """
    order = np.argsort(-scores, axis=0)
    reached = np.cumsum(np.take_along_axis(bounds, order, axis=0), axis=0) >= 1.0
    columns = np.arange(scores.shape[1])
    found: Float64Array = scores[order[reached.argmax(axis=0), columns], columns]
    return found


def _search_by_medians(z: Float64Array, u: Float64Array) -> tuple[Float64Array, Float64Array]:
    """A lower limit of the threshold of each column and the threshold."""
    rows = [threshold_by_medians(z[:, row], u[:, row]) for row in range(z.shape[1])]
    threshold = np.array(rows, dtype=np.float64)
    return threshold, threshold


def _search_by_sorting(z: Float64Array, u: Float64Array) -> tuple[Float64Array, Float64Array]:
    """The split point below the threshold of each column and the middle of its segment.

    The 2J split points z − u and z are sorted once, then halved: the mass is at least 1 at split
    point ``low`` and less than 1 at the end of the search one further. At a level τ,
    max{z − u, min{z, τ}} is what a position has above its attention, so the mass is compared
    without a subtraction.
    """
    count, rows = z.shape
    lower = z - u
    points = np.empty((rows, 2 * count))
    points[:, :count] = lower.T
    points[:, count:] = z.T
    points.sort(axis=1)
    flat, low = points.ravel(), np.arange(0, points.size, 2 * count)
    last = low + (2 * count - 1)
    rest = z.sum(axis=0) - 1.0
    work = np.empty_like(z)
    step = 1 << (2 * count - 1).bit_length()
    while step := step >> 1:
        middle = np.minimum(low + step, last)
        np.minimum(z, flat[middle], out=work)
        np.maximum(work, lower, out=work)
        low = np.where(work.sum(axis=0) <= rest, middle, low)
    lowest = flat[low]
    return lowest, (lowest + flat[np.minimum(low + 1, last)]) / 2


def _settle(
    scores: Float64Array, bounds: Float64Array, anchor: Float64Array, threshold: Float64Array
) -> Float64Array:
    """The attention at a threshold, after eq. 11 has removed the errors of the search.

    Coordinates are relative to the threshold itself, where scores within 1 of it are exact.
    """
    centre = anchor + threshold
    tau = threshold - (centre - anchor)
    with np.errstate(over="ignore"):
        near = scores - centre
    for _ in range(SETTLING_ROUNDS):
        attention = _limited(near - tau, bounds)
        excess = attention.sum(axis=0) - 1.0
        if (np.abs(excess) <= ROUNDING).all():
            break
        size = ((attention > 0.0) & (attention < bounds)).sum(axis=0)
        tau += np.divide(excess, size, out=np.zeros_like(tau), where=size > 0)
    return _limited(near - tau, bounds)


def _settle_on_support(
    scores: Float64Array, bounds: Float64Array, anchor: Float64Array, threshold: Float64Array
) -> Float64Array:
    """As :func:`_settle`, column by column, on those positions only that can be attended to."""
    attention = np.zeros_like(scores)
    for column in range(len(anchor)):
        one = slice(column, column + 1)
        inside = np.flatnonzero(scores[:, column] >= anchor[column] + threshold[column] - 1.0)
        attention[inside, one] = _settle(
            scores[inside, one], bounds[inside, one], anchor[one], threshold[one]
        )
    return attention


def _limited(above: Float64Array, bounds: Float64Array) -> Float64Array:
    """max{0, min{u, z − τ}}, eq. 12."""
    np.minimum(above, bounds, out=above)
    return np.maximum(above, 0.0, out=above)
