"""Constrained sparsemax: sparsemax under upper bounds (Malaviya et al. 2018, eq. 6)."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from coverage_eval.attention._inputs import Float64Array, FloatArray, prepare

__all__ = ["constrained_sparsemax"]

Method = Literal["auto", "sort", "pardalos-kovoor"]


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

    Args:
        z: scores, any shape; −inf marks padding.
        u: upper bounds, broadcast against ``z``: 0 for an exhausted word, +inf for the sink.
        axis: the axis that is normalised, in the broadcast shape.
        mask: True where a position may be used, broadcast against ``z``; None for all.
        method: the algorithm.

    Returns:
        Attention of the broadcast shape, 0 <= α <= u, summing to 1 along ``axis``, exactly 0 off
        the support and exactly u at the bound. Bounds that sum to 1 are returned exactly.
        float32 if all input is, else float64.

    Raises:
        AttentionError: a NaN or +inf score, a NaN or negative bound, or a row without a usable
            position; names the row.
        InfeasibleBoundsError: bounds that sum to less than 1 beyond rounding; names the row.
    """
    if method not in ("auto", "sort", "pardalos-kovoor"):
        raise ValueError(f"unknown method {method!r}: use 'auto', 'sort' or 'pardalos-kovoor'")
    batch = prepare(z, u, axis=axis, mask=mask, order="F")
    assert batch.bounds is not None
    assert batch.tight is not None
    near = np.clip(batch.scores - _centre(batch.scores, batch.bounds), -2.0, 2.0)
    threshold = _threshold(near, batch.bounds)
    result = np.clip(near - threshold, 0.0, batch.bounds)
    return batch.restore(np.where(batch.tight, batch.bounds, result))


def _centre(scores: Float64Array, bounds: Float64Array) -> Float64Array:
    """A score within 1 above the threshold of each row.

    In order of falling score, the position at which the bounds reach 1: there the threshold is
    below the score, and not by more than 1, because 1 below it the mass is already at least 1.
    """
    if scores.size == 0:
        return np.zeros(scores.shape[1])
    order = np.argsort(-scores, axis=0)
    reached = np.cumsum(np.take_along_axis(bounds, order, axis=0), axis=0) >= 1.0
    last = np.count_nonzero(bounds > 0, axis=0) - 1
    place = np.where(reached[-1], reached.argmax(axis=0), last)
    columns = np.arange(scores.shape[1])
    centre: Float64Array = scores[order[place, columns], columns]
    return np.where(np.isfinite(centre), centre, 0.0)


def _threshold(z: Float64Array, u: Float64Array) -> Float64Array:
    """The threshold τ of each row by one sort of the 2J split points z and z − u."""
    if z.size == 0:
        return np.zeros(z.shape[1])
    points = np.concatenate([z, z - u])
    order = np.argsort(-points, axis=0)
    falling = np.take_along_axis(points, order, axis=0)
    slope = np.cumsum(np.where(order < len(z), 1, -1), axis=0)
    mass = np.cumsum(slope[:-1] * -np.diff(falling, axis=0), axis=0)
    columns = np.arange(z.shape[1])
    place = np.where(mass[-1] >= 1, (mass >= 1).argmax(axis=0), len(mass) - 1)
    lower, upper = falling[place + 1, columns], falling[place, columns]
    interior = (z - u <= lower) & (z >= upper)
    bound = z - u >= upper
    # Eq. 11 on the sets of that segment: free of the rounding of the running sums.
    size = interior.sum(axis=0)
    total = np.where(interior, z, 0).sum(axis=0) + np.where(bound, u, 0).sum(axis=0) - 1
    threshold: Float64Array = np.divide(total, size, out=lower.copy(), where=size > 0)
    return threshold
