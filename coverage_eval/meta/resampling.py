"""Intervals and tests of figures, by resampling sources (cluster bootstrap).

Translations of one source are not independent of each other, so whole sources are drawn, with all
their translations. DeLong's test of two AUROCs, which is for independent cases, does not allow for
that; where each source has one translation, the two agree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coverage_eval.metrics.score import Interval
from coverage_eval.metrics.significance import percentile_interval, resample_counts

Floats = NDArray[np.float64]

Figures = Callable[[Floats], Floats]
"""From weights of sources ``[..., sources]`` to figures ``[..., k]``; NaN where undefined."""

_CELLS = 500_000
"""Most weights, of translations in resamples, that exist at once, in several arrays."""


@dataclass(frozen=True)
class Estimate:
    """A figure with what resampling says of it.

    Attributes:
        value: The figure.
        samples: ``[resamples]``, the figure of each resample; NaN where it is undefined.
        interval: 95 % percentile interval; None without resamples.
    """

    value: float
    samples: Floats
    interval: Interval | None = None


def estimate(
    figures: Figures, sources: int, resamples: int, seed: int, *, weights: int | None = None
) -> list[Estimate | None]:
    """Figures of the whole and of bootstrap resamples; None for one that is undefined.

    The same sources are drawn wherever their number and the seed are the same.

    Args:
        figures: What makes k figures of weights.
        sources: Number of sources.
        resamples: Number of resamples; 0 for none.
        seed: Their seed.
        weights: How many things the figures weigh, such as translations; by default the sources.
    """
    values = figures(np.ones(sources))
    rows = max(1, _CELLS // max(1, sources if weights is None else weights))
    blocks = [
        figures(counts[start : start + rows])
        for counts in resample_counts(sources, resamples, seed)
        for start in range(0, len(counts), rows)
    ]
    samples = np.concatenate([np.empty((0, len(values))), *blocks])
    return [
        None if np.isnan(value) else Estimate(float(value), drawn, _interval(drawn, seed))
        for value, drawn in zip(values, samples.T, strict=True)
    ]


def _interval(samples: Floats, seed: int) -> Interval | None:
    return percentile_interval(samples, seed=seed) if len(samples) else None


def difference_p_value(one: Estimate, other: Estimate) -> float | None:
    """The p-value, two-sided, of a difference of two estimates from the same resamples.

    (1 + #{|d* − d| ≥ |d|}) / (R + 1), with d the difference and d* those of the R resamples; a
    resample in which one is undefined counts as no evidence. None without resamples.
    """
    if not len(one.samples):
        return None
    difference = one.value - other.value
    drawn = one.samples - other.samples
    # A difference that is as large but for rounding counts as one that is.
    far = np.abs(drawn - difference) >= abs(difference) - 1e-12
    return (int(np.sum(far | np.isnan(drawn))) + 1) / (len(drawn) + 1)
