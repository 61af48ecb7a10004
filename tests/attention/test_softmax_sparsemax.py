"""Softmax and sparsemax against exact arithmetic, the authors' outputs and limit cases."""

import json

import numpy as np
import pytest

from coverage_eval.attention import softmax, sparsemax
from tests.attention.oracles import softmax_oracle, sparsemax_oracle

EXTREME = [
    [1e30, -1e30, 0.0],
    [1e30, 1e30, -1e30],
    [-1e30, -1e30, -1e30],
    [5e-324, 0.0, -5e-324],
    [1e-310, 3e-310, 2e-310, -1e-310],
    [1.7e308, -1.7e308],
    [1e16, 1e16 + 2, 1e16 - 2],
    [700.0, -700.0, 699.5],
    [0.0],
]


@pytest.mark.parametrize("z", EXTREME, ids=str)
def test_extreme_magnitudes(z):
    np.testing.assert_allclose(sparsemax(z), sparsemax_oracle(z), rtol=1e-12)
    np.testing.assert_allclose(softmax(z), softmax_oracle(z), rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("spread", [0.01, 1.0, 30.0])
def test_against_exact_arithmetic(spread):
    rng = np.random.default_rng(7)
    for positions in (2, 3, 10, 40):
        z = rng.normal(size=positions) * spread
        # Attention is z − τ, so its error is absolute rather than relative to small attention.
        np.testing.assert_allclose(sparsemax(z), sparsemax_oracle(z), rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(softmax(z), softmax_oracle(z), rtol=1e-12, atol=1e-300)


def test_golden_outputs_of_the_authors_code(shared):
    lines = (shared / "golden/attention/transformations.jsonl").read_text().splitlines()
    assert len(lines) == 200
    for case in map(json.loads, lines):
        np.testing.assert_allclose(sparsemax(case["z"]), case["sparsemax"], rtol=0, atol=1e-9)


def test_limits_of_sparsemax():
    z = np.array([0.3, -0.2, 0.1])
    np.testing.assert_allclose(sparsemax(1e-9 * z), np.full(3, 1 / 3), atol=1e-9)
    np.testing.assert_array_equal(sparsemax(1e9 * z), [1, 0, 0])
    np.testing.assert_allclose(sparsemax([0.7, 0.2, 0.1]), [0.7, 0.2, 0.1])  # the simplex is fixed
    np.testing.assert_array_equal(sparsemax([5.0, 5.0, 0.0, 5.0, 5.0]), [0.25, 0.25, 0, 0.25, 0.25])


def test_a_long_row():
    z = np.random.default_rng(8).normal(size=300_000) * 1e-4
    alpha = sparsemax(z)
    assert abs(alpha.sum() - 1) < 1e-12
    support = alpha > 0
    assert np.ptp(z[support] - alpha[support]) < 1e-15
    assert z[~support].max() <= (z - alpha)[support].max()
