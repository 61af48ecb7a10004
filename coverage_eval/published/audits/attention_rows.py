"""Text against published scripts, rows 7, 8, 12 and 14: transformations and gradients.

The scripts are those of the OpenNMT fork of Malaviya et al. (2018). What they compute is written
anew, in as few lines as show it.
"""

from __future__ import annotations

import numpy as np

from coverage_eval.attention import constrained_sparsemax, constrained_sparsemax_vjp
from coverage_eval.published.audits.appendix_a import solved_problems
from coverage_eval.published.audits.facts import agree, differ, disagree, equal
from coverage_eval.published.audits.random_problems import (
    Vector,
    bounded_problems,
    by_medians,
    interior,
)
from coverage_eval.published.audits.report_equations import products
from coverage_eval.published.claims import Claim


def solvers() -> Claim:
    """Row 7: both solvers of constrained sparsemax give one solution."""
    problems = [(z, u, constrained_sparsemax(z, u)) for z, u in bounded_problems()]
    return Claim(
        "7. cost of constrained sparsemax: O(J) by medians in the text, two sorts in the scripts, "
        "one row at a time, O(J log J); the solution is the same",
        "Proposition 1, page 372",
        (
            agree(
                "200 problems: two sorts, our batched sort",
                ((_by_two_sorts(z, u), ours) for z, u, ours in problems),
            ),
            agree(
                "200 problems: medians, our batched sort",
                ((by_medians(z, u), ours) for z, u, ours in problems),
            ),
        ),
        "Ours: one sort for all rows at once; pardalos_kovoor is the one by medians.",
    )


def _by_two_sorts(z: Vector, u: Vector) -> Vector:
    """One row: the split points of lower and upper ends are sorted, and τ is found in between."""
    lower, upper = np.sort(z - u), np.sort(z)
    points = np.sort(np.concatenate([lower, upper]))
    mass = np.array([np.clip(z - point, 0, u).sum() for point in points])
    last = int(np.flatnonzero(mass >= 1)[-1])
    slope = np.count_nonzero((z - u < points[last + 1]) & (z > points[last]))
    tau = points[last] + (mass[last] - 1) / slope
    result: Vector = np.clip(z - tau, 0, u)
    return result


def no_interior() -> Claim:
    """Row 8: gradients where no word is between its bounds."""
    z, u = np.array([2.0, 1.0, -3.0]), np.array([0.4, 0.6, 0.5])
    d_alpha = np.array([1.0, -1.0, 0.5])
    alpha = constrained_sparsemax(z, u)
    between = interior(alpha, u)
    words = float(between.sum())
    with np.errstate(invalid="ignore"):
        mean = float(np.divide(d_alpha[between].sum(), words))
    gradients = constrained_sparsemax_vjp(d_alpha, alpha, u)
    largest = max(float(np.abs(part).max()) for part in gradients)
    return Claim(
        "8. no interior word (A empty): the text's gradient is undefined, the scripts' is zero by "
        "convention",
        "eqs. 7 and 8, page 372",
        (
            equal("α = (.4, .6, 0), u = (.4, .6, .5): words in A", words, 0, digits=0),
            differ("m, the mean of dα over A; a number", mean, 0.0),
            equal("largest gradient of ours; zero", largest, 0.0),
        ),
        "Ours: zero, documented.",
    )


def lagrangian() -> Claim:
    """Row 12: the sign of ½‖α‖² in eq. 9."""
    problems = solved_problems()
    printed, corrected = ([(p.gradient(sign), 0) for p in problems] for sign in (-1, +1))
    return Claim(
        "12. Lagrangian, eq. 9: −½‖α‖² must be +½‖α‖², eq. 10 follows only then",
        "Appendix A.1",
        (
            disagree("−½‖α‖²: gradient at the solution and 0", printed),
            agree("+½‖α‖²: gradient at the solution and 0", corrected),
        ),
        "See the audit appendix-a.",
    )


def jacobian_norm() -> Claim:
    """Row 14: which norm eq. 5 of the report needs."""
    z, v = np.array([1.2, 0.8, -0.2]), np.array([1.0, -2.0, 0.5])
    euclidean, one_norm, _ = products(z, v)
    return Claim(
        "14. the report's eq. 5: v̂ = sᵀv/‖s‖ in the text, the sum over the support by its size in "
        "the scripts; ‖s‖ must be the 1-norm",
        "Madsen et al. (2017), eq. 5, page 2",
        (
            disagree("Euclidean norm, finite differences", [euclidean]),
            agree("1-norm, finite differences", [one_norm], limit=1e-7),
        ),
        "See the audit report-equations.",
    )
