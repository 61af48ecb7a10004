"""Attention within a credit, against batched steps and special cases."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coverage_eval.attention import (
    TRANSFORMATIONS,
    AttentionStep,
    BilinearScore,
    InfeasibleBoundsError,
    attend,
    attend_with_credit,
)

BOUNDED = [t.name for t in TRANSFORMATIONS.values() if t.bounded]


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_equals_a_batch_of_steps_whose_states_are_scores(name):
    rng = np.random.default_rng(41)
    z, f = rng.normal(size=(6, 4)), np.array([1.0, 2.5, 0.5, np.inf])
    attention, credit = attend_with_credit(z, f, name)
    step = AttentionStep(BilinearScore(), name)
    result = attend(z[None], np.eye(4)[None], step, fertilities=f)
    np.testing.assert_array_equal(attention, result.attention[0])
    np.testing.assert_array_equal(credit, [r.credit[0] for r in result.trace.results])


@given(
    st.sampled_from(BOUNDED), st.integers(1, 8), st.integers(0, 10**6),
    st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0, np.inf]), min_size=1, max_size=6),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_credit_is_never_exceeded(name, steps, seed, f):
    z = 3 * np.random.default_rng(seed).normal(size=(steps, len(f)))
    if sum(f) < steps:
        short = int(sum(f)) + 1
        with pytest.raises(InfeasibleBoundsError, match=f"^step {short}: .* add a sink"):
            attend_with_credit(z, f, name)
    else:
        attention, credit = attend_with_credit(z, f, name)
        assert (attention <= credit).all()
        assert (attention.sum(axis=0) <= np.array(f) + 1e-12).all()
        np.testing.assert_allclose(attention.sum(axis=1), 1, atol=1e-14)


def test_without_bounds_the_credit_runs_out():
    attention, credit = attend_with_credit([[9.0, 0.0]] * 3, 1.0, "sparsemax")
    np.testing.assert_array_equal(attention, [[1, 0]] * 3)
    np.testing.assert_array_equal(credit, [[1, 1], [0, 1], [0, 1]])


def test_no_steps_and_padding():
    assert attend_with_credit(np.zeros((0, 3)), 1.0)[0].shape == (0, 3)
    attention, _ = attend_with_credit([[1.0, 2.0, -np.inf]], [0.5, 0.5, 7.0])
    np.testing.assert_array_equal(attention, [[0.5, 0.5, 0.0]])
