"""NumPy reference implementation of the attention transformations and of the attention step.

Arrays, masks and bounds may have any shape and use any axis; positions count from 0.

>>> from coverage_eval import attention
>>> attention.sparsemax([1.2, 0.8, -0.2]).round(2).tolist()
[0.7, 0.3, 0.0]
>>> attention.constrained_sparsemax([1.2, 0.8, -0.2], [0.5, 1.0, 1.0]).round(2).tolist()
[0.5, 0.5, 0.0]
"""

from coverage_eval.attention import fertility
from coverage_eval.attention.gradients import (
    constrained_softmax_vjp,
    constrained_sparsemax_jacobian,
    constrained_sparsemax_vjp,
    softmax_vjp,
    sparsemax_vjp,
)
from coverage_eval.attention.inputs import AttentionError, InfeasibleBoundsError
from coverage_eval.attention.losses import cross_entropy, sparsemax_loss
from coverage_eval.attention.pardalos_kovoor import canonical_problem, pardalos_kovoor
from coverage_eval.attention.penalties import coverage_penalty, length_penalty, penalized_score
from coverage_eval.attention.scoring import BilinearScore
from coverage_eval.attention.sequence import (
    AttendGradients,
    AttendResult,
    attend,
    attend_vjp,
    attend_with_credit,
)
from coverage_eval.attention.step import (
    AttentionSource,
    AttentionState,
    AttentionStep,
    StepResult,
    append_sink,
)
from coverage_eval.attention.transformations import (
    TRANSFORMATIONS,
    Transformation,
    constrained_softmax,
    constrained_sparsemax,
    find_transformation,
    softmax,
    sparsemax,
)

csoftmax, csparsemax = constrained_softmax, constrained_sparsemax
"""The names in the paper's tables."""

__all__ = [
    "TRANSFORMATIONS",
    "AttendGradients",
    "AttendResult",
    "AttentionError",
    "AttentionSource",
    "AttentionState",
    "AttentionStep",
    "BilinearScore",
    "InfeasibleBoundsError",
    "StepResult",
    "Transformation",
    "append_sink",
    "attend",
    "attend_vjp",
    "attend_with_credit",
    "canonical_problem",
    "constrained_softmax",
    "constrained_softmax_vjp",
    "constrained_sparsemax",
    "constrained_sparsemax_jacobian",
    "constrained_sparsemax_vjp",
    "coverage_penalty",
    "cross_entropy",
    "csoftmax",
    "csparsemax",
    "fertility",
    "find_transformation",
    "length_penalty",
    "pardalos_kovoor",
    "penalized_score",
    "softmax",
    "softmax_vjp",
    "sparsemax",
    "sparsemax_loss",
    "sparsemax_vjp",
]
