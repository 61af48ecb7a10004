"""Constrained sparsemax: sparsemax under upper bounds (Malaviya et al. 2018, eq. 6)."""

import numpy as np
from numpy.typing import ArrayLike

from coverage_eval.attention._inputs import Float64Array, FloatArray, prepare, row_sums
from coverage_eval.attention._split_points import last_where, reaching_score


def constrained_sparsemax(
    z: ArrayLike, u: ArrayLike, *, axis: int = -1, mask: ArrayLike | None = None
) -> FloatArray:
    r"""Constrained sparsemax along one axis.

    Solves :math:`\arg\min_{\alpha \in \Delta^J} \|\alpha - z\|^2` subject to
    :math:`\alpha \le u` (Malaviya et al. 2018, eq. 6). The solution is
    :math:`\alpha_j = \max\{0, \min\{u_j, z_j - \tau\}\}` (Proposition 1), with τ of eq. 11. Time
    O(J log J) per row, for the sort of the split points :math:`z_j - u_j` and :math:`z_j`;
    :func:`~coverage_eval.attention.pardalos_kovoor` is the paper's algorithm in O(J).

    Args:
        z: scores, any shape; −inf marks padding.
        u: upper bounds, broadcast against ``z``: 0 for an exhausted word, +inf for the sink.
        axis: the axis that is normalised, in the broadcast shape.
        mask: True where a position may be used, broadcast against ``z``; None for all.

    Returns:
        Attention of the broadcast shape, 0 <= α <= u, summing to 1 along ``axis``, exactly 0 off
        the support and exactly u at the bound. Bounds that sum to 1 are returned exactly.
        float32 if all input is, else float64.

    Raises:
        AttentionError: a NaN or +inf score, a NaN or negative bound, or a row without a usable
            position; names the row.
        InfeasibleBoundsError: bounds that sum to less than 1 beyond rounding; names the row.
    """
    batch = prepare(z, u, axis=axis, mask=mask)
    attention, loose = batch.bounds.copy(), ~batch.tight
    attention[loose] = _project(batch.scores[loose], batch.bounds[loose])
    return batch.restore(attention)


def _project(z: Float64Array, u: Float64Array) -> Float64Array:
    """Constrained sparsemax of ``[R, J]`` rows whose bounds sum to more than 1."""
    # The threshold is at most 1 below the score at which the bounds reach 1. Scores further away
    # are at their bound or at 0, and stay so when they are brought to a distance of 1.
    with np.errstate(over="ignore"):
        near = np.clip(z - reaching_score(z, u), -1.0, 1.0)
    lower = near - u
    split_points = np.sort(np.concatenate([lower, near], axis=1), axis=1)
    start = last_where(split_points, lambda tau: _mass(near - tau, u) >= 1.0)
    # No split point lies between start and τ, so that start tells A, the positions of which
    # 0 < α < u, and Σ_A (z − τ) + Σ_{A_R} u = 1 (eq. 11) tells how far τ is above it.
    size = row_sums(1.0 * ((lower <= start) & (start < near)))
    above = near - start
    for _ in range(2):  # the second time removes what rounding left of the first
        above = above - (_mass(above, u) - 1.0) / np.maximum(size, 1)
    return np.clip(above, 0.0, u)


def _mass(above: Float64Array, u: Float64Array) -> Float64Array:
    """``[R, 1]`` the sum of max{0, min{u, z − τ}} (Proposition 1)."""
    return row_sums(np.clip(above, 0.0, u))
