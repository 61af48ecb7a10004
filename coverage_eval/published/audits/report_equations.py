"""Section 2 of Madsen et al. (2017): both algorithms, the Jacobian's product, the losses."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from coverage_eval.attention import sparsemax, sparsemax_vjp
from coverage_eval.attention.losses import (
    sparsemax_loss,
    sparsemax_loss_by_products,
    sparsemax_loss_by_support,
    sparsemax_loss_by_threshold,
)
from coverage_eval.attention.sparsemax import sparsemax_algorithm_1
from coverage_eval.published.audits.random_problems import (
    Vector,
    agreement,
    finite_differences,
    free_problems,
)
from coverage_eval.published.claims import Claim

__all__ = ["audit"]

MARGIN = 1e-3
LOSSES = (
    sparsemax_loss_by_threshold,
    sparsemax_loss_by_support,
    sparsemax_loss_by_products,
    sparsemax_loss,
)
"""Eqs. 8, 9 and 10 as they are printed, and ours."""


def audit() -> tuple[Claim, ...]:
    """Try the equations of section 2 on random problems."""
    return (_algorithms(), _product(), _losses(), _gradient())


def _algorithms() -> Claim:
    error = max(
        float(np.abs(sparsemax_algorithm_1(z) - _algorithm_2(z)).max()) for z in free_problems()
    )
    batched = max(float(np.abs(sparsemax(z) - _algorithm_2(z)).max()) for z in free_problems())
    return Claim(
        "Algorithm 2 is Algorithm 1 with only minor modifications for parallelism",
        "section 2.1, page 2",
        (
            agreement("200 problems: Algorithm 1 and Algorithm 2", error),
            agreement("200 problems: our batched sparsemax and Algorithm 2", batched),
        ),
    )


def _algorithm_2(z: Vector) -> Vector:
    """Algorithm 2 for one row, with the number of its lines."""
    s = np.sort(z)[::-1]  # line 2
    c = np.cumsum(s)  # line 3
    k = np.arange(1, len(z) + 1)
    b = 1 + k * s > c  # line 4
    size = int(b.sum())  # line 5
    tau = (c[size - 1] - 1) / size  # line 6
    result: Vector = np.maximum(z - tau, 0)  # line 7
    return result


def _problems_with_vectors() -> Iterator[tuple[Vector, Vector]]:
    """Scores away from kinks, and a vector to multiply the Jacobian with."""
    generator = np.random.default_rng(5)
    for z in free_problems():
        p = sparsemax(z)
        tau = float((z - p)[p > 0].mean())
        if np.abs(z - tau).min() > MARGIN:
            yield z, generator.normal(size=len(z))


def _product() -> Claim:
    errors = np.zeros(3)
    for z, v in _problems_with_vectors():
        numeric = finite_differences(sparsemax, z) @ v
        p = sparsemax(z)
        s = (p > 0).astype(np.float64)
        products = [s * (v - (s @ v) / np.linalg.norm(s, order)) for order in (2, 1)]
        products.append(sparsemax_vjp(v, p))
        errors = np.maximum(errors, [np.abs(part - numeric).max() for part in products])
    euclidean, one_norm, ours = map(float, errors)
    return Claim(
        "J v = s ⊙ (v − v̂ 1), where v̂ = sᵀv / ‖s‖",
        "eq. 5, page 2",
        (
            agreement("‖s‖ as the Euclidean norm, the usual reading", euclidean, limit=1e-7),
            agreement("‖s‖ as the 1-norm, |S|", one_norm, limit=1e-7, decisive=False),
            agreement("our sparsemax_vjp", ours, limit=1e-7, decisive=False),
        ),
        "Against finite differences. ‖s‖ must be the 1-norm: sᵀv / |S| is a mean over the support.",
    )


def _losses() -> Claim:
    generator = np.random.default_rng(8)
    errors = np.zeros(3)
    for z in free_problems():
        q = generator.dirichlet(np.ones(len(z)))
        eighth, ninth, tenth, ours = (float(loss(z, q)) for loss in LOSSES)
        errors = np.maximum(errors, [abs(eighth - ninth), abs(ninth - tenth), abs(ours - tenth)])
    by_support, by_products, ours = map(float, errors)
    return Claim(
        "the sparsemax loss can be reformulated to depend only on z, p and q, and changed to be a "
        "simple map and reduce",
        "eqs. 8 to 10, page 2",
        (
            agreement("200 problems: eq. 8 and eq. 9", by_support),
            agreement("200 problems: eq. 9 and eq. 10", by_products),
            agreement("200 problems: our sparsemax_loss and eq. 10", ours),
        ),
    )


def _gradient() -> Claim:
    error = 0.0
    for z, v in _problems_with_vectors():
        q = np.exp(v) / np.exp(v).sum()
        numeric = _numeric_gradient(z, q)
        error = max(error, float(np.abs(numeric - (sparsemax(z) - q)).max()))
    return Claim(
        "the gradient of the sparsemax loss is −q + sparsemax(z)",
        "eq. 6, page 2",
        (agreement("eq. 6 and finite differences of eq. 9", error, limit=1e-7),),
    )


def _numeric_gradient(z: Vector, q: Vector) -> Vector:
    def loss(scores: Vector) -> Vector:
        return np.atleast_1d(sparsemax_loss_by_support(scores, q))

    gradient: Vector = finite_differences(loss, z)[0]
    return gradient
