"""Independent solutions: bisection on the normalisation, in 2600-bit arithmetic, on one row.

No sorting, no sets of positions, no shifting: nothing that the code under test does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import mpmath
import numpy as np
from numpy.typing import NDArray

# Enough for sums of the largest and the smallest double; ordinary numbers need far less.
PRECISION = 2600
ORDINARY = 300


def _bisect(
    mass: Callable[[mpmath.mpf], mpmath.mpf], low: mpmath.mpf, high: mpmath.mpf
) -> mpmath.mpf:
    """The level at which a decreasing mass equals 1."""
    for _ in range(200 + max(0, int(mpmath.log(high - low, 2)))):
        middle = (low + high) / 2
        low, high = (middle, high) if mass(middle) >= 1 else (low, middle)
    return low


def _problem(z: Sequence[float], u: Sequence[float] | None) -> tuple[int, list[float], list[float]]:
    """The bits that a problem needs, its scores, and its bounds; bounds above 1 have no effect."""
    scores = [float(x) for x in z]
    bounds = [1.0] * len(scores) if u is None else [min(1.0, float(x)) for x in u]
    ordinary = all(1e-20 < abs(x) < 1e20 for x in (*scores, *bounds) if x)
    return ORDINARY if ordinary else PRECISION, scores, bounds


def sparsemax_oracle(z: Sequence[float], u: Sequence[float] | None = None) -> NDArray[np.float64]:
    """Euclidean projection of finite scores onto the simplex under optional bounds."""
    precision, *problem = _problem(z, u)
    with mpmath.workprec(precision):
        scores, bounds = (list(map(mpmath.mpf, values)) for values in problem)

        def attention(tau: mpmath.mpf) -> list[mpmath.mpf]:
            pairs = zip(scores, bounds, strict=True)
            return [max(mpmath.mpf(0), min(b, s - tau)) for s, b in pairs]

        tau = _bisect(lambda t: mpmath.fsum(attention(t)), min(scores) - 2, max(scores))
        return np.array([float(a) for a in attention(tau)])


def softmax_oracle(z: Sequence[float], u: Sequence[float] | None = None) -> NDArray[np.float64]:
    """The distribution nearest to softmax in KL under optional bounds, for finite scores."""
    precision, *problem = _problem(z, u)
    with mpmath.workprec(precision):
        scores, bounds = (list(map(mpmath.mpf, values)) for values in problem)
        weights = [mpmath.exp(s - max(scores)) for s in scores]

        def attention(negative_log_scale: mpmath.mpf) -> list[mpmath.mpf]:
            scale = mpmath.exp(-negative_log_scale)
            return [min(b, scale * w) for w, b in zip(weights, bounds, strict=True)]

        spread = max(scores) - min(scores)
        level = _bisect(
            lambda t: mpmath.fsum(attention(t)), -spread - 1000, mpmath.mpf(len(scores)) + 2
        )
        return np.array([float(a) for a in attention(level)])


def random_problem(
    rng: np.random.Generator, positions: int, *, spread: float = 2.0, slack: float = 1.5
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Scores, and bounds that sum to at least ``slack``; some are 0, and sometimes one is +inf."""
    z = rng.normal(size=positions) * spread
    u = rng.uniform(0, 1, size=positions) * (rng.uniform(size=positions) > 0.2)
    total = u.sum()
    u = u * (slack / total) if total > 0 else np.full(positions, slack / positions)
    if rng.uniform() < 0.2:
        u[rng.integers(positions)] = np.inf
    return z, u
