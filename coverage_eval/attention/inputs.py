"""Errors, checks and layout of the input, shared by the whole package.

The transformations see every batch as a contiguous matrix ``[R, J]`` in float64: R rows of
attention with J positions each. So a row is always summed in the same order, and its result does
not depend on the other rows of its batch.
"""

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coverage_eval.core.errors import DataError

FloatArray = NDArray[Any]
Float64Array = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

#: Bounds come from credits f − β accumulated over many steps. This many units of rounding below 0
#: (for one bound) or below 1 (for their sum) count as rounding; more is an error.
ROUNDING_BELOW = 1024
#: Bounds that were written with nine digits are short by as much.
PRINTED = 1e-8
#: Bounds whose sum exceeds 1 by no more than this many float64 roundings are the solution.
ROUNDING_ABOVE = 16


class AttentionError(DataError):
    """Scores, bounds or masks for which a transformation is not defined."""


class InfeasibleBoundsError(AttentionError):
    """The upper bounds of a row sum to less than 1: no distribution satisfies them."""


@dataclass(frozen=True)
class Rows:
    """Checked input of a transformation, as R rows of attention.

    Attributes:
        scores: ``[R, J]``, −inf where a position may not be used; a copy that may be changed.
        top: ``[R, 1]`` the largest score of each row, finite.
        bounds: ``[R, J]`` in [0, 1], 0 where a position may not be used.
        tight: ``[R]`` True where the bounds sum to 1, so that they are the solution.
        shape: shape to which scores, bounds and mask broadcast.
        axis: the axis of the distribution, 0 <= axis < len(shape).
        dtype: float32 or float64, the type of the result.
    """

    scores: Float64Array
    top: Float64Array
    bounds: Float64Array
    tight: BoolArray
    shape: tuple[int, ...]
    axis: int
    dtype: np.dtype[Any]

    def restore(self, rows: Float64Array) -> FloatArray:
        """Bring ``[R, J]`` values back to the shape, axis and type of the input."""
        shape, axis = self.shape, self.axis
        array = rows.reshape((*shape[:axis], *shape[axis + 1 :], shape[axis]))
        return np.asarray(np.moveaxis(array, -1, axis), dtype=self.dtype, order="C")


def prepare(z: ArrayLike, u: ArrayLike = np.inf, *, axis: int, mask: ArrayLike | None) -> Rows:
    """Broadcast, check and rearrange the input of a transformation.

    Args:
        z: scores, any shape with at least one axis.
        u: upper bounds, broadcast against the scores; +inf for transformations without bounds.
        axis: the axis of the distribution, in the broadcast shape.
        mask: True where a position may be used, broadcast against the scores; None for all.

    Raises:
        AttentionError: no axis, complex or text input, a mask that is not boolean, a row without a
            usable position, a NaN or +inf score, a NaN or negative bound.
        ValueError: shapes that do not broadcast.
        InfeasibleBoundsError: bounds of a row that sum to less than 1 beyond rounding.
    """
    scores, bounds = _real(z, "scores"), _real(u, "upper bounds")
    if bounds.ndim == 0:  # a single number as bound must not turn float32 scores into float64
        bounds = bounds.astype(scores.dtype)
    usable = usable_positions(mask)
    shape = np.broadcast_shapes(scores.shape, bounds.shape, usable.shape)
    if not -len(shape) <= axis < len(shape):
        raise AttentionError(f"axis {axis} does not exist: the scores have shape {shape}")
    axis %= len(shape)
    batch = shape[:axis] + shape[axis + 1 :]

    def rows(array: NDArray[Any]) -> Float64Array:
        last = np.moveaxis(np.broadcast_to(array, shape), axis, -1)
        return np.ascontiguousarray(last.reshape(prod(batch), shape[axis]), dtype=np.float64)

    score_rows = rows(np.where(usable, scores, -np.inf))
    top = _check_scores(score_rows, batch)
    bound_rows = np.where(score_rows > -np.inf, rows(bounds), 0.0)
    bound_rows, tight = _check_bounds(bound_rows, float(np.finfo(bounds.dtype).eps), batch)
    dtype = np.result_type(scores, bounds)
    return Rows(score_rows, top, bound_rows, tight, shape, axis, dtype)


def usable_positions(mask: ArrayLike | None) -> BoolArray:
    """Where a position may be used, in the mask's shape; None stands for everywhere.

    Raises:
        AttentionError: the mask is not boolean. Numbers have opposite meanings: in a mask that is
            added to scores, -inf is padding and 0 a word; in one of 0 and 1, 0 is padding.
    """
    array = np.asarray(True if mask is None else mask)
    if array.dtype != np.bool_:
        raise AttentionError(
            f"a mask must be boolean, True where a position may be used, not {array.dtype}: pass "
            "mask == 0 for a mask of 0 and -inf, or mask == 1 for one of 1 and 0"
        )
    return np.asarray(array, dtype=np.bool_)


def row_sums(values: FloatArray) -> Float64Array:
    """``[R, 1]`` the sum of each row of a ``[R, J]`` matrix."""
    # For short rows, as in attention, einsum takes a third of the time of sum; for longer rows
    # sum rounds less, because it adds in pairs.
    short = values.shape[1] <= 128
    return np.asarray(np.einsum("rj->r", values) if short else values.sum(axis=1))[:, None]


def _real(values: ArrayLike, what: str) -> FloatArray:
    array = np.asarray(values)
    if array.dtype.kind not in "fiub":
        raise AttentionError(
            f"the {what} must be a rectangular array of real numbers, not {array.dtype}"
        )
    if array.dtype in (np.float32, np.float64):
        return array
    return array.astype(np.float32 if array.dtype == np.float16 else np.float64)


def _first(bad: BoolArray, batch: tuple[int, ...]) -> tuple[int, str]:
    """The first bad row: its number, and its name for messages, by its index in the batch."""
    number = int(np.argmax(bad))
    index = tuple(int(i) for i in np.unravel_index(number, batch))
    return number, f"row {index[0] if len(index) == 1 else index}: " if index else ""


def _check_scores(scores: Float64Array, batch: tuple[int, ...]) -> Float64Array:
    """``[R, 1]`` the largest score of each row, which reveals NaN, +inf and empty rows."""
    rows, positions = scores.shape
    if positions == 0 and rows > 0:
        raise AttentionError("a distribution over no positions: the scores have an empty axis")
    top = scores.T.copy().max(axis=0, initial=-np.inf)[:, None]  # twice as fast as along rows
    bad = ~np.isfinite(top)
    if bad.any():
        number, where = _first(bad, batch)
        if np.isnan(top[number, 0]):
            raise AttentionError(f"{where}a score is NaN")
        if top[number, 0] > 0:
            raise AttentionError(f"{where}a score is +inf")
        raise AttentionError(f"{where}every position is masked (by the mask or by a score of -inf)")
    return np.asarray(top)


def _check_bounds(
    bounds: Float64Array, rounding: float, batch: tuple[int, ...]
) -> tuple[Float64Array, BoolArray]:
    """The bounds clipped to [0, 1], and for which rows they are the solution."""
    allowed = max(ROUNDING_BELOW * rounding, PRINTED)
    limited = np.clip(bounds, 0.0, 1.0)
    total = row_sums(limited)[:, 0]
    if bounds.min(initial=0.0) < -allowed or not (total >= 1.0 - allowed).all():
        smallest = bounds.min(axis=1)
        number, where = _first(~((smallest >= -allowed) & (total >= 1.0 - allowed)), batch)
        if np.isnan(smallest[number]):
            raise AttentionError(f"{where}an upper bound is NaN")
        if smallest[number] < -allowed:
            raise AttentionError(f"{where}an upper bound is negative: {smallest[number]:.6g}")
        raise InfeasibleBoundsError(
            f"{where}the upper bounds sum to {total[number]:.6g}, below 1, so no distribution "
            "fits; raise a bound or add a sink with an infinite one"
        )
    # The sum is in float64, so for float32 bounds only their own rounding matters.
    excess = max(2 * rounding, ROUNDING_ABOVE * float(np.finfo(np.float64).eps))
    return limited, np.asarray(total <= 1.0 + excess)


def length_mask(lengths: ArrayLike | None, rows: int, positions: int, what: str) -> BoolArray:
    """``[rows, positions]`` True up to each row's length; all True for None.

    Raises:
        AttentionError: not one whole number from 0 to ``positions`` for each row.
    """
    if lengths is None:
        return np.ones((rows, positions), dtype=np.bool_)
    counts = np.asarray(lengths)
    if counts.shape != (rows,) or counts.dtype.kind not in "iu":
        raise AttentionError(f"{what} must be {rows} whole numbers, one for each row of the batch")
    if rows and (counts.min() < 0 or counts.max() > positions):
        row = int(np.argmax((counts < 0) | (counts > positions)))
        raise AttentionError(f"row {row}: {what} {counts[row]} is not in 0..{positions}")
    return np.asarray(np.arange(positions) < counts[:, None])


def check_states(states: ArrayLike, what: str, axes: str) -> FloatArray:
    """Encoder or decoder states as a float32 or float64 array with three axes."""
    array = np.asarray(states)
    if array.ndim != 3 or array.dtype.kind not in "fiu":
        raise AttentionError(
            f"{what} must be real numbers [{axes}], not {array.dtype} {array.shape}"
        )
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)
