"""Constrained sparsemax of short rows: the threshold is found in float32, proven in float64.

Float32 halves the time of the sort and of every pass, and nearly always finds the right segment
between two split points. Where it does not, the attention does not sum to 1, which is seen.
"""

import numpy as np
from numpy.typing import NDArray

from coverage_eval.attention._inputs import Float64Array
from coverage_eval.attention._rows import ROUNDING, leave_choice, sum_rows

__all__ = ["LONGEST", "REACH", "attempt"]

Float32Array = NDArray[np.float32]

#: Rows up to this length are short: their positions are counted in bytes.
LONGEST = 255

#: Thresholds are looked for within this distance of the largest score of the row.
REACH = 32.0

#: Bounds are cut there: no attention exceeds 1, and the middle of a segment that is no wider than
#: this is so near the threshold that nothing is lost in its correction.
WIDEST = 4.0


@np.errstate(over="ignore", under="ignore", invalid="ignore")
def attempt(scores: Float64Array, bounds: Float64Array) -> tuple[Float64Array, NDArray[np.bool_]]:
    """The attention of ``[R, J]`` scores, and which rows of it are proven.

    By Proposition 1, max{0, min{u, z − τ}} is the solution if it sums to 1, whatever led to τ,
    and z − τ has no more rounding than the attention itself, because the first τ is near enough.
    """
    if len(scores) == 1:  # NumPy adds up a single column in another order than one of many
        attention, settled = attempt(scores.repeat(2, axis=0), bounds.repeat(2, axis=0))
        return attention[:1], settled[:1]
    threshold, choice = _thresholds(scores, bounds)
    near = scores - threshold[:, None]
    zeros = np.zeros(near.shape)  # NumPy's maximum is several times faster than with a number
    attention = np.minimum(near, bounds)
    np.maximum(attention, zeros, out=attention)
    # Eq. 11 as a correction: what is missing is shared by the positions between their bounds.
    interior = sum_rows((attention == near).view(np.uint8))
    correction = (sum_rows(attention) - 1.0) / np.maximum(interior, 1)
    near -= correction[:, None]
    np.minimum(near, bounds, out=attention)
    np.maximum(attention, zeros, out=attention)
    settled = np.abs(sum_rows(attention) - 1.0) <= ROUNDING
    return attention, settled & choice


def _thresholds(
    scores: Float64Array, bounds: Float64Array
) -> tuple[Float64Array, NDArray[np.bool_]]:
    """The threshold of each row, to the precision of float32, and whose bounds leave a choice."""
    rows, count = scores.shape
    # The split points z − u and z; positions first, because NumPy adds those up many rows at a
    # time.
    points = np.empty((2 * count, rows), dtype=np.float32)
    lower, z = points[:count], points[count:]
    np.copyto(z, scores.T, casting="same_kind")
    np.copyto(lower, bounds.T, casting="same_kind")
    top = z.max(axis=0, initial=-np.inf)
    z -= top
    least = z.min(initial=0.0)  # NaN, if there is one, and then no comparison holds
    choice = leave_choice(lower, None if least > -np.inf else z > -np.inf, axis=0)
    if not least >= -REACH:
        np.maximum(z, np.full(rows, -REACH, dtype=np.float32), out=z)
    if not lower.max(initial=0.0) <= WIDEST:
        np.minimum(lower, np.full(rows, WIDEST, dtype=np.float32), out=lower)
    np.subtract(z, lower, out=lower)
    threshold = _search(np.array(points.T, order="C"), z, lower)
    threshold += top
    return threshold.astype(np.float64), choice


def _search(points: Float32Array, z: Float32Array, lower: Float32Array) -> Float32Array:
    """The middle of the segment of each threshold: the split points are sorted, then halved.

    The mass is at least 1 at split point ``low`` and, at the end, less than 1 at the next one. At
    a level τ, max{z − u, min{z, τ}} is what a position has above its attention, so the mass is
    compared without a subtraction.
    """
    points.sort(axis=1)
    rows, size = points.shape
    flat, low = points.ravel(), np.arange(0, points.size, size)
    rest = z.sum(axis=0)
    rest -= 1
    above, total = np.empty_like(z), np.empty(rows, dtype=np.float32)
    while size > 1:
        step = size // 2
        np.minimum(z, flat[low + step], out=above)
        np.maximum(above, lower, out=above)
        np.add.reduce(above, axis=0, out=total)
        low += step * (total <= rest)
        size -= step
    # The last point is the largest score, where the mass is 0, but for a row with bad bounds.
    high = np.minimum(low + 1, points.size - 1)
    middle: Float32Array = (flat[low] + flat[high]) / np.float32(2)
    return middle
