"""Small, awkward constrained problems against exact arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from coverage_eval.attention import constrained_softmax, constrained_sparsemax
from tests.attention.oracles import softmax_oracle, sparsemax_oracle

Array = NDArray[np.float64]
ROWS = 100


def ordinary(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    return rng.normal(size=n) * rng.choice([0.1, 1, 10]), rng.uniform(size=n)


def credits_left(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    credit = np.maximum(rng.integers(1, 4, size=n) - rng.uniform(0, 3, size=n), 0)
    return 2 * rng.normal(size=n), credit


def ties(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    return rng.integers(-8, 8, size=n) / 8, rng.integers(0, 5, size=n) / 8


def nearly_tight(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    return rng.normal(size=n), rng.dirichlet(np.ones(n)) * (1 + 10.0 ** rng.integers(-14, -1))


def tiny_bounds(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    return rng.normal(size=n) * 5, 10.0 ** rng.uniform(-320, 0, size=n)


def huge_scores(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    scale = 10.0 ** rng.integers(0, 60)
    return scale + rng.normal(size=n) * 10.0 ** rng.integers(-2, 60), rng.uniform(size=n)


def wide_spread(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    return rng.normal(size=n) * 10.0 ** rng.integers(1, 4, size=n), rng.uniform(size=n)


def a_crowd_below(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    """Most of the mass goes to the first; the threshold is just below the others."""
    z = rng.normal(size=n) * 1e-9 - rng.uniform()
    z[0], u = rng.uniform(), np.ones(n)
    return z, u


KINDS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (ordinary, credits_left, ties, nearly_tight, tiny_bounds, huge_scores,
                 wide_spread, a_crowd_below)
}  # fmt: skip


def problems(kind: str) -> tuple[Array, Array]:
    """A batch of scores and bounds, each ``[ROWS, n]``; every row is feasible and not tight."""
    rng = np.random.default_rng(31)
    n = int(rng.integers(5, 13))
    rows = []
    while len(rows) < ROWS:
        z, u = KINDS[kind](rng, n)
        if rng.uniform() < 0.2:
            u[rng.integers(n)] = rng.choice([0.0, np.inf])
        if np.minimum(u, 1).sum() > 1 + 1e-14:
            rows.append((z, u))
    return np.array([z for z, _ in rows]), np.array([u for _, u in rows])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("transform", "oracle", "tolerance"),
    [(constrained_sparsemax, sparsemax_oracle, 0), (constrained_softmax, softmax_oracle, 1e-12)],
    ids=["sparsemax", "softmax"],
)
def test_attention_is_exact(kind, transform, oracle, tolerance):
    z, u = problems(kind)
    found = transform(z, u)
    expected = np.array([oracle(*row) for row in zip(z, u, strict=True)])
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=4e-16)
    assert abs(found.sum(axis=1) - 1).max() < 1e-15
