r"""Attention under fertilities as a module: scores, credit, exhaustion, sink and coverage vector.

The PyTorch form of :mod:`coverage_eval.attention.scoring`, with parameters of the same names, and
of :class:`coverage_eval.attention.AttentionStep`: :math:`\alpha_t = \rho(z_t + c\,u_t; u_t)` with
the credit :math:`u_t = f - \beta_{t-1}` that the attention so far has left of the fertilities
(Malaviya et al. 2018, sections 3 and 4), differentiable through time.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn

from coverage_eval.attention import AttentionError, find_transformation
from coverage_eval.torch.transformations import (
    constrained_softmax,
    constrained_sparsemax,
    softmax,
    sparsemax,
)

_UNBOUNDED = {"softmax": softmax, "sparsemax": sparsemax}
_BOUNDED = {
    "constrained_softmax": constrained_softmax,
    "constrained_sparsemax": constrained_sparsemax,
}


class BilinearScorer(nn.Module):
    r""":math:`z_j = s^\top W h_j` (Luong et al. 2015), and without sizes :math:`s^\top h_j`.

    Args:
        query_size: D of the decoder state; None for the dot product.
        memory_size: K of the encoder states; None for the dot product.
        coverage: where the coverage vector enters: as Malaviya et al. 2018 print it,
            :math:`s^\top (W h_j + v \beta_j)` (``"text"``), or as their scripts have it,
            :math:`(W^\top s + w \beta_j)^\top h_j` (``"scripts"``); None for no coverage vector.

    Raises:
        AttentionError: on construction, one size without the other, a coverage vector without
            sizes, or an unknown form.
    """

    def __init__(
        self,
        query_size: int | None = None,
        memory_size: int | None = None,
        *,
        coverage: Literal["text", "scripts"] | None = None,
    ) -> None:
        super().__init__()
        if coverage not in {None, "text", "scripts"}:
            raise AttentionError(f"unknown coverage form {coverage!r}: use 'text' or 'scripts'")
        self.memory_size, self.form = memory_size, coverage
        self.weight: nn.Parameter | None = None
        self.coverage: nn.Parameter | None = None
        if query_size is None or memory_size is None:
            if coverage or query_size != memory_size:
                raise AttentionError("give the sizes of the decoder states and of the memory")
            return
        self.weight = nn.Parameter(torch.empty(query_size, memory_size))
        nn.init.xavier_uniform_(self.weight)
        if coverage:
            size = query_size if coverage == "text" else memory_size
            self.coverage = nn.Parameter(torch.zeros(size))

    def keys(self, memory: Tensor) -> Tensor:
        """``[B, S, D]``: :math:`W h_j`, the same for all steps."""
        return memory if self.weight is None else memory @ self.weight.T

    def forward(self, query: Tensor, keys: Tensor, memory: Tensor, cumulative: Tensor) -> Tensor:
        """``[B, S]`` scores of decoder states ``[B, D]`` and attention so far ``[B, S]``."""
        scores = torch.bmm(keys, query[:, :, None])[:, :, 0]
        if self.coverage is None:
            return scores
        text = self.form == "text"
        return scores + cumulative * ((query if text else memory) @ self.coverage).view(
            len(query), -1
        )


class AdditiveScorer(nn.Module):
    r""":math:`z_j = e^\top \tanh(A s + U h_j + b + v \beta_j)` (Bahdanau et al. 2014, A.1.2).

    Args:
        query_size: D of the decoder state.
        memory_size: K of the encoder states.
        size: P, of the layer between.
        bias: whether there is b.
        coverage: whether there is a coverage vector v (Tu et al. 2016).
    """

    def __init__(
        self,
        query_size: int,
        memory_size: int,
        size: int,
        *,
        bias: bool = True,
        coverage: bool = False,
    ) -> None:
        super().__init__()
        self.memory_size: int | None = memory_size
        self.query_weight = nn.Parameter(torch.empty(size, query_size))
        self.memory_weight = nn.Parameter(torch.empty(size, memory_size))
        for weight in (self.query_weight, self.memory_weight):
            nn.init.xavier_uniform_(weight)
        self.energy = nn.Parameter(torch.empty(size).uniform_(-1, 1) * (3 / size) ** 0.5)
        self.bias = nn.Parameter(torch.zeros(size)) if bias else None
        self.coverage = nn.Parameter(torch.zeros(size)) if coverage else None

    def keys(self, memory: Tensor) -> Tensor:
        """``[B, S, P]``: :math:`U h_j + b`, the same for all steps."""
        keys = memory @ self.memory_weight.T
        return keys if self.bias is None else keys + self.bias

    def forward(
        self,
        query: Tensor,
        keys: Tensor,
        memory: Tensor,  # noqa: ARG002
        cumulative: Tensor,
    ) -> Tensor:
        """``[B, S]`` scores of decoder states ``[B, D]`` and attention so far ``[B, S]``."""
        inner = keys + (query @ self.query_weight.T)[:, None, :]
        if self.coverage is not None:
            inner = inner + cumulative[:, :, None] * self.coverage
        return torch.tanh(inner) @ self.energy


class Source(NamedTuple):
    """What all steps share.

    Attributes:
        memory: ``[B, S, K]`` encoder states, the sink's last if the module adds one.
        keys: ``[B, S, P]`` what the scores need of them.
        mask: ``[B, S]`` True where a position may be used.
        fertilities: ``[B, S]`` f, +inf for sinks; None if there are none.
    """

    memory: Tensor
    keys: Tensor
    mask: Tensor
    fertilities: Tensor | None


class ConstrainedAttention(nn.Module):
    r"""The attention mechanism of a decoder; what it remembers is passed from step to step.

    >>> import torch
    >>> from coverage_eval.torch import BilinearScorer, ConstrainedAttention
    >>> attention = ConstrainedAttention(BilinearScorer(), "csparsemax")
    >>> source = attention.source(torch.eye(3)[None], fertilities=1.0)
    >>> cumulative = attention.start(source)
    >>> for z in ([[1.2, 0.8, -0.2]], [[0.7, 0.9, 0.1]], [[-0.2, 0.2, 0.9]]):  # Figure 1
    ...     context, alpha, cumulative = attention(torch.tensor(z), source, cumulative)
    ...     print(alpha)
    tensor([[0.7000, 0.3000, 0.0000]])
    tensor([[0.3000, 0.7000, 0.0000]])
    tensor([[0., 0., 1.]])

    Args:
        scorer: how a decoder state and the source make scores.
        transformation: name or label of one of the four; those with bounds need fertilities.
        exhaustion: c of :math:`z' = z + c u`, 0.2 in the paper; not applied to sinks.
        sink: whether to add a position after the last whose fertility is infinite and whose
            encoder state is learned. Leave it off where the data has a ``<SINK>`` as last word,
            and give that an infinite fertility.

    Raises:
        AttentionError: on construction, an unknown transformation, or a sink beside a scorer that
            does not know the size of the memory.
    """

    def __init__(
        self,
        scorer: BilinearScorer | AdditiveScorer,
        transformation: str = "constrained_sparsemax",
        *,
        exhaustion: float = 0.0,
        sink: bool = False,
    ) -> None:
        super().__init__()
        self.scorer = scorer
        self.transformation = find_transformation(transformation).name
        self.exhaustion = exhaustion
        self.sink: nn.Parameter | None = None
        if sink:
            if scorer.memory_size is None:
                raise AttentionError("a sink needs a scorer that is given the size of the memory")
            self.sink = nn.Parameter(torch.zeros(scorer.memory_size))

    def source(
        self,
        memory: Tensor,
        *,
        mask: Tensor | None = None,
        fertilities: Tensor | float | None = None,
    ) -> Source:
        """Compute what all steps share.

        Args:
            memory: ``[B, S, K]`` encoder states H.
            mask: ``[B, S]`` True where there is a word; None where nothing is padded.
            fertilities: f, broadcast to ``[B, S]``; +inf makes a word a sink.

        Raises:
            AttentionError: fertilities are missing.
        """
        if fertilities is None and (self.transformation in _BOUNDED or self.exhaustion):
            what = "the exhaustion strategy" if self.exhaustion else self.transformation
            raise AttentionError(f"{what} needs fertilities")
        rows = memory.shape[:2]
        usable = torch.ones(rows, dtype=torch.bool, device=memory.device) if mask is None else mask
        bounds = None
        if fertilities is not None:
            wide = torch.promote_types(memory.dtype, torch.float32)
            bounds = torch.as_tensor(fertilities, dtype=wide, device=memory.device).expand(rows)
        if self.sink is not None:
            state = self.sink.to(memory.dtype).expand(rows[0], 1, -1)
            memory = torch.cat([memory, state], 1)
            usable = nn.functional.pad(usable, (0, 1), value=True)
            if bounds is not None:
                bounds = nn.functional.pad(bounds, (0, 1), value=math.inf)
        return Source(memory, self.scorer.keys(memory), usable, bounds)

    def start(self, source: Source) -> Tensor:
        """``[B, S]`` the cumulative attention before the first step: none."""
        wide = torch.promote_types(source.memory.dtype, torch.float32)
        return torch.zeros(source.mask.shape, dtype=wide, device=source.mask.device)

    def forward(
        self, query: Tensor, source: Source, cumulative: Tensor, active: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Take one step.

        Args:
            query: ``[B, D]`` decoder states.
            source: what :meth:`source` returned.
            cumulative: ``[B, S]`` β, the sum of the attention of all steps before.
            active: ``[B]`` False for rows whose target has ended: they receive no attention.
                Without a sink their credit would run out, and out of it comes NaN. None for all.

        Returns:
            The context ``[B, K]``, the attention ``[B, S]`` and the cumulative attention after
            the step, the latter two in float32 at least.
        """
        scores = self.scorer(query, source.keys, source.memory, cumulative).to(cumulative.dtype)
        mask, credit = source.mask, None
        if source.fertilities is not None:
            credit = (source.fertilities - cumulative).relu()
            if self.exhaustion:
                scores = scores + self.exhaustion * credit.masked_fill(credit == math.inf, 0)
        if active is not None:
            mask = mask | ~active[:, None]
            credit = None if credit is None else credit.masked_fill(~active[:, None], math.inf)
        if self.transformation in _UNBOUNDED:
            alpha = _UNBOUNDED[self.transformation](scores, mask=mask)
        else:
            assert credit is not None
            alpha = _BOUNDED[self.transformation](scores, credit, mask=mask)
        if active is not None:
            alpha = alpha.masked_fill(~active[:, None], 0)
        context = torch.bmm(alpha.to(source.memory.dtype)[:, None], source.memory)[:, 0]
        return context, alpha, cumulative + alpha

    def extra_repr(self) -> str:
        """What the printed model shows."""
        return f"{self.transformation}, exhaustion={self.exhaustion}, sink={self.sink is not None}"
