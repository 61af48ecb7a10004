"""Resampling of segments: confidence intervals of any metric from its cached statistics.

The random numbers are sacreBLEU's own (``default_rng(seed).choice`` of whole corpora), so that
the same seed draws the same resamples there and here.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from coverage_eval.metrics.base import Interval, Metric, Statistics

__all__ = ["DEFAULT_RESAMPLES", "DEFAULT_SEED", "bootstrap_interval", "resample_counts"]

DEFAULT_RESAMPLES = 1000
DEFAULT_SEED = 12345

_BLOCK = 20_000_000


def resample_counts(segments: int, resamples: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """How often each bootstrap resample draws each segment.

    Args:
        segments: Number of segments.
        resamples: Number of resamples, each of ``segments`` draws with replacement.
        seed: Seed of NumPy's default generator.

    Yields:
        Blocks ``[some resamples, segments]``; together there are ``resamples`` rows.
    """
    generator = np.random.default_rng(seed)
    rows = max(1, _BLOCK // segments)
    for start in range(0, resamples, rows):
        size = min(rows, resamples - start)
        drawn = generator.choice(segments, size=(size, segments), replace=True)
        drawn += np.arange(size)[:, None] * segments
        counts = np.bincount(drawn.ravel(), minlength=size * segments)
        yield counts.reshape(size, segments).astype(np.float64)


def bootstrap_interval(
    metric: Metric,
    statistics: Statistics,
    *,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
    level: float = 0.95,
) -> Interval:
    """Percentile bootstrap interval of a corpus score (Koehn, EMNLP 2004).

    Args:
        metric: The metric whose statistics these are.
        statistics: ``[segments, k]``.
        resamples: Number of resamples; those whose score is undefined are left out.
        seed: Seed of the random numbers.
        level: Confidence level between 0 and 1.
    """
    values = np.asarray(statistics, dtype=np.float64)
    blocks = resample_counts(len(values), resamples, seed)
    scores = np.concatenate([metric.score(counts @ values) for counts in blocks])
    tail = 100 * (1 - level) / 2
    low, high = np.nanpercentile(scores, [tail, 100 - tail])
    return Interval(float(low), float(high), level, resamples, seed)
