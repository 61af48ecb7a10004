"""Checks and layout shared by the attention transformations.

Inside this package every batch is a matrix with **positions first**: shape ``[J, R]``, one column
per row of attention, in float64. One layout for all axes keeps the algorithms readable, and
reductions over the first axis are the ones that NumPy vectorises over the batch.
"""

from dataclasses import dataclass
from math import prod
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coverage_eval.errors import DataError

__all__ = ["AttentionError", "Batch", "FloatArray", "InfeasibleBoundsError", "prepare"]

FloatArray = NDArray[Any]
Float64Array = NDArray[np.float64]

#: Bounds come from credits f − β that were accumulated over many steps: this many units of
#: rounding below 0 (one bound) or below 1 (their sum) are rounding, more is an error.
ROUNDING_BELOW = 1024
#: Bounds whose sum exceeds 1 by no more than this many float64 roundings are the solution.
ROUNDING_ABOVE = 16


class AttentionError(DataError):
    """Scores, bounds or masks for which a transformation is not defined.

    Attributes:
        row: index of the first offending row in the batch (the axis of the distribution left
            out); ``()`` when the input is a single row.
    """

    def __init__(self, message: str, row: tuple[int, ...] = ()) -> None:
        super().__init__(message)
        self.row = row


class InfeasibleBoundsError(AttentionError):
    """The upper bounds of a row sum to less than 1: no distribution satisfies them."""


@dataclass(frozen=True)
class Batch:
    """Checked input of a transformation, positions first.

    Attributes:
        scores: ``[J, R]`` float64, −inf where a position may not be used; the caller owns it.
        top: ``[R]`` the largest score of each row, finite.
        bounds: ``[J, R]`` float64 in [0, 1], 0 where a position may not be used, or None.
        tight: ``[R]`` bool, rows whose bounds sum to 1, so that the bounds are the solution.
        shape: shape of the broadcast input.
        axis: the axis of the distribution, 0 <= axis < len(shape).
        dtype: float32 or float64, the type of the result.
    """

    scores: Float64Array
    top: Float64Array
    bounds: Float64Array | None
    tight: NDArray[np.bool_]
    shape: tuple[int, ...]
    axis: int
    dtype: np.dtype[Any]

    @property
    def upper_bounds(self) -> Float64Array:
        """The bounds of a batch that has them."""
        assert self.bounds is not None
        return self.bounds

    def only(self, rows: NDArray[np.bool_]) -> "Batch":
        """The batch of some rows, as a matrix: its ``shape`` and ``axis`` are ``[J, R]`` and 0."""
        bounds = None if self.bounds is None else self.bounds[:, rows]
        scores = self.scores[:, rows]
        top, tight = self.top[rows], self.tight[rows]
        return Batch(scores, top, bounds, tight, scores.shape, 0, self.dtype)

    def restore(self, values: Float64Array) -> FloatArray:
        """Bring ``[J, R]`` values back to the shape, axis and dtype of the input."""
        rest = self.shape[: self.axis] + self.shape[self.axis + 1 :]
        ordered = values.reshape((self.shape[self.axis], *rest))
        return np.array(np.moveaxis(ordered, 0, self.axis), dtype=self.dtype, order="C")


def prepare(
    z: ArrayLike,
    u: ArrayLike | None = None,
    *,
    axis: int,
    mask: ArrayLike | None,
    order: Literal["C", "F"] | None = None,
) -> Batch:
    """Broadcast, check and lay out the input of a transformation.

    Args:
        z: scores, any shape with at least one axis.
        u: upper bounds, broadcast against the scores; None for transformations without bounds.
        axis: the axis of the distribution, in the broadcast shape.
        mask: True where a position may be used, broadcast against the scores; None for all.
        order: memory order of the matrices: "F" keeps the positions of a row together (sorting),
            "C" keeps one position of all rows together (reductions over positions), None takes
            the one that is faster for the shape.

    Raises:
        AttentionError: no axis, shapes that do not broadcast, complex or text input, a row
            without a usable position, a NaN or +inf score, a NaN or negative bound.
        InfeasibleBoundsError: bounds of a row that sum to less than 1 beyond rounding.
    """
    scores, bounds, usable, shape, axis = arrays(z, u, axis=axis, mask=mask)
    if order is None:
        order = "C" if _rows(shape, axis) >= shape[axis] else "F"
    layout = _Layout(shape, axis, order)
    score_matrix = layout.matrix(scores)
    usable_matrix = None if usable is None else layout.view(usable)
    if usable_matrix is not None:
        score_matrix[~usable_matrix] = -np.inf
    top = _check_scores(score_matrix, layout)
    if bounds is None:
        tight = np.zeros(top.shape, dtype=np.bool_)
        return Batch(score_matrix, top, None, tight, shape, axis, scores.dtype)
    bound_matrix = layout.matrix(bounds)
    tight = _check_bounds(bound_matrix, score_matrix, bounds.dtype, layout)
    dtype = np.result_type(scores, bounds)
    return Batch(score_matrix, top, bound_matrix, tight, shape, axis, dtype)


def arrays(
    z: ArrayLike, u: ArrayLike | None, *, axis: int, mask: ArrayLike | None
) -> tuple[FloatArray, FloatArray | None, NDArray[np.bool_] | None, tuple[int, ...], int]:
    """Scores, bounds and mask as arrays, their broadcast shape and the axis, not negative.

    Raises:
        AttentionError: no such axis, shapes that do not broadcast, complex or text input.
    """
    scores, bounds, usable = _real(z, "scores"), None, None
    if u is not None:
        bounds = _real(u, "upper bounds")
        # A single number as a bound does not widen float32 scores.
        bounds = bounds.astype(scores.dtype) if bounds.ndim == 0 else bounds
    if mask is not None:
        usable = np.asarray(mask, dtype=np.bool_)
    shape = _common_shape(scores, bounds, usable)
    if not -len(shape) <= axis < len(shape):
        raise AttentionError(f"axis {axis} does not exist: the scores have shape {shape}")
    return scores, bounds, usable, shape, axis % len(shape)


@dataclass(frozen=True)
class _Layout:
    shape: tuple[int, ...]
    axis: int
    order: Literal["C", "F"]

    def view(self, array: NDArray[Any]) -> NDArray[Any]:
        """The ``[J, R]`` form of an array, possibly sharing its memory."""
        if array.shape != self.shape:
            array = np.broadcast_to(array, self.shape)
        if self.axis == 1 == len(self.shape) - 1:
            return array.T
        first = np.moveaxis(array, self.axis, 0)
        return first.reshape(self.shape[self.axis], _rows(self.shape, self.axis))

    def matrix(self, array: NDArray[Any]) -> Float64Array:
        """A fresh float64 ``[J, R]`` copy of an array in the memory order asked for."""
        return np.array(self.view(array), dtype=np.float64, order=self.order, copy=True)

    def index(self, column: int) -> tuple[int, ...]:
        """The batch index of a column."""
        rest = self.shape[: self.axis] + self.shape[self.axis + 1 :]
        return tuple(int(i) for i in np.unravel_index(column, rest)) if rest else ()


def _rows(shape: tuple[int, ...], axis: int) -> int:
    return prod(shape[:axis] + shape[axis + 1 :])


def _real(values: ArrayLike, what: str) -> FloatArray:
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise AttentionError(f"the {what} are not a rectangular array: {error}") from error
    if array.dtype.kind not in "fiub":
        raise AttentionError(
            f"the {what} must be a rectangular array of real numbers, not {array.dtype}"
        )
    return array if array.dtype in (np.float32, np.float64) else array.astype(_wide(array.dtype))


def _wide(dtype: np.dtype[Any]) -> type[np.float32] | type[np.float64]:
    return np.float32 if dtype == np.float16 else np.float64


def _common_shape(*arrays: NDArray[Any] | None) -> tuple[int, ...]:
    shapes = [array.shape for array in arrays if array is not None]
    if all(shape == shapes[0] for shape in shapes):
        return shapes[0]
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError as error:
        listed = " and ".join(str(shape) for shape in shapes)
        raise AttentionError(f"scores, bounds and mask do not fit together: {listed}") from error


def _first(bad: NDArray[np.bool_], layout: _Layout) -> tuple[tuple[int, ...], str, int] | None:
    """Index, printed name and column of the first bad row, or None."""
    if not bad.any():
        return None
    column = int(np.argmax(bad))
    row = layout.index(column)
    where = "" if not row else f"row {row[0] if len(row) == 1 else row}: "
    return row, where, column


def _check_scores(scores: Float64Array, layout: _Layout) -> Float64Array:
    """The largest score of each row: NaN, +inf and empty rows show in it."""
    if scores.shape[0] == 0 and scores.shape[1] > 0:
        raise AttentionError("a distribution over no positions: the scores have an empty axis")
    top: Float64Array = scores.max(axis=0, initial=-np.inf)
    found = _first(~np.isfinite(top), layout)
    if found is not None:
        row, where, column = found
        if np.isnan(top[column]):
            raise AttentionError(f"{where}a score is NaN", row)
        if top[column] > 0:
            raise AttentionError(f"{where}a score is +inf", row)
        raise AttentionError(
            f"{where}every position is masked (by the mask or by a score of -inf)", row
        )
    return top


def _check_bounds(
    bounds: Float64Array, scores: Float64Array, dtype: np.dtype[Any], layout: _Layout
) -> NDArray[np.bool_]:
    """Limit bounds to [0, 1] in place, 0 where unusable, and tell which rows they determine."""
    rounding = float(np.finfo(dtype).eps)
    if scores.min(initial=0.0) == -np.inf:
        bounds[scores == -np.inf] = 0.0
    least = bounds.min(initial=0.0)  # NaN, if there is one, and then no comparison holds
    with np.errstate(over="ignore", invalid="ignore"):
        total = bounds.sum(axis=0)
    allowed = ROUNDING_BELOW * rounding
    if not (least >= -allowed and total.min(initial=1.0) >= 1.0 - allowed):
        _raise_for_bounds(bounds.min(axis=0, initial=0.0), total, allowed, layout)
    # A vector, not a number: NumPy's minimum is several times faster on equal strides.
    np.minimum(bounds, np.ones(bounds.shape[1]), out=bounds)
    if least < 0:
        np.maximum(bounds, 0.0, out=bounds)
    # Sums are taken in float64: of float32 bounds, only their own rounding is to be allowed for.
    return np.asarray(total <= 1.0 + max(2 * rounding, ROUNDING_ABOVE * np.finfo(np.float64).eps))


def _raise_for_bounds(
    least: Float64Array, total: Float64Array, allowed: float, layout: _Layout
) -> NoReturn:
    """Say what is wrong with the first bad row."""
    found = _first(~((least >= -allowed) & (total >= 1.0 - allowed)), layout)
    assert found is not None
    row, where, column = found
    if np.isnan(least[column]):
        raise AttentionError(f"{where}an upper bound is NaN", row)
    if least[column] < -allowed:
        raise AttentionError(f"{where}an upper bound is negative: {least[column]:.6g}", row)
    raise InfeasibleBoundsError(
        f"{where}the upper bounds sum to {total[column]:.6g}, below 1, so no distribution "
        "fits; raise a bound or add a sink with an infinite one",
        row,
    )
