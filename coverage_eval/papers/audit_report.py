"""The equations of Madsen et al. (2017), section 2, computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from coverage_eval.attention import (
    sparsemax,
    sparsemax_loss,
    sparsemax_vjp,
)
from coverage_eval.papers.claims import Claim
from coverage_eval.papers.problems import (
    MARGIN,
    Vector,
    agree,
    finite_differences,
    free_problems,
    threshold,
)


def audit_report_equations() -> tuple[Claim, ...]:
    """Check section 2 of the report: both algorithms, the Jacobian's product, the losses."""
    by_first, by_ours, losses = [], [], []
    generator = np.random.default_rng(8)
    for z in free_problems():
        by_first.append((algorithm_1(z), _algorithm_2(z)))
        by_ours.append((sparsemax(z), _algorithm_2(z)))
        q = generator.dirichlet(np.ones(len(z)))
        losses.append([float(loss(z, q)) for loss in LOSSES])
    eighth, ninth, tenth, ours = zip(*losses, strict=True)
    readings, gradients = [], []
    for z, v in _problems_with_vectors():
        readings.append(products(z, v))
        q = np.exp(v) / np.exp(v).sum()
        numeric = finite_differences(_loss_of(q), z)
        gradients.append((numeric[0], sparsemax(z) - q))
    euclidean, by_1_norm, product = zip(*readings, strict=True)
    return (
        Claim(
            "Algorithm 2 is Algorithm 1 with only minor modifications for parallelism",
            "section 2.1, page 2",
            (
                agree("200 problems: Algorithm 1 and Algorithm 2", by_first),
                agree("200 problems: our batched sparsemax and Algorithm 2", by_ours),
            ),
            in_our_words=True,
        ),
        Claim(
            "J v = s ⊙ (v − v̂ 1), where v̂ = sᵀv / ‖s‖",
            "eq. 5, page 2",
            (
                agree("‖s‖ as the Euclidean norm, the usual reading", euclidean, limit=1e-7),
                agree("‖s‖ as the 1-norm, |S|", by_1_norm, limit=1e-7, decisive=False),
                agree("our sparsemax_vjp", product, limit=1e-7, decisive=False),
            ),
            "Against finite differences. ‖s‖ must be the 1-norm: sᵀv / |S| is a mean over the "
            "support.",
        ),
        Claim(
            "the sparsemax loss can be reformulated to depend only on z, p and q, and changed to "
            "be a simple map and reduce",
            "eqs. 8 to 10, page 2",
            (
                agree("200 problems: eq. 8 and eq. 9", [(eighth, ninth)]),
                agree("200 problems: eq. 9 and eq. 10", [(ninth, tenth)]),
                agree("200 problems: our sparsemax_loss and eq. 10", [(ours, tenth)]),
            ),
            in_our_words=True,
        ),
        Claim(
            "the gradient of the sparsemax loss is −q + sparsemax(z)",
            "eq. 6, page 2",
            (agree("eq. 6 and finite differences of eq. 9", gradients, limit=1e-7),),
        ),
    )


def _loss_of(q: Vector) -> Callable[[Vector], Vector]:
    return lambda z: np.atleast_1d(loss_of_eq_9(z, q))


def algorithm_1(z: Vector) -> Vector:
    """Algorithm 1 for one row, with the number of its lines."""
    ordered = np.sort(z)[::-1]  # line 2
    sizes = np.arange(1, len(z) + 1)
    size = sizes[1 + sizes * ordered > np.cumsum(ordered)].max()  # line 3
    tau = (ordered[:size].sum() - 1) / size  # line 4
    return np.asarray(np.maximum(z - tau, 0))  # line 5


def _algorithm_2(z: Vector) -> Vector:
    """Algorithm 2 for one row, with the number of its lines."""
    s = np.sort(z)[::-1]  # line 2
    c = np.cumsum(s)  # line 3
    k = np.arange(1, len(z) + 1)
    b = 1 + k * s > c  # line 4
    size = int(b.sum())  # line 5
    tau = (c[size - 1] - 1) / size  # line 6
    return np.asarray(np.maximum(z - tau, 0))  # line 7


def loss_of_eq_8(z: Vector, q: Vector) -> float:
    """With the threshold τ, over the support."""
    support = sparsemax(z) > 0
    tau = (z[support].sum() - 1) / support.sum()
    return float((z[support] ** 2 - tau**2).sum() / 2 + q @ q / 2 - q @ z)


def loss_of_eq_9(z: Vector, q: Vector) -> float:
    """With p, over the support."""
    p = sparsemax(z)
    return float((p * (2 * z - p))[p > 0].sum() / 2 + q @ q / 2 - q @ z)


def loss_of_eq_10(z: Vector, q: Vector) -> float:
    """One map and one sum."""
    p = sparsemax(z)
    return float(((p > 0) * p * (z - p / 2) + q * (q / 2 - z)).sum())


LOSSES: tuple[Callable[[Vector, Vector], Any], ...] = (
    loss_of_eq_8,
    loss_of_eq_9,
    loss_of_eq_10,
    sparsemax_loss,
)
"""The report's eqs. 8, 9 and 10 as printed, and our loss."""


def _problems_with_vectors() -> Iterator[tuple[Vector, Vector]]:
    """Scores away from kinks, and a vector to multiply the Jacobian with."""
    generator = np.random.default_rng(5)
    for z in free_problems():
        tau = threshold(z, np.full_like(z, np.inf), sparsemax(z))
        if np.abs(z - tau).min() > MARGIN:
            yield z, generator.normal(size=len(z))


def products(z: Vector, v: Vector) -> tuple[tuple[Vector, Vector], ...]:
    """J v by both readings of ‖s‖ in the report's eq. 5 and by ours, beside finite differences."""
    numeric = finite_differences(sparsemax, z) @ v
    p = sparsemax(z)
    s = (p > 0).astype(np.float64)
    readings = [s * (v - (s @ v) / np.linalg.norm(s, order)) for order in (2, 1)]
    return tuple((product, numeric) for product in (*readings, sparsemax_vjp(v, p)))
