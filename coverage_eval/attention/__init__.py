"""Reference NumPy implementation of the attention transformations and of the attention step."""

from coverage_eval.attention._inputs import AttentionError, InfeasibleBoundsError
from coverage_eval.attention.constrained_softmax import constrained_softmax
from coverage_eval.attention.constrained_sparsemax import constrained_sparsemax
from coverage_eval.attention.softmax import softmax
from coverage_eval.attention.sparsemax import sparsemax

__all__ = [
    "AttentionError",
    "InfeasibleBoundsError",
    "constrained_softmax",
    "constrained_sparsemax",
    "softmax",
    "sparsemax",
]
