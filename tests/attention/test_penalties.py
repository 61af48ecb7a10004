"""Coverage and length penalties against plain loops and hand-computed values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coverage_eval.attention import (
    coverage_penalty,
    length_penalty,
    penalized_score,
)

coverages = st.lists(st.floats(0, 5, allow_nan=False), max_size=8)


@settings(max_examples=60, deadline=None)
@given(coverages, st.floats(0, 2), st.floats(1e-3, 1))
def test_every_form_equals_a_plain_loop(coverage, beta, epsilon):
    paper = wu = summary = 0.0
    for c in coverage:
        paper += math.log(max(epsilon, min(1.0, c)))
        wu += -math.inf if c == 0 else math.log(min(1.0, c))
        summary -= max(1.0, c)
    summary += len(coverage)
    row = np.array(coverage)
    assert coverage_penalty(row, beta=beta, epsilon=epsilon) == pytest.approx(beta * paper)
    assert coverage_penalty(row, beta=beta, form="summary") == pytest.approx(beta * summary)
    expected = 0.0 if beta == 0 else beta * wu
    assert coverage_penalty(row, beta=beta, form="wu") == pytest.approx(expected)


def test_penalties_computed_by_hand():
    coverage = [0.5, 0.05, 2.0]
    assert coverage_penalty(coverage) == pytest.approx(math.log(0.5) + math.log(0.1))
    assert coverage_penalty(coverage, form="wu") == pytest.approx(math.log(0.5) + math.log(0.05))
    assert coverage_penalty(coverage, form="summary") == -1.0
    assert coverage_penalty([1.0, 3.0], form="wu") == 0.0
    assert coverage_penalty([0.0], form="wu") == -np.inf
    assert length_penalty([1, 7], 1.0).tolist() == [1.0, 2.0]
    assert length_penalty([0, 100], 0.0).tolist() == [1.0, 1.0]
    # (5 + 19) / 6 = 4, to the power 0.5 = 2: -6 / 2 - 0.5
    assert penalized_score(-6.0, 19, -0.5, alpha=0.5) == -3.5


def test_padding_and_beta_zero_cost_nothing():
    coverage = [[0.2, 0.0, 9.0], [0.2, 0.3, 9.0]]
    mask = [[True, False, False], [True, True, False]]
    alone = [coverage_penalty([0.2]), coverage_penalty([0.2, 0.3])]
    np.testing.assert_allclose(coverage_penalty(coverage, mask=mask), alone)
    assert coverage_penalty(coverage, beta=0.0, form="wu").tolist() == [0, 0]
    assert coverage_penalty(np.zeros((2, 0))).tolist() == [0, 0]


def test_up_to_1_more_coverage_never_scores_worse():
    steps = np.linspace(0, 1, 11)[:, None]
    for form in ("paper", "wu"):
        assert np.all(np.diff(coverage_penalty(steps, form=form)) >= 0)
    assert np.all(coverage_penalty(steps, form="summary") == 0)
