"""Appendix A of Malaviya et al. (2018): the Lagrangian and its sign, τ, the Jacobians."""

from __future__ import annotations

import numpy as np

from coverage_eval.attention import (
    constrained_sparsemax,
    constrained_sparsemax_jacobian,
    constrained_sparsemax_vjp,
)
from coverage_eval.published.audits.random_problems import (
    Vector,
    agreement,
    bounded_problems,
    numeric_jacobians,
)
from coverage_eval.published.claims import Claim

__all__ = ["audit"]

MARGIN = 1e-3


def audit() -> tuple[Claim, ...]:
    """Try the equations of Appendix A on random problems."""
    problems = [_Solved(z, u) for z, u in bounded_problems(margin=MARGIN)]
    return (_lagrangian(problems), _threshold(problems), _jacobians(problems[:60]))


class _Solved:
    """A problem with its solution, the threshold of eq. 11 and the multipliers it implies."""

    def __init__(self, z: Vector, u: Vector) -> None:
        self.z, self.u = z, u
        self.alpha = constrained_sparsemax(z, u)
        interior = (self.alpha > 0) & (self.alpha < u)
        at_bound = self.alpha == u
        self.tau = float((z[interior].sum() + u[at_bound].sum() - 1) / interior.sum())
        # Complementary slackness: μ only where α = 0, ν only where α = u.
        self.mu = np.where(self.alpha == 0, np.maximum(self.tau - z, 0), 0.0)
        self.nu = np.where(at_bound, np.maximum(z - self.tau - u, 0), 0.0)

    def stationarity(self, sign: int) -> float:
        """Largest component of the gradient of eq. 9 for α, the first term being ±½‖α‖²."""
        gradient = sign * self.alpha - self.z + self.tau - self.mu + self.nu
        return float(np.abs(gradient).max())


def _lagrangian(problems: list[_Solved]) -> Claim:
    printed = max(problem.stationarity(-1) for problem in problems)
    corrected = max(problem.stationarity(+1) for problem in problems)
    return Claim(
        "from the stationarity condition of the Lagrangian −½‖α‖² − zᵀα + τ(1ᵀα − 1) − μᵀα + "
        "νᵀ(α − u), we have 0 = α − z + τ1 − μ + ν",
        "eqs. 9 and 10, Appendix A.1",
        (
            agreement("with −½‖α‖² as printed: gradient at the solution and 0", printed),
            agreement(
                "with +½‖α‖²: gradient at the solution and 0", corrected, decisive=False
            ),
        ),
        "A slip of the sign: eq. 10 and all that follows belong to +½‖α‖².",
    )  # fmt: skip


def _threshold(problems: list[_Solved]) -> Claim:
    form = max(float(np.abs(np.clip(p.z - p.tau, 0, p.u) - p.alpha).max()) for p in problems)
    total = max(abs(float(np.clip(p.z - p.tau, 0, p.u).sum()) - 1) for p in problems)
    return Claim(
        "τ = (Σ z over A + Σ u over A_R − 1) / |A|",
        "eq. 11, Appendix A.1",
        (
            agreement("200 problems: max{0, min{u, z − τ}} and the solution", form),
            agreement("200 problems: its sum and 1", total),
        ),
    )  # fmt: skip


def _jacobians(problems: list[_Solved]) -> Claim:
    errors = np.zeros(4)
    for p in problems:
        by_z, by_u = constrained_sparsemax_jacobian(p.alpha, p.u)
        numeric_z, numeric_u = numeric_jacobians(p.z, p.u)
        d_alpha = np.cos(np.arange(len(p.z)))
        dz, du = constrained_sparsemax_vjp(d_alpha, p.alpha, p.u)
        found = [by_z - numeric_z, by_u - numeric_u, d_alpha @ by_z - dz, d_alpha @ by_u - du]
        errors = np.maximum(errors, [np.abs(part).max() for part in found])
    return Claim(
        "the Jacobians for z and u, and the gradients that they give",
        "eqs. 13 to 16, Appendix A.2",
        (
            agreement("60 problems: eq. 13 and finite differences", float(errors[0]), limit=1e-7),
            agreement("60 problems: eq. 14 and finite differences", float(errors[1]), limit=1e-7),
            agreement("60 problems: eq. 15 and dαᵀ times eq. 13", float(errors[2])),
            agreement("60 problems: eq. 16 and dαᵀ times eq. 14", float(errors[3])),
        ),
    )
