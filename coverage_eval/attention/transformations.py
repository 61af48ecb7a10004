r"""From scores to attention: softmax, sparsemax, constrained softmax, constrained sparsemax.

To add a transformation, write a file with its function and gradients, and add a line to
:data:`TRANSFORMATIONS`: steps, plots, audits and commands choose from these by name.

Both constrained transformations compute the attention from the scores, the bounds and one number
per row: the threshold τ of constrained sparsemax, or the normaliser Z of constrained softmax. The
larger this number, the smaller the mass, that is, the sum of the attention. Each position reaches
its bound or 0 at its split points. The last split point where the mass is still at least 1 shows
which positions are at their bound and which at 0; a formula gives the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from coverage_eval.attention import gradients
from coverage_eval.attention.inputs import (
    AttentionError,
    BoolArray,
    Float64Array,
    FloatArray,
    prepare,
    row_sums,
)

#: Scores this far above the one at which the bounds reach 1 are at their bound, so larger ones can
#: be clipped to it: the normaliser is below exp(HIGHEST).
HIGHEST = 100.0


def softmax(z: ArrayLike, *, axis: int = -1, mask: ArrayLike | None = None) -> FloatArray:
    r"""Softmax along one axis: the entropy-regularised projection onto the simplex.

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
        float16 and float32 give float32, everything else float64.

    Raises:
        AttentionError: a NaN or +inf score, or a row without a usable position; names the row.
    """
    batch = prepare(z, axis=axis, mask=mask)
    with np.errstate(over="ignore"):  # for two huge scores, the difference -inf is right
        weights = np.exp(batch.scores - batch.top)
    return batch.restore(weights / weights.sum(axis=1, keepdims=True))


def sparsemax(z: ArrayLike, *, axis: int = -1, mask: ArrayLike | None = None) -> FloatArray:
    r"""Sparsemax along one axis: the Euclidean projection onto the simplex.

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
        support. float16 and float32 give float32, everything else float64.

    Raises:
        AttentionError: a NaN or +inf score, or a row without a usable position; names the row.
    """
    batch = prepare(z, axis=axis, mask=mask)
    # The threshold lies within 1 of the largest score, so scores further below are all alike:
    # raising them to -2 changes nothing and keeps the sums free of overflow and of infinities.
    with np.errstate(over="ignore"):
        shifted = np.maximum(batch.scores - batch.top, -2.0)
    # Madsen et al., Algorithm 2, lines 2-6, for all rows at once.
    s = -np.sort(-shifted, axis=1)
    c = np.cumsum(s, axis=1)
    k = np.arange(1, s.shape[1] + 1)
    size = (1 + k * s > c).sum(axis=1, keepdims=True)
    threshold = (np.take_along_axis(c, size - 1, axis=1) - 1) / size
    return batch.restore(np.maximum(shifted - threshold, 0.0))


def constrained_softmax(
    z: ArrayLike, u: ArrayLike, *, axis: int = -1, mask: ArrayLike | None = None
) -> FloatArray:
    r"""Constrained softmax along one axis: softmax under upper bounds.

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
        sum to 1 are returned exactly. float32 if all input is float16 or float32, else float64.

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
    """Constrained softmax for ``[R, J]`` rows with bounds that sum to more than 1."""
    near = z - _reaching_score(z, u)
    weights = np.exp(np.minimum(near, HIGHEST))
    # A position is at its bound for all Z below its split point. At Z = 1 all scores from 0 up are
    # at their bounds, so Z is at least 1, and so may be the split point 0 / 0 of padding.
    split_points = np.fmax(weights / u, 1.0)
    start = _last_where(
        np.sort(split_points, axis=1),
        lambda level: row_sums(np.minimum(u, weights / level)) >= 1.0,
    )
    at_bound = split_points > start
    left = 1.0 - row_sums(u * at_bound)
    free = np.where(at_bound, -np.inf, near)
    shares = np.exp(free - free.max(axis=1, initial=-np.inf, keepdims=True))
    attention = shares * (left / row_sums(shares))
    return np.where(at_bound, u, np.clip(attention, 0.0, u))


def constrained_sparsemax(
    z: ArrayLike, u: ArrayLike, *, axis: int = -1, mask: ArrayLike | None = None
) -> FloatArray:
    r"""Constrained sparsemax along one axis: sparsemax under upper bounds.

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
        float32 if all input is float16 or float32, else float64.

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
    """Constrained sparsemax for ``[R, J]`` rows with bounds that sum to more than 1."""

    def mass(above: Float64Array) -> Float64Array:  # the sum of max{0, min{u, z − τ}}, [R, 1]
        return row_sums(np.clip(above, 0.0, u))

    # The threshold is at most 1 below the score at which the bounds reach 1. Scores further away
    # are at their bound or at 0, and remain so if clipped to a distance of 1.
    with np.errstate(over="ignore"):
        near = np.clip(z - _reaching_score(z, u), -1.0, 1.0)
    lower = near - u
    split_points = np.sort(np.concatenate([lower, near], axis=1), axis=1)
    start = _last_where(split_points, lambda tau: mass(near - tau) >= 1.0)
    # No split point lies between start and τ. So start determines A, the positions with 0 < α < u,
    # and Σ_A (z − τ) + Σ_{A_R} u = 1 (eq. 11) gives the distance from start to τ.
    size = row_sums(1.0 * ((lower <= start) & (start < near)))
    above = near - start
    for _ in range(2):  # the second pass removes the rounding of the first
        above = above - (mass(above) - 1.0) / np.maximum(size, 1)
    return np.clip(above, 0.0, u)


def _last_where(points: Float64Array, holds: Callable[[Float64Array], BoolArray]) -> Float64Array:
    """For each row, the last point where a condition holds, by binary search.

    Args:
        points: ``[R, K]``, ascending along each row.
        holds: whether the condition holds at one point per row, ``[R, 1]`` to ``[R, 1]``. It must
            hold at the first point, and at all points before one where it holds.

    Returns:
        ``[R, 1]``, after log K calls of the condition.
    """
    rows = np.arange(len(points))
    low, high = np.zeros_like(rows), np.full_like(rows, points.shape[1])
    for _ in range(points.shape[1].bit_length()):
        middle = (low + high) // 2
        there = holds(points[rows, middle, None])[:, 0]
        low, high = np.where(there, middle, low), np.where(there, high, middle)
    return points[rows, low, None]


def _reaching_score(scores: Float64Array, bounds: Float64Array) -> Float64Array:
    """The score at which the bounds of each row, summed from its highest score down, reach 1.

    It is one of the scores, and close to the threshold of either transformation. So relative to it
    the scores that matter are near 0 and exact, whatever their magnitude.

    Args:
        scores: ``[R, J]``.
        bounds: ``[R, J]``, summing to at least 1 in each row.

    Returns:
        ``[R, 1]``.
    """
    return _last_where(
        np.sort(scores, axis=1), lambda score: row_sums(bounds * (scores >= score)) >= 1.0
    )


@dataclass(frozen=True)
class Transformation:
    """A map from scores to attention, with or without upper bounds.

    Attributes:
        name: the name of the function.
        label: the name in tables and plots, as in the paper.
        bounded: whether it takes upper bounds, after the scores.
        function: maps scores (and bounds) to attention; takes ``axis`` and ``mask``.
        vjp: maps the gradient for the attention, the attention (and the bounds) to the gradient
            for the scores (and for the bounds); takes ``axis`` and, if bounded, ``mask``.
    """

    name: str
    label: str
    bounded: bool
    function: Callable[..., FloatArray]
    vjp: Callable[..., Any]

    def __call__(
        self, z: ArrayLike, u: ArrayLike, *, axis: int = -1, mask: ArrayLike | None = None
    ) -> FloatArray:
        """Transform scores to attention; an unbounded transformation ignores the bounds."""
        bounds = (u,) if self.bounded else ()
        return self.function(z, *bounds, axis=axis, mask=mask)


#: By name, in the order in which they are shown.
TRANSFORMATIONS: Mapping[str, Transformation] = {
    transformation.name: transformation
    for transformation in (
        Transformation("softmax", "softmax", False, softmax, gradients.softmax_vjp),
        Transformation("sparsemax", "sparsemax", False, sparsemax, gradients.sparsemax_vjp),
        Transformation(
            "constrained_softmax", "csoftmax", True,
            constrained_softmax, gradients.constrained_softmax_vjp,
        ),
        Transformation(
            "constrained_sparsemax", "csparsemax", True,
            constrained_sparsemax, gradients.constrained_sparsemax_vjp,
        ),
    )
}  # fmt: skip


def find_transformation(name: str) -> Transformation:
    """Find a transformation by name or label.

    Raises:
        AttentionError: there is none; lists all names.
    """
    for transformation in TRANSFORMATIONS.values():
        if name in (transformation.name, transformation.label):
            return transformation
    raise AttentionError(
        f"unknown transformation {name!r}: use one of {', '.join(TRANSFORMATIONS)}"
    )
