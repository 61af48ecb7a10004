r"""Sparsemax and softmax regression (Madsen et al. 2017, §2.3, eq. 11).

Both are convex, so a quasi-Newton method finds the one minimum, where the report stopped Adam
after a number of epochs. Needs SciPy, imported when a model is fitted.
"""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coverage_eval.attention._inputs import AttentionError, Float64Array
from coverage_eval.attention.losses import (
    cross_entropy,
    cross_entropy_gradient,
    sparsemax_loss,
    sparsemax_loss_gradient,
)
from coverage_eval.attention.softmax import softmax
from coverage_eval.attention.sparsemax import sparsemax

__all__ = ["ProbabilisticRegression"]

_LOSSES: dict[str, Any] = {
    "softmax": (softmax, cross_entropy, cross_entropy_gradient),
    "sparsemax": (sparsemax, sparsemax_loss, sparsemax_loss_gradient),
}


class ProbabilisticRegression:
    r"""Linear scores, then softmax or sparsemax, in the manner of scikit-learn's estimators.

    Minimises :math:`\frac\lambda2 (\|W\|_F^2 + \|b\|^2) + \frac1N \sum_i L(W x_i + b; q_i)`
    (eq. 11), with L the cross-entropy or the sparsemax loss.

    Args:
        activation: ``"softmax"`` or ``"sparsemax"``.
        regularization: λ, at least 0.
        max_iter: limit on the iterations of L-BFGS.
        tol: the largest entry of the gradient at which fitting stops.

    Attributes:
        coef_: ``[features, labels]`` weights, once fitted.
        intercept_: ``[labels]`` biases.
        classes_: ``[labels]`` the class of each column, or None after fitting distributions.
        n_iter_: iterations that were needed.
    """

    coef_: Float64Array
    intercept_: Float64Array
    classes_: NDArray[Any] | None
    n_iter_: int

    def __init__(
        self,
        activation: Literal["softmax", "sparsemax"] = "sparsemax",
        *,
        regularization: float = 1e-8,
        max_iter: int = 10_000,
        tol: float = 1e-6,
    ) -> None:
        if activation not in _LOSSES:
            raise AttentionError(f"unknown activation {activation!r}: use softmax or sparsemax")
        if not regularization >= 0:
            raise AttentionError(f"the regularization must be at least 0, not {regularization}")
        self.activation = activation
        self.regularization = regularization
        self.max_iter = max_iter
        self.tol = tol

    def fit(self, x: ArrayLike, y: ArrayLike) -> "ProbabilisticRegression":
        """Find the weights.

        Args:
            x: ``[N, features]`` inputs.
            y: ``[N]`` classes, or ``[N, labels]`` target distributions.

        Returns:
            The model itself.

        Raises:
            AttentionError: shapes that do not fit, values that are not finite, or targets that
                are not distributions.
        """
        from scipy.optimize import minimize

        inputs = _matrix(x)
        targets = self._targets(y, len(inputs))
        # The biases are regularised like the weights, so they are one more row of them.
        design = np.hstack([inputs, np.ones((len(inputs), 1))])
        shape = (design.shape[1], targets.shape[1])
        _, loss, gradient = _LOSSES[self.activation]

        def objective(flat: Float64Array) -> tuple[float, Float64Array]:
            weights = flat.reshape(shape)
            scores = design @ weights
            value = self.regularization / 2 * float(flat @ flat) + float(
                loss(scores, targets).mean()
            )
            slope = design.T @ gradient(scores, targets) / len(design)
            return value, (slope + self.regularization * weights).ravel()

        solution = minimize(
            objective, np.zeros(shape[0] * shape[1]), jac=True, method="L-BFGS-B",
            options={"maxiter": self.max_iter, "maxfun": 2 * self.max_iter, "gtol": self.tol,
                     "ftol": 0.0, "maxcor": 30},
        )  # fmt: skip
        weights = solution.x.reshape(shape)
        self.coef_, self.intercept_ = weights[:-1], weights[-1]
        self.n_iter_ = int(solution.nit)
        return self

    def decision_function(self, x: ArrayLike) -> Float64Array:
        """The scores ``[N, labels]`` of inputs ``[N, features]``."""
        if not hasattr(self, "coef_"):
            raise AttentionError("the model is not fitted: call fit first")
        inputs = _matrix(x)
        if inputs.shape[1] != len(self.coef_):
            raise AttentionError(f"{inputs.shape[1]} features, but fitted with {len(self.coef_)}")
        return np.asarray(inputs @ self.coef_ + self.intercept_)

    def predict_proba(self, x: ArrayLike) -> Float64Array:
        """The distributions ``[N, labels]`` of inputs ``[N, features]``."""
        activation = _LOSSES[self.activation][0]
        return np.asarray(activation(self.decision_function(x)))

    def predict(self, x: ArrayLike) -> NDArray[Any]:
        """The most probable class of each input, or its column after fitting distributions."""
        best = self.decision_function(x).argmax(axis=1)
        return best if self.classes_ is None else self.classes_[best]

    def _targets(self, y: ArrayLike, count: int) -> Float64Array:
        labels = np.asarray(y)
        if labels.ndim not in (1, 2) or len(labels) != count:
            raise AttentionError(f"{count} inputs, but targets of shape {labels.shape}")
        if labels.ndim == 1:
            self.classes_, columns = np.unique(labels, return_inverse=True)
            return np.asarray(np.eye(len(self.classes_))[columns])
        self.classes_ = None
        targets = labels.astype(np.float64)
        if not ((targets >= 0).all() and np.allclose(targets.sum(axis=1), 1)):
            raise AttentionError("target rows must be distributions: not negative, with sum 1")
        return targets


def _matrix(x: ArrayLike) -> Float64Array:
    inputs = np.asarray(x, dtype=np.float64)
    if inputs.ndim != 2 or len(inputs) == 0:
        raise AttentionError(f"inputs must be [N, features], not of shape {inputs.shape}")
    if not np.isfinite(inputs).all():
        raise AttentionError("inputs must be finite")
    return inputs
