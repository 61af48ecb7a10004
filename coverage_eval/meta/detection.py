"""How well scores tell segments with an error from those without: arrays in, figures out.

Every figure here is a function of two cumulated counts: for each distinct score, from the highest
down, the weight of the positives (segments with an error) and of the negatives that score at least
that. Weights are 1, or a row for each bootstrap resample, so a figure and its interval come from
the same lines.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coverage_eval.errors import DataError

Floats = NDArray[np.float64]


class Detected(NamedTuple):
    """What is found by each threshold, from the highest score down.

    Attributes:
        positives: ``[..., thresholds]``, weight of the positives that score at least so much.
        negatives: ``[..., thresholds]``, weight of the negatives that do.
    """

    positives: Floats
    negatives: Floats


class Ranking:
    """Labels in the order of their scores; segments of equal score are one threshold.

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
        """Cumulated counts, for weights ``[..., segments]``; by default all are 1."""
        weight = np.ones(len(self._order)) if weights is None else np.asarray(weights)
        ranked = weight[..., self._order]
        positives = np.cumsum(ranked * self._marked, axis=-1)[..., self._last]
        everything = np.cumsum(ranked, axis=-1)[..., self._last]
        return Detected(positives, everything - positives)


def auroc(found: Detected) -> Floats:
    """Area under the ROC curve ``[...]``, 0 to 1; NaN where a class has no weight.

    It is the probability that a positive scores higher than a negative, a tie counting half
    (Mann and Whitney 1947; Hanley and McNeil 1982): exact, also with ties.
    """
    new = np.diff(found.negatives, axis=-1, prepend=0.0)
    # With those of the threshold before: counts are whole numbers, so nothing is rounded.
    both = 2.0 * found.positives - np.diff(found.positives, axis=-1, prepend=0.0)
    pairs = found.positives[..., -1] * found.negatives[..., -1]
    return ratio((new * both).sum(axis=-1), 2.0 * pairs)


def average_precision(found: Detected) -> Floats:
    """Σ (recall_k − recall_{k−1}) · precision_k over thresholds ``[...]``, 0 to 1.

    Not interpolated; the share of positives is what a score without any knowledge gets.
    """
    gained = np.diff(found.positives, axis=-1, prepend=0.0)
    return ratio((gained * np.nan_to_num(_precision(found))).sum(axis=-1), found.positives[..., -1])


def precision_at_recall(found: Detected, recall: float) -> Floats:
    """The best precision ``[...]`` of a threshold that finds at least this share of positives."""
    recalls = ratio(found.positives, found.positives[..., -1:])
    enough = recalls >= recall * (1 - 1e-12)  # a share of counts differs in its last bits
    best: Floats = np.where(enough, np.nan_to_num(_precision(found)), 0.0).max(axis=-1)
    return np.where(found.positives[..., -1] > 0, best, np.nan)


def roc_curve(found: Detected) -> tuple[Floats, Floats]:
    """False positive rate and true positive rate ``[thresholds + 1]``, from (0, 0) to (1, 1)."""
    rates = (np.append(0.0, counts / counts[-1]) for counts in reversed(found))
    return next(rates), next(rates)


def precision_recall_curve(found: Detected) -> tuple[Floats, Floats]:
    """Recall and precision ``[thresholds]``, from the highest threshold down."""
    return found.positives / found.positives[-1], _precision(found)


def ratio(part: Floats, whole: Floats) -> Floats:
    """Quotients; NaN, not a warning, where the whole is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient: Floats = part / whole
    return quotient


def _precision(found: Detected) -> Floats:
    return ratio(found.positives, found.positives + found.negatives)
