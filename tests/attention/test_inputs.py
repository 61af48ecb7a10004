"""Input of all four transformations: shapes, masks, padding, types and errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from coverage_eval.attention import (
    AttentionError,
    InfeasibleBoundsError,
    constrained_softmax,
    constrained_softmax_vjp,
    constrained_sparsemax,
    constrained_sparsemax_vjp,
    coverage_penalty,
    softmax,
    sparsemax,
)
from coverage_eval.core.errors import CoverageEvalError

Transformation = Callable[..., np.ndarray[Any, Any]]

# In nearly every row of the random scores below, some position reaches the bound 0.4.
ALL: dict[str, Transformation] = {
    "softmax": softmax,
    "sparsemax": sparsemax,
    "constrained_softmax": lambda z, **kw: constrained_softmax(z, 0.4, **kw),
    "constrained_sparsemax": lambda z, **kw: constrained_sparsemax(z, 0.4, **kw),
}
every = pytest.mark.parametrize("transform", ALL.values(), ids=ALL.keys())
BOUNDED = {
    "constrained_softmax": constrained_softmax,
    "constrained_sparsemax": constrained_sparsemax,
}
bounded = pytest.mark.parametrize("transform", BOUNDED.values(), ids=BOUNDED.keys())


@every
def test_batch_equals_row_by_row_along_every_axis(transform):
    z = np.random.default_rng(1).normal(size=(4, 5, 6)) * 2
    for axis in range(-3, 3):
        batch = transform(z, axis=axis)
        rows = np.apply_along_axis(transform, axis, z)
        np.testing.assert_allclose(batch, rows, rtol=0, atol=2e-15)
        np.testing.assert_allclose(batch.sum(axis=axis), 1, atol=1e-14)
        assert batch.flags.c_contiguous


@every
def test_masking_positions_equals_scores_of_minus_infinity_and_leaving_them_out(transform):
    rng = np.random.default_rng(2)
    z = rng.normal(size=(7, 9)) * 2
    mask = np.arange(9) < rng.integers(3, 10, size=(7, 1))
    by_mask = transform(np.where(mask, z, np.nan), mask=mask)  # masked positions are never read
    by_infinity = transform(np.where(mask, z, -np.inf))
    np.testing.assert_array_equal(by_mask, by_infinity)
    assert (by_mask[~mask] == 0).all()
    for row in range(7):
        alone = transform(z[row, mask[row]])
        np.testing.assert_allclose(by_mask[row, mask[row]], alone, rtol=0, atol=2e-15)


@every
def test_float32_stays_float32_and_all_else_becomes_float64(transform):
    z = np.random.default_rng(3).normal(size=(3, 8))
    assert transform(z).dtype == np.float64
    assert transform(z.astype(np.float32)).dtype == np.float32
    assert transform([3, 2, 1, 0]).dtype == np.float64
    np.testing.assert_allclose(transform(z.astype(np.float32)), transform(z), atol=2e-6)


@pytest.mark.parametrize("transform", [softmax, sparsemax, *BOUNDED.values()])
def test_the_input_is_left_alone(transform):
    z, u = np.random.default_rng(4).normal(size=(3, 8)), np.full((3, 8), 0.4)
    kept = z.copy(), u.copy()
    given = (z, u) if transform in BOUNDED.values() else (z,)
    for mask in (None, np.arange(8) < 5):
        result = transform(*given, mask=mask)
        assert not any(np.shares_memory(result, array) for array in given)
    np.testing.assert_array_equal((z, u), kept)


@every
def test_empty_batch_and_non_contiguous_input(transform):
    assert transform(np.zeros((0, 4))).shape == (0, 4)
    z = np.random.default_rng(5).normal(size=(12, 10))
    np.testing.assert_array_equal(transform(z[::2, ::-2]), transform(z[::2, ::-2].copy()))


@every
@pytest.mark.parametrize(
    ("z", "mask", "message"),
    [
        ([[0.0, 1, 2], [0, np.nan, 2]], None, "row 1: a score is NaN"),
        ([[0.0, 1, 2], [0, np.inf, 2]], None, "row 1: a score is +inf"),
        ([[[0.0, 1, 2], [-np.inf] * 3]], None, r"row \(0, 1\): every position is masked"),
        ([0.0, 1, 2], [False] * 3, "^every position is masked"),
        ([], None, "no positions"),
        (1.0, None, "axis -1 does not exist"),
        (["a"], None, "real numbers"),
        ([1j], None, "real numbers"),
    ],
)
def test_errors_name_the_row(transform, z, mask, message):
    with pytest.raises(AttentionError, match=message.replace("+", r"\+")) as caught:
        transform(z, mask=mask)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, CoverageEvalError)
    assert "\n" not in str(caught.value)


@bounded
@pytest.mark.parametrize(
    ("u", "kind", "message"),
    [
        ([[1, 1, 1], [0.2, 0.3, 0.4]], InfeasibleBoundsError, "row 1: the upper bounds sum to 0.9"),
        ([[1, 1, 1], [1, np.nan, 1]], AttentionError, "row 1: an upper bound is NaN"),
        ([[1, 1, 1], [1, -0.25, 1]], AttentionError, "row 1: an upper bound is negative: -0.25"),
        (["x"] * 3, AttentionError, "upper bounds must be .*real numbers"),
    ],
)
def test_bad_bounds_are_refused(transform, u, kind, message):
    with pytest.raises(kind, match=message):
        transform(np.zeros((2, 3)), u)


@bounded
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rounding_in_the_bounds_is_forgiven(transform, dtype):
    # After some steps, rounding makes credits f − β negative and their sums less than 1.
    eps = np.finfo(dtype).eps
    u = np.array([0.5, 0.5 - 8 * eps, -3 * eps], dtype=dtype)
    alpha = transform(np.array([1, 2, 3], dtype=dtype), u)
    np.testing.assert_array_equal(alpha, np.maximum(u, 0))
    printed = [0.333333333, 0.333333333, 0.333333333]  # short by 1e-9
    np.testing.assert_array_equal(transform(np.zeros(3), printed), printed)
    with pytest.raises(InfeasibleBoundsError):
        transform(np.zeros(3), [0.3333, 0.3333, 0.3333])


@bounded
def test_bounds_are_broadcast_against_scores(transform):
    rng = np.random.default_rng(6)
    z, u = rng.normal(size=(5, 4)), rng.uniform(0.3, 1, size=4)
    np.testing.assert_array_equal(transform(z, u), transform(z, np.tile(u, (5, 1))))
    np.testing.assert_array_equal(transform(z[0], np.tile(u, (5, 1))), transform(z[[0] * 5], u))
    np.testing.assert_allclose(
        transform(z.T, u[:, None], axis=0), transform(z, u).T, rtol=0, atol=1e-15
    )


@every
@pytest.mark.parametrize("mask", [[0.0, -np.inf, 0.0], [1.0, 0.0, 1.0], [1, 0, 1], ["x"] * 3])
def test_a_mask_that_is_not_boolean_is_refused(transform, mask):
    """A mask that is added to scores would otherwise give all weight to padding."""
    with pytest.raises(AttentionError, match=r"boolean.*mask == 0"):
        transform(np.zeros(3), mask=mask)


def test_gradients_and_penalties_refuse_such_masks_too():
    alpha, mask = np.full(3, 1 / 3), np.array([0.0, -np.inf, 0.0])
    for gradient in (constrained_softmax_vjp, constrained_sparsemax_vjp):
        with pytest.raises(AttentionError, match="boolean"):
            gradient(alpha, alpha, np.ones(3), mask=mask)
    with pytest.raises(AttentionError, match="boolean"):
        coverage_penalty(alpha, mask=mask)
