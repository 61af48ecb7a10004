"""Sparsemax and softmax regression against a general solver, and Adam against its formulas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from coverage_eval.attention import AttentionError, softmax
from coverage_eval.attention.losses import cross_entropy, sparsemax_loss
from coverage_eval.papers.reproduction.probabilistic_regression import ProbabilisticRegression

RNG = np.random.default_rng(51)
X = RNG.normal(size=(60, 3))
Y = np.array(["ham", "spam", "tofu"])[
    (X @ RNG.normal(size=(3, 3)) + RNG.normal(size=(60, 3))).argmax(1)
]


@pytest.mark.parametrize(
    ("activation", "loss"), [("softmax", cross_entropy), ("sparsemax", sparsemax_loss)]
)
def test_the_fit_is_the_minimum_of_equation_11(activation, loss):
    from scipy.optimize import minimize

    model = ProbabilisticRegression(activation, regularization=0.05, tol=1e-9).fit(X, Y)
    targets = (Y[:, None] == np.unique(Y)).astype(float)

    def objective(flat: Any) -> float:
        weights, bias = flat[:9].reshape(3, 3), flat[9:]
        penalty = 0.05 / 2 * ((weights**2).sum() + (bias**2).sum())
        return float(penalty + loss(X @ weights + bias, targets).mean())

    found = np.concatenate([model.coef_.ravel(), model.intercept_])
    # The oracle is another solver, with numerical derivatives.
    other = minimize(objective, np.zeros(12), method="BFGS", options={"gtol": 1e-6})
    assert objective(found) <= other.fun + 1e-9
    np.testing.assert_allclose(found, other.x, atol=1e-3)


def test_adam_follows_its_formulas():
    """The input is tiny, so that ε matters."""
    x, y = np.array([1e-8, 1.0]), np.array([1.0, 0.0])
    model = ProbabilisticRegression("softmax", regularization=0.5, solver="adam", max_iter=3)
    model.fit([x[:1]], [y])
    weights = first = second = np.zeros((2, 2))
    for t in (1, 2, 3):
        gradient = np.outer(x, softmax(x @ weights) - y) + 0.5 * weights
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient**2
        scale = np.sqrt(second / (1 - 0.999**t)) + 1e-8
        weights = weights - 0.001 * first / (1 - 0.9**t) / scale
    np.testing.assert_allclose([model.coef_[0], model.intercept_], weights, rtol=1e-12)


def test_adam_takes_a_step_for_each_batch_and_is_reproducible():
    one, three, again, whole, other = (
        ProbabilisticRegression(solver="adam", max_iter=2, batch_size=size, seed=seed).fit(
            X[:9], Y[:9]
        )
        for size, seed in ((1, 0), (4, 0), (4, 0), (9, 0), (9, 1))
    )
    assert (one.n_iter_, three.n_iter_) == (2 * 9, 2 * 3)
    np.testing.assert_array_equal(three.coef_, again.coef_)
    np.testing.assert_allclose(whole.coef_, other.coef_)  # in any order, a whole batch is the same


def test_targets_may_be_distributions():
    targets = RNG.dirichlet(np.ones(4), size=60)
    model = ProbabilisticRegression("sparsemax", regularization=0, max_iter=1).fit(X, targets)
    assert model.classes_ is None
    assert model.predict_proba(X).shape == (60, 4)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert set(model.predict(X)) <= set(range(4))


@pytest.mark.parametrize(
    ("fit", "message"),
    [
        (lambda: ProbabilisticRegression("relu"), "unknown activation"),  # type: ignore[arg-type]
        (lambda: ProbabilisticRegression(regularization=-1), "at least 0"),
        (lambda: ProbabilisticRegression(max_iter=0), "max_iter and batch_size 1"),
        (lambda: ProbabilisticRegression(batch_size=0), "max_iter and batch_size 1"),
        (lambda: ProbabilisticRegression().fit(X, X[:, :, None]), "targets of shape"),
        (lambda: ProbabilisticRegression().fit(X[:0], Y[:0]), "N, features"),
        (lambda: ProbabilisticRegression().predict(X), "not fitted"),
        (lambda: ProbabilisticRegression().fit(X, Y[:5]), "60 inputs, but targets"),
        (lambda: ProbabilisticRegression().fit(X[0], Y), "N, features"),
        (lambda: ProbabilisticRegression().fit(X * np.nan, Y), "finite"),
        (lambda: ProbabilisticRegression().fit(X, X), "distributions"),
        (lambda: ProbabilisticRegression().fit(X, Y).predict(X[:, :2]), "2 features, but fitted"),
    ],
)
def test_bad_input_is_refused(fit, message):
    with pytest.raises(AttentionError, match=message):
        fit()
