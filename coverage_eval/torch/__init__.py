"""Constrained attention for training in PyTorch (``pip install 'coverage-eval[torch]'``).

>>> import torch
>>> from coverage_eval.torch import constrained_sparsemax
>>> z = torch.tensor([1.2, 0.8, -0.2])
>>> constrained_sparsemax(z, torch.tensor([0.5, 1.0, torch.inf]))
tensor([0.5000, 0.5000, 0.0000])
"""

from coverage_eval.core.errors import MissingDependencyError

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise MissingDependencyError(
        "this needs PyTorch: pip install 'coverage-eval[torch]'"
    ) from error

from coverage_eval.torch.constrained_attention import (
    ConstrainedAttention,
    Source,
    infeasible_rows,
)
from coverage_eval.torch.multihead import MultiheadConstrainedAttention
from coverage_eval.torch.scorers import AdditiveScorer, BilinearScorer, Scorer
from coverage_eval.torch.transformations import (
    constrained_softmax,
    constrained_sparsemax,
    softmax,
    sparsemax,
    sparsemax_loss,
)

__all__ = [
    "AdditiveScorer",
    "BilinearScorer",
    "ConstrainedAttention",
    "MultiheadConstrainedAttention",
    "Scorer",
    "Source",
    "constrained_softmax",
    "constrained_sparsemax",
    "infeasible_rows",
    "softmax",
    "sparsemax",
    "sparsemax_loss",
]
