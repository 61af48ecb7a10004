"""What audits of equations share: facts about arrays, random problems, derivatives, a solver."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coverage_eval.attention import (
    canonical_problem,
    constrained_sparsemax,
    pardalos_kovoor,
)
from coverage_eval.papers.claims import Fact, binary_fact

Vector = NDArray[np.float64]
Objective = Callable[[Vector], tuple[float, Vector]]
"""Returns a value to minimise, and its gradient."""

Pairs: TypeAlias = Iterable[tuple[ArrayLike, ArrayLike]]

SEED = 2018
SAME = 1e-9
PROBLEMS = 200
STEP = 1e-6
MARGIN = 1e-3
"""Smallest distance from kinks for comparing derivatives with finite differences."""

PROPOSITION = "Proposition 1, page 372"

WORDS = 8


def equal(what: str, first: float, other: float, *, digits: int = 2) -> Fact:
    """The fact that two numbers are the same."""
    same = first == other or abs(first - other) <= SAME
    sides = f"{first:.{digits}f} against {other:.{digits}f}"
    return binary_fact(what, "", sides, same, "equal", "differs")


def differ(what: str, first: float, other: float, *, digits: int = 2) -> Fact:
    """The fact that two numbers are not the same."""
    fact = equal(what, first, other, digits=digits)
    return replace(fact, holds=not fact.holds)


def as_claimed(what: str, expected: str, found: str) -> Fact:
    """The fact that a result is what the paper says in words."""
    return binary_fact(what, expected, found, expected == found, "as said", "not so")


def message_of(error: type[Exception], call: Callable[..., Any], *arguments: Any) -> str:
    """The message of the error that a call ends with, or nothing."""
    try:
        call(*arguments)
    except error as found:
        return str(found)
    return ""


def agree(what: str, pairs: Pairs, *, limit: float = SAME, decisive: bool = True) -> Fact:
    """The fact that the arrays of every pair differ by at most ``limit``."""
    gaps = [np.abs(np.asarray(a) - np.asarray(b)).max(initial=0.0) for a, b in pairs]
    gap = float(np.max(gaps, initial=0.0))  # NaN if an array has one, so not within the limit
    shown = "0" if gap == 0 else f"{gap:.0e}" if gap < 1e-3 else f"{gap:.3g}"
    against = f"differ by at most {shown}"
    return binary_fact(what, "equal", against, gap <= limit, "equal", "differs", decisive=decisive)


def free_problems(count: int = PROBLEMS) -> Iterator[Vector]:
    """Scores of 2 to 12 words."""
    generator = np.random.default_rng(SEED)
    for _ in range(count):
        yield generator.normal(scale=1.5, size=int(generator.integers(2, 13)))


def bounded_problems(
    count: int = PROBLEMS, *, margin: float = 0.0
) -> Iterator[tuple[Vector, Vector]]:
    """Scores and upper bounds of 3 to 12 words, the bounds summing to more than 1.

    Args:
        count: The number of problems.
        margin: Smallest distance of z − τ from 0 and from the bound; smaller steps cross no kink.
    """
    generator = np.random.default_rng(SEED)
    while count > 0:
        size = int(generator.integers(3, 13))
        z = generator.normal(size=size)
        u = generator.uniform(0.02, 0.9, size=size)
        u *= max(1.0, 1.2 / u.sum())
        if margin:
            alpha = constrained_sparsemax(z, u)
            if not interior(alpha, u).any():
                continue
            above = z - threshold(z, u, alpha)
            if np.minimum(np.abs(above), np.abs(above - u)).min() < margin:
                continue
        count -= 1
        yield z, u


def interior(alpha: Vector, u: Vector) -> NDArray[np.bool_]:
    """The set A of Proposition 1: the words strictly between 0 and their bound."""
    return (alpha > 0) & (alpha < u)


def threshold(z: Vector, u: Vector, alpha: Vector) -> float:
    """τ of a solution α = max{0, min{u, z − τ}}, from the words between their bounds."""
    return float((z - alpha)[interior(alpha, u)].mean())


def by_medians(z: Vector, u: Vector) -> Vector:
    """Constrained sparsemax of one row by Algorithm 1, through eq. 18."""
    return np.asarray(2 * pardalos_kovoor(*canonical_problem(z, u)) + z)


def finite_differences(function: Callable[[Vector], Vector], point: Vector) -> Vector:
    """The Jacobian of a function by central differences, ``[outputs, inputs]``."""
    shifts = STEP * np.eye(len(point))
    found = [(function(point + shift) - function(point - shift)) / (2 * STEP) for shift in shifts]
    return np.stack(found, axis=1)


def numeric_jacobians(z: Vector, u: Vector) -> tuple[Vector, Vector]:
    """The Jacobians of constrained sparsemax for z and for u, by finite differences."""
    by_scores = finite_differences(lambda scores: constrained_sparsemax(scores, u), z)
    by_bounds = finite_differences(lambda bounds: constrained_sparsemax(z, bounds), u)
    return by_scores, by_bounds


def squared_distance(z: Vector) -> Objective:
    """The objective of eqs. 3 and 6: half the squared Euclidean distance from z."""
    return lambda alpha: (0.5 * float(np.sum((alpha - z) ** 2)), alpha - z)


def closest(start: Vector, u: Vector, objective: Objective) -> Vector:
    """The best distribution within bounds, by a general solver."""
    from scipy.optimize import Bounds, LinearConstraint, minimize  # slow to import

    result = minimize(
        objective,
        np.clip(start, 1e-9, u) / np.clip(start, 1e-9, u).sum(),
        jac=True,
        bounds=Bounds(np.zeros_like(u), u),
        constraints=[LinearConstraint(np.ones_like(u), 1.0, 1.0)],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return np.asarray(result.x, dtype=np.float64)
