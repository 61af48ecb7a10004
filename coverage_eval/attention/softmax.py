"""Softmax: the entropy-regularised projection onto the simplex (Malaviya et al. 2018, eq. 2)."""

import numpy as np
from numpy.typing import ArrayLike

from coverage_eval.attention._inputs import FloatArray, prepare


def softmax(z: ArrayLike, *, axis: int = -1, mask: ArrayLike | None = None) -> FloatArray:
    r"""Softmax along one axis.

    Solves :math:`\max_{\alpha \in \Delta^J} z^\top \alpha + H(\alpha)` with the entropy
    :math:`H(\alpha) = -\sum_j \alpha_j \log \alpha_j`; the solution is
    :math:`\alpha_j = \exp(z_j) / \sum_i \exp(z_i)` (Malaviya et al. 2018, eq. 2; Madsen et al.
    2017, eq. 1). The largest score is subtracted first, so no magnitude overflows. Time O(J).

    Args:
        z: scores, any shape; −inf marks padding.
        axis: the axis that is normalised.
        mask: True where a position may be used, broadcast against ``z``; None for all.

    Returns:
        Attention of the shape of ``z``, in [0, 1], summing to 1 along ``axis``; 0 at padding.
        float32 stays float32, everything else becomes float64.

    Raises:
        AttentionError: a NaN or +inf score, or a row without a usable position; names the row.
    """
    batch = prepare(z, axis=axis, mask=mask)
    with np.errstate(over="ignore"):  # the difference of two huge scores is -inf, rightly
        weights = np.exp(batch.scores - batch.top)
    return batch.restore(weights / weights.sum(axis=1, keepdims=True))
