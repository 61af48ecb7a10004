"""Intervals cover the truth as often as they say, and use sacreBLEU's draws."""

from __future__ import annotations

import numpy as np
import pytest

from coverage_eval.errors import DataError
from coverage_eval.metrics.rep import REP
from coverage_eval.metrics.significance import bootstrap_interval, resample_counts


def test_draws_are_sacrebleus() -> None:
    counts = np.concatenate(list(resample_counts(7, 5, seed=12345)))
    drawn = np.random.default_rng(12345).choice(7, size=(5, 7), replace=True)
    assert counts.tolist() == [np.bincount(row, minlength=7).tolist() for row in drawn]


def test_blocks_do_not_change_the_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = np.concatenate(list(resample_counts(10, 6, seed=1)))
    monkeypatch.setattr("coverage_eval.metrics.significance._BLOCK", 20)
    blocks = list(resample_counts(10, 6, seed=1))
    assert len(blocks) == 3
    assert np.array_equal(np.concatenate(blocks), whole)


def test_coverage_is_near_the_nominal_level() -> None:
    """A ratio with a known value lies in about 95 % of the intervals."""
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


def test_the_seed_decides() -> None:
    statistics = np.random.default_rng(0).integers(1, 9, size=(40, 3))
    one, again, other = (
        bootstrap_interval(REP(), statistics, resamples=50, seed=seed) for seed in (1, 1, 2)
    )
    assert one == again
    assert one != other


def test_no_resample_with_a_score() -> None:
    """One segment of two has a reference word, and this seed draws the other one twice."""
    statistics = np.array([[0, 0, 1], [0, 0, 0]])
    with pytest.raises(DataError, match="undefined in all resamples"):
        bootstrap_interval(REP(), statistics, resamples=1, seed=_seed_that_draws_only(1))


def _seed_that_draws_only(segment: int) -> int:
    for seed in range(100):
        (counts,) = resample_counts(2, 1, seed)
        if counts[0, segment] == 2:
            return seed
    raise AssertionError("no such seed")


def test_undefined_resamples_are_left_out() -> None:
    statistics = np.array([[1, 0, 0], [0, 0, 4]])
    interval = bootstrap_interval(REP(), statistics, resamples=200, seed=0)
    assert np.isfinite([interval.low, interval.high]).all()
