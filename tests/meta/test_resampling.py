"""Bootstrap over sources: intervals that hold the truth, and a test that DeLong's agrees with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm

from coverage_eval.meta.detection import Ranking, auroc
from coverage_eval.meta.resampling import Estimate, difference_p_value, estimate

Floats = NDArray[np.float64]


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
def test_with_one_translation_a_source_delong_agrees(gain: float) -> None:
    generator = np.random.default_rng(5)
    labels = generator.random(400) < 0.3
    common = generator.normal(size=400) + labels
    one = common + generator.normal(size=400) * 0.7
    other = common + generator.normal(size=400) * 0.7 + gain * labels
    sources = np.arange(400)
    p = difference_p_value(_area(labels, one, sources), _area(labels, other, sources))
    assert p == pytest.approx(_delong(labels, one, other), abs=0.04)


def test_equal_scores_do_not_differ() -> None:
    labels = np.arange(30) % 3 == 0
    scores = np.arange(30.0) % 7
    area = _area(labels, scores, np.arange(30))
    assert difference_p_value(area, area) == 1.0


def test_copies_of_translations_bring_no_certainty() -> None:
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


def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    generator = np.random.default_rng(11)
    truth = float(norm.cdf(1 / np.sqrt(2)))  # of normal scores one apart
    held = 0
    for seed in range(60):
        labels = np.arange(120) < 50
        interval = _area(labels, generator.normal(size=120) + labels, np.arange(120), seed).interval
        assert interval is not None
        held += interval.low <= truth <= interval.high
    assert held >= 52


def test_without_resamples_there_is_a_figure_alone() -> None:
    (found, missing) = estimate(lambda w: np.array([w.sum(), np.nan]), 4, 0, 1)
    assert found == Estimate(4.0, found.samples, None) if found else pytest.fail("no figure")
    assert missing is None
    assert difference_p_value(found, found) is None


def test_many_translations_are_weighed_a_few_resamples_at_a_time() -> None:
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
