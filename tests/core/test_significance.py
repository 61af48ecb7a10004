"""Bootstrap intervals: how often they hold the true value, sacreBLEU's draws, exact sums."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coverage_eval.align.aligner import Aligner
from coverage_eval.core.metric import Formula, Statistics
from coverage_eval.core.significance import (
    bootstrap_interval,
    pair_tests,
    resample_counts,
    sample_scores,
    stack_rounded,
)
from coverage_eval.coverage.drop import DROP
from coverage_eval.quality.sacre import BLEU
from coverage_eval.registry import METRICS, metric_class
from coverage_eval.repetition.other_metrics import TailLoop
from coverage_eval.repetition.rep import REP

DROPPED = DROP(Aligner.from_links([], []))


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


def some_errors(metric: Formula, segments: int, rate: float, seed: int) -> Statistics:
    """Statistics with an error of random size in a share of the segments."""
    generator = np.random.default_rng(seed)
    words = generator.integers(5, 20, size=segments)
    sizes = generator.integers(1, 4, size=segments) * (generator.random(segments) < rate)
    if metric is DROPPED:
        return np.stack([sizes, words], axis=1)
    if isinstance(metric, TailLoop):
        return np.stack([sizes > 0, np.ones(segments)], axis=1).astype(float)
    return np.stack([sizes // 2, sizes - sizes // 2, words], axis=1)


def literal_upper_end(
    metric: Formula, statistics: Statistics, more: list[float], seed: int
) -> float:
    """The percentile of resamples of the sample with one more segment, drawn one by one."""
    generator = np.random.default_rng(seed)
    rows = np.vstack([statistics, more])
    scores = [
        float(metric.formula(rows[generator.integers(len(rows), size=len(rows))].sum(axis=0)))
        for _ in range(4000)
    ]
    return float(np.percentile(scores, 97.5))


@pytest.mark.parametrize("rate", [0.0, 0.05, 0.3])
@pytest.mark.parametrize(
    ("metric", "size_of", "words"),
    [
        (REP(), lambda row: row[0] + 2 * row[1], 0),
        (REP(w1=3.0, w2=0.0), lambda row: 3 * row[0], 0),
        (DROPPED, lambda row: row[0], 1),
        (TailLoop(), lambda row: row[0], 1),
    ],
)
def test_the_upper_end_is_that_of_a_sample_with_one_more_error(metric, size_of, words, rate):
    """By the definition: its size is the mean of those seen, and at least one unit."""
    statistics = some_errors(metric, 60, rate, seed=4)
    sizes = [size for row in statistics.tolist() if (size := size_of(row))]
    unit = 2.0 if metric == REP() else 3.0 if isinstance(metric, REP) else 1.0
    size = max(unit, sum(sizes) / len(sizes)) if sizes else unit
    more = [size / metric.w1, 0, 0] if isinstance(metric, REP) else [size, words * size]
    interval = bootstrap_interval(metric, statistics, resamples=4000, seed=1)
    expected = literal_upper_end(metric, statistics, more, seed=2)
    assert interval.high == pytest.approx(expected, rel=0.08)
    assert interval.method == "percentile, one more error"


@given(st.integers(1, 40), st.floats(0, 1), st.integers(0, 1000))
def test_one_more_error_only_raises_the_upper_end(segments, rate, seed):
    statistics = some_errors(DROPPED, segments, rate, seed)
    (found,) = sample_scores([(DROPPED, {"": statistics})], 50, seed)
    assert (found[""].upper >= found[""].lower).all()
    assert found[""].upper.max() <= 100


def test_no_error_in_twenty_segments_is_no_proof_of_none():
    statistics = np.array([[0, 0, 12]] * 20)
    interval = bootstrap_interval(REP(), statistics)
    assert (interval.low, interval.high) == (0.0, pytest.approx(100 * 3 * 2 / 240))


def test_the_difference_of_two_systems_without_errors_may_have_either_sign():
    clean = np.array([[0, 0, 12]] * 20)
    (found,) = sample_scores([(REP(), {"a": clean, "b": clean})], 200, 0)
    interval = (found["a"] - found["b"]).interval(0)
    assert interval.low == -interval.high < 0


def test_scores_of_whole_translations_keep_the_percentile():
    """And what counts errors alone says what the least of them is."""
    generator = np.random.default_rng(5)
    statistics = generator.integers(1, 20, size=(40, len(BLEU().statistic_names)))
    (found,) = sample_scores([(BLEU(), {"": statistics})], 100, 0)
    assert found[""].upper is found[""].lower
    assert found[""].interval(0).method == "percentile"
    with_unit = {name for name in METRICS if metric_class(name).one_more_error is not None}
    assert set(METRICS) - with_unit == {
        "bleu", "meteor", "meteor-nltk", "chrf", "ter", "length-ratio", "compression"
    }  # fmt: skip


def test_errors_that_are_frequent_leave_the_percentile():
    statistics = some_errors(DROPPED, 2000, 0.8, seed=3)
    (found,) = sample_scores([(DROPPED, {"": statistics})], 1000, 0)
    low, high = np.percentile(found[""].lower, [2.5, 97.5])
    interval = found[""].interval(0)
    assert interval.low == low
    assert 0 <= interval.high - high < 0.03 * (high - low)
