"""Resampling of segments: intervals of a score, and tests whether two systems differ.

All of it works on cached statistics: a resample is a row of weights, so the statistics of all
resamples are one product of matrices. The random numbers are drawn as sacreBLEU 2 draws them, so
the same seed gives the same resamples there and here, and its p-values for BLEU and chrF.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coverage_eval.errors import DataError
from coverage_eval.metrics.base import Interval, Metric, Statistics

__all__ = [
    "DEFAULT_RESAMPLES",
    "DEFAULT_SEED",
    "TESTS",
    "Difference",
    "bootstrap_interval",
    "bootstrap_intervals",
    "holm",
    "paired_test",
    "resample_counts",
    "swap_masks",
]

DEFAULT_RESAMPLES = 1000
DEFAULT_SEED = 12345
TESTS = ("bootstrap", "randomization")

Floats = NDArray[np.float64]
Systems = Mapping[str, Statistics]

_BLOCK = 20_000_000
"""Most cells of a block of weights, 160 MB."""


def resample_counts(segments: int, resamples: int, seed: int) -> Iterator[Floats]:
    """How often each bootstrap resample draws each segment.

    Args:
        segments: Number of segments.
        resamples: Number of resamples, each of ``segments`` draws with replacement.
        seed: Seed of NumPy's default generator.

    Yields:
        Blocks ``[some resamples, segments]``; together there are ``resamples`` rows.
    """
    generator = np.random.default_rng(seed)
    for size in _block_sizes(segments, resamples):
        drawn = generator.choice(segments, size=(size, segments), replace=True)
        drawn += np.arange(size)[:, None] * segments
        counts = np.bincount(drawn.ravel(), minlength=size * segments)
        yield counts.reshape(size, segments).astype(np.float64)


def swap_masks(segments: int, trials: int, seed: int) -> Iterator[Floats]:
    """Which segments keep their system in each trial of approximate randomisation.

    Yields:
        Blocks ``[some trials, segments]`` of ones (kept) and zeros (swapped).
    """
    generator = np.random.default_rng(seed)
    # In one piece, as sacreBLEU draws them: bits of one word belong to several trials.
    kept = generator.integers(2, size=(trials, segments), dtype=bool)
    start = 0
    for size in _block_sizes(segments, trials):
        yield kept[start : start + size].astype(np.float64)
        start += size


def _block_sizes(segments: int, resamples: int) -> Iterator[int]:
    rows = max(1, _BLOCK // max(1, segments))
    for start in range(0, resamples, rows):
        yield min(rows, resamples - start)


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

    Raises:
        DataError: The score is undefined in every resample.
    """
    systems = {"": statistics}
    (interval,) = bootstrap_intervals(
        metric, systems, resamples=resamples, seed=seed, level=level
    ).values()
    return interval


def bootstrap_intervals(
    metric: Metric,
    systems: Systems,
    *,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
    level: float = 0.95,
) -> dict[str, Interval]:
    """Intervals of several systems from the same resamples, as :func:`bootstrap_interval`."""
    tail = 100 * (1 - level) / 2
    intervals = {}
    for name, scores in _bootstrap_scores(metric, systems, resamples, seed).items():
        if np.isnan(scores).all():
            raise DataError(
                f"{metric.name}: no interval: the score is undefined in all resamples; "
                "draw more, or score more text"
            )
        low, high = np.nanpercentile(scores, [tail, 100 - tail])
        intervals[name] = Interval(float(low), float(high), level, resamples, seed)
    return intervals


def _bootstrap_scores(
    metric: Metric, systems: Systems, resamples: int, seed: int
) -> dict[str, Floats]:
    """Scores ``[resamples]`` of each system, all drawn alike."""
    names = list(systems)
    together, width = _side_by_side(systems)
    blocks = [counts @ together for counts in resample_counts(len(together), resamples, seed)]
    sums = np.concatenate(blocks).reshape(resamples, len(names), width)
    return {name: metric.score(sums[:, i]) for i, name in enumerate(names)}


def _side_by_side(systems: Systems) -> tuple[Floats, int]:
    """Statistics of all systems as ``[segments, systems · k]``, and k."""
    arrays = [np.asarray(statistics, dtype=np.float64) for statistics in systems.values()]
    return np.concatenate(arrays, axis=1), arrays[0].shape[1]


@dataclass(frozen=True)
class Difference:
    """A system against the baseline.

    Attributes:
        difference: Its score minus the baseline's.
        p_value: Probability of a difference at least as large if the systems were equally good.
    """

    difference: float
    p_value: float


def paired_test(
    metric: Metric,
    systems: Systems,
    baseline: str,
    *,
    test: str = "bootstrap",
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> dict[str, Difference]:
    """Compare systems with a baseline on the same segments.

    Both tests are two-sided, and as sacreBLEU has them, whose p-values for BLEU and chrF these are
    (its sums are in single precision, so that a trial on the very edge may count there and not
    here). A resample whose score is undefined counts as no evidence of a difference.

    Args:
        metric: The metric whose statistics these are.
        systems: Statistics ``[segments, k]`` of each system, the baseline among them.
        baseline: Its name.
        test: ``"bootstrap"``: paired bootstrap resampling (Koehn, EMNLP 2004), the differences
            centred at zero; ``"randomization"``: approximate randomisation (Riezler and Maxwell,
            2005), segments exchanged between the two systems at random.
        resamples: Number of resamples or of random exchanges.
        seed: Seed of the random numbers.

    Returns:
        The difference of every system but the baseline.

    Raises:
        ValueError: An unknown test.
    """
    if test not in TESTS:
        raise ValueError(f"test must be one of {TESTS}, not {test!r}")
    values = {name: float(metric.score(np.sum(s, axis=0))) for name, s in systems.items()}
    differences = {n: value - values[baseline] for n, value in values.items() if n != baseline}
    run = _bootstrap_p_values if test == "bootstrap" else _randomization_p_values
    p_values = run(metric, systems, baseline, differences, resamples, seed)
    return {name: Difference(differences[name], p_values[name]) for name in differences}


def _bootstrap_p_values(
    metric: Metric,
    systems: Systems,
    baseline: str,
    differences: Mapping[str, float],
    resamples: int,
    seed: int,
) -> dict[str, float]:
    scores = _bootstrap_scores(metric, systems, resamples, seed)
    p_values = {}
    for name, difference in differences.items():
        sampled = np.abs(scores[name] - scores[baseline])
        p_values[name] = _p_value(sampled - np.nanmean(sampled), difference)
    return p_values


def _randomization_p_values(
    metric: Metric,
    systems: Systems,
    baseline: str,
    differences: Mapping[str, float],
    resamples: int,
    seed: int,
) -> dict[str, float]:
    """With kept segments K, the pseudo systems are K·b + (1−K)·s and the other way round."""
    base = np.asarray(systems[baseline], dtype=np.float64)
    others = {name: systems[name] for name in differences}
    changes = {name: np.asarray(s, dtype=np.float64) - base for name, s in others.items()}
    if not changes:
        return {}
    together, width = _side_by_side(changes)
    blocks = [kept @ together for kept in swap_masks(len(base), resamples, seed)]
    kept_changes = np.concatenate(blocks).reshape(resamples, len(changes), width)
    p_values = {}
    for i, (name, statistics) in enumerate(others.items()):
        first = np.sum(statistics, axis=0) - kept_changes[:, i]
        second = base.sum(axis=0) + kept_changes[:, i]
        sampled = np.abs(metric.score(first) - metric.score(second))
        p_values[name] = _p_value(sampled, differences[name])
    return p_values


def _p_value(sampled: Floats, difference: float) -> float:
    """Share of larger differences; 1 is added above and below, so that it is never 0."""
    larger = int(np.sum(np.nan_to_num(sampled) > abs(difference)))
    return (larger + 1) / (len(sampled) + 1)


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values of several comparisons (Holm, 1979), in the order given.

    The family-wise error rate of all comparisons together is then at most the level at which the
    adjusted values are read.
    """
    order = np.argsort(p_values, kind="stable")
    factors = np.arange(len(p_values), 0, -1)
    adjusted = np.minimum(1.0, np.maximum.accumulate(np.asarray(p_values)[order] * factors))
    result = np.empty(len(p_values))
    result[order] = adjusted
    return [float(value) for value in result]
