"""Independent solutions for one row, in exact arithmetic: every split point is tried.

Sparsemax is in rational numbers, softmax in 1200 bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import mpmath
import numpy as np
from numpy.typing import NDArray


def sparsemax_oracle(z: Sequence[float], u: Sequence[float] | None = None) -> NDArray[np.float64]:
    """Find the highest split point at which the mass is at least 1; τ is there or just above."""
    limits = np.ones(len(z)) if u is None else np.minimum(u, 1)
    scores, bounds = ([Fraction(float(x)) for x in row] for row in (z, limits))
    pairs = list(zip(scores, bounds, strict=True))

    def attention(tau: Fraction) -> list[Fraction]:
        return [max(Fraction(0), min(b, s - tau)) for s, b in pairs]

    points = sorted({*scores, *(s - b for s, b in pairs)}, reverse=True)
    below = next((p for p in points if sum(attention(p)) >= 1), points[-1])
    interior = [s for s, b in pairs if s - b <= below < s]
    if interior:
        below += (sum(attention(below)) - 1) / len(interior)
    return np.array([float(a) for a in attention(below)])


def softmax_oracle(z: Sequence[float], u: Sequence[float] | None = None) -> NDArray[np.float64]:
    """Fix the positions with the largest exp(z) / u, one more at a time, until no other is over."""
    limits = np.ones(len(z)) if u is None else np.minimum(u, 1)
    with mpmath.workprec(1200):
        top = mpmath.mpf(float(max(z)))
        weights = [mpmath.exp(mpmath.mpf(float(x)) - top) for x in z]
        bounds = [mpmath.mpf(float(x)) for x in limits]
        order = sorted(
            range(len(z)), key=lambda j: weights[j] / bounds[j] if bounds[j] else mpmath.inf
        )
        left = mpmath.mpf(1)
        while True:
            free = mpmath.fsum(weights[j] for j in order)
            if len(order) == 1 or weights[order[-1]] * left <= bounds[order[-1]] * free:
                break
            left -= bounds[order.pop()]
        share = {j: min(bounds[j], weights[j] * left / free) for j in order}
        return np.array([float(share.get(j, bounds[j])) for j in range(len(z))])


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
