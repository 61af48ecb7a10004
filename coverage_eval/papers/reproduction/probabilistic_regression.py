r"""Sparsemax and softmax regression (Madsen et al. 2017, §2.3, eq. 11).

Both losses are convex, so a quasi-Newton method (L-BFGS) finds the minimum. The report ran Adam for
a number of epochs, which on small data sets ends far from it. Both are available; L-BFGS needs
SciPy.
"""

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coverage_eval.attention.inputs import AttentionError, Float64Array
from coverage_eval.attention.losses import cross_entropy_and_gradient, sparsemax_loss_and_gradient
from coverage_eval.attention.transformations import softmax, sparsemax

_LOSSES: dict[str, Any] = {
    "softmax": (softmax, cross_entropy_and_gradient),
    "sparsemax": (sparsemax, sparsemax_loss_and_gradient),
}


@dataclass(eq=False)
class ProbabilisticRegression:
    r"""Linear scores, then softmax or sparsemax; used like scikit-learn's estimators.

    Minimises :math:`\frac\lambda2 (\|W\|_F^2 + \|b\|^2) + \frac1N \sum_i L(W x_i + b; q_i)`
    (eq. 11), with L the cross-entropy or the sparsemax loss.

    Args:
        activation: ``"softmax"`` or ``"sparsemax"``.
        regularization: λ, at least 0.
        solver: ``"lbfgs"``, to the minimum, or ``"adam"``, for a number of epochs from zero, with
            the report's defaults (learning rate 0.001).
        max_iter: most iterations of L-BFGS, or the number of epochs of Adam.
        tol: L-BFGS stops when no entry of the gradient is larger.
        batch_size: inputs per step of Adam.
        seed: of the order in which Adam sees the inputs.

    Attributes:
        coef_: ``[features, labels]`` weights, once fitted.
        intercept_: ``[labels]`` biases.
        classes_: ``[labels]`` the class of each column, or None after fitting distributions.
        n_iter_: iterations of L-BFGS, or steps of Adam.
    """

    activation: Literal["softmax", "sparsemax"] = "sparsemax"
    _: KW_ONLY
    regularization: float = 1e-8
    solver: Literal["lbfgs", "adam"] = "lbfgs"
    max_iter: int = 10_000
    tol: float = 1e-6
    batch_size: int = 10
    seed: int = 0

    coef_: Float64Array = field(init=False, repr=False)
    intercept_: Float64Array = field(init=False, repr=False)
    classes_: NDArray[Any] | None = field(init=False, repr=False)
    n_iter_: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.activation not in _LOSSES or self.solver not in ("lbfgs", "adam"):
            raise AttentionError(
                f"unknown activation or solver: {self.activation!r}, {self.solver!r}"
            )
        if not (self.regularization >= 0 and self.max_iter >= 1 and self.batch_size >= 1):
            raise AttentionError("the regularization must be at least 0, max_iter and batch_size 1")

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
        inputs = _matrix(x)
        targets = self._targets(y, len(inputs))
        # Biases are regularised like weights, so they can be one more row of them.
        design = np.hstack([inputs, np.ones((len(inputs), 1))])
        minimise = self._run_lbfgs if self.solver == "lbfgs" else self._run_adam
        weights = minimise(design, targets)
        self.coef_, self.intercept_ = weights[:-1], weights[-1]
        return self

    def _objective(
        self, weights: Float64Array, design: Float64Array, targets: Float64Array
    ) -> tuple[float, Float64Array]:
        """Eq. 11 and its gradient for the weights."""
        losses, slopes = _LOSSES[self.activation][1](design @ weights, targets)
        value = self.regularization / 2 * float((weights**2).sum()) + float(losses.mean())
        gradient = design.T @ slopes / len(design) + self.regularization * weights
        return value, gradient

    def _run_lbfgs(self, design: Float64Array, targets: Float64Array) -> Float64Array:
        from scipy.optimize import minimize

        shape = (design.shape[1], targets.shape[1])

        def objective(flat: Float64Array) -> tuple[float, Float64Array]:
            value, gradient = self._objective(flat.reshape(shape), design, targets)
            return value, gradient.ravel()

        solution = minimize(
            objective, np.zeros(shape[0] * shape[1]), jac=True, method="L-BFGS-B",
            options={"maxiter": self.max_iter, "maxfun": 2 * self.max_iter, "gtol": self.tol,
                     "ftol": 0.0, "maxcor": 30},
        )  # fmt: skip
        self.n_iter_ = int(solution.nit)
        return np.asarray(solution.x.reshape(shape))

    def _run_adam(self, design: Float64Array, targets: Float64Array) -> Float64Array:
        """Adam with the constants of Madsen et al. 2017, §3.1."""
        rate, decay_1, decay_2, epsilon = 0.001, 0.9, 0.999, 1e-8
        rng = np.random.default_rng(self.seed)
        weights = np.zeros((design.shape[1], targets.shape[1]))
        first, second = np.zeros_like(weights), np.zeros_like(weights)
        self.n_iter_ = 0
        for _ in range(self.max_iter):
            order = rng.permutation(len(design))
            for start in range(0, len(order), self.batch_size):
                rows = order[start : start + self.batch_size]
                _, gradient = self._objective(weights, design[rows], targets[rows])
                self.n_iter_ += 1
                first = decay_1 * first + (1 - decay_1) * gradient
                second = decay_2 * second + (1 - decay_2) * gradient**2
                step = first / (1 - decay_1**self.n_iter_)
                scale = np.sqrt(second / (1 - decay_2**self.n_iter_)) + epsilon
                weights = weights - rate * step / scale
        return weights

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
        """The most probable class of each input, or column if fitted to distributions."""
        best: NDArray[Any] = self.decision_function(x).argmax(axis=1)
        return best if self.classes_ is None else np.asarray(self.classes_[best])

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
