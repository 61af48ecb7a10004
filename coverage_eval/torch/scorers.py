r"""Scores of attention as modules, with and without a coverage vector.

The PyTorch counterpart of :mod:`coverage_eval.attention.scoring`, with the same parameter names.
"""

from __future__ import annotations

from typing import Any, Literal, Protocol

import torch
from torch import Tensor, nn

from coverage_eval.attention import AttentionError


class Scorer(Protocol):
    """A scorer for ``ConstrainedAttention``; any module with these methods works.

    Attributes:
        memory_size: K of the encoder states; None if it takes any size, which rules out a sink.
    """

    memory_size: int | None

    def keys(self, memory: Tensor) -> Tensor:
        """``[B, S, P]``: projections of encoder states ``[B, S, K]``, computed once per batch."""
        ...

    def __call__(self, query: Tensor, keys: Tensor, memory: Tensor, cumulative: Tensor) -> Tensor:
        """``[B, S]`` scores of decoder states ``[B, D]`` and attention so far ``[B, S]``."""
        ...

    def reset_parameters(self) -> None:
        """Initialise the parameters."""
        ...


class BilinearScorer(nn.Module):
    r""":math:`z_j = s^\top W h_j` (Luong et al. 2015), and without sizes :math:`s^\top h_j`.

    Args:
        query_size: D of the decoder state; None for the dot product.
        memory_size: K of the encoder states; None for the dot product.
        coverage: the formula of the coverage vector: as Malaviya et al. 2018 print it,
            :math:`s^\top (W h_j + v \beta_j)` (``"text"``), or as in their scripts,
            :math:`(W^\top s + w \beta_j)^\top h_j` (``"scripts"``); None for no coverage vector.
        device: of the parameters.
        dtype: of the parameters.

    Raises:
        AttentionError: on construction, for one size without the other, a coverage vector without
            sizes, or an unknown formula.
    """

    def __init__(
        self,
        query_size: int | None = None,
        memory_size: int | None = None,
        *,
        coverage: Literal["text", "scripts"] | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
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
        kind: Any = {"device": device, "dtype": dtype}
        self.weight = nn.Parameter(torch.empty(query_size, memory_size, **kind))
        if coverage:
            size = query_size if coverage == "text" else memory_size
            self.coverage = nn.Parameter(torch.empty(size, **kind))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialise W at random (Glorot and Bengio 2010) and the coverage vector with 0."""
        if self.weight is not None:
            nn.init.xavier_uniform_(self.weight)
        if self.coverage is not None:
            nn.init.zeros_(self.coverage)

    def keys(self, memory: Tensor) -> Tensor:
        """``[B, S, D]``: :math:`W h_j`, the same for all steps."""
        return memory if self.weight is None else memory @ self.weight.T

    def forward(self, query: Tensor, keys: Tensor, memory: Tensor, cumulative: Tensor) -> Tensor:
        """``[B, S]`` scores of decoder states ``[B, D]`` and attention so far ``[B, S]``."""
        scores = torch.bmm(keys, query[:, :, None])[:, :, 0]
        if self.coverage is None:
            return scores
        states = query if self.form == "text" else memory
        return scores + cumulative * (states @ self.coverage).view(len(query), -1)


class AdditiveScorer(nn.Module):
    r""":math:`z_j = e^\top \tanh(A s + U h_j + b + v \beta_j)` (Bahdanau et al. 2014, A.1.2).

    Args:
        query_size: D of the decoder state.
        memory_size: K of the encoder states.
        size: P, of the hidden layer.
        bias: whether to use b.
        coverage: whether to use a coverage vector v (Tu et al. 2016).
        device: of the parameters.
        dtype: of the parameters.
    """

    def __init__(
        self,
        query_size: int,
        memory_size: int,
        size: int,
        *,
        bias: bool = True,
        coverage: bool = False,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.memory_size: int | None = memory_size
        kind: Any = {"device": device, "dtype": dtype}
        self.query_weight = nn.Parameter(torch.empty(size, query_size, **kind))
        self.memory_weight = nn.Parameter(torch.empty(size, memory_size, **kind))
        self.energy = nn.Parameter(torch.empty(size, **kind))
        self.bias = nn.Parameter(torch.empty(size, **kind)) if bias else None
        self.coverage = nn.Parameter(torch.empty(size, **kind)) if coverage else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialise the weights at random (Glorot and Bengio 2010), and b and v with 0."""
        for weight in (self.query_weight, self.memory_weight):
            nn.init.xavier_uniform_(weight)
        largest = (3 / len(self.energy)) ** 0.5
        nn.init.uniform_(self.energy, -largest, largest)
        for vector in (self.bias, self.coverage):
            if vector is not None:
                nn.init.zeros_(vector)

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
            inner = inner + cumulative[:, :, None].to(inner.dtype) * self.coverage
        return torch.tanh(inner) @ self.energy
