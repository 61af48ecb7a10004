r"""Sparsemax, constrained softmax and constrained sparsemax for PyTorch.

The same maps as in :mod:`coverage_eval.attention`, their reference: for all rows together, on CPU
and CUDA, twice differentiable for scores **and** bounds in reverse and forward mode
(``torch.func.jvp``), and under ``torch.vmap``. Nothing here synchronises with the device, so
invalid input raises no error: the row becomes **NaN**. A row is invalid if it has a NaN, no usable
position, a bound below 0, or bounds that sum to less than 1 (beyond rounding).

**An exhausted word** (bound 0) gets attention 0, and the gradient for its score is 0. With
constrained softmax the gradient for its bound says what more credit would change. With constrained
sparsemax it is 0 by convention, because the attention does not show whether more credit would be
used.

**If all words with attention are at their bounds**, the gradient for the scores is 0, and for the
bounds it is that of changes that keep their sum, as credit that earlier steps have spent does.
:mod:`coverage_eval.attention.gradients` explains both.

``torch.compile`` puts them into one graph; before PyTorch 2.4 it breaks the graph at each of them.
The constrained maps are computed in float64, gradients in at least float32; only results are
rounded to the type of the input.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from coverage_eval.attention import AttentionError
from coverage_eval.attention.inputs import PRINTED, ROUNDING_BELOW

#: Bounds whose sum exceeds 1 by no more than this many roundings of float64 are the solution.
ROUNDING_ABOVE = 16
#: Exponentials above exp of this are at their bound (see ``HIGHEST`` of the reference).
_HIGHEST = 100.0
#: Keeps 0 / 0 from being NaN.
_TINY = torch.finfo(torch.float32).tiny


def softmax(z: Tensor, dim: int = -1, mask: Tensor | None = None) -> Tensor:
    """PyTorch's softmax with a mask, True where a position may be used; NaN where none may."""
    return (z if mask is None else torch.where(mask, z, -math.inf)).softmax(dim)


def sparsemax(z: Tensor, dim: int = -1, mask: Tensor | None = None) -> Tensor:
    r"""Sparsemax: :math:`\arg\min_{\alpha \in \Delta^J} \|\alpha - z\|^2`.

    Malaviya et al. 2018, eq. 3; Madsen et al. 2017, eq. 2. Time O(J log J) per row.

    Args:
        z: scores, any shape; −inf marks padding.
        dim: the dimension that is normalised.
        mask: True where a position may be used, broadcast against ``z``; None for all.

    Returns:
        Attention of the broadcast shape, in the type of ``z``, summing to 1 along ``dim``, exactly
        0 off the support. NaN for invalid rows, as the module's docstring says.
    """
    scores, _, dtype = _rows(z, None, dim, mask)
    return _restored(_apply(_Sparsemax, scores), dtype, dim)


def constrained_softmax(
    z: Tensor, u: Tensor | float, dim: int = -1, mask: Tensor | None = None
) -> Tensor:
    r"""Constrained softmax: the distribution nearest to softmax(z) under upper bounds.

    :math:`\arg\min_{\alpha \in \Delta^J} \mathrm{KL}(\alpha \| \mathrm{softmax}(z))` subject to
    :math:`\alpha \le u` (Malaviya et al. 2018, eq. 4, after Martins and Kreutzer 2017). Time
    O(J log J) per row.

    Args:
        z: scores, any shape; −inf marks padding.
        u: upper bounds, broadcast against ``z``: 0 for an exhausted word, +inf for the sink.
        dim: the dimension that is normalised, in the broadcast shape.
        mask: True where a position may be used, broadcast against ``z``; None for all.

    Returns:
        Attention of the broadcast shape, in the common type of ``z`` and ``u``: 0 <= α <= u,
        summing to 1 along ``dim``. Bounds that sum to 1 are returned exactly. NaN for invalid
        rows, as the module's docstring says.
    """
    scores, bounds, dtype = _rows(z, u, dim, mask)
    return _restored(_apply(_ConstrainedSoftmax, scores, bounds), dtype, dim)


def constrained_sparsemax(
    z: Tensor, u: Tensor | float, dim: int = -1, mask: Tensor | None = None
) -> Tensor:
    r"""Constrained sparsemax: :math:`\arg\min \|\alpha - z\|^2` over the simplex, under bounds.

    Malaviya et al. 2018, eq. 6. Time O(J log J) per row.

    Args:
        z: scores, any shape; −inf marks padding.
        u: upper bounds, broadcast against ``z``: 0 for an exhausted word, +inf for the sink.
        dim: the dimension that is normalised, in the broadcast shape.
        mask: True where a position may be used, broadcast against ``z``; None for all.

    Returns:
        Attention of the broadcast shape, in the common type of ``z`` and ``u``: 0 <= α <= u,
        summing to 1 along ``dim``, exactly 0 off the support and exactly u at the bound. Bounds
        that sum to 1 are returned exactly. NaN for invalid rows, as the module's docstring says.
    """
    scores, bounds, dtype = _rows(z, u, dim, mask)
    return _restored(_apply(_ConstrainedSparsemax, scores, bounds), dtype, dim)


def sparsemax_loss(z: Tensor, q: Tensor, dim: int = -1) -> Tensor:
    r"""The loss whose gradient for the scores is sparsemax(z) − q (Madsen et al. 2017, eq. 10).

    :math:`p^\top (z - p / 2) + q^\top (q / 2 - z)` with :math:`p = \mathrm{sparsemax}(z)`, which is
    where the first term is largest. Its second derivative for z is sparsemax's first.

    Args:
        z: scores, any shape.
        q: target distributions, broadcast against ``z``.
        dim: the dimension of the distribution.

    Returns:
        The loss per row, at least 0: the broadcast shape without ``dim``.
    """
    near = z - z.detach().amax(dim, keepdim=True)  # shifting all scores changes only rounding
    p = sparsemax(z, dim)  # where p > 0, z - p is the threshold, so p's own change adds nothing
    return (p * (near - p / 2) + q * (q / 2 - near)).sum(dim)


def _rows(
    z: Tensor, u: Tensor | float | None, dim: int, mask: Tensor | None
) -> tuple[Tensor, Tensor, torch.dtype]:
    """Scores and bounds in one shape, float32 or float64, ``dim`` last; and the result's type."""
    z = z if z.is_floating_point() else z.float()
    bounds = z if u is None else u if isinstance(u, Tensor) else torch.full_like(z, u)
    dtype = torch.promote_types(z.dtype, bounds.dtype)
    wide = torch.promote_types(dtype, torch.float32)
    if mask is not None:
        z = torch.where(mask, z, -math.inf)
    scores, bounds = z.to(wide), bounds.to(wide)
    if scores.shape != bounds.shape:
        scores, bounds = torch.broadcast_tensors(scores, bounds)
    if dim not in (-1, scores.dim() - 1):  # a view costs as much as a sum of a short row
        scores, bounds = scores.movedim(dim, -1), bounds.movedim(dim, -1)
    if not scores.shape[-1]:
        raise AttentionError("a distribution over no positions: the scores have an empty dimension")
    return scores, bounds, dtype


def _restored(alpha: Tensor, dtype: torch.dtype, dim: int) -> Tensor:
    """The attention in the wanted type, with its last dimension moved back."""
    alpha = alpha.to(dtype)
    return alpha if dim in (-1, alpha.dim() - 1) else alpha.movedim(-1, dim)


# Rows of attention are short, so the cost of a decoder's step is its number of operations. Below
# there are as few as possible; ``where`` with a number, which takes two, is avoided.


class _Sparsemax(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(z: Tensor) -> Tensor:
        r"""The threshold is the greatest of all :math:`\tau_k = (\sum_{i\le k} z_{(i)} - 1)/k`."""
        z = z - z.amax(-1, keepdim=True)
        ordered = z.sort(-1, descending=True).values
        size = torch.arange(1, z.shape[-1] + 1, device=z.device, dtype=z.dtype)
        threshold = ((ordered.cumsum(-1) - 1) / size).amax(-1, keepdim=True)
        return (z - threshold).relu()

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor], output: Tensor) -> None:
        del inputs
        ctx.save_for_backward(output)
        ctx.save_for_forward(output)

    @staticmethod
    def backward(ctx: Any, d_alpha: Tensor) -> Tensor:
        return _pulled_back(d_alpha, _Sparsemax.moving(*ctx.saved_tensors)[0])[0]

    @staticmethod
    def moving(alpha: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The weights w; no position has a bound; and the weights of m."""
        weights = (alpha > 0).to(alpha.dtype)
        return weights, torch.ones_like(alpha, dtype=torch.bool), weights


class _ConstrainedSoftmax(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(z: Tensor, u: Tensor) -> Tensor:
        r"""α = min{u, exp(z) / Z}; sorting by exp(z) / u gives J candidates for Z: take the least.

        If the positions with larger ratios are at their bounds, the others share what is left, and
        Z is the sum of their exp(z) divided by what is left. Fixing the next position at its bound
        makes Z smaller as long as it would exceed its bound, and larger afterwards. Exponentials
        are relative to the ratio at which the bounds reach 1, because Z is at least that and not
        much more.
        """
        dtype, (z, u) = z.dtype, _in_float64(z, u)
        total = u.sum(-1, keepdim=True)
        ordered, order = (z - u.log()).sort(-1)  # words without credit last, as inf or NaN
        left = u.gather(-1, order).cumsum(-1) - total + 1
        reaching = ordered.gather(-1, (left <= 0).sum(-1, keepdim=True))
        weights = (z - reaching).clamp(max=_HIGHEST).exp()
        sums = weights.gather(-1, order).cumsum(-1).clamp(min=_TINY)
        alpha = torch.minimum(weights * (left / sums).amax(-1, keepdim=True), u)
        return _checked(alpha, u, total, dtype)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
        ctx.save_for_backward(output, *inputs)
        ctx.save_for_forward(output, *inputs)

    @staticmethod
    def backward(ctx: Any, d_alpha: Tensor) -> tuple[Tensor, Tensor]:
        return _pulled_back(d_alpha, *_ConstrainedSoftmax.moving(*ctx.saved_tensors))

    @staticmethod
    def moving(alpha: Tensor, z: Tensor, u: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The weights w, which positions are not held by their bounds, and the weights of m."""
        free = alpha < u
        weights = alpha.masked_fill(~free, 0)
        return weights, free | (z == -math.inf), _sharing(alpha, weights)


class _ConstrainedSparsemax(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(z: Tensor, u: Tensor) -> Tensor:
        r"""α = max{0, min{u, z − τ}} (Proposition 1), with τ between two split points.

        As τ falls from the highest score, a position is strictly between 0 and its bound while τ is
        between z and z − u, and the sum of α grows at a rate equal to the number of such positions.
        As in the reference, scores are relative to the one at which the bounds, summed from the
        highest score down, reach 1: τ is at most 1 below it, so scores can be clipped to a distance
        of 1, and the others are exact.
        """
        dtype, (z, u) = z.dtype, _in_float64(z, u)
        total, positions = u.sum(-1, keepdim=True), z.shape[-1]
        descending, by_score = z.sort(-1, descending=True)
        short = (u.gather(-1, by_score).cumsum(-1) < 1).sum(-1, keepdim=True)
        near = (z - descending.gather(-1, short.clamp(max=positions - 1))).clamp(-1, 1)
        points, order = torch.cat([near, near - u], -1).sort(-1, descending=True)
        within = (positions - 0.5 - order).sign().cumsum(-1)  # |A| of eq. 11 below each point
        higher, lower = points[..., :-1], points[..., 1:]
        mass = (within[..., :-1] * (higher - lower)).cumsum(-1)
        last = (mass < 1).sum(-1, keepdim=True).clamp(max=2 * positions - 2)
        size = within.gather(-1, last).clamp(min=1)
        above = near - lower.gather(-1, last) - (mass.gather(-1, last) - 1) / size
        # Gradients depend on which positions are at 0 or at the bound: rounding must not decide.
        nearly = 2 * positions * torch.finfo(z.dtype).eps
        alpha = torch.where(above > u - nearly, u, nn.functional.threshold(above, nearly, 0))
        return _checked(alpha, u, total, dtype)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
        ctx.save_for_backward(output, inputs[1])
        ctx.save_for_forward(output, inputs[1])

    @staticmethod
    def backward(ctx: Any, d_alpha: Tensor) -> tuple[Tensor, Tensor]:
        return _pulled_back(d_alpha, *_ConstrainedSparsemax.moving(*ctx.saved_tensors))

    @staticmethod
    def moving(alpha: Tensor, u: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The weights w, which positions no positive bound holds, and the weights of m."""
        positive = alpha > 0
        interior = positive & (alpha < u)
        weights = interior.to(alpha.dtype)
        return weights, positive == interior, _sharing(alpha, weights)


def rounding_below(dtype: torch.dtype) -> float:
    """How far below 0 or 1 bounds and their sums are accepted, as in the reference."""
    return max(ROUNDING_BELOW * torch.finfo(dtype).eps, PRINTED)


def _in_float64(z: Tensor, u: Tensor) -> tuple[Tensor, Tensor]:
    """Scores, and bounds clipped to [0, 1], 0 at padding and NaN if invalid.

    In float32, z − u would lose the bounds if scores are some thousands.
    """
    limited = nn.functional.threshold(u, -rounding_below(u.dtype), math.nan).clamp(0, 1)
    return z.double(), limited.masked_fill(z == -math.inf, 0).double()


def _checked(alpha: Tensor, u: Tensor, total: Tensor, dtype: torch.dtype) -> Tensor:
    """The attention, replaced by the bounds where these sum to 1, by NaN where they sum to less."""
    eps = torch.finfo(dtype).eps
    excess = max(2 * eps, ROUNDING_ABOVE * torch.finfo(u.dtype).eps)
    alpha = torch.where(total <= 1 + excess, u, alpha)
    return alpha.masked_fill_(total < 1 - rounding_below(dtype), math.nan).to(dtype)


def _sharing(alpha: Tensor, weights: Tensor) -> Tensor:
    """The weights of m: w, or without an interior position 1 for every position with attention."""
    return torch.where((weights > 0).any(-1, keepdim=True), weights, (alpha > 0).to(weights.dtype))


def _pulled_back(
    d_alpha: Tensor, weights: Tensor, loose: Tensor | None = None, sharing: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """The gradients for scores and bounds, as in :mod:`coverage_eval.attention.gradients`.

    With m the mean of ``dα`` weighted by ``sharing``, the gradient for a score is its weight times
    ``dα − m``, and for a bound that holds its position ``dα − m``.
    """
    sharing = weights if sharing is None else sharing
    inner = d_alpha.masked_fill(sharing == 0, 0)  # dα may be infinite at fixed positions
    total = sharing.sum(-1, keepdim=True)
    mean = (sharing * inner).sum(-1, keepdim=True) / total.clamp(min=_TINY)
    d_z = weights * (inner - mean)
    if loose is None:
        return d_z, d_z
    return d_z, (d_alpha - mean).masked_fill_(loose | (total == 0), 0)


def _pushed_forward(
    d_z: Tensor, d_u: Tensor | None, weights: Tensor, loose: Tensor, sharing: Tensor
) -> Tensor:
    """The change of the attention; what some positions gain, the others lose by weight."""
    total = sharing.sum(-1, keepdim=True)
    moved = weights * d_z.masked_fill(weights == 0, 0)
    if d_u is not None:
        moved = moved + d_u.masked_fill(loose | (total == 0), 0)
    return moved - sharing / total.clamp(min=_TINY) * moved.sum(-1, keepdim=True)


# Forward mode. torch.compile rejects functions with a jvp, so it gets those above.


def _with_forward_mode(function: Any) -> Any:
    class Forward(function):
        @staticmethod
        def jvp(ctx: Any, d_z: Tensor, d_u: Tensor | None = None) -> Tensor:
            return _pushed_forward(d_z, d_u, *function.moving(*ctx.saved_tensors))

    return Forward


_FORWARD_MODE = {
    function: _with_forward_mode(function)
    for function in (_Sparsemax, _ConstrainedSoftmax, _ConstrainedSparsemax)
}


def _apply(function: Any, *inputs: Any) -> Tensor:
    if torch.compiler.is_compiling():
        return function.apply(*inputs)
    function = _FORWARD_MODE[function]
    if torch._C._are_functorch_transforms_active():
        return function.apply(*inputs)
    # What apply does without torch.func, except that it inspects the signature (40 of 240 µs).
    return super(torch.autograd.Function, function).apply(*inputs)
