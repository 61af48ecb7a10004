"""The calibration error by hand, and of probabilities that are true."""

from __future__ import annotations

import numpy as np
import pytest

from coverage_eval.omissions.reliability import (
    ReliabilityBins,
    calibration_error,
    reliability_statistics,
)


def test_calibration_error_is_the_gap_of_bins() -> None:
    labels = np.array([1, 0, 0, 0, 1, 1], dtype=bool)
    chances = np.array([0.15, 0.15, 0.12, 0.18, 0.9, 1.0])
    # four in the second bin, 1 of which has an error, 0.15 promised; two in the last, 0.95
    expected = (4 * abs(0.25 - 0.15) + 2 * abs(1 - 0.95)) / 6
    found = calibration_error(reliability_statistics(labels, chances).sum(axis=0))
    assert float(found) == pytest.approx(expected)
    bins = ReliabilityBins.of(labels, chances)
    assert bins.count.tolist() == [4, 2]
    np.testing.assert_allclose(bins.share, [0.25, 1.0])
    np.testing.assert_allclose(bins.probability, [0.15, 0.95])


def test_true_probabilities_are_calibrated() -> None:
    generator = np.random.default_rng(1)
    chances = generator.random(20_000)
    labels = generator.random(20_000) < chances
    honest, bold = chances, np.sqrt(chances)
    gaps = [float(calibration_error(reliability_statistics(labels, p).sum(axis=0)))
            for p in (honest, bold)]  # fmt: skip
    assert gaps[0] < 0.02
    assert gaps[1] > 0.1
