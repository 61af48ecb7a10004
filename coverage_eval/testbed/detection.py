"""How well scores detect errors: figures for arrays, with bootstrap intervals.

Every figure of a ranking is a function of two cumulative counts: for each distinct score, from the
highest down, the weight of the positives (segments with an error) and of the negatives with at
least that score. Weights are 1, or one row per bootstrap resample, so the same code gives a figure
and its interval.

Translations of one source are not independent, so the bootstrap draws whole sources with all their
translations (cluster bootstrap). DeLong's test of two AUROCs assumes independent cases; it agrees
with this bootstrap if each source has one translation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coverage_eval.arrays import Floats
from coverage_eval.errors import DataError
from coverage_eval.metrics.score import Interval
from coverage_eval.metrics.significance import percentile_interval, resample_counts

BINS = 10
"""Bins of probabilities, of equal width from 0 to 1, as in Guo et al. (ICML 2017)."""

_CELLS = 500_000
"""The most weights of resampled translations in memory at a time; several arrays hold them."""


class Detected(NamedTuple):
    """The weight of the segments that each threshold finds, from the highest score down.

    Attributes:
        positives: ``[..., thresholds]``, weight of the positives with at least this score.
        negatives: ``[..., thresholds]``, weight of the negatives with at least this score.
    """

    positives: Floats
    negatives: Floats

    @property
    def precision(self) -> Floats:
        """``[..., thresholds]``, share of positives; NaN if nothing is found."""
        return ratio(self.positives, self.positives + self.negatives)


class Ranking:
    """Labels ordered by score; segments with equal scores share a threshold.

    Args:
        labels: ``[segments]``, whether each segment has an error.
        scores: ``[segments]``, the higher the more likely an error; finite.

    Raises:
        DataError: Unequal lengths, a score that is not finite, or all labels equal.
    """

    def __init__(self, labels: ArrayLike, scores: ArrayLike) -> None:
        marked = np.asarray(labels, dtype=bool)
        values = np.asarray(scores, dtype=np.float64)
        if marked.shape != values.shape or marked.ndim != 1:
            raise DataError(f"{marked.shape} labels for {values.shape} scores")
        if not np.isfinite(values).all():
            raise DataError("a score is not a finite number")
        if marked.all() or not marked.any():
            found = "an" if marked.any() else "no"
            raise DataError(f"all {len(marked):,} labels are equal: each says {found} error")
        self._order = np.argsort(-values, kind="stable")
        ranked = values[self._order]
        self._marked = marked[self._order]
        self._last = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))

    def detect(self, weights: ArrayLike | None = None) -> Detected:
        """Cumulative counts for weights ``[..., segments]``; by default all are 1."""
        weight = np.ones(len(self._order)) if weights is None else np.asarray(weights)
        ranked = weight[..., self._order]
        positives = np.cumsum(ranked * self._marked, axis=-1)[..., self._last]
        everything = np.cumsum(ranked, axis=-1)[..., self._last]
        return Detected(positives, everything - positives)


def auroc(found: Detected) -> Floats:
    """Area under the ROC curve ``[...]``, 0 to 1; NaN if a class has no weight.

    It is the probability that a positive scores higher than a negative, a tie counting half
    (Mann and Whitney 1947; Hanley and McNeil 1982).
    """
    new = np.diff(found.negatives, axis=-1, prepend=0.0)
    # Twice the mean of this threshold's count and the last one's: whole numbers are not rounded.
    both = 2.0 * found.positives - np.diff(found.positives, axis=-1, prepend=0.0)
    pairs = found.positives[..., -1] * found.negatives[..., -1]
    return ratio((new * both).sum(axis=-1), 2.0 * pairs)


def average_precision(found: Detected) -> Floats:
    """Σ (recall_k − recall_{k−1}) · precision_k over thresholds ``[...]``, 0 to 1.

    Not interpolated. A random score gets the share of positives.
    """
    gained = np.diff(found.positives, axis=-1, prepend=0.0)
    return ratio((gained * np.nan_to_num(found.precision)).sum(axis=-1), found.positives[..., -1])


def precision_at_recall(found: Detected, recall: float) -> Floats:
    """The best precision ``[...]`` of a threshold with at least this recall, 0 to 1."""
    recalls = ratio(found.positives, found.positives[..., -1:])
    enough = recalls >= recall * (1 - 1e-12)  # quotients differ in their last bits
    best: Floats = np.where(enough, np.nan_to_num(found.precision), 0.0).max(axis=-1)
    return np.where(found.positives[..., -1] > 0, best, np.nan)


def roc_curve(found: Detected) -> tuple[Floats, Floats]:
    """False positive rate and true positive rate ``[thresholds + 1]``, from (0, 0) to (1, 1)."""
    rates = (np.append(0.0, counts / counts[-1]) for counts in reversed(found))
    return next(rates), next(rates)


def precision_recall_curve(found: Detected) -> tuple[Floats, Floats]:
    """Recall and precision ``[thresholds]``, from the highest threshold down."""
    return found.positives / found.positives[-1], found.precision


def ratio(part: Floats, whole: Floats) -> Floats:
    """Quotients; NaN, without a warning, if the whole is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient: Floats = part / whole
    return quotient


def compare_within_sources(
    labels: NDArray[np.bool_], scores: Floats, sources: NDArray[np.intp]
) -> Floats:
    """Count pairs of translations of the same source, one with an error and one without.

    A score may separate segments because hard sources lead to errors; within a source it cannot.
    Won pairs divided by all pairs are an AUROC that compares only translations of the same source.

    Args:
        labels: ``[translations]``, whether each has an error.
        scores: ``[translations]``, the higher the more likely an error.
        sources: ``[translations]``, the number of each one's source, from 0.

    Returns:
        ``[sources, 2]``: pairs in which the translation with the error scores higher, a tie
        counting half, and all pairs.
    """
    result = np.zeros((int(sources.max()) + 1, 2))
    order = np.argsort(sources, kind="stable")
    starts = np.flatnonzero(np.diff(sources[order], prepend=-1))
    for own in np.split(order, starts[1:]):
        wrong, right = scores[own][labels[own]], np.sort(scores[own][~labels[own]])
        # Pairs are counted, not built: a source may have many translations.
        lower, not_higher = (np.searchsorted(right, wrong, side) for side in ("left", "right"))
        won = (lower.sum() + not_higher.sum()) / 2
        result[sources[own[0]]] = won, len(wrong) * len(right)
    return result


def pearson(labels: ArrayLike, scores: ArrayLike) -> float | None:
    """Pearson's r, −1 to 1 (for labels 0 and 1, the point-biserial correlation).

    None if labels or scores are constant.
    """
    from scipy.stats import pearsonr

    return _correlation(pearsonr, labels, scores)


def kendall(grades: ArrayLike, scores: ArrayLike) -> float | None:
    """Kendall's τ-b, −1 to 1, which corrects for ties; None as for :func:`pearson`."""
    from scipy.stats import kendalltau

    return _correlation(kendalltau, grades, scores)


def _correlation(function: Callable[..., Any], one: ArrayLike, other: ArrayLike) -> float | None:
    first, second = (np.asarray(item, dtype=np.float64) for item in (one, other))
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    return float(function(first, second).statistic)


def reliability_statistics(labels: NDArray[np.bool_], probabilities: Floats) -> Floats:
    """The contribution of each segment to its bin: 1, its label, its probability.

    Args:
        labels: ``[segments]``, whether each has an error.
        probabilities: ``[segments]``, 0 to 1.

    Returns:
        ``[segments, 3, bins]``, to be summed over segments.
    """
    own = np.minimum((probabilities * BINS).astype(int), BINS - 1)
    statistics = np.zeros((len(labels), 3, BINS))
    added = np.stack([np.ones(len(labels)), labels, probabilities], axis=-1)
    statistics[np.arange(len(labels)), :, own] = added
    return statistics


def calibration_error(summed: Floats) -> Floats:
    """Expected calibration error ``[...]``: Σ_b n_b / n · |share of errors − mean probability|.

    Naeini, Cooper and Hauskrecht (AAAI 2015). It is 0 to 1, and biased upwards for few segments,
    since chance moves the shares of the bins.

    Args:
        summed: ``[..., 3, bins]``, sums of :func:`reliability_statistics`.
    """
    count, marked, promised = np.moveaxis(summed, -2, 0)
    return ratio(np.abs(marked - promised).sum(axis=-1), count.sum(axis=-1))


def reliability_curve(
    labels: NDArray[np.bool_], probabilities: Floats
) -> tuple[Floats, Floats, Floats]:
    """Mean probability, share of errors and number of segments ``[bins]``, of non-empty bins.

    Args:
        labels: ``[segments]``, whether each has an error.
        probabilities: ``[segments]``, 0 to 1.
    """
    count, marked, promised = reliability_statistics(labels, probabilities).sum(axis=0)
    full = count > 0
    return promised[full] / count[full], marked[full] / count[full], count[full]


@dataclass(frozen=True)
class Estimate:
    """A figure with its bootstrap resamples.

    Attributes:
        value: The figure.
        samples: ``[resamples]``, the figure of each resample; NaN if undefined.
        interval: 95% percentile interval; None without resamples.
    """

    value: float
    samples: Floats
    interval: Interval | None = None


def estimate(
    figures: Callable[[Floats], Floats],
    sources: int,
    resamples: int,
    seed: int,
    *,
    weights: int | None = None,
) -> list[Estimate | None]:
    """Figures of all segments and of bootstrap resamples; None for an undefined figure.

    The resamples depend on the number of sources and the seed only.

    Args:
        figures: Maps weights of sources ``[..., sources]`` to figures ``[..., k]``; NaN if
            undefined.
        sources: Number of sources.
        resamples: Number of resamples; 0 for none.
        seed: Their seed.
        weights: Number of weighted items, such as translations; by default of sources.
    """
    values = figures(np.ones(sources))
    resamples = resamples if sources > 1 else 0  # one source is always drawn again
    rows = max(1, _CELLS // max(1, sources if weights is None else weights))
    blocks = [
        figures(counts[start : start + rows])
        for counts in resample_counts(sources, resamples, seed)
        for start in range(0, len(counts), rows)
    ]
    samples = np.concatenate([np.empty((0, len(values))), *blocks])
    return [
        None
        if np.isnan(value)
        else Estimate(
            float(value), drawn, percentile_interval(drawn, seed=seed) if resamples else None
        )
        for value, drawn in zip(values, samples.T, strict=True)
    ]


def difference_p_value(one: Estimate, other: Estimate) -> float | None:
    """The two-sided p-value of the difference of two estimates from the same resamples.

    (1 + #{|d* − d| ≥ |d|}) / (R + 1), with d the difference and d* those of the R resamples. A
    resample with an undefined estimate counts against a difference. None without resamples.
    """
    if not len(one.samples):
        return None
    difference = one.value - other.value
    drawn = one.samples - other.samples
    # Differences that are equal up to rounding count as equal.
    far = np.abs(drawn - difference) >= abs(difference) - 1e-12
    return (int(np.sum(far | np.isnan(drawn))) + 1) / (len(drawn) + 1)
