r"""Attention scores :math:`z_{tj}` as modules: bilinear ("general"), dot and additive ("MLP").

The PyTorch form of :mod:`coverage_eval.attention.scoring`, with parameters of the same names.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from coverage_eval.attention import AttentionError


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
