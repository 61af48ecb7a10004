"""Resampling of segments: confidence intervals, and tests whether two systems differ.

A resample is a row of weights, so one matrix product gives the statistics of all resamples.
Fractions are first rounded so that their sums are exact, and equal in whatever order threads and
processors add them up. Random numbers are drawn as in sacreBLEU 2: the same seed gives the same
resamples, and the same p-values for BLEU and chrF.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from coverage_eval.core.errors import CorpusWarning, DataError, require_integer
from coverage_eval.core.metric import Floats, Formula, Statistics
from coverage_eval.core.sampled_texts import MIN_SEGMENTS
from coverage_eval.core.score import Interval

DEFAULT_RESAMPLES = 1000
MAX_RESAMPLES = 1_000_000
"""More would take hours and change no printed digit."""
DEFAULT_SEED = 12345
TESTS = ("bootstrap", "randomization")

Systems = Mapping[str, Statistics]


@dataclass(frozen=True)
class SignificanceTest:
    """How systems are tested against a baseline.

    Attributes:
        test: ``"randomization"``, or sacreBLEU's ``"bootstrap"``, which has too many false
            positives (:func:`pair_tests`).
        resamples: Resamples for intervals and test; 0 for neither.
        seed: Seed of the random numbers.
        baseline: The system to test against; None for the first.

    Raises:
        TypeError: The number of resamples or the seed is not a whole number.
        ValueError: An unknown test, or a number out of range.
    """

    test: str = "randomization"
    resamples: int = DEFAULT_RESAMPLES
    seed: int = DEFAULT_SEED
    baseline: str | None = None

    def __post_init__(self) -> None:
        if self.test not in TESTS:
            raise ValueError(f"test must be one of {TESTS}, not {self.test!r}")
        require_integer("resamples", self.resamples, 0, MAX_RESAMPLES)
        require_integer("seed", self.seed, 0)


_MAX_CELLS = 2_000_000
"""Cells of a block of weights, at most: 16 MB each, a few blocks at a time."""


def resample_counts(segments: int, resamples: int, seed: int) -> Iterator[Floats]:
    """How often each bootstrap resample draws each segment.

    Args:
        segments: Number of segments.
        resamples: Number of resamples, each of ``segments`` draws with replacement.
        seed: Seed of NumPy's default generator.

    Yields:
        Blocks ``[some resamples, segments]``, with ``resamples`` rows in all.
    """
    generator = np.random.default_rng(seed)
    for size in _block_sizes(segments, resamples):
        indices = generator.choice(segments, size=(size, segments), replace=True)
        indices += np.arange(size)[:, None] * segments
        counts = np.bincount(indices.ravel(), minlength=size * segments)
        yield counts.reshape(size, segments).astype(np.float64)


def swap_masks(segments: int, trials: int, seed: int) -> Iterator[Floats]:
    """Which segments keep their system in each trial of approximate randomisation.

    Yields:
        Blocks ``[some trials, segments]`` of ones (kept) and zeros (swapped).
    """
    generator = np.random.default_rng(seed)
    # Multiples of 32 trials use whole words of random bits, so the bits are those of one large
    # draw, as in sacreBLEU.
    for size in _block_sizes(segments, trials, multiple=32):
        kept = generator.integers(2, size=(size, segments), dtype=bool)
        rows = next(_block_sizes(segments, size))
        yield from (kept[i : i + rows].astype(np.float64) for i in range(0, size, rows))


def _block_sizes(segments: int, resamples: int, multiple: int = 1) -> Iterator[int]:
    rows = max(1, _MAX_CELLS // max(1, segments) // multiple) * multiple
    return (min(rows, resamples - start) for start in range(0, resamples, rows))


_LEVEL = 0.95
_TAIL = 100 * (1 - _LEVEL) / 2


def bootstrap_interval(
    metric: Formula,
    statistics: Statistics,
    *,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> Interval:
    """95% bootstrap interval of a corpus score (Koehn, EMNLP 2004).

    Its ends are percentiles of :func:`sample_scores`, the upper one with one more error.

    Args:
        metric: The metric of the statistics.
        statistics: The statistics ``[segments, k]``.
        resamples: Number of resamples; those with an undefined score are left out.
        seed: Seed of the random numbers.

    Raises:
        DataError: The score is undefined in every resample.

    Warns:
        CorpusWarning: There are fewer than :data:`MIN_SEGMENTS` segments.
    """
    if len(statistics) < MIN_SEGMENTS:
        message = f"{len(statistics)} segments are too few for a reliable interval"
        warnings.warn(message, CorpusWarning, stacklevel=2)
    (sampled,) = sample_scores([(metric, {"": statistics})], resamples, seed)
    return sampled[""].interval(seed)


@dataclass(frozen=True)
class Resampled:
    """Bootstrap scores of a system, or differences of two; NaN where one is undefined.

    Attributes:
        lower: What the lower end of an interval is a percentile of, ``[resamples]``.
        upper: The same for the upper end; ``lower`` itself for metrics without an
            :attr:`~coverage_eval.core.metric.Formula.one_more_error`.
    """

    lower: Floats
    upper: Floats

    def __sub__(self, other: Resampled) -> Resampled:
        return Resampled(self.lower - other.upper, self.upper - other.lower)

    def interval(self, seed: int) -> Interval:
        """The 95% interval.

        Args:
            seed: The seed of the resamples.

        Raises:
            DataError: The score is undefined in every resample.
        """
        if np.isnan(self.lower).all():
            raise DataError(
                "no interval: the score is undefined in all resamples; draw more, or score more "
                "text"
            )
        low = float(np.nanpercentile(self.lower, _TAIL))
        high = float(np.nanpercentile(self.upper, 100 - _TAIL))
        method = "percentile" if self.upper is self.lower else "percentile, one more error"
        return Interval(low, high, _LEVEL, len(self.lower), seed, method)


def sample_scores(
    metrics: Sequence[tuple[Formula, Systems]], resamples: int, seed: int
) -> list[dict[str, Resampled]]:
    """Bootstrap scores of several metrics and systems, the same segments drawn for all of them.

    A sample without an error is no proof that there are none: its percentiles are 0 and 0. So the
    upper end of a sum of errors comes from resamples of the sample with one more segment, which has
    nothing but an error of the mean size of those seen, or of one unit if that is more (after Fay
    and Feuer, Statistics in Medicine 16 (1997) 791–801, who do this to a weighted sum of Poisson
    counts). As errors become frequent, the end becomes the percentile.

    Args:
        metrics: Metrics, each with the statistics ``[segments, k]`` of every system.
        resamples: Number of resamples.
        seed: Seed of the random numbers.

    Returns:
        For each metric the scores of each system.

    Raises:
        TypeError: ``resamples`` or ``seed`` is not a whole number.
        ValueError: ``resamples`` is not from 1 to :data:`MAX_RESAMPLES`, or ``seed`` is negative.
    """
    require_integer("resamples", resamples, 1, MAX_RESAMPLES)
    require_integer("seed", seed, 0)
    arrays = [stack_rounded(systems) for _, systems in metrics]
    segments = len(arrays[0])
    sums = _weighted_sums(resample_counts(segments, resamples, seed), arrays)
    # How often each resample draws the segment more, by numbers that no draw above has used.
    drawn = np.random.default_rng([seed, 1]).binomial(segments + 1, 1 / (segments + 1), resamples)
    sampled = []
    for (metric, systems), array, of_metric in zip(metrics, arrays, sums, strict=True):
        lower = upper = list(metric.formula(of_metric).T)
        if metric.one_more_error is not None:
            more = [_one_more_error(metric, array[:, index]) for index in range(len(systems))]
            upper = list(metric.formula(of_metric + drawn[:, None, None] * np.array(more)).T)
        sampled.append(dict(zip(systems, map(Resampled, lower, upper), strict=True)))
    return sampled


def _one_more_error(metric: Formula, statistics: Statistics) -> Floats:
    """The statistics ``[k]`` of an error of the mean size, at least one unit."""
    unit, sizes = np.array(metric.one_more_error, dtype=np.float64), metric.errors(statistics)
    is_error = sizes > 0
    if not is_error.any():
        return unit
    return unit * max(1.0, float(sizes[is_error].mean() / metric.errors(unit)))


def _weighted_sums(weights: Iterable[Floats], arrays: Sequence[Floats]) -> list[Floats]:
    """Sums over segments ``[resamples, …]`` of each array ``[segments, …]``.

    Args:
        weights: Blocks ``[some resamples, segments]``, each used for all arrays.
        arrays: The arrays.
    """
    blocks = [[np.tensordot(block, array, axes=1) for array in arrays] for block in weights]
    return [np.concatenate(sums) for sums in zip(*blocks, strict=True)]


def stack_rounded(systems: Systems) -> Floats:
    """Statistics of all systems as ``[segments, systems, k]``, rounded so that sums are exact.

    Each statistic is rounded to multiples of a power of 2, the same for all systems, such that no
    sum over segments has more than 50 binary digits. Sums change by less than 1e-12 of their size,
    and whole numbers not at all.
    """
    blocks = [statistics[:, None] for statistics in systems.values()]
    stacked = np.concatenate(blocks, axis=1, dtype=np.float64)
    largest = np.maximum(stacked.max(axis=(0, 1)), -stacked.min(axis=(0, 1)))
    _, digits = np.frexp(largest * len(stacked))
    unit = np.ldexp(1.0, np.clip(digits - 50, -900, 0))
    stacked /= unit
    np.rint(stacked, out=stacked)
    stacked *= unit
    return stacked


@dataclass(frozen=True)
class Difference:
    """The difference between a system and the baseline.

    Attributes:
        difference: Its score minus the baseline's.
        p_value: Probability of a difference at least as large if the systems were equally good.
    """

    difference: float
    p_value: float


Pair = tuple[str, str]


def pair_tests(
    metrics: Sequence[tuple[Formula, Systems]],
    pairs: Sequence[Pair],
    *,
    test: str = "bootstrap",
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
    sampled: Sequence[Mapping[str, Resampled]] | None = None,
) -> list[dict[Pair, Difference]]:
    """Compare pairs of systems on the same segments, by several metrics.

    The same segments are drawn or exchanged for all pairs, so many pairs cost little more than one.
    Both tests draw random numbers as sacreBLEU does. p-values for BLEU and chrF differ from those
    of sacreBLEU only because it counts ties as smaller (so it finds equal outputs different) and
    sums in single precision. A resample with an undefined score is no evidence of a difference.

    Among equally good systems, randomisation finds about 5% different at the level of 0.05, and
    this bootstrap about 10%: it centres absolute differences, which tests one side only.

    Args:
        metrics: Metrics, each with the statistics ``[segments, k]`` of every system, the same
            systems for all.
        pairs: Pairs of systems; a difference is the first's score less the second's.
        test: ``"bootstrap"`` for paired bootstrap resampling (Koehn, EMNLP 2004), with differences
            centred at zero; ``"randomization"`` for approximate randomisation (Riezler and Maxwell,
            2005), which exchanges segments between the two systems at random.
        resamples: Number of resamples or of random exchanges.
        seed: Seed of the random numbers.
        sampled: For the bootstrap, the result of :func:`sample_scores` for the same arguments, if
            it is known already.

    Raises:
        TypeError, ValueError: As :func:`sample_scores`, or ``test`` is none of :data:`TESTS`.
    """
    if test not in TESTS:
        raise ValueError(f"test must be one of {TESTS}, not {test!r}")
    require_integer("resamples", resamples, 1, MAX_RESAMPLES)
    if not pairs:
        return [{} for _ in metrics]
    arrays = [stack_rounded(systems) for _, systems in metrics]
    if test == "bootstrap":
        resampled = [
            {system: draws.lower for system, draws in of_metric.items()}
            for of_metric in sampled or sample_scores(metrics, resamples, seed)
        ]
    else:  # sums over the kept segments of each trial
        sums = _weighted_sums(swap_masks(len(arrays[0]), resamples, seed), arrays)
        resampled = [
            dict(zip(systems, np.moveaxis(kept, 1, 0), strict=True))
            for (_, systems), kept in zip(metrics, sums, strict=True)
        ]
    tested: list[dict[Pair, Difference]] = []
    for (metric, systems), array, by_system in zip(metrics, arrays, resampled, strict=True):
        totals = dict(zip(systems, array.sum(axis=0), strict=True))
        tested.append({})
        for first, second in pairs:
            changes = by_system[first] - by_system[second]
            if test == "bootstrap":  # of scores, centred as in sacreBLEU
                differences = np.abs(changes)
                differences -= np.nanmean(differences)
            else:  # of pseudo systems: with kept segments K, K·b + (1−K)·s and the other way round
                exchanged = metric.formula(totals[first] - changes)
                differences = np.abs(exchanged - metric.formula(totals[second] + changes))
            difference = float(metric.formula(totals[first]) - metric.formula(totals[second]))
            tested[-1][first, second] = Difference(difference, _p_value(differences, difference))
    return tested


def _p_value(sampled: Floats, difference: float) -> float:
    """(1 + #{|d*| ≥ |d|}) / (R + 1), which is 1 for equal systems and never 0.

    A resample with the same difference counts as large. So does a slightly smaller one, because the
    last bits of a sum depend on the order of the segments.
    """
    as_large = np.nan_to_num(sampled) >= abs(difference) * (1 - 1e-12)
    return (int(np.sum(as_large)) + 1) / (len(sampled) + 1)


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values of several comparisons (Holm, 1979), in the order given.

    Reading the adjusted values at some level keeps the family-wise error rate at or below it.
    """
    order = np.argsort(p_values, kind="stable")
    factors = np.arange(len(p_values), 0, -1)
    adjusted = np.minimum(1.0, np.maximum.accumulate(np.asarray(p_values)[order] * factors))
    return [float(value) for value in adjusted[np.argsort(order)]]
