"""Sparsemax and softmax regression against a general solver, and Adam against its formulas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from coverage_eval.attention import softmax
from coverage_eval.attention.losses import cross_entropy, sparsemax_loss
from tests.reproduction.conftest import SCRIPTS  # noqa: F401  (finds the scripts)

from regression import Data, fit, iris, read  # isort: skip

RNG = np.random.default_rng(51)
X = RNG.normal(size=(60, 3))
Y = (X @ RNG.normal(size=(3, 3)) + RNG.normal(size=(60, 3))).argmax(1)
DATA = Data("random", X, np.eye(3, dtype=bool)[Y])


@pytest.mark.parametrize(
    ("activation", "loss"), [("softmax", cross_entropy), ("sparsemax", sparsemax_loss)]
)
def test_the_fit_is_the_minimum_of_equation_11(activation, loss):
    def objective(flat: Any) -> float:
        weights = flat.reshape(4, 3)
        scores = X @ weights[:3] + weights[3]
        return float(0.05 / 2 * (flat**2).sum() + loss(scores, np.eye(3)[Y]).mean())

    found = fit(DATA, activation, 0.05, "minimum").ravel()
    # The oracle is another solver, with numerical derivatives.
    other = minimize(objective, np.zeros(12), method="BFGS", options={"gtol": 1e-6})
    assert objective(found) <= other.fun + 1e-9
    np.testing.assert_allclose(found, other.x, atol=1e-3)


def test_adam_follows_its_formulas():
    """The input is tiny, so that ε matters."""
    x, y = np.array([1e-8, 1.0]), np.array([1.0, 0.0])
    single = Data("one", np.array([x[:1]]), np.array([y > 0]))
    weights = first = second = np.zeros((2, 2))
    for t in (1, 2, 3):
        gradient = np.outer(x, softmax(x @ weights) - y) + 0.5 * weights
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient**2
        scale = np.sqrt(second / (1 - 0.999**t)) + 1e-8
        weights = weights - 0.001 * first / (1 - 0.9**t) / scale
    np.testing.assert_allclose(fit(single, "softmax", 0.5, "adam", epochs=3), weights, rtol=1e-12)


def test_data_sets_are_read_and_dealt_evenly(tmp_path):
    rows = "@relation scene\n" + "".join(f"@attribute a{k} numeric\n" for k in range(8)) + "@data\n"
    path = tmp_path / "scene-train.arff"
    path.write_text(f"{rows}0.5,1,1,0,0,0,0,1\n0.25,2,0,0,0,0,0,0\n", encoding="utf-8")
    (scene,) = read(path)
    np.testing.assert_array_equal(scene.features, [[0.5, 1], [0.25, 2]])
    np.testing.assert_allclose(scene.targets, [[0.5, 0, 0, 0, 0, 0.5], [1 / 6] * 6])
    path = tmp_path / "some.svm"
    path.write_text("1 1:0.5\n2,3 2:1\n", encoding="utf-8")
    (some,) = read(path)
    np.testing.assert_array_equal(some.labels, [[1, 0, 0], [0, 1, 1]])
    parts = iris().deal(5, np.random.default_rng(0))
    for species in range(3):
        assert np.bincount(parts[iris().labels[:, species]]).tolist() == [10] * 5
