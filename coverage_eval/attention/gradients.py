r"""Gradients of the four transformations: vector-Jacobian products.

The constrained ones follow Proposition 1 and Appendix A.2 of Malaviya et al. 2018 (eqs. 7-8 and
13-16) and Martins and Kreutzer 2017. The positions of a row fall into

* :math:`\mathcal{A}`, strictly between 0 and the bound (for the softmaxes: below the bound),
* :math:`\mathcal{A}_R`, at the bound, and :math:`\mathcal{A}_L`, at 0.

These sets are read off the attention itself, because the forward functions are exact: a position
outside the support is exactly 0, and one at its bound exactly equals it. At the kinks between the
sets the functions return a one-sided derivative.

All four gradients have one form. On :math:`\mathcal{A}` each position has a **weight** :math:`w_j`
by which it moves with its score: its attention for the softmaxes, 1 for the sparsemaxes. Elsewhere
the weight is 0. What one position gains, the others lose in proportion to their weights:
:math:`\partial\alpha / \partial z = \mathrm{Diag}(w) - w w^\top / \sum_j w_j`.

**No interior position** (:math:`\mathcal{A} = \emptyset`): the bounds that were reached sum to 1.
Eqs. 7-8 are silent there, as they divide by :math:`|\mathcal{A}|`; the authors' code takes 0, which
is wrong through time. Within a credit that earlier steps have spent, the bounds of
:math:`\mathcal{A}_R` keep their sum whatever the scores of those steps (with fertilities that are
whole numbers, this happens at many steps), and the attention follows its bounds: :math:`d\alpha =
du` on :math:`\mathcal{A}_R`. So the gradient for a bound is :math:`d\alpha_j` less the mean of
:math:`d\alpha` over the positive bounds, that is, its projection onto changes that keep the sum;
any other number in the place of the mean would give the same gradient for the scores of earlier
steps. The gradient for the scores of the step itself is 0. A change of the **sum** of these bounds,
by other fertilities, has no derivative: if it grows, the position with the least :math:`z_j - u_j`
leaves its bound; if it shrinks, the highest of the others gets attention.

**An exhausted word** (bound 0) has attention 0, and the gradient for its score is 0. It is at 0 and
at its bound. Constrained softmax would use more credit whatever the score, so the word belongs to
:math:`\mathcal{A}_R` and its bound has a gradient. Constrained sparsemax would use more credit only
if the score is above the threshold. The attention does not show that, so the word belongs to
:math:`\mathcal{A}_L` and the gradient for its bound is **zero by convention**, as in the authors'
code. :mod:`coverage_eval.torch` has the same conventions.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coverage_eval.attention.inputs import (
    AttentionError,
    BoolArray,
    FloatArray,
    usable_positions,
)


def softmax_vjp(d_alpha: ArrayLike, alpha: ArrayLike, *, axis: int = -1) -> FloatArray:
    r"""Gradient for the scores: :math:`dz_j = \alpha_j (d\alpha_j - \sum_i \alpha_i d\alpha_i)`.

    Args:
        d_alpha: gradient of the loss for the attention, of the shape of ``alpha``.
        alpha: what :func:`~coverage_eval.attention.softmax` returned.
        axis: the axis of the distribution.

    Returns:
        Gradient for ``z``, of the shape of ``alpha``; it sums to 0 along ``axis``.

    Raises:
        AttentionError: shapes that differ.
    """
    gradient, attention = _same_shape(d_alpha, alpha)
    return _vjp(gradient, attention, attention, axis)[0]


def sparsemax_vjp(d_alpha: ArrayLike, alpha: ArrayLike, *, axis: int = -1) -> FloatArray:
    r"""Gradient for the scores: :math:`dz = s \odot (d\alpha - \hat v \mathbf 1)`.

    :math:`s` marks the support and :math:`\hat v` is the mean of :math:`d\alpha` over it (Madsen
    et al. 2017, eq. 5, where the norm in the denominator must be the 1-norm, the size of the
    support).

    Args:
        d_alpha: gradient of the loss for the attention, of the shape of ``alpha``.
        alpha: what :func:`~coverage_eval.attention.sparsemax` returned.
        axis: the axis of the distribution.

    Returns:
        Gradient for ``z``, of the shape of ``alpha``, 0 off the support; it sums to 0.

    Raises:
        AttentionError: shapes that differ.
    """
    gradient, attention = _same_shape(d_alpha, alpha)
    return _vjp(gradient, attention, attention > 0, axis)[0]


def constrained_softmax_vjp(
    d_alpha: ArrayLike,
    alpha: ArrayLike,
    u: ArrayLike,
    *,
    axis: int = -1,
    mask: ArrayLike | None = None,
) -> tuple[FloatArray, FloatArray]:
    r"""Gradients for the scores and for the bounds (Martins and Kreutzer 2017).

    With :math:`m = \sum_{i \in \mathcal A} \alpha_i d\alpha_i / \sum_{i \in \mathcal A} \alpha_i`:
    :math:`dz_j = 1(j \in \mathcal A)\, \alpha_j (d\alpha_j - m)` and
    :math:`du_j = 1(j \notin \mathcal A)(d\alpha_j - m)`. Time O(J) per row.

    Args:
        d_alpha: gradient of the loss for the attention, of the shape of ``alpha``.
        alpha: what :func:`~coverage_eval.attention.constrained_softmax` returned.
        u: the upper bounds it was given, broadcast against ``alpha``.
        axis: the axis of the distribution.
        mask: the mask it was given. Needed if padding has bounds of 0: without the mask, padding
            looks like an exhausted word, whose ``du`` is not 0.

    Returns:
        Gradients for ``z`` and ``u``, both of the shape of ``alpha``. The former sums to 0. In rows
        without a free position it is 0, and m is the mean of :math:`d\alpha` over the attention.

    Raises:
        AttentionError: shapes that do not fit.
    """
    gradient, attention = _same_shape(d_alpha, alpha)
    usable, below = _usable(mask, attention), attention < _bounds(u, attention)
    return _vjp(gradient, attention, np.where(below, attention, 0), axis, fixed=usable & ~below)


def constrained_sparsemax_vjp(
    d_alpha: ArrayLike,
    alpha: ArrayLike,
    u: ArrayLike,
    *,
    axis: int = -1,
    mask: ArrayLike | None = None,
) -> tuple[FloatArray, FloatArray]:
    r"""Gradients for the scores and for the bounds (Malaviya et al. 2018, eqs. 7-8, 15-16).

    With :math:`m` the mean of :math:`d\alpha` over :math:`\mathcal A`:
    :math:`dz_j = 1(j \in \mathcal A)(d\alpha_j - m)` and
    :math:`du_j = 1(j \in \mathcal A_R)(d\alpha_j - m)`.

    An exhausted word (bound 0) belongs to :math:`\mathcal A_L`, so its ``du`` is 0, as in the
    authors' code (see :mod:`coverage_eval.attention.gradients`). This dense form takes O(J) per
    row.

    Args:
        d_alpha: gradient of the loss for the attention, of the shape of ``alpha``.
        alpha: what :func:`~coverage_eval.attention.constrained_sparsemax` returned.
        u: the upper bounds it was given, broadcast against ``alpha``.
        axis: the axis of the distribution.
        mask: the mask it was given, or None.

    Returns:
        Gradients for ``z`` and ``u``, both of the shape of ``alpha``. The former sums to 0. In rows
        with empty :math:`\mathcal A` it is 0, and m is the mean over :math:`\mathcal A_R`, where
        the paper has none (see :mod:`coverage_eval.attention.gradients`).

    Raises:
        AttentionError: shapes that do not fit.
    """
    gradient, attention = _same_shape(d_alpha, alpha)
    below, positive = attention < _bounds(u, attention), _usable(mask, attention) & (attention > 0)
    return _vjp(gradient, attention, positive & below, axis, fixed=positive & ~below)


def _vjp(
    gradient: FloatArray,
    attention: FloatArray,
    weights: NDArray[Any],
    axis: int,
    fixed: NDArray[Any] | bool = False,
) -> tuple[FloatArray, FloatArray]:
    """``w (dα - m)`` for scores, ``dα - m`` for bounds of fixed positions; m is weighted by w."""
    sharing = _sharing(attention, weights, axis)
    total = sharing.sum(axis=axis, keepdims=True)
    weighted = np.where(sharing > 0, gradient * sharing, 0).sum(axis=axis, keepdims=True)
    centred = gradient - np.divide(weighted, total, out=np.zeros_like(weighted), where=total > 0)
    d_scores = np.where(weights > 0, weights * centred, 0)
    return d_scores, np.where(fixed & (total > 0), centred, 0)


def _sharing(attention: FloatArray, weights: NDArray[Any], axis: int) -> NDArray[Any]:
    """The weights of m: w, or without an interior position 1 for every position with attention."""
    return np.where((weights > 0).any(axis=axis, keepdims=True), weights, attention > 0)


def constrained_sparsemax_jacobian(alpha: ArrayLike, u: ArrayLike) -> tuple[FloatArray, FloatArray]:
    r"""Jacobians of constrained sparsemax (Malaviya et al. 2018, eqs. 13 and 14).

    Args:
        alpha: ``[..., J]`` what :func:`~coverage_eval.attention.constrained_sparsemax` returned.
        u: the upper bounds it was given, broadcast against ``alpha``.

    Returns:
        The Jacobians for ``z`` and for ``u``, each ``[..., J, J]``; no row or column for exhausted
        words (see :func:`constrained_sparsemax_vjp`). Without an interior position, where eqs. 13
        and 14 are silent, the former is 0, and the latter is the projection :math:`\mathrm{Diag}(r)
        - r r^\top / |\mathcal A_R|` onto changes that keep the sum, r marking
        :math:`\mathcal A_R`.
    """
    attention = _float(alpha)
    below, positive = attention < _bounds(u, attention), attention > 0
    interior, full = positive & below, positive & ~below
    sharing = _sharing(attention, interior, -1).astype(attention.dtype)
    shares = (sharing / np.maximum(sharing.sum(axis=-1, keepdims=True), 1))[..., :, None]
    same = np.eye(attention.shape[-1], dtype=np.bool_)
    return interior[..., None, :] * (same - shares), full[..., None, :] * (same - shares)


def _float(values: ArrayLike) -> FloatArray:
    array = np.asarray(values)
    return array if array.dtype.kind == "f" else array.astype(np.float64)


def _same_shape(d_alpha: ArrayLike, alpha: ArrayLike) -> tuple[FloatArray, FloatArray]:
    gradient, attention = _float(d_alpha), _float(alpha)
    if gradient.shape != attention.shape:
        raise AttentionError(
            f"the gradient has shape {gradient.shape}, the attention {attention.shape}"
        )
    return gradient, attention


def _bounds(u: ArrayLike, attention: FloatArray) -> FloatArray:
    return np.broadcast_to(np.asarray(u, dtype=attention.dtype), attention.shape)


def _usable(mask: ArrayLike | None, attention: FloatArray) -> BoolArray:
    return np.broadcast_to(usable_positions(mask), attention.shape)
