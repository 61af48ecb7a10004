"""The losses whose gradient is the transformation minus the target.

The sparsemax loss (Madsen et al. 2017, eqs. 8 to 10) and the cross-entropy, its counterpart for
softmax. Both are convex and least where the transformation gives
the target; there the sparsemax loss is 0, and the cross-entropy is the entropy of the target.
"""

import numpy as np
from numpy.typing import ArrayLike

from coverage_eval.attention.inputs import AttentionError, FloatArray
from coverage_eval.attention.transformations import sparsemax


def sparsemax_loss(z: ArrayLike, q: ArrayLike, *, axis: int = -1) -> FloatArray:
    r"""Sparsemax loss of scores against a target distribution.

    :math:`L(z; q) = \frac12 \sum_{j \in S(z)} (z_j^2 - \tau^2(z)) + \frac12 \|q\|^2 - q^\top z`
    (Madsen et al. 2017, eq. 8). Computed as
    :math:`\frac12\|q - p\|^2 + \sum_j (p_j - q_j)(z_j - p_j)` with :math:`p =
    \mathrm{sparsemax}(z)`, which is eq. 9 rearranged. Since adding a constant to all scores changes
    nothing, scores are taken relative to the largest, so the loss stays exact for large scores.

    Args:
        z: scores, any shape, finite.
        q: target distributions, broadcast against ``z``.
        axis: the axis of the distribution.

    Returns:
        The loss per row: the broadcast shape without ``axis``; at least 0.

    Raises:
        AttentionError: a NaN or infinite score.
    """
    return sparsemax_loss_and_gradient(z, q, axis=axis)[0]


def sparsemax_loss_and_gradient(
    z: ArrayLike, q: ArrayLike, *, axis: int = -1
) -> tuple[FloatArray, FloatArray]:
    r""":func:`sparsemax_loss` and its gradient, :math:`\mathrm{sparsemax}(z) - q` (eq. 6).

    Args and errors are those of :func:`sparsemax_loss`.
    """
    scores, target = _finite(z, q)
    p = sparsemax(scores, axis=axis)
    shifted = scores - scores.max(axis=axis, keepdims=True)
    terms = (target - p) ** 2 / 2 + (p - target) * (shifted - p)
    return np.asarray(terms.sum(axis=axis)), np.asarray(p - target)


def cross_entropy(z: ArrayLike, q: ArrayLike, *, axis: int = -1) -> FloatArray:
    r"""Cross-entropy of softmax: :math:`\log\sum_j \exp(z_j) - q^\top z`.

    Args:
        z: scores, any shape, finite.
        q: target distributions, broadcast against ``z``.
        axis: the axis of the distribution.

    Returns:
        The loss in nats per row: the broadcast shape without ``axis``.

    Raises:
        AttentionError: a NaN or infinite score.
    """
    return cross_entropy_and_gradient(z, q, axis=axis)[0]


def cross_entropy_and_gradient(
    z: ArrayLike, q: ArrayLike, *, axis: int = -1
) -> tuple[FloatArray, FloatArray]:
    r""":func:`cross_entropy` and its gradient, :math:`\mathrm{softmax}(z) - q`.

    Args and errors are those of :func:`cross_entropy`.
    """
    scores, target = _finite(z, q)
    shifted = scores - scores.max(axis=axis, keepdims=True)
    weights = np.exp(shifted)
    total = weights.sum(axis=axis, keepdims=True)
    loss = np.log(total).sum(axis=axis) - (target * shifted).sum(axis=axis)
    return np.asarray(loss), np.asarray(weights / total - target)


def _finite(z: ArrayLike, q: ArrayLike) -> tuple[FloatArray, FloatArray]:
    scores, target = np.broadcast_arrays(z, q)
    dtype = np.result_type(scores, target, np.float32)
    scores, target = scores.astype(dtype), target.astype(dtype)
    if not np.isfinite(scores).all():
        raise AttentionError("a loss needs finite scores")
    return scores, target
