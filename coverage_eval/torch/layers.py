"""The transformations as modules, to put into a model by name."""

from __future__ import annotations

import torch
from torch import Tensor

from coverage_eval.torch.transformations import (
    constrained_softmax,
    constrained_sparsemax,
    sparsemax,
)


class _Layer(torch.nn.Module):
    """A transformation along one dimension, without parameters."""

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
