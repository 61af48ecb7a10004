"""Constrained softmax and sparsemax against exact arithmetic, the authors' outputs and limits."""

import json

import numpy as np
import pytest

from coverage_eval.attention import (
    canonical_problem,
    constrained_softmax,
    constrained_sparsemax,
    pardalos_kovoor,
    softmax,
    sparsemax,
)
from tests.attention.oracles import softmax_oracle, sparsemax_oracle

EXTREME = [
    ([1e30, 0.0, 0.5], [0.3, 1.0, 1.0]),
    ([1e30, 1e30, 0.0], [0.7, 0.2, 1.0]),
    ([1e30, 1e30, -1e30], [0.7, 0.7, 1.0]),
    ([-1e30, 1e30, 0.0, 1e-30], [1.0, 0.25, 0.25, 0.25]),
    ([-1e30, 1e30, 0.0, 40.0, 40.25], [1.0, 0.25, 0.25, 0.25, 0.125]),
    ([1e30, 1e20, 1e10, 1.0, 0.0], [0.125, 0.125, 0.125, 0.125, 1.0]),
    ([3.0, 2.0, 1.0], [5e-324, 0.5, 0.75]),
    ([3.0, 2.0, 1.0], [1e-310, 1e-300, 1.0]),
    ([5e-324, 0.0, -5e-324], [0.4, 0.5, 0.4]),
    ([1.7e308, -1.7e308, 0.0], [0.5, 0.25, 1.0]),
    ([1e16, 1e16 + 2, 1e16 - 2, 0.0], [0.25, 0.25, 0.25, 1.0]),
    ([800.0, 0.0, -800.0, -800.5], [0.25, 0.25, 0.25, 1.0]),
    ([800.0, 0.0, -800.0, -800.5], [0.0, 0.0, 0.5, 1.0]),
    ([2.0, 1.0], [np.inf, 0.0]),
    ([0.0], [np.inf]),
]


@pytest.mark.parametrize(("z", "u"), EXTREME, ids=str)
def test_extreme_magnitudes(z, u):
    expected = sparsemax_oracle(z, u)
    np.testing.assert_allclose(constrained_sparsemax(z, u), expected, rtol=1e-12)
    np.testing.assert_allclose(
        constrained_softmax(z, u), softmax_oracle(z, u), rtol=1e-12, atol=1e-280
    )
    # A batch with an easy row gives the same result.
    scores, bounds = np.vstack([z, np.zeros(len(z))]), np.vstack([u, np.full(len(z), np.inf)])
    np.testing.assert_allclose(constrained_sparsemax(scores, bounds)[0], expected, rtol=1e-12)
    np.testing.assert_array_equal(constrained_softmax(scores, bounds)[0], constrained_softmax(z, u))


def test_golden_outputs_of_the_authors_code(shared):
    lines = (shared / "golden/attention/transformations.jsonl").read_text().splitlines()
    for case in map(json.loads, lines):
        np.testing.assert_allclose(
            constrained_sparsemax(case["z"], case["u"]), case["csparsemax"], rtol=0, atol=1e-9
        )
        np.testing.assert_allclose(
            constrained_softmax(case["z"], case["u"]), case["csoftmax"], rtol=0, atol=1e-9
        )


@pytest.mark.parametrize("transform", [constrained_softmax, constrained_sparsemax])
def test_bounds_that_sum_to_one_are_returned_exactly(transform):
    rng = np.random.default_rng(13)
    for u in ([0.25, 0.5, 0.25], [1.0, 0.0], [0.1] * 10, [1 / 3] * 3, rng.dirichlet(np.ones(40))):
        z = rng.normal(size=len(u)) * 5
        np.testing.assert_array_equal(transform(z, u), u)
        narrow = np.array(u, dtype=np.float32)
        if narrow.astype(float).sum() >= 1:
            np.testing.assert_array_equal(transform(z.astype(np.float32), narrow), narrow)
    batch = rng.dirichlet(np.ones(30), size=500)
    np.testing.assert_array_equal(transform(rng.normal(size=batch.shape), batch), batch)
    long = np.full(10**6, 1e-6)
    np.testing.assert_array_equal(transform(rng.normal(size=10**6), long), long)


def test_wide_bounds_give_the_unconstrained_transformations():
    z = np.random.default_rng(14).normal(size=(300, 17)) * 2
    for bound in (1.0, 3.0, np.inf):
        np.testing.assert_allclose(constrained_sparsemax(z, bound), sparsemax(z), atol=2e-15)
        np.testing.assert_allclose(constrained_softmax(z, bound), softmax(z), atol=2e-15)


def test_exhausted_words_and_the_sink():
    z = np.array([9.0, 1.0, 0.5, -3.0])
    u = np.array([0.0, 0.25, 0.0, np.inf])
    np.testing.assert_array_equal(constrained_sparsemax(z, u), [0, 0.25, 0, 0.75])
    np.testing.assert_allclose(constrained_softmax(z, u), [0, 0.25, 0, 0.75], rtol=1e-15)


def test_long_rows():
    length = 200_000
    rng = np.random.default_rng(16)
    z = rng.normal(size=length)
    for u in (rng.uniform(0, 4 / length, size=length), rng.uniform(size=length)):
        alpha = constrained_sparsemax(z, u)
        # The median algorithm uses the sum of all scores, so its rounding errors are larger.
        by_medians = 2 * pardalos_kovoor(*canonical_problem(z, u)) + z
        np.testing.assert_allclose(alpha, by_medians, rtol=0, atol=1e-9)
        interior = (alpha > 0) & (alpha < u)
        assert np.ptp((z - alpha)[interior]) < 1e-15
        assert abs(alpha.sum() - 1) < 1e-13
        assert abs(constrained_softmax(z, u).sum() - 1) < 1e-13


def test_softmax_if_every_fixed_position_pushes_one_more_over_its_bound():
    # This is the longest possible chain.
    positions = 400
    u = np.empty(positions)
    left = 1.0
    for j in range(positions):
        u[j] = left / (positions - j) * (1 - 1e-4)
        left -= u[j]
    u[-1] = 1.0
    alpha = constrained_softmax(np.zeros(positions), u)
    np.testing.assert_allclose(alpha[:-1], u[:-1], rtol=1e-12)
    np.testing.assert_allclose(alpha, softmax_oracle(np.zeros(positions), u), rtol=1e-9)
