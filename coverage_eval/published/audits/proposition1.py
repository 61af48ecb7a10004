"""Proposition 1 of Malaviya et al. (2018): form of the solution, gradients, and their cost."""

from __future__ import annotations

import numpy as np

from coverage_eval.attention import (
    constrained_sparsemax,
    constrained_sparsemax_vjp,
    find_support,
    sparse_vjp,
)
from coverage_eval.published.audits.facts import agree
from coverage_eval.published.audits.random_problems import (
    Vector,
    bounded_problems,
    interior,
    numeric_jacobians,
    threshold,
)
from coverage_eval.published.claims import Claim, Fact

PLACE = "Proposition 1, page 372"
MARGIN = 1e-3


def audit() -> tuple[Claim, ...]:
    """Try Proposition 1 on random problems."""
    return (_form(), _gradients(), _sublinear())


def _form() -> Claim:
    problems = [(z, u, constrained_sparsemax(z, u)) for z, u in bounded_problems(60)]
    return Claim(
        "the solution takes the form α = max{0, min{u, z − τ}}, where τ is a normalization "
        "constant",
        PLACE,
        (
            agree(
                "60 problems: ours and SciPy's general solver (SLSQP)",
                ((alpha, _general_solver(z, u)) for z, u, alpha in problems),
                limit=1e-5,  # the solver itself stops at about 1e-8
            ),
            agree(
                "60 problems: the solution and the form, with τ from its interior",
                (
                    (alpha, np.clip(z - threshold(z, u, alpha), 0, u))
                    for z, u, alpha in problems
                    if interior(alpha, u).any()
                ),
            ),
        ),
    )


def _general_solver(z: Vector, u: Vector) -> Vector:
    """Eq. 6 by a solver that knows nothing of its form."""
    from scipy.optimize import Bounds, LinearConstraint, minimize

    def objective(alpha: Vector) -> float:
        return 0.5 * float(np.sum((alpha - z) ** 2))

    def gradient(alpha: Vector) -> Vector:
        return alpha - z

    start: Vector = u / u.sum()
    result = minimize(
        objective,
        start,
        jac=gradient,
        bounds=Bounds(np.zeros_like(u), u),
        constraints=[LinearConstraint(np.ones_like(u), 1.0, 1.0)],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return np.asarray(result.x, dtype=np.float64)


def _gradients() -> Claim:
    generator = np.random.default_rng(7)
    eq_7, eq_8 = [], []
    for z, u in bounded_problems(100, margin=MARGIN):
        d_alpha = generator.normal(size=len(z))
        dz, du = constrained_sparsemax_vjp(d_alpha, constrained_sparsemax(z, u), u)
        by_scores, by_bounds = numeric_jacobians(z, u)
        eq_7.append((dz, d_alpha @ by_scores))
        eq_8.append((du, d_alpha @ by_bounds))
    return Claim(
        "dz = 1(j ∈ A)(dα − m) and du = 1(j ∈ A_R)(dα − m), where m is the mean of dα over A",
        f"eqs. 7 and 8, {PLACE}",
        (
            agree("100 problems: eq. 7 and finite differences", eq_7, limit=1e-7),
            agree("100 problems: eq. 8 and finite differences", eq_8, limit=1e-7),
        ),
        "Away from kinks, where the solution has a derivative.",
    )


def _sublinear() -> Claim:
    pairs = []
    for z, u in bounded_problems():
        alpha = constrained_sparsemax(z, u)
        support = find_support(alpha, u)
        d_alpha = np.linspace(-1, 1, len(z))
        dense = constrained_sparsemax_vjp(d_alpha, alpha, u)
        # What is not read may be anything: NaN where no gradient should look.
        off = np.ones(len(z), dtype=bool)
        off[support.interior] = off[support.at_bound] = False
        sparse = sparse_vjp(np.where(off, np.nan, d_alpha), support)
        places = (support.interior, support.at_bound)
        pairs += [(ours, full[on]) for ours, full, on in zip(sparse, dense, places, strict=True)]
    finite = all(bool(np.isfinite(ours).all()) for ours, _ in pairs)
    return Claim(
        "backpropagation takes sublinear time O(|A| + |A_R|)",
        PLACE,
        (
            Fact(
                "200 problems: gradients with dα NaN outside A and A_R",
                "finite",
                "finite" if finite else "NaN",
                "nothing else is read" if finite else "more is read",
                finite,
            ),
            agree("200 problems: on A and A_R, the gradients that read all of dα", pairs),
        ),
        "The sets themselves are found once, in O(J), with the forward step.",
    )
