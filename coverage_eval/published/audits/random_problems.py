"""Random problems on which formulas are tried, and facts about the errors found there."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from coverage_eval.attention import constrained_sparsemax
from coverage_eval.published.claims import Fact

__all__ = [
    "Vector",
    "agreement",
    "bounded_problems",
    "difference",
    "finite_differences",
    "free_problems",
    "numeric_jacobians",
]

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
    interior = (alpha > 0) & (alpha < u)
    if not interior.any():
        return 0.0
    above = z - (z - alpha)[interior].mean()
    return float(np.minimum(np.abs(above), np.abs(above - u)).min())


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


def agreement(
    what: str, error: float, *, limit: float = 1e-9, printed: str = "equal", decisive: bool = True
) -> Fact:
    """The fact that two sides agree: their largest difference is below a limit."""
    equal = error <= limit
    outcome = "equal" if equal else "differs"
    return Fact(what, printed, f"differ by at most {_size(error)}", outcome, equal, decisive)


def difference(what: str, error: float, *, least: float = 1e-3) -> Fact:
    """The fact that two sides differ: by more than rounding could explain."""
    differs = error >= least
    outcome = "differs" if differs else "equal"
    return Fact(what, "differs", f"differ by up to {_size(error)}", outcome, differs)


def _size(error: float) -> str:
    return "0" if error == 0 else f"{error:.0e}" if error < 1e-3 else f"{error:.3g}"
