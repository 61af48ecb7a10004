"""Measures of detection against brute force and scikit-learn, for any labels, scores and ties.

Bootstrap intervals are checked against the truth, and their test against DeLong's.
"""

from __future__ import annotations

import itertools
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import mannwhitneyu, norm
from sklearn import metrics as oracle

from coverage_eval.errors import DataError
from coverage_eval.testbed.detection import (
    Estimate,
    Ranking,
    auroc,
    average_precision,
    calibration_error,
    compare_within_sources,
    difference_p_value,
    estimate,
    kendall,
    pearson,
    precision_at_recall,
    precision_recall_curve,
    reliability_curve,
    reliability_statistics,
    roc_curve,
)

Floats = NDArray[np.float64]
Cases = tuple[NDArray[np.bool_], Floats]


@st.composite
def cases(draw: st.DrawFn) -> Cases:
    """Labels of both kinds, and scores with many ties."""
    labels = draw(st.lists(st.booleans(), min_size=2, max_size=40).filter(lambda x: len({*x}) == 2))
    numbers = st.one_of(st.integers(-2, 2).map(float), st.floats(-1e6, 1e6))
    scores = draw(st.lists(numbers, min_size=len(labels), max_size=len(labels)))
    return np.array(labels), np.array(scores)


@given(cases())
def test_auroc_is_the_share_of_pairs(case):
    labels, scores = case
    pairs = itertools.product(scores[labels], scores[~labels])
    won = [(a > b) + (a == b) / 2 for a, b in pairs]
    found = float(auroc(Ranking(labels, scores).detect()))
    assert found == pytest.approx(np.mean(won), abs=1e-12)
    assert found == pytest.approx(oracle.roc_auc_score(labels, scores), abs=1e-12)
    u = mannwhitneyu(scores[labels], scores[~labels]).statistic
    assert found == pytest.approx(u / len(won), abs=1e-12)


@given(cases())
def test_average_precision_is_scikit_learns(case):
    labels, scores = case
    found = average_precision(Ranking(labels, scores).detect())
    assert float(found) == pytest.approx(oracle.average_precision_score(labels, scores), abs=1e-12)


@given(cases(), st.floats(0.01, 1))
def test_precision_at_recall_is_the_best_precision_with_that_recall(case, recall):
    labels, scores = case
    best = 0.0
    for threshold in scores:
        found = scores >= threshold
        if (found & labels).sum() >= recall * labels.sum() * (1 - 1e-12):
            best = max(best, (found & labels).sum() / found.sum())
    assert float(precision_at_recall(Ranking(labels, scores).detect(), recall)) == best


@given(cases())
def test_curves_are_scikit_learns(case):
    labels, scores = case
    found = Ranking(labels, scores).detect()
    theirs = oracle.roc_curve(labels, scores, drop_intermediate=False)[:2]
    np.testing.assert_allclose(roc_curve(found), theirs, atol=1e-12)
    precision, recall, _ = oracle.precision_recall_curve(labels, scores)
    ours = precision_recall_curve(found)
    np.testing.assert_allclose(ours, (recall[-2::-1], precision[-2::-1]), atol=1e-12)


@given(cases(), st.data())
def test_weights_count_as_repeated_segments(case, data):
    labels, scores = case
    size = len(labels)
    weights = np.array(data.draw(st.lists(st.integers(0, 3), min_size=size, max_size=size)))
    times = np.repeat(np.arange(size), weights)
    found = Ranking(labels, scores).detect(weights[None])
    figures: list[Callable[[Any], Any]] = [
        auroc, average_precision, lambda d: precision_at_recall(d, 0.6)
    ]  # fmt: skip
    if len({*labels[times].tolist()}) < 2:
        assert np.isnan(auroc(found)).all()
        return
    again = Ranking(labels[times], scores[times]).detect()
    for figure in figures:
        assert float(figure(found)[0]) == pytest.approx(float(figure(again)), abs=1e-12)


@pytest.mark.parametrize(
    ("labels", "scores", "message"),
    [
        ([1, 1], [0, 1], "each says an error"),
        ([0, 0], [0, 1], "each says no error"),
        ([0, 1], [0, np.nan], "not a finite"),
        ([0, 1], [0], "labels for"),
    ],
)
def test_labels_or_scores_that_cannot_be_ranked_are_refused(labels, scores, message):
    with pytest.raises(DataError, match=message):
        Ranking(labels, scores)


@given(cases(), st.data())
def test_within_sources_only_translations_of_one_source_are_compared(case, data):
    labels, scores = case
    size = len(labels)
    sources = np.array(data.draw(st.lists(st.integers(0, 4), min_size=size, max_size=size)))
    won = pairs = 0.0
    for i, j in itertools.product(range(size), repeat=2):
        if sources[i] == sources[j] and labels[i] and not labels[j]:
            pairs += 1
            won += (scores[i] > scores[j]) + (scores[i] == scores[j]) / 2
    table = compare_within_sources(labels, scores, sources)
    assert table.shape == (sources.max() + 1, 2)
    assert table.sum(axis=0).tolist() == [won, pairs]


def test_pairs_of_one_source_are_counted_without_listing_them():
    scores = np.arange(40_000.0)
    tracemalloc.start()
    try:
        ((won, pairs),) = compare_within_sources(scores % 2 > 0, scores, np.zeros(40_000, int))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert pairs == 20_000**2
    assert won == 20_000 * 20_001 / 2
    assert peak < 8 << 20


def test_correlations_of_a_constant_side_are_undefined():
    for correlation in (pearson, kendall):
        assert correlation([0, 1, 1], [5, 5, 5]) is None
        assert correlation([1, 1, 1], [4, 5, 6]) is None
        assert correlation([0, 1, 2], [4, 5, 6]) == pytest.approx(1)
        assert correlation([0, 1], [5, 4]) == pytest.approx(-1)


def test_calibration_error_is_the_mean_gap_of_the_bins():
    labels = np.array([1, 0, 0, 0, 1, 1], dtype=bool)
    chances = np.array([0.15, 0.15, 0.12, 0.18, 0.9, 1.0])
    # Second bin: 4 segments, 1 error, mean chance 0.15. Last bin: 2 segments, 2 errors, 0.95.
    expected = (4 * abs(0.25 - 0.15) + 2 * abs(1 - 0.95)) / 6
    found = calibration_error(reliability_statistics(labels, chances).sum(axis=0))
    assert float(found) == pytest.approx(expected)
    promised, share, count = reliability_curve(labels, chances)
    assert count.tolist() == [4, 2]
    np.testing.assert_allclose(share, [0.25, 1.0])
    np.testing.assert_allclose(promised, [0.15, 0.95])


def test_true_probabilities_are_calibrated():
    generator = np.random.default_rng(1)
    chances = generator.random(20_000)
    labels = generator.random(20_000) < chances
    honest, bold = chances, np.sqrt(chances)
    gaps = [float(calibration_error(reliability_statistics(labels, p).sum(axis=0)))
            for p in (honest, bold)]  # fmt: skip
    assert gaps[0] < 0.02
    assert gaps[1] > 0.1


def _area(labels: Any, scores: Any, sources: Any, seed: int = 3) -> Estimate:
    ranking = Ranking(labels, scores)

    def figures(weights: Floats) -> Floats:
        return np.asarray(auroc(ranking.detect(weights[..., sources])))[..., None]

    (found,) = estimate(figures, int(sources.max()) + 1, 2000, seed)
    assert found is not None
    return found


def _delong(labels: Any, one: Floats, other: Floats) -> float:
    """p-value of DeLong, DeLong and Clarke-Pearson (1988), by its placements."""
    placements = []
    for scores in (one, other):
        signs = np.sign(scores[labels][:, None] - scores[~labels][None, :])
        placements.append(((signs + 1) / 2).mean(axis=1))
        placements.append(((signs + 1) / 2).mean(axis=0))
    v10, v01 = np.array(placements[0::2]), np.array(placements[1::2])
    covariance = np.cov(v10) / v10.shape[1] + np.cov(v01) / v01.shape[1]
    spread = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    return float(2 * norm.sf(abs(v10[0].mean() - v10[1].mean()) / np.sqrt(spread)))


@pytest.mark.parametrize("gain", [0.0, 0.15, 0.4])
def test_delong_agrees_where_each_source_has_one_translation(gain):
    generator = np.random.default_rng(5)
    labels = generator.random(400) < 0.3
    common = generator.normal(size=400) + labels
    one = common + generator.normal(size=400) * 0.7
    other = common + generator.normal(size=400) * 0.7 + gain * labels
    sources = np.arange(400)
    p = difference_p_value(_area(labels, one, sources), _area(labels, other, sources))
    assert p == pytest.approx(_delong(labels, one, other), abs=0.04)


def test_equal_scores_do_not_differ():
    labels = np.arange(30) % 3 == 0
    scores = np.arange(30.0) % 7
    area = _area(labels, scores, np.arange(30))
    assert difference_p_value(area, area) == 1.0


def test_copied_translations_do_not_narrow_intervals():
    generator = np.random.default_rng(2)
    labels = generator.random(80) < 0.4
    scores = generator.normal(size=80) + labels
    once = _area(labels, scores, np.arange(80))
    five = (np.repeat(item, 5) for item in (labels, scores, np.arange(80)))
    copied = _area(*five)
    assert once.value == pytest.approx(copied.value)
    np.testing.assert_allclose(once.samples, copied.samples)
    assert once.interval is not None
    assert once.interval.low < once.value < once.interval.high


def test_intervals_cover_the_true_value_at_their_level():
    generator = np.random.default_rng(11)
    truth = float(norm.cdf(1 / np.sqrt(2)))  # two normal distributions whose means differ by 1
    held = 0
    for seed in range(60):
        labels = np.arange(120) < 50
        interval = _area(labels, generator.normal(size=120) + labels, np.arange(120), seed).interval
        assert interval is not None
        held += interval.low <= truth <= interval.high
    assert held >= 52


def test_without_resamples_there_is_no_interval():
    (found, missing) = estimate(lambda w: np.array([w.sum(), np.nan]), 4, 0, 1)
    assert found == Estimate(4.0, found.samples, None) if found else pytest.fail("no figure")
    assert missing is None
    assert difference_p_value(found, found) is None


def test_many_translations_are_resampled_in_blocks():
    def record(weights: int | None) -> tuple[list[int], Floats]:
        shapes: list[int] = []

        def figures(drawn: Floats) -> Floats:
            shapes.append(np.atleast_2d(drawn).shape[0])
            return (drawn * np.arange(3.0)).mean(axis=-1, keepdims=True)

        (found,) = estimate(figures, 3, 50, 1, weights=weights)
        assert found is not None
        return shapes, found.samples

    few, samples = record(None)
    many, same = record(100_000)
    assert few == [1, 50]
    assert many == [1, *[5] * 10]
    np.testing.assert_array_equal(samples, same)
