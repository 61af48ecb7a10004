"""The WMT metrics task's measures of how well a score agrees with people's scores.

*Pairwise accuracy with ties* (acc_eq; Deutsch, Foster and Freitag, "Ties Matter", EMNLP 2023) is
the share of pairs of translations of one source that score and people order alike, or that both
call ties. Differences of at most ε are ties of the score; ε is the best value for the data.
*Soft pairwise accuracy* (Thompson, Mathur, Deutsch and Khayrallah, WMT 2024) is
1 − mean |p(people) − p(score)| over pairs of systems, each p of a one-sided permutation test.
*PERM-BOTH* (Deutsch, Dror and Roth, TACL 2021) tests whether one score agrees better than another.
Scores and grades are taken as matrices ``[systems, sources]``, NaN where a translation is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from coverage_eval.arrays import Floats
from coverage_eval.metrics.significance import swap_masks
from coverage_eval.testbed.detection import pearson
from coverage_eval.testbed.matching import Matched

_SAME = 1e-12
"""Figures that differ by less count as equal, since sums of fractions are rounded."""


class TiedPairs:
    """All pairs of translations of one source, and their order according to people.

    Args:
        grades: ``[systems, sources]``, people's scores; NaN where there is none.
    """

    def __init__(self, grades: Floats) -> None:
        systems, sources = grades.shape
        pairs = np.array(list(combinations(range(systems), 2)), dtype=np.intp).reshape(-1, 2)
        differences = (grades[pairs[:, 0]] - grades[pairs[:, 1]]).ravel()
        known = np.flatnonzero(~np.isnan(differences))
        pair, source = known // sources, known % sources
        self._first, self._second = pairs[pair].T * sources + source
        self._order = np.sign(differences[known])
        # Every source has the same weight, for any number of pairs.
        counts = np.bincount(source, minlength=sources)
        weights = 1.0 / (counts * max(1, int(np.count_nonzero(counts))))[source]
        self._weights = weights
        self._gained_by_tie = np.where(self._order == 0, weights, 0.0)

    def __len__(self) -> int:
        return len(self._order)

    def accuracy(self, scores: Floats) -> tuple[float, float]:
        """The accuracy with the best ε, 0 to 1, and that ε.

        Args:
            scores: ``[systems, sources]``, for every translation that people scored; better in
                the same direction as people's scores.
        """
        found = scores.take(self._first) - scores.take(self._second)
        right = np.where(np.sign(found) == self._order, self._weights, 0.0)
        size = np.abs(found)
        order = np.argsort(size)
        size = size[order]
        sums = right.sum() + np.cumsum((self._gained_by_tie - right)[order])
        last = np.flatnonzero(np.append(size[1:] != size[:-1], True))
        # ε = 0, which adds no ties, is also a choice.
        thresholds = np.append(0.0, size[last])
        accuracies = np.append(right.sum(), sums[last])
        if size[0] == 0:  # they are ties with ε = 0 already
            thresholds, accuracies = thresholds[1:], accuracies[1:]
        best = int(np.argmax(accuracies >= accuracies.max() - _SAME))
        return float(accuracies[best]), float(thresholds[best])


def soft_pairwise_accuracy(
    grades: Floats, scores: Floats, permutations: int = 1000, seed: int = 0
) -> float:
    """Soft pairwise accuracy, 0 to 1, of two matrices ``[systems, sources]`` without NaN.

    Args:
        grades: People's scores, for at least two systems.
        scores: The score's values, better in the same direction.
        permutations: Number of permutations, the same for all pairs.
        seed: Their seed.
    """
    first, second = np.triu_indices(len(grades), 1)
    larger = np.zeros((2, len(first)))
    for kept in swap_masks(grades.shape[1], permutations, seed):
        signs = 2.0 * kept - 1.0
        for number, matrix in enumerate((grades, scores)):
            sums, drawn = matrix.sum(axis=1), signs @ matrix.T
            observed = sums[first] - sums[second]
            null = drawn[:, first] - drawn[:, second]
            larger[number] += (null >= observed - _SAME * (1 + np.abs(observed))).sum(axis=0)
    p_values = larger / permutations
    return float(1.0 - np.abs(p_values[0] - p_values[1]).mean())


def perm_both(
    agreement: Callable[[Floats], float],
    one: Floats,
    other: Floats,
    *,
    permutations: int,
    seed: int,
) -> float | None:
    """The one-sided p-value that one score agrees better than another (PERM-BOTH).

    Both scores are standardised, and their values for each translation are exchanged at random; p
    is the share of exchanges after which the difference is at least as large.

    Args:
        agreement: Maps a score's values to its agreement with people's.
        one: Values ``[...]`` of a score, NaN for a missing value.
        other: Values of the score that it is compared with.
        permutations: Number of permutations; None is returned for 0.
        seed: Their seed.
    """
    if not permutations:
        return None
    one, other = ((v - np.nanmean(v)) / max(np.nanstd(v), _SAME) for v in (one, other))
    observed = agreement(one) - agreement(other)
    larger = 0
    for block in swap_masks(one.size, permutations, seed):
        for kept in block.reshape(-1, *one.shape) > 0:
            difference = agreement(np.where(kept, one, other))
            difference -= agreement(np.where(kept, other, one))
            larger += difference >= observed - _SAME
    return larger / permutations


@dataclass(frozen=True)
class TaskFigures:
    """The task's figures of one score; None for an undefined figure.

    Attributes:
        name: The score's name.
        accuracy: Pairwise accuracy with calibrated ties, within sources, 0 to 1.
        epsilon: Differences of at most this are ties, in the score's unit.
        pearson: Pearson's r with people's scores of segments, -1 to 1.
        soft_pairwise: Soft pairwise accuracy of systems, 0 to 1.
        accuracy_p: p-value that it is more accurate than the first score (PERM-BOTH, one-sided).
        pearson_p: p-value that its r is greater than the first score's, likewise.
    """

    name: str
    accuracy: float
    epsilon: float
    pearson: float | None
    soft_pairwise: float | None
    accuracy_p: float | None = None
    pearson_p: float | None = None


def task_figures(matched: Matched, permutations: int, seed: int) -> tuple[TaskFigures, ...]:
    """The figures of every score; empty if no source has translations by several systems.

    Higher grades and higher suspicion both mean worse.

    Args:
        matched: Translations with grades and scores.
        permutations: Permutations of each test; 0 for no tests. Soft pairwise accuracy needs
            permutations, and then uses 1,000.
        seed: Their seed.
    """
    sources = matched.sources
    systems = np.empty(len(sources), dtype=np.intp)
    for number, own in enumerate(matched.systems.values()):
        systems[own] = number

    def matrix(values: Floats) -> Floats:
        found = np.full((len(matched.systems), int(sources.max()) + 1), np.nan)
        found[systems, sources] = values
        return found

    grades = matrix(matched.grades)
    pairs = TiedPairs(grades)
    known = ~np.isnan(grades)
    if not len(pairs) or known.sum() < len(sources):  # a system translated a source twice
        return ()
    complete = known.all(axis=0)

    def accuracy(scores: Floats) -> float:
        return pairs.accuracy(scores)[0]

    def correlation(scores: Floats) -> float:
        return pearson(grades[known], scores[known]) or 0.0

    first = matrix(matched.scores[0].suspicion)
    figures = []
    for number, score in enumerate(matched.scores):
        values = matrix(score.suspicion)
        soft = None
        if complete.any():
            columns = grades[:, complete], values[:, complete]
            soft = soft_pairwise_accuracy(*columns, permutations or 1000, seed)
        p_values = (
            perm_both(one, values, first, permutations=permutations if number else 0, seed=seed)
            for one in (accuracy, correlation)
        )
        r = pearson(grades[known], values[known])
        figures.append(TaskFigures(score.name, *pairs.accuracy(values), r, soft, *p_values))
    return tuple(figures)
