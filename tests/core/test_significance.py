"""Bootstrap intervals: how often they hold the true value, sacreBLEU's draws, exact sums."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coverage_eval.core.significance import (
    bootstrap_interval,
    pair_tests,
    resample_counts,
    stack_rounded,
)
from coverage_eval.repetition.rep import REP


def test_draws_equal_sacrebleus():
    counts = np.concatenate(list(resample_counts(7, 5, seed=12345)))
    drawn = np.random.default_rng(12345).choice(7, size=(5, 7), replace=True)
    assert counts.tolist() == [np.bincount(row, minlength=7).tolist() for row in drawn]


def test_coverage_is_near_the_nominal_level():
    """A ratio with a known value lies in about 95% of the intervals."""
    generator = np.random.default_rng(8)
    metric = REP()
    inside = 0
    for seed in range(300):
        words = generator.integers(5, 20, size=150)
        errors = generator.binomial(words, 0.05)
        statistics = np.stack([errors, 0 * errors, words], axis=1)
        interval = bootstrap_interval(metric, statistics, resamples=300, seed=seed)
        inside += interval.low <= 5.0 <= interval.high
    assert 0.90 <= inside / 300 <= 0.985


def test_undefined_resamples_are_left_out():
    statistics = np.array([[1, 0, 0], [0, 0, 4]])
    interval = bootstrap_interval(REP(), statistics, resamples=200, seed=0)
    assert np.isfinite([interval.low, interval.high]).all()


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=40), st.integers(0, 2**40), st.randoms())
def test_sums_are_exact_in_any_order(values, whole, order):
    """So they do not depend on how threads and processors share the work."""
    given_values = np.array([values, [float(whole)] * len(values)]).T
    rounded = stack_rounded({"a": given_values, "b": given_values[::-1]})[:, 0]
    np.testing.assert_array_equal(rounded[:, 1], given_values[:, 1])
    np.testing.assert_allclose(rounded.sum(axis=0), given_values.sum(axis=0), 1e-12, 1e-200)
    shuffled = order.sample(rounded[:, 0].tolist(), len(values))
    assert sum(shuffled) == math.fsum(rounded[:, 0]) == rounded[:, 0].sum()


@pytest.mark.parametrize("wrong", [{"test": "bootstap"}, {"resamples": 0}])
def test_pairs_are_not_tested_by_what_there_is_not(wrong):
    columns = [(REP(), {"a": np.array([[0, 0, 3]]), "b": np.array([[0, 1, 3]])})]
    with pytest.raises(ValueError, match="must be"):
        pair_tests(columns, [("a", "b")], **wrong)
