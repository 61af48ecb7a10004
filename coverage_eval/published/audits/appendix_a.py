"""Appendix A of Malaviya et al. (2018): the Lagrangian and its sign, τ, the Jacobians."""

from __future__ import annotations

import numpy as np

from coverage_eval.attention import (
    constrained_sparsemax,
    constrained_sparsemax_jacobian,
    constrained_sparsemax_vjp,
)
from coverage_eval.published.audits.facts import agree
from coverage_eval.published.audits.random_problems import (
    Vector,
    bounded_problems,
    interior,
    numeric_jacobians,
)
from coverage_eval.published.claims import Claim

MARGIN = 1e-3


def audit() -> tuple[Claim, ...]:
    """Try the equations of Appendix A on random problems."""
    problems = solved_problems()
    return (_lagrangian(problems), _threshold(problems), _jacobians(problems[:60]))


def solved_problems() -> list[Solved]:
    """Random problems away from kinks."""
    return [Solved(z, u) for z, u in bounded_problems(margin=MARGIN)]


class Solved:
    """A problem with its solution, the threshold of eq. 11 and the multipliers it implies."""

    def __init__(self, z: Vector, u: Vector) -> None:
        self.z, self.u = z, u
        self.alpha = constrained_sparsemax(z, u)
        between, at_bound = interior(self.alpha, u), self.alpha == u
        self.tau = float((z[between].sum() + u[at_bound].sum() - 1) / between.sum())
        # Complementary slackness: μ only where α = 0, ν only where α = u.
        self.mu = np.where(self.alpha == 0, np.maximum(self.tau - z, 0), 0.0)
        self.nu = np.where(at_bound, np.maximum(z - self.tau - u, 0), 0.0)

    def gradient(self, sign: int) -> Vector:
        """The gradient of eq. 9 for α, the first term being ±½‖α‖²."""
        return sign * self.alpha - self.z + self.tau - self.mu + self.nu

    def form(self) -> Vector:
        """The solution by its form and τ."""
        return np.clip(self.z - self.tau, 0, self.u)


def _lagrangian(problems: list[Solved]) -> Claim:
    printed, corrected = ([(p.gradient(sign), 0) for p in problems] for sign in (-1, +1))
    return Claim(
        "from the stationarity condition of the Lagrangian −½‖α‖² − zᵀα + τ(1ᵀα − 1) − μᵀα + "
        "νᵀ(α − u), we have 0 = α − z + τ1 − μ + ν",
        "eqs. 9 and 10, Appendix A.1",
        (
            agree("with −½‖α‖² as printed: gradient at the solution and 0", printed),
            agree(
                "with +½‖α‖²: gradient at the solution and 0", corrected, decisive=False
            ),
        ),
        "A slip of the sign: eq. 10 and all that follows belong to +½‖α‖².",
    )  # fmt: skip


def _threshold(problems: list[Solved]) -> Claim:
    return Claim(
        "τ = (Σ z over A + Σ u over A_R − 1) / |A|",
        "eq. 11, Appendix A.1",
        (
            agree(
                "200 problems: max{0, min{u, z − τ}} and the solution",
                ((p.form(), p.alpha) for p in problems),
            ),
            agree("200 problems: its sum and 1", ((p.form().sum(), 1) for p in problems)),
        ),
    )


def _jacobians(problems: list[Solved]) -> Claim:
    eq_13, eq_14, eq_15, eq_16 = zip(*map(_derivatives, problems), strict=True)
    return Claim(
        "the Jacobians for z and u, and the gradients that they give",
        "eqs. 13 to 16, Appendix A.2",
        (
            agree("60 problems: eq. 13 and finite differences", eq_13, limit=1e-7),
            agree("60 problems: eq. 14 and finite differences", eq_14, limit=1e-7),
            agree("60 problems: eq. 15 and dαᵀ times eq. 13", eq_15),
            agree("60 problems: eq. 16 and dαᵀ times eq. 14", eq_16),
        ),
    )


def _derivatives(p: Solved) -> tuple[tuple[Vector, Vector], ...]:
    """Both sides of eqs. 13 to 16."""
    by_z, by_u = constrained_sparsemax_jacobian(p.alpha, p.u)
    numeric_z, numeric_u = numeric_jacobians(p.z, p.u)
    d_alpha = np.cos(np.arange(len(p.z)))
    dz, du = constrained_sparsemax_vjp(d_alpha, p.alpha, p.u)
    return (by_z, numeric_z), (by_u, numeric_u), (d_alpha @ by_z, dz), (d_alpha @ by_u, du)
