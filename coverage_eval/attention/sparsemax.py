"""Sparsemax: the Euclidean projection onto the simplex (Malaviya et al. 2018, eq. 3)."""

import numpy as np
from numpy.typing import ArrayLike

from coverage_eval.attention._inputs import Float64Array, FloatArray, prepare


def sparsemax(z: ArrayLike, *, axis: int = -1, mask: ArrayLike | None = None) -> FloatArray:
    r"""Sparsemax along one axis.

    Solves :math:`\arg\min_{\alpha \in \Delta^J} \|\alpha - z\|^2` (Malaviya et al. 2018, eq. 3;
    Madsen et al. 2017, eq. 2). The solution is :math:`\alpha_j = \max\{0, z_j - \tau\}`. This is
    the batched form of Madsen et al., Algorithm 2: one sort and one cumulative sum for all rows.
    Time O(J log J) per row.

    Args:
        z: scores, any shape; −inf marks padding.
        axis: the axis that is normalised.
        mask: True where a position may be used, broadcast against ``z``; None for all.

    Returns:
        Attention of the shape of ``z``, in [0, 1], summing to 1 along ``axis``, exactly 0 off the
        support. float32 stays float32, everything else becomes float64.

    Raises:
        AttentionError: a NaN or +inf score, or a row without a usable position; names the row.
    """
    batch = prepare(z, axis=axis, mask=mask)
    # The threshold lies within 1 of the largest score, so scores further below are all alike:
    # raising them to -2 changes nothing and keeps the sums free of overflow and of infinities.
    with np.errstate(over="ignore"):
        shifted = np.maximum(batch.scores - batch.top, -2.0)
    return batch.restore(np.maximum(shifted - _threshold(shifted), 0.0))


def _threshold(z: Float64Array) -> Float64Array:
    """Madsen et al., Algorithm 2, lines 2-6, for all rows of ``[R, J]`` scores at once."""
    s = -np.sort(-z, axis=1)
    c = np.cumsum(s, axis=1)
    k = np.arange(1, z.shape[1] + 1)
    b = 1 + k * s > c
    size = b.sum(axis=1, keepdims=True)
    threshold: Float64Array = (np.take_along_axis(c, size - 1, axis=1) - 1) / size
    return threshold


def sparsemax_algorithm_1(z: ArrayLike) -> Float64Array:
    """Sparsemax of one row, line by line as Madsen et al. 2017, Algorithm 1, print it.

    For reading and for checking :func:`sparsemax`, which is the one to use.

    Args:
        z: ``[J]`` finite scores.

    Returns:
        ``[J]`` attention, float64.
    """
    row = np.asarray(z, dtype=np.float64)
    ordered = np.sort(row)[::-1]  # line 2
    sizes = np.arange(1, len(row) + 1)
    size = sizes[1 + sizes * ordered > np.cumsum(ordered)].max()  # line 3
    threshold = (ordered[:size].sum() - 1) / size  # line 4
    result: Float64Array = np.maximum(row - threshold, 0.0)  # line 5
    return result
