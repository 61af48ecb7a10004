"""Algorithm 1 of Malaviya et al. 2018: the general problem, the reduction to it, ties, errors."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coverage_eval.attention import (
    InfeasibleBoundsError,
    canonical_problem,
    constrained_sparsemax,
    pardalos_kovoor,
)
from tests.attention.oracles import random_problem


def _bisection(a: Any, b: Any, c: Any, d: float) -> np.ndarray[Any, Any]:
    with mpmath.workprec(130):
        low, high = mpmath.mpf(-1000), mpmath.mpf(1000)
        for _ in range(100):
            y = (low + high) / 2
            total = mpmath.fsum(
                mpmath.mpf(w) * min(max(y, mpmath.mpf(s)), mpmath.mpf(t))
                for s, t, w in zip(a, b, c, strict=True)
            )
            low, high = (y, high) if total <= d else (low, y)
        return np.clip(float(low), a, b)


@pytest.mark.slow
@given(st.integers(1, 15), st.integers(0, 10**6), st.booleans())
@settings(max_examples=80, deadline=None)
def test_general_problem_against_bisection(size, seed, tied):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=size) * 3
    b = a + rng.exponential(size=size) * (rng.uniform(size=size) > 0.2)
    c = rng.uniform(0.1, 3, size=size)
    if tied:  # many split points coincide
        a, b, c = np.round(a), np.round(b), np.ceil(c)
    d = float(c @ a + rng.uniform() * (c @ b - c @ a))
    x = pardalos_kovoor(a, b, c, d)
    assert (x >= a).all()
    assert (x <= b).all()
    np.testing.assert_allclose(c @ x, d, atol=1e-11)
    np.testing.assert_allclose(x, _bisection(a, b, c, d), atol=1e-11)


def test_constrained_sparsemax_by_reduction_to_the_general_problem():
    # Eqs. 18-22: x = (α − z) / 2.
    rng = np.random.default_rng(21)
    for positions in (1, 2, 5, 30, 300):
        z, u = random_problem(rng, positions)
        x = pardalos_kovoor(*canonical_problem(z, u))
        np.testing.assert_allclose(2 * x + z, constrained_sparsemax(z, u), rtol=0, atol=1e-12)


def test_all_scores_equal():
    z, u = np.zeros(50_000), np.full(50_000, 1e-4)
    x = pardalos_kovoor(*canonical_problem(z, u))
    np.testing.assert_allclose(2 * x + z, 1 / 50_000, rtol=1e-10)


def test_solutions_with_every_position_at_a_bound():
    np.testing.assert_array_equal(pardalos_kovoor([0, 0], [1, 2], [1, 1], 3.0), [1, 2])
    np.testing.assert_array_equal(pardalos_kovoor([0, 0], [1, 2], [1, 1], 0.0), [0, 0])
    np.testing.assert_array_equal(pardalos_kovoor([0, 5], [1, 6], [1, 1], 6.0), [1, 5])
    np.testing.assert_array_equal(pardalos_kovoor([2], [2], [1], 2.0), [2])


def test_infinite_upper_bounds_and_zero_weights():
    np.testing.assert_array_equal(
        pardalos_kovoor([0, 0, -1], [np.inf, 1, 1], [1, 1, 0], 5.0), [4, 1, 1]
    )


@pytest.mark.parametrize("d", [-0.5, 2.5])
def test_a_sum_outside_the_bounds_is_refused(d):
    with pytest.raises(InfeasibleBoundsError, match="the bounds allow only 0 to 2"):
        pardalos_kovoor([0, 0, -1], [1, 1, np.inf], [1, 1, 0], d)
