"""Random problems on which formulas are tried, and derivatives to compare formulas with."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from coverage_eval.attention import canonical_problem, constrained_sparsemax, pardalos_kovoor

Vector = NDArray[np.float64]

SEED = 2018
PROBLEMS = 200


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
        count: How many.
        margin: Least distance of z − τ from 0 and from the bound, so that a step smaller than that
            crosses no kink.
    """
    generator = np.random.default_rng(SEED)
    while count > 0:
        size = int(generator.integers(3, 13))
        z = generator.normal(size=size)
        u = generator.uniform(0.02, 0.9, size=size)
        u *= max(1.0, 1.2 / u.sum())
        if margin and _distance_to_kink(z, u) < margin:
            continue
        count -= 1
        yield z, u


def _distance_to_kink(z: Vector, u: Vector) -> float:
    alpha = constrained_sparsemax(z, u)
    if not interior(alpha, u).any():
        return 0.0
    above = z - threshold(z, u, alpha)
    return float(np.minimum(np.abs(above), np.abs(above - u)).min())


def interior(alpha: Vector, u: Vector) -> NDArray[np.bool_]:
    """The set A of Proposition 1: the words strictly between 0 and their bound."""
    return (alpha > 0) & (alpha < u)


def threshold(z: Vector, u: Vector, alpha: Vector) -> float:
    """τ of a solution α = max{0, min{u, z − τ}}, seen where it is between its bounds."""
    return float((z - alpha)[interior(alpha, u)].mean())


def by_medians(z: Vector, u: Vector) -> Vector:
    """Constrained sparsemax of one row by Algorithm 1, through eq. 18."""
    solution: Vector = 2 * pardalos_kovoor(*canonical_problem(z, u)) + z
    return solution


def finite_differences(
    function: Callable[[Vector], Vector], point: Vector, *, step: float = 1e-6
) -> Vector:
    """The Jacobian of a function by central differences, ``[outputs, inputs]``."""
    columns = []
    for place in range(len(point)):
        shift = np.zeros_like(point)
        shift[place] = step
        columns.append((function(point + shift) - function(point - shift)) / (2 * step))
    return np.stack(columns, axis=1)


def numeric_jacobians(z: Vector, u: Vector) -> tuple[Vector, Vector]:
    """The Jacobians of constrained sparsemax for z and for u, by finite differences."""
    by_scores = finite_differences(lambda scores: constrained_sparsemax(scores, u), z)
    by_bounds = finite_differences(lambda bounds: constrained_sparsemax(z, bounds), u)
    return by_scores, by_bounds
