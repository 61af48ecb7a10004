"""Constrained sparsemax: sparsemax under upper bounds (Malaviya et al. 2018, eq. 6)."""

from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coverage_eval.attention._inputs import AttentionError, Float64Array, FloatArray, prepare
from coverage_eval.attention.pardalos_kovoor import threshold_by_medians

__all__ = ["Method", "constrained_sparsemax"]

Method = Literal["auto", "sort", "pardalos-kovoor"]
Precision = type[np.float32] | type[np.float64]
Search = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]

#: Rows at least this long are solved one by one with medians by ``method="auto"``: the measured
#: crossover (tests/bench/bench_attention.py). Below it, one sort of the whole batch is faster.
CROSSOVER_LENGTH = 16_384

#: Batches of rows up to this length are searched in float32 first by ``method="auto"``.
QUICK_LENGTH = 255

#: Thresholds are first looked for within this distance of the largest score of the row.
REACH = 32.0

#: Rounds of refinement; one is enough unless split points are closer than the search can tell.
SETTLING_ROUNDS = 4

#: Sums of attention this close to 1 are 1.
ROUNDING = 16 * float(np.finfo(np.float64).eps)


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
    * ``"auto"``: the faster of the two for the length of the rows. Batches of short rows are
      sorted in float32; where that does not lead to a sum of 1, they are sorted again.

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
    batch = prepare(z, u, axis=axis, mask=mask)
    scores, bounds, tight = batch.scores, batch.upper_bounds, batch.tight
    search, precision = _search_for(method, *scores.shape)
    attention, settled = _solve(scores, batch.top, bounds, search, precision)
    again = ~(settled | tight)
    if precision is np.float32 and again.any():
        attention[:, again], _ = _solve(
            scores[:, again], batch.top[again], bounds[:, again], search, np.float64
        )
    if tight.any():
        attention[:, tight] = bounds[:, tight]
    return batch.restore(attention)


def _search_for(method: Method, length: int, rows: int) -> tuple[Search, Precision]:
    """The search for rows of this length, and the precision to search in first."""
    if method == "auto" and length <= min(rows, QUICK_LENGTH):
        return _search_by_sorting, np.float32
    if method == "sort" or (method == "auto" and length < CROSSOVER_LENGTH):
        return _search_by_sorting, np.float64
    return _search_by_medians, np.float64


def _solve(
    scores: Float64Array,
    top: Float64Array,
    bounds: Float64Array,
    search: Search,
    precision: Precision,
) -> tuple[Float64Array, NDArray[np.bool_]]:
    """The attention of each column, whatever the spread of its scores; which columns sum to 1."""
    anchor, limits = top, bounds.astype(precision, copy=False)
    lowest, guess = search(_above(scores, anchor, precision), limits)
    far = lowest <= 1.0 - REACH
    if far.any():
        anchor = top.copy()
        anchor[far] = _reached_score(scores[:, far], bounds[:, far])
        near = np.minimum(_above(scores[:, far], anchor[far], precision), precision(2.0))
        guess[far] = search(near, limits[:, far])[1]
    settle = _settle_on_support if search is _search_by_medians else _settle
    return settle(scores, bounds, anchor, guess.astype(np.float64, copy=False))


def _above(scores: Float64Array, anchor: Float64Array, precision: Precision) -> FloatArray:
    """Scores relative to an anchor, raised to -REACH: what is lower is off the support."""
    # Scores beyond float32 become inf or NaN there, so that their columns do not settle.
    with np.errstate(over="ignore", invalid="ignore"):
        relative = scores.astype(precision, copy=False) - anchor.astype(precision, copy=False)
    # A vector here, not a number, as in _limited.
    least = np.full(len(anchor), -REACH, dtype=precision)
    return np.asarray(np.maximum(relative, least, out=relative))


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


def _search_by_medians(z: FloatArray, u: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A lower limit of the threshold of each column and the threshold."""
    rows = [threshold_by_medians(z[:, row], u[:, row]) for row in range(z.shape[1])]
    threshold = np.array(rows, dtype=np.float64)
    return threshold, threshold


def _search_by_sorting(z: FloatArray, u: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The split point below the threshold of each column and the middle of its segment.

    The 2J split points z − u and z are sorted once, then halved: the mass is at least 1 at split
    point ``low`` and less than 1 at the end of the search one further. At a level τ,
    max{z − u, min{z, τ}} is what a position has above its attention, so the mass is compared
    without a subtraction.
    """
    count, rows = z.shape
    lower = z - u
    points = np.empty((rows, 2 * count), dtype=z.dtype)
    points[:, :count] = lower.T
    points[:, count:] = z.T
    points.sort(axis=1)
    flat, low = points.ravel(), np.arange(0, points.size, 2 * count)
    last = low + (2 * count - 1)
    rest = z.sum(axis=0) - z.dtype.type(1)
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
) -> tuple[Float64Array, NDArray[np.bool_]]:
    """The attention at a threshold, after eq. 11 has removed the errors of the search.

    Coordinates are relative to the threshold itself, where scores within 1 of it are exact.

    Returns:
        The attention, and which columns of it sum to 1.
    """
    centre = anchor + threshold
    tau = threshold - (centre - anchor)
    with np.errstate(over="ignore"):
        near = scores - centre
    # Usually τ is only the rounding of the centre: starting from 0 instead saves a pass.
    if (np.abs(tau) > REACH * ROUNDING).any():
        near -= tau
    tau = np.zeros_like(threshold)
    attention = _limited(near, bounds, np.empty_like(near))
    excess = attention.sum(axis=0) - 1.0
    for _ in range(SETTLING_ROUNDS):
        size = _interior(attention, bounds)
        tau += np.divide(excess, size, out=np.zeros_like(tau), where=size > 0)
        np.subtract(near, tau, out=attention)
        attention = _limited(attention, bounds, attention)
        excess = attention.sum(axis=0) - 1.0
        settled = np.abs(excess) <= ROUNDING
        if settled.all():
            break
    return attention, settled


def _settle_on_support(
    scores: Float64Array, bounds: Float64Array, anchor: Float64Array, threshold: Float64Array
) -> tuple[Float64Array, NDArray[np.bool_]]:
    """As :func:`_settle`, column by column, on those positions only that can be attended to."""
    attention = np.zeros_like(scores)
    settled = np.zeros(len(anchor), dtype=np.bool_)
    for column in range(len(anchor)):
        one = slice(column, column + 1)
        inside = np.flatnonzero(scores[:, column] >= anchor[column] + threshold[column] - 1.0)
        attention[inside, one], settled[one] = _settle(
            scores[inside, one], bounds[inside, one], anchor[one], threshold[one]
        )
    return attention, settled


def _limited(above: Float64Array, bounds: Float64Array, out: Float64Array) -> Float64Array:
    """max{0, min{u, z − τ}}, eq. 12."""
    np.minimum(above, bounds, out=out)
    # A vector here, not a number: NumPy's maximum is several times faster on equal strides.
    return np.asarray(np.maximum(out, np.zeros(out.shape[1]), out=out))


def _interior(attention: Float64Array, bounds: Float64Array) -> NDArray[Any]:
    """How many positions of each column are strictly between 0 and their bound."""
    inside = attention > np.zeros(attention.shape[1])
    inside &= attention < bounds
    # Sums of bytes are by far the fastest, where they cannot overflow.
    count = np.uint8 if len(inside) <= QUICK_LENGTH else np.intp
    return np.asarray(inside.view(np.uint8).sum(axis=0, dtype=count))
