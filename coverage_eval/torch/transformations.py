r"""Sparsemax, constrained softmax and constrained sparsemax for PyTorch: functions and modules.

The same maps as in :mod:`coverage_eval.attention`, which is their reference: all rows at once, on
CPU and CUDA, differentiable for scores **and** bounds, twice. Nothing here waits for the device, so
input for which a map is not defined raises no error: such a row comes back as **NaN**. That is a
row with a NaN, with no position to use, with a bound below 0, or with bounds that sum to less than
1, the latter two by more than rounding.

``torch.compile`` makes one graph of them, and with PyTorch before 2.4 breaks it at each of them.
The constrained maps are computed in float64, and gradients in float32 at least; only results are
rounded to the type of the input.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

#: As in the reference: this many roundings below 0 or 1 are rounding, more is an error.
ROUNDING_BELOW = 1024
#: Bounds whose sum exceeds 1 by no more than this many roundings of float64 are the solution.
ROUNDING_ABOVE = 16


def softmax(z: Tensor, dim: int = -1, mask: Tensor | None = None) -> Tensor:
    """PyTorch's softmax with a mask: True where a position may be used; NaN where none may."""
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
        0 off the support. NaN for rows of which the module's docstring tells.
    """
    scores, _, dtype = _rows(z, 1.0, dim, mask)
    return _Sparsemax.apply(scores).to(dtype).movedim(-1, dim)


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
        summing to 1 along ``dim``. Bounds that sum to 1 are returned exactly. NaN for rows of
        which the module's docstring tells.
    """
    scores, bounds, dtype = _rows(z, u, dim, mask)
    return _ConstrainedSoftmax.apply(scores, bounds).to(dtype).movedim(-1, dim)


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
        that sum to 1 are returned exactly. NaN for rows of which the module's docstring tells.
    """
    scores, bounds, dtype = _rows(z, u, dim, mask)
    return _ConstrainedSparsemax.apply(scores, bounds).to(dtype).movedim(-1, dim)


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
    near = z - z.detach().amax(dim, keepdim=True)  # shifting all scores changes nothing but digits
    return _Attained.apply(near, sparsemax(z, dim), dim) + (q * (q / 2 - near)).sum(dim)


class _Layer(nn.Module):
    """A transformation along one dimension, to put into a model by name; it has no parameters."""

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def extra_repr(self) -> str:
        """What the printed model shows."""
        return f"dim={self.dim}"


class Sparsemax(_Layer):
    """:func:`~coverage_eval.torch.sparsemax` along ``dim``."""

    def forward(self, z: Tensor, mask: Tensor | None = None) -> Tensor:
        """Attention of scores; a position may be used where the mask is True."""
        return sparsemax(z, self.dim, mask)


class ConstrainedSoftmax(_Layer):
    """:func:`~coverage_eval.torch.constrained_softmax` along ``dim``."""

    def forward(self, z: Tensor, u: Tensor | float, mask: Tensor | None = None) -> Tensor:
        """Attention of scores under upper bounds; True in the mask: may be used."""
        return constrained_softmax(z, u, self.dim, mask)


class ConstrainedSparsemax(_Layer):
    """:func:`~coverage_eval.torch.constrained_sparsemax` along ``dim``."""

    def forward(self, z: Tensor, u: Tensor | float, mask: Tensor | None = None) -> Tensor:
        """Attention of scores under upper bounds; True in the mask: may be used."""
        return constrained_sparsemax(z, u, self.dim, mask)


def _rows(
    z: Tensor, u: Tensor | float, dim: int, mask: Tensor | None
) -> tuple[Tensor, Tensor, torch.dtype]:
    """Scores and bounds of one shape in float32 or float64, ``dim`` last; the result's type."""
    z = z if z.is_floating_point() else z.float()
    bounds = u if isinstance(u, Tensor) else torch.full_like(z, u)
    dtype = torch.promote_types(z.dtype, bounds.dtype)
    wide = torch.promote_types(dtype, torch.float32)
    if mask is not None:
        z = torch.where(mask, z, -math.inf)
    scores, bounds = torch.broadcast_tensors(z.to(wide), bounds.to(wide))
    return scores.movedim(dim, -1), bounds.movedim(dim, -1), dtype


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

    @staticmethod
    def backward(ctx: Any, d_alpha: Tensor) -> Tensor:
        (alpha,) = ctx.saved_tensors
        support = alpha > 0
        return torch.where(support, _centred(d_alpha, support.to(alpha.dtype)), 0)


class _Attained(torch.autograd.Function):
    r""":math:`p^\top (z - p / 2)`, of which p is the maximiser: the gradient for z is p."""

    generate_vmap_rule = True

    @staticmethod
    def forward(z: Tensor, p: Tensor, dim: int) -> Tensor:
        return (p * (z - p / 2)).sum(dim)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor, int], output: Tensor) -> None:
        del output
        ctx.save_for_backward(inputs[1])
        ctx.dim = inputs[2]

    @staticmethod
    def backward(ctx: Any, d_loss: Tensor) -> tuple[Tensor, None, None]:
        (p,) = ctx.saved_tensors
        return d_loss.unsqueeze(ctx.dim) * p, None, None


class _ConstrainedSoftmax(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(z: Tensor, u: Tensor) -> Tensor:
        r"""α = min{u, exp(z) / Z}; Z is the least of all that sorting by exp(z) / u proposes.

        If the k positions with the largest ratios are at their bounds, the others share what these
        leave, and :math:`Z_k = \sum_{i>k} \exp(z_i) / (1 - \sum_{i\le k} u_i)`. While the next
        position is above its bound, fixing it there makes Z smaller, and from then on larger.
        """
        dtype, (z, u) = z.dtype, _in_float64(z, u)
        log_ratio = z - u.clamp(min=torch.finfo(u.dtype).tiny).log()
        order = log_ratio.argsort(-1, descending=True)
        u_ordered, z_ordered = u.gather(-1, order), z.gather(-1, order)
        left = 1 - (u_ordered.cumsum(-1) - u_ordered)
        rest = z_ordered.flip(-1).logcumsumexp(-1).flip(-1)
        proposed = torch.where((left > 0) & (rest > -math.inf), rest - left.log(), math.inf)
        at_bound = log_ratio > proposed.amin(-1, keepdim=True)
        shares = z.masked_fill(at_bound, -math.inf).softmax(-1)
        shares = shares * (1 - (u * at_bound).sum(-1, keepdim=True))
        return _checked(torch.where(at_bound, u, torch.minimum(shares, u)), u, dtype)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
        ctx.save_for_backward(output, *inputs)

    @staticmethod
    def backward(ctx: Any, d_alpha: Tensor) -> tuple[Tensor, Tensor]:
        alpha, z, u = ctx.saved_tensors
        below = alpha < u
        weights = torch.where(below, alpha, 0)
        centred = _centred(d_alpha, weights)
        d_z = torch.where(weights > 0, weights * centred, 0)
        return d_z, torch.where(~below & (z != -math.inf), centred, 0)


class _ConstrainedSparsemax(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(z: Tensor, u: Tensor) -> Tensor:
        r"""α = max{0, min{u, z − τ}} (Proposition 1), with τ between two split points.

        When τ falls from the highest score, a position is strictly within its bounds between z and
        z − u, and the sum of α grows with as many positions as are.
        """
        dtype, (z, u) = z.dtype, _in_float64(z, u)
        z = z.masked_fill(z == -math.inf, 0)  # where the bound is 0 any score will do
        lower = z - u
        points, order = torch.cat([z, lower], -1).sort(-1, descending=True)
        within = torch.where(order < z.shape[-1], 1.0, -1.0).to(z.dtype).cumsum(-1)
        # No gap in which a position is within its bounds is wider than 1.
        mass = (within[..., :-1] * -points.diff(dim=-1).clamp(min=-1)).cumsum(-1)
        start = torch.where(mass >= 1, points[..., 1:], points[..., -1:]).amax(-1, keepdim=True)
        size = ((lower <= start) & (start < z)).sum(-1, keepdim=True).clamp(min=1)  # |A| of eq. 11
        above = z - start
        for _ in range(2):  # the second time removes what rounding left of the first
            above = above - (torch.minimum(above.relu(), u).sum(-1, keepdim=True) - 1) / size
        # The gradient depends on who is at 0 and who at the bound: rounding must not decide it.
        nearly = 4 * torch.finfo(z.dtype).eps
        alpha = torch.where(above > u - nearly, u, torch.where(above < nearly, 0, above))
        return _checked(alpha, u, dtype)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
        ctx.save_for_backward(output, inputs[1])

    @staticmethod
    def backward(ctx: Any, d_alpha: Tensor) -> tuple[Tensor, Tensor]:
        alpha, u = ctx.saved_tensors
        positive, below = alpha > 0, alpha < u
        interior = positive & below
        centred = _centred(d_alpha, interior.to(alpha.dtype))
        return torch.where(interior, centred, 0), torch.where(positive & ~below, centred, 0)


def _in_float64(z: Tensor, u: Tensor) -> tuple[Tensor, Tensor]:
    """Scores, and bounds limited to [0, 1], 0 at padding and NaN where they are not defined.

    In float32 the sum z − u would lose the bounds beside scores of some thousands.
    """
    allowed = ROUNDING_BELOW * torch.finfo(u.dtype).eps
    limited = torch.where(u >= -allowed, u.clamp(0, 1), math.nan)
    return z.double(), limited.masked_fill(z == -math.inf, 0).double()


def _checked(alpha: Tensor, u: Tensor, dtype: torch.dtype) -> Tensor:
    """The attention; where the bounds sum to 1 these, and NaN where they sum to less."""
    total, eps = u.sum(-1, keepdim=True), torch.finfo(dtype).eps
    excess = max(2 * eps, ROUNDING_ABOVE * torch.finfo(u.dtype).eps)
    alpha = torch.where(total <= 1 + excess, u, alpha)
    return torch.where(total >= 1 - ROUNDING_BELOW * eps, alpha, math.nan).to(dtype)


def _centred(d_alpha: Tensor, weights: Tensor) -> Tensor:
    """``dα − m``, m being the mean by the weights; 0 for a row in which nothing may move.

    The gradient for a score is its weight times this, that for the bound of a position held by it
    is this, as in :mod:`coverage_eval.attention.gradients`.
    """
    total = weights.sum(-1, keepdim=True)
    moves = total > 0
    inner = torch.where(weights > 0, weights * d_alpha, 0)
    mean = inner.sum(-1, keepdim=True) / torch.where(moves, total, 1)
    return torch.where(moves, d_alpha - mean, 0)
