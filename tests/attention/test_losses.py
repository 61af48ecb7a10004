"""Losses and their gradients."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coverage_eval.attention import sparsemax
from coverage_eval.attention.losses import (
    cross_entropy,
    cross_entropy_and_gradient,
    sparsemax_loss,
    sparsemax_loss_and_gradient,
)


@given(st.lists(st.floats(-10, 10), min_size=2, max_size=12), st.integers(0, 10**6))
@settings(max_examples=80, deadline=None)
def test_the_sparsemax_loss_is_a_fenchel_young_loss(values, seed):
    z = np.array(values)
    rng = np.random.default_rng(seed)
    for q in (rng.dirichlet(np.ones(len(z))), np.eye(len(z))[0], sparsemax(z)):
        loss = sparsemax_loss(z, q)
        assert loss >= -1e-15
        p = sparsemax(z)
        conjugate = p @ z - (p @ p - 1) / 2
        np.testing.assert_allclose(conjugate + (q @ q - 1) / 2 - q @ z, loss, atol=1e-12)


def test_the_loss_is_zero_at_the_target_and_from_margin_1_on():
    z = np.array([0.7, 0.2, 0.1])
    assert abs(sparsemax_loss(z, z)) < 1e-15
    assert sparsemax_loss([3.0, 1.9, 0.0], [1, 0, 0]) == 0  # margin 1 is reached
    assert sparsemax_loss([3.0, 2.5, 0.0], [1, 0, 0]) > 0
    assert sparsemax_loss([0.0, 0.0], [1, 0]) == 0.25


def test_large_scores_do_not_cancel():
    q = np.array([0.5, 0.5, 0.0])
    z = np.array([0.25, 0.0, -0.5])
    np.testing.assert_allclose(sparsemax_loss(z + 2.0**30, q), sparsemax_loss(z, q), rtol=1e-12)


@pytest.mark.parametrize(
    ("loss", "loss_and_gradient"),
    [(sparsemax_loss, sparsemax_loss_and_gradient), (cross_entropy, cross_entropy_and_gradient)],
)
def test_gradients_against_finite_differences(loss, loss_and_gradient):
    rng = np.random.default_rng(41)
    for _ in range(30):
        z, q = rng.normal(size=6), rng.dirichlet(np.ones(6))
        numeric = [(loss(z + step, q) - loss(z - step, q)) / 2e-6 for step in 1e-6 * np.eye(6)]
        value, gradient = loss_and_gradient(z, q)
        assert value == loss(z, q)
        np.testing.assert_allclose(gradient, numeric, atol=1e-6)


def test_batches_and_other_axes_give_the_losses_of_single_rows():
    rng = np.random.default_rng(42)
    z, q = rng.normal(size=(4, 5)), rng.dirichlet(np.ones(5), size=4)
    for loss in (sparsemax_loss, cross_entropy):
        whole = loss(z, q)
        assert whole.shape == (4,)
        np.testing.assert_allclose(loss(z.T, q.T, axis=0), whole, rtol=1e-13)
        np.testing.assert_allclose([loss(*pair) for pair in zip(z, q, strict=True)], whole)


def test_cross_entropy_of_known_scores():
    assert cross_entropy([0.0, 0.0], [1, 0]) == pytest.approx(np.log(2))
    assert cross_entropy([1000.0, 0.0], [0, 1]) == 1000
