"""All attention transformations by name: what steps, plots, audits and commands choose from.

To add one, write a file with its function and gradients, and give it a line in
:data:`TRANSFORMATIONS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from coverage_eval.attention import gradients
from coverage_eval.attention._inputs import AttentionError, FloatArray
from coverage_eval.attention.constrained_softmax import constrained_softmax
from coverage_eval.attention.constrained_sparsemax import constrained_sparsemax
from coverage_eval.attention.softmax import softmax
from coverage_eval.attention.sparsemax import sparsemax


@dataclass(frozen=True)
class Transformation:
    """A map from scores to attention, with or without upper bounds.

    Attributes:
        name: the name of the function.
        label: the name in tables and pictures; for the paper's four, the paper's.
        bounded: whether it takes upper bounds, after the scores.
        function: from scores (and bounds) to attention, with ``axis`` and ``mask``.
        vjp: from the gradient for the attention, the attention (and the bounds) to the gradient
            for the scores, or to those for scores and bounds, with ``axis``; with ``mask`` if
            bounded.
        jacobian: from the attention (and the bounds) to the Jacobian for the scores, or to those
            for scores and bounds.
    """

    name: str
    label: str
    bounded: bool
    function: Callable[..., FloatArray]
    vjp: Callable[..., Any]
    jacobian: Callable[..., Any]

    def __call__(
        self, z: ArrayLike, u: ArrayLike, *, axis: int = -1, mask: ArrayLike | None = None
    ) -> FloatArray:
        """The attention of scores; bounds are ignored by a transformation that takes none."""
        bounds = (u,) if self.bounded else ()
        return self.function(z, *bounds, axis=axis, mask=mask)


#: By name, in the order in which they are shown.
TRANSFORMATIONS: Mapping[str, Transformation] = {
    transformation.name: transformation
    for transformation in (
        Transformation(
            "softmax", "softmax", False,
            softmax, gradients.softmax_vjp, gradients.softmax_jacobian,
        ),
        Transformation(
            "sparsemax", "sparsemax", False,
            sparsemax, gradients.sparsemax_vjp, gradients.sparsemax_jacobian,
        ),
        Transformation(
            "constrained_softmax", "csoftmax", True, constrained_softmax,
            gradients.constrained_softmax_vjp, gradients.constrained_softmax_jacobian,
        ),
        Transformation(
            "constrained_sparsemax", "csparsemax", True, constrained_sparsemax,
            gradients.constrained_sparsemax_vjp, gradients.constrained_sparsemax_jacobian,
        ),
    )
}  # fmt: skip


def find_transformation(name: str) -> Transformation:
    """The transformation of a name or label.

    Raises:
        AttentionError: there is none; lists all names.
    """
    for transformation in TRANSFORMATIONS.values():
        if name in (transformation.name, transformation.label):
            return transformation
    raise AttentionError(
        f"unknown transformation {name!r}: use one of {', '.join(TRANSFORMATIONS)}"
    )
