"""Constrained softmax: softmax under upper bounds (Martins and Kreutzer 2017)."""

import numpy as np
from numpy.typing import ArrayLike

from coverage_eval.attention._inputs import Float64Array, FloatArray, prepare, row_sums
from coverage_eval.attention._split_points import last_where, reaching_score

#: Scores this far above the one at which the bounds reach 1 have all of their bound: the
#: normaliser is below exp(HIGHEST), and so are the exponentials that are compared with it.
HIGHEST = 100.0


def constrained_softmax(
    z: ArrayLike, u: ArrayLike, *, axis: int = -1, mask: ArrayLike | None = None
) -> FloatArray:
    r"""Constrained softmax along one axis.

    Solves :math:`\arg\min_{\alpha \in \Delta^J} \mathrm{KL}(\alpha \| \mathrm{softmax}(z))`
    subject to :math:`\alpha \le u` (Malaviya et al. 2018, eq. 4, after Martins and Kreutzer
    2017). The solution is :math:`\alpha_j = \min\{u_j, \exp(z_j) / Z\}`: the positions
    :math:`\mathcal A_R` at their bound are those with the largest :math:`\exp(z_j) / u_j`, and the
    others share :math:`1 - \sum_{j \in \mathcal A_R} u_j` by softmax. Time O(J log J) per row.

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
    attention, loose = batch.bounds.copy(), ~batch.tight
    attention[loose] = _share_out(batch.scores[loose], batch.bounds[loose])
    return batch.restore(attention)


@np.errstate(all="ignore")
def _share_out(z: Float64Array, u: Float64Array) -> Float64Array:
    """Constrained softmax of ``[R, J]`` rows whose bounds sum to more than 1."""
    near = z - reaching_score(z, u)
    weights = np.exp(np.minimum(near, HIGHEST))
    # A position is at its bound for all Z below its split point. Z itself is at least 1, because
    # there all scores from 0 up are at theirs; so the 0 / 0 of padding may be 1 as well.
    split_points = np.fmax(weights / u, 1.0)
    start = last_where(
        np.sort(split_points, axis=1),
        lambda level: row_sums(np.minimum(u, weights / level)) >= 1.0,
    )
    at_bound = split_points > start
    left = 1.0 - row_sums(u * at_bound)
    free = np.where(at_bound, -np.inf, near)
    shares = np.exp(free - free.max(axis=1, initial=-np.inf, keepdims=True))
    attention = shares * (left / row_sums(shares))
    return np.where(at_bound, u, np.clip(attention, 0.0, u))
