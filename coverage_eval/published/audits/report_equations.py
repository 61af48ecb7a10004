"""Section 2 of Madsen et al. (2017): both algorithms, the Jacobian's product, the losses."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from coverage_eval.attention import sparsemax, sparsemax_algorithm_1, sparsemax_vjp
from coverage_eval.attention.losses import (
    sparsemax_loss,
    sparsemax_loss_by_products,
    sparsemax_loss_by_support,
    sparsemax_loss_by_threshold,
)
from coverage_eval.published.audits.facts import agree
from coverage_eval.published.audits.random_problems import (
    Vector,
    finite_differences,
    free_problems,
    threshold,
)
from coverage_eval.published.claims import Claim

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
    problems = [(z, _algorithm_2(z)) for z in free_problems()]
    return Claim(
        "Algorithm 2 is Algorithm 1 with only minor modifications for parallelism",
        "section 2.1, page 2",
        (
            agree(
                "200 problems: Algorithm 1 and Algorithm 2",
                ((sparsemax_algorithm_1(z), p) for z, p in problems),
            ),
            agree(
                "200 problems: our batched sparsemax and Algorithm 2",
                ((sparsemax(z), p) for z, p in problems),
            ),
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
        tau = threshold(z, np.full_like(z, np.inf), sparsemax(z))
        if np.abs(z - tau).min() > MARGIN:
            yield z, generator.normal(size=len(z))


def _product() -> Claim:
    euclidean, one_norm, ours = zip(
        *(products(z, v) for z, v in _problems_with_vectors()), strict=True
    )
    return Claim(
        "J v = s ⊙ (v − v̂ 1), where v̂ = sᵀv / ‖s‖",
        "eq. 5, page 2",
        (
            agree("‖s‖ as the Euclidean norm, the usual reading", euclidean, limit=1e-7),
            agree("‖s‖ as the 1-norm, |S|", one_norm, limit=1e-7, decisive=False),
            agree("our sparsemax_vjp", ours, limit=1e-7, decisive=False),
        ),
        "Against finite differences. ‖s‖ must be the 1-norm: sᵀv / |S| is a mean over the support.",
    )


def products(z: Vector, v: Vector) -> tuple[tuple[Vector, Vector], ...]:
    """J v by each reading of ‖s‖ and by ours, each beside finite differences."""
    numeric = finite_differences(sparsemax, z) @ v
    p = sparsemax(z)
    s = (p > 0).astype(np.float64)
    readings = [s * (v - (s @ v) / np.linalg.norm(s, order)) for order in (2, 1)]
    return tuple((product, numeric) for product in (*readings, sparsemax_vjp(v, p)))


def _losses() -> Claim:
    generator = np.random.default_rng(8)
    values = []
    for z in free_problems():
        q = generator.dirichlet(np.ones(len(z)))
        values.append([float(loss(z, q)) for loss in LOSSES])
    eighth, ninth, tenth, ours = zip(*values, strict=True)
    return Claim(
        "the sparsemax loss can be reformulated to depend only on z, p and q, and changed to be a "
        "simple map and reduce",
        "eqs. 8 to 10, page 2",
        (
            agree("200 problems: eq. 8 and eq. 9", [(eighth, ninth)]),
            agree("200 problems: eq. 9 and eq. 10", [(ninth, tenth)]),
            agree("200 problems: our sparsemax_loss and eq. 10", [(ours, tenth)]),
        ),
    )


def _gradient() -> Claim:
    pairs = []
    for z, v in _problems_with_vectors():
        q = np.exp(v) / np.exp(v).sum()
        pairs.append((_numeric_gradient(z, q), sparsemax(z) - q))
    return Claim(
        "the gradient of the sparsemax loss is −q + sparsemax(z)",
        "eq. 6, page 2",
        (agree("eq. 6 and finite differences of eq. 9", pairs, limit=1e-7),),
    )


def _numeric_gradient(z: Vector, q: Vector) -> Vector:
    def loss(scores: Vector) -> Vector:
        return np.atleast_1d(sparsemax_loss_by_support(scores, q))

    gradient: Vector = finite_differences(loss, z)[0]
    return gradient
