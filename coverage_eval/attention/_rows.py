"""Rows of scores and bounds as the constrained transformations first see them.

Here every batch is a matrix ``[R, J]``, one row of attention after the other, as it usually lies
in memory already, so that nothing is copied. Nothing is checked either: a first attempt is made
on the rows, its result is tested, and what fails the test goes to
:func:`~coverage_eval.attention._inputs.prepare`, which checks everything and says what is wrong.
"""

from dataclasses import dataclass
from math import prod
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coverage_eval.attention._inputs import (
    ROUNDING_ABOVE,
    Float64Array,
    FloatArray,
    arrays,
)

__all__ = ["ROUNDING", "Rows", "leave_choice", "rows_of", "sum_rows"]

#: Sums of attention this close to 1 are 1.
ROUNDING = ROUNDING_ABOVE * float(np.finfo(np.float64).eps)

#: Bounds whose sum, even in float32, reaches this do not sum to 1.
AMPLE = 1.0 + 1e-4


@dataclass(frozen=True)
class Rows:
    """Scores and bounds, row by row.

    Attributes:
        scores: ``[R, J]`` float64, −inf where a position may not be used; not to be written to.
        bounds: ``[R, J]`` float64, not to be written to.
        shape: shape of the broadcast input.
        axis: the axis of the distribution, 0 <= axis < len(shape).
        dtype: float32 or float64, the type of the result.
    """

    scores: Float64Array
    bounds: Float64Array
    shape: tuple[int, ...]
    axis: int
    dtype: np.dtype[Any]

    def restore(self, values: Float64Array) -> FloatArray:
        """Bring ``[R, J]`` values back to the shape, axis and dtype of the input."""
        if self.axis == len(self.shape) - 1:
            return values.reshape(self.shape).astype(self.dtype, copy=False)
        rest = self.shape[: self.axis] + self.shape[self.axis + 1 :]
        ordered = values.reshape((*rest, self.shape[self.axis]))
        return np.asarray(np.moveaxis(ordered, -1, self.axis), dtype=self.dtype, order="C")


def rows_of(z: ArrayLike, u: ArrayLike, *, axis: int, mask: ArrayLike | None) -> Rows:
    """Lay out the input of a constrained transformation.

    Args are those of :func:`~coverage_eval.attention._inputs.prepare`; of its errors, those that
    are about shapes and types.
    """
    scores, bounds, usable, shape, axis = arrays(z, u, axis=axis, mask=mask)
    assert bounds is not None
    dtype = np.result_type(scores, bounds)
    score_rows, bound_rows = _matrix(scores, shape, axis), _matrix(bounds, shape, axis)
    if usable is not None:
        score_rows = np.where(_matrix(usable, shape, axis, np.bool_), score_rows, -np.inf)
    return Rows(score_rows, bound_rows, shape, axis, dtype)


def leave_choice(
    bounds: NDArray[Any], usable: NDArray[np.bool_] | None, *, axis: Literal[0, 1]
) -> NDArray[np.bool_]:
    """Which rows have bounds of which none is negative and that do not determine the attention.

    There, attention of the form that Proposition 1 or eq. 5 gives is proven by its sum of 1.

    Args:
        bounds: ``[R, J]``, or ``[J, R]`` if the axis is 0.
        usable: which positions may be used; None for all.
        axis: the axis of the distribution.
    """
    # Of padding too: a negative bound there is no error, but needs care all the same.
    good = np.bool_(True)
    if not bounds.min(initial=0.0) >= 0:  # no comparison with NaN holds
        good = bounds.min(axis=axis) >= 0
    if usable is not None:
        bounds = np.where(usable, bounds, 0.0)
    total = sum_rows(bounds) if axis == 1 else bounds.sum(axis=0)
    return np.asarray((total >= AMPLE) & good)


def sum_rows(values: NDArray[Any]) -> NDArray[Any]:
    """The sum of each row of a ``[R, J]`` matrix, in the type of its elements."""
    # Over short rows, einsum is more than twice as fast as sum(axis=1).
    return np.asarray(np.einsum("rj->r", values))


def _matrix(
    array: NDArray[Any], shape: tuple[int, ...], axis: int, dtype: type = np.float64
) -> NDArray[Any]:
    """The ``[R, J]`` form of an array, in its own memory wherever that is possible."""
    if array.shape != shape:
        array = np.broadcast_to(array, shape)
    if axis != len(shape) - 1:
        array = np.moveaxis(array, axis, -1)
    count = prod(shape[:axis] + shape[axis + 1 :])
    return np.ascontiguousarray(array.reshape(count, shape[axis]), dtype=dtype)
