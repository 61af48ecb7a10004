"""Proposition 1 of Malaviya et al. (2018): form of the solution, gradients, and their cost."""

from __future__ import annotations

import numpy as np

from coverage_eval.attention import (
    constrained_sparsemax,
    constrained_sparsemax_vjp,
    find_support,
    sparse_vjp,
)
from coverage_eval.published.audits.random_problems import (
    Vector,
    agreement,
    bounded_problems,
    numeric_jacobians,
)
from coverage_eval.published.claims import Claim, Fact

__all__ = ["audit"]

PLACE = "Proposition 1, page 372"
MARGIN = 1e-3


def audit() -> tuple[Claim, ...]:
    """Try Proposition 1 on random problems."""
    return (_form(), _gradients(), _sublinear())


def _form() -> Claim:
    solver, form = 0.0, 0.0
    for z, u in bounded_problems(60):
        alpha = constrained_sparsemax(z, u)
        interior = (alpha > 0) & (alpha < u)
        solver = max(solver, float(np.abs(alpha - _general_solver(z, u)).max()))
        if interior.any():
            tau = (z - alpha)[interior].mean()
            form = max(form, float(np.abs(alpha - np.clip(z - tau, 0, u)).max()))
    return Claim(
        "the solution takes the form α = max{0, min{u, z − τ}}, where τ is a normalization "
        "constant",
        PLACE,
        (
            # The solver itself stops at about 1e-8.
            agreement("60 problems: ours and SciPy's general solver (SLSQP)", solver, limit=1e-5),
            agreement("60 problems: the solution and the form, with τ from its interior", form),
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
    errors = np.zeros(2)
    for z, u in bounded_problems(100, margin=MARGIN):
        d_alpha = generator.normal(size=len(z))
        analytic = constrained_sparsemax_vjp(d_alpha, constrained_sparsemax(z, u), u)
        for place, jacobian in enumerate(numeric_jacobians(z, u)):
            numeric = d_alpha @ jacobian
            errors[place] = max(errors[place], np.abs(analytic[place] - numeric).max())
    return Claim(
        "dz = 1(j ∈ A)(dα − m) and du = 1(j ∈ A_R)(dα − m), where m is the mean of dα over A",
        f"eqs. 7 and 8, {PLACE}",
        (
            agreement("100 problems: eq. 7 and finite differences", float(errors[0]), limit=1e-7),
            agreement("100 problems: eq. 8 and finite differences", float(errors[1]), limit=1e-7),
        ),
        "Away from kinks, where the solution has a derivative.",
    )


def _sublinear() -> Claim:
    error = 0.0
    finite = True
    for z, u in bounded_problems():
        alpha = constrained_sparsemax(z, u)
        support = find_support(alpha, u)
        d_alpha = np.linspace(-1, 1, len(z))
        dense = constrained_sparsemax_vjp(d_alpha, alpha, u)
        # What is not read may be anything: NaN where no gradient should look.
        off = np.ones(len(z), dtype=bool)
        off[support.interior] = off[support.at_bound] = False
        sparse = sparse_vjp(np.where(off, np.nan, d_alpha), support)
        for ours, full, places in zip(
            sparse, dense, (support.interior, support.at_bound), strict=True
        ):
            finite = finite and bool(np.isfinite(ours).all())
            error = max(error, float(np.abs(ours - full[places]).max(initial=0.0)))
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
            agreement("200 problems: on A and A_R, the gradients that read all of dα", error),
        ),
        "The sets themselves are found once, in O(J), with the forward step.",
    )
