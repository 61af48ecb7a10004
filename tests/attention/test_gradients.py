"""Gradients against finite differences; their identities, conventions and sparse form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from coverage_eval.attention import (
    AttentionError,
    constrained_softmax,
    constrained_softmax_vjp,
    constrained_sparsemax,
    constrained_sparsemax_jacobian,
    constrained_sparsemax_vjp,
    softmax,
    softmax_vjp,
    sparsemax,
    sparsemax_vjp,
)
from tests.attention.oracles import random_problem

Array = NDArray[Any]
STEP = 1e-6


def _softmax_jacobian(alpha: Array, u: Array) -> list[Array]:
    """Row by row, by the vector-Jacobian product."""
    rows = [
        constrained_softmax_vjp(np.broadcast_to(unit, alpha.shape), alpha, u)
        for unit in np.eye(alpha.shape[-1])
    ]
    return [np.stack(part, axis=-2) for part in zip(*rows, strict=True)]


PLAIN = {"softmax": (softmax, softmax_vjp), "sparsemax": (sparsemax, sparsemax_vjp)}
CONSTRAINED = {
    "softmax": (constrained_softmax, constrained_softmax_vjp, _softmax_jacobian),
    "sparsemax": (
        constrained_sparsemax, constrained_sparsemax_vjp, constrained_sparsemax_jacobian,
    ),
}  # fmt: skip
plain = pytest.mark.parametrize(("forward", "vjp"), PLAIN.values(), ids=PLAIN)
constrained = pytest.mark.parametrize(
    ("forward", "vjp", "jacobian"), CONSTRAINED.values(), ids=CONSTRAINED
)


def _differences(function: Callable[[Array], Array], at: Array) -> Array:
    """Central differences: ``[i, j]`` is the derivative of output i for input j."""
    columns = []
    for j in range(len(at)):
        step = np.zeros_like(at)
        step[j] = STEP
        columns.append((function(at + step) - function(at - step)) / (2 * STEP))
    return np.stack(columns, axis=1)


def _away_from_kinks(z: Array, u: Array) -> bool:
    """Whether all positions stay in their sets while a finite difference is taken."""
    alpha = constrained_sparsemax(z, u)
    interior = (alpha > 0) & (alpha < u)
    if not interior.any():
        return False
    tau = (z - alpha)[interior].mean()
    kinks = np.concatenate([z - tau, z - u - tau])
    soft = constrained_softmax(z, u)
    ratio = (
        np.log(u / softmax(np.where(soft < u, z, -np.inf)).clip(1e-300)) if (soft < u).any() else 0
    )
    return bool(np.abs(kinks).min() > 1e-4 and np.abs(ratio).min() > 0)


def _problems(count: int, positions: int = 7) -> list[tuple[Array, Array]]:
    rng = np.random.default_rng(31)
    found: list[tuple[Array, Array]] = []
    while len(found) < count:
        z, u = random_problem(rng, positions, spread=0.7)
        u = np.minimum(u, 2.0) + 0.01  # bounds at 0 have no two-sided derivative
        if _away_from_kinks(z, u):
            found.append((z, u))
    return found


@plain
def test_plain_against_finite_differences(forward, vjp):
    rng = np.random.default_rng(32)
    for z, _ in _problems(20):
        numeric = _differences(forward, z)
        alpha, gradient = forward(z), rng.normal(size=len(z))
        np.testing.assert_allclose(vjp(gradient, alpha), gradient @ numeric, atol=1e-7)


@pytest.mark.slow
@constrained
def test_constrained_against_finite_differences(forward, vjp, jacobian):
    rng = np.random.default_rng(33)
    bound_seen = 0
    for z, u in _problems(40):
        for_z = _differences(lambda v, u=u: forward(v, u), z)
        for_u = _differences(lambda v, z=z: forward(z, v), u)
        alpha, gradient = forward(z, u), rng.normal(size=len(z))
        bound_seen += int((alpha == u).any())
        jacobian_z, jacobian_u = jacobian(alpha, u)
        np.testing.assert_allclose(jacobian_z, for_z, atol=1e-7)
        np.testing.assert_allclose(jacobian_u, for_u, atol=1e-7)
        d_scores, d_bounds = vjp(gradient, alpha, u)
        np.testing.assert_allclose(d_scores, gradient @ for_z, atol=1e-6)
        np.testing.assert_allclose(d_bounds, gradient @ for_u, atol=1e-6)
    assert bound_seen > 20


@constrained
def test_gradients_and_jacobians_agree_and_keep_the_sum_of_attention(forward, vjp, jacobian):
    rng = np.random.default_rng(34)
    pairs = [random_problem(rng, 12) for _ in range(200)]
    z, u = np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])
    alpha, gradient = forward(z, u), rng.normal(size=z.shape)
    d_scores, d_bounds = vjp(gradient, alpha, u)
    free = (alpha > 0) & (alpha < u)
    np.testing.assert_allclose(d_scores.sum(axis=1), 0, atol=1e-13)
    assert (d_scores[~free] == 0).all()
    assert (d_bounds[free] == 0).all()
    jacobian_z, jacobian_u = jacobian(alpha, u)
    # Adding a constant to all scores changes nothing; the attention still sums to 1.
    np.testing.assert_allclose(jacobian_z.sum(axis=2), 0, atol=1e-13)
    np.testing.assert_allclose(jacobian_z.sum(axis=1), 0, atol=1e-13)
    np.testing.assert_allclose(jacobian_u.sum(axis=1), 0, atol=1e-13)
    np.testing.assert_allclose(jacobian_z, jacobian_z.swapaxes(1, 2), atol=1e-13)
    np.testing.assert_allclose(np.einsum("ri,rij->rj", gradient, jacobian_z), d_scores, atol=1e-12)
    np.testing.assert_allclose(np.einsum("ri,rij->rj", gradient, jacobian_u), d_bounds, atol=1e-12)
    # The attention always sums to 1, so adding a constant to the gradient changes nothing.
    for moved, still in zip(vjp(gradient + 5, alpha, u), (d_scores, d_bounds), strict=True):
        np.testing.assert_allclose(moved, still, atol=1e-12)


def test_equations_7_and_8_on_an_example():
    u = np.array([0.2, 0.5, 1.0, 1.0])
    alpha = constrained_sparsemax([2.0, 0.4, 0.2, -5.0], u)
    np.testing.assert_allclose(alpha, [0.2, 0.5, 0.3, 0.0])
    d_scores, d_bounds = constrained_sparsemax_vjp([1.0, 2.0, 3.0, 4.0], alpha, u)
    np.testing.assert_array_equal(d_scores, [0, 0, 0, 0])
    np.testing.assert_array_equal(d_bounds, [-2, -1, 0, 0])  # m = 3, the mean over A = {2}


@constrained
def test_attention_follows_its_bounds_if_no_position_is_between_them(forward, vjp, jacobian):
    """Changes of the bounds that keep their sum; an exhausted word keeps its bound."""
    d_alpha = np.array([1.0, -2.0, 5.0, 9.0])
    for u, moved in (
        ([0.25, 0.5, 0.25, 0.0], [0.5, -0.2, -0.3, 0.0]),
        ([0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]),
        ([0.4, 0.6, 0.0, 0.9], [0.3, -0.3, 0.0, 0.0]),  # the last has credit and is at 0
    ):
        z, bounds, change = np.array([3.0, 3.0, 2.0, -9.0]), np.array(u), np.array(moved)
        bounds = bounds if vjp is constrained_sparsemax_vjp else np.minimum(bounds, [1, 1, 1, 0])
        alpha = forward(z, bounds)
        with np.errstate(all="raise"):
            (dz, du), (by_z, by_u) = vjp(d_alpha, alpha, bounds), jacobian(alpha, bounds)
        assert not dz.any()
        assert not by_z.any()
        raised = forward(z, bounds + STEP * change)
        np.testing.assert_allclose(by_u @ change, (raised - alpha) / STEP, atol=1e-9)
        np.testing.assert_allclose(du @ change, d_alpha @ change, atol=1e-12)
        np.testing.assert_allclose(du, d_alpha @ by_u, atol=1e-12)
        assert du[alpha > 0].sum() == pytest.approx(0, abs=1e-12)


def test_the_bound_of_an_exhausted_word_has_a_gradient_only_for_softmax():
    # Softmax would use more credit immediately; for sparsemax the word counts as being at 0.
    z, u, gradient = np.array([1.0, 0.5, 0.0]), np.array([0.0, 1.0, 1.0]), np.array([1.0, 2.0, 4.0])
    alpha = constrained_softmax(z, u)
    _, d_bounds = constrained_softmax_vjp(gradient, alpha, u)
    raised = constrained_softmax(z, np.array([STEP, 1.0, 1.0]))
    np.testing.assert_allclose(d_bounds[0], gradient @ (raised - alpha) / STEP, atol=1e-5)
    _, d_bounds = constrained_sparsemax_vjp(gradient, constrained_sparsemax(z, u), u)
    assert d_bounds[0] == 0


@constrained
def test_padding_gets_no_gradient(forward, vjp, jacobian):
    z, u = np.array([[0.5, 0.2, 9.0]]), np.array([[0.3, 1.0, 0.0]])
    mask = np.array([[True, True, False]])
    alpha = forward(z, u, mask=mask)
    d_scores, d_bounds = vjp(np.array([[1.0, 2.0, np.nan]]), alpha, u, mask=mask)
    assert d_scores[0, 2] == 0
    assert d_bounds[0, 2] == 0
    assert np.isfinite(d_scores).all()


@constrained
def test_gradients_along_another_axis_and_in_float32(forward, vjp, jacobian):
    rng = np.random.default_rng(35)
    z, gradient = rng.normal(size=(5, 4, 3)), rng.normal(size=(5, 4, 3))
    u = rng.uniform(0.3, 1, size=(5, 4, 3))
    alpha = forward(z, u, axis=1)
    for along, moved in zip(
        vjp(gradient, alpha, u, axis=1),
        vjp(*(np.moveaxis(a, 1, -1) for a in (gradient, alpha, u))),
        strict=True,
    ):
        np.testing.assert_allclose(along, np.moveaxis(moved, -1, 1), atol=1e-15)
    narrow = forward(z.astype(np.float32), 0.7, axis=1)
    # The scalar 0.7 is not a float32: it must still be recognised as the bound.
    assert (narrow == np.float32(0.7)).any()
    d_scores, d_bounds = vjp(gradient.astype(np.float32), narrow, 0.7, axis=1)
    assert d_scores.dtype == d_bounds.dtype == np.float32
    assert (d_scores[narrow == np.float32(0.7)] == 0).all()


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(AttentionError, match=r"gradient has shape \(2,\), the attention \(3,\)"):
        softmax_vjp([1.0, 2.0], [0.2, 0.3, 0.5])
