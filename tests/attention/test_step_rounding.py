"""10,000 steps of attention: rounding makes no credit negative and no step infeasible."""

from __future__ import annotations

import numpy as np
import pytest

from coverage_eval.attention import AttentionStep, BilinearScore, InfeasibleBoundsError, append_sink

WORDS = 40


@pytest.mark.parametrize(
    ("transformation", "dtype", "steps"),
    [
        ("constrained_softmax", np.float64, 10_000),
        ("constrained_softmax", np.float32, 1000),
        ("constrained_sparsemax", np.float64, 1000),
        ("constrained_sparsemax", np.float32, 10_000),
    ],
)
def test_ten_thousand_steps_stay_feasible(transformation, dtype, steps):
    """Rows 0 and 1 have no sink, and their fertilities sum to exactly the number of steps. Row 2
    has a sink, which takes the rest."""
    rng = np.random.default_rng(11)
    step = AttentionStep(BilinearScore(), transformation, exhaustion=0.01)
    fertilities = np.full((3, WORDS), steps / WORDS)
    fertilities[1] = rng.dirichlet(np.ones(WORDS)) * steps
    fertilities[1, 0] += steps - fertilities[1].sum()
    fertilities[2] *= 0.9
    eye = np.broadcast_to(np.eye(WORDS, dtype=dtype), (3, WORDS, WORDS))
    memory, with_sink, lengths = append_sink(eye, fertilities)
    lengths[:2] = WORDS
    source = step.source(memory, lengths=lengths, fertilities=with_sink)
    state = step.start(source)
    queries = (2 * rng.normal(size=(steps, 3, WORDS))).astype(dtype)
    least_credit, excess, deviation = np.inf, 0.0, 0.0
    for query in queries:
        result, state = step(query, source, state)
        least_credit = min(least_credit, result.credit.min())
        excess = max(excess, (result.attention - result.credit).max())
        deviation = max(deviation, abs(result.attention.sum(axis=1) - 1).max())
    assert least_credit >= 0
    assert excess <= 1e-15
    assert deviation < 1e-12
    np.testing.assert_allclose(state.cumulative.sum(axis=1), steps, rtol=1e-12)
    assert np.all(state.cumulative[:, :WORDS] <= fertilities * (1 + 1e-12))
    assert state.cumulative[2, WORDS] >= steps / 10 - 1e-6
    with pytest.raises(InfeasibleBoundsError, match="row 0"):
        step(queries[0], source, state)
