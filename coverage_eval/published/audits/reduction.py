"""Eqs. 17 to 22 of Malaviya et al. (2018): constrained sparsemax as the canonical problem."""

from __future__ import annotations

import numpy as np

from coverage_eval.attention import constrained_sparsemax
from coverage_eval.attention.pardalos_kovoor import canonical_problem
from coverage_eval.published.audits.facts import agree
from coverage_eval.published.audits.random_problems import bounded_problems, by_medians
from coverage_eval.published.claims import Claim


def audit() -> tuple[Claim, ...]:
    """Rewrite random problems by eqs. 18 to 22 and solve them."""
    generator = np.random.default_rng(17)
    objective, constraint, excess, solution = [], [], [], []
    for z, u in bounded_problems():
        a, b, c, d = canonical_problem(z, u)
        # Any distribution p within the bounds: both problems see the same constraints, and
        # objectives that differ by a constant factor.
        p = constrained_sparsemax(generator.normal(size=len(z)), u)
        x = (p - z) / 2
        objective.append((4 * (c @ x**2), ((p - z) ** 2).sum()))
        constraint.append((c @ x, d))
        excess.append((np.maximum(np.maximum(a - x, x - b), 0), 0))
        solution.append((by_medians(z, u), constrained_sparsemax(z, u)))
    return (
        Claim(
            "our problem in Eq. 6 can be rewritten in the form of Eq. 17 if we set x = (p − z)/2, "
            "a = −z/2, b = (u − z)/2, c = 1, d = (1 − Σz)/2",
            "eqs. 17 to 22, Appendix A.3",
            (
                agree("200 distributions p: 4 Σ c x² and ‖p − z‖²", objective),
                agree("200 distributions p: Σ c x and d", constraint),
                agree("200 distributions p: excess of x over [a, b]", excess),
                agree("200 problems: 2x + z of the canonical solution and Eq. 6", solution),
            ),
        ),
    )
