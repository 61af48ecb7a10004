"""Corpus scores that a few single segments move: which ones, and the score without them.

A score of a corpus is a formula of sums, so the score without one segment costs a subtraction. A
runaway loop of 3,000 words can multiply REP, and no significance test shows it: resampled without
the segment, the difference is gone.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from coverage_eval.arrays import Floats
from coverage_eval.data.input_checks import Finding
from coverage_eval.metrics.score import Formula, Statistics

MIN_SEGMENTS = 20
"""With fewer segments, each one moves a score."""

MAX_OUTLIERS = 3
"""Most segments that are left out."""

MIN_ALIKE = 5
"""Other segments that move the score in the same direction, at least: of three errors in a corpus,
each one matters."""

ERRORS = 3.0
SHARE = 0.05
"""By how many standard errors of the score without it, and by what share of the score, a segment
moves a score. In paragraphs of eight real systems, single segments move REP by at most 1.6 errors,
and BLEU by 0.6."""

_NAMED = 3
"""Scores that a finding shows."""


class Outliers(NamedTuple):
    """Segments that move a score.

    Attributes:
        segments: Their indices, the one that moves it by most first.
        score: The score of all segments.
        without: The score without these.
    """

    segments: tuple[int, ...]
    score: float
    without: float


def find_outliers(metric: Formula, statistics: Statistics) -> Outliers | None:
    """The segments that move a score by far more than chance does; None if there are none.

    Args:
        metric: The metric.
        statistics: Those of each segment, ``[segments, k]``.
    """
    values = np.asarray(statistics, dtype=np.float64)
    rest = np.arange(len(values))
    scores = [float(metric.formula(values.sum(axis=0)))]
    order: list[int] = []
    while len(rest) > MIN_SEGMENTS and len(order) < MAX_OUTLIERS:
        worst = int(np.abs(_without_each(metric, values[rest]) - scores[-1]).argmax())
        order.append(int(rest[worst]))
        rest = np.delete(rest, worst)
        scores.append(float(metric.formula(values[rest].sum(axis=0))))
    if not order:
        return None
    # The jackknife's standard error without any of them: one would hide another.
    others = _without_each(metric, values[rest])
    error = np.sqrt(len(others) - 1) * others.std()
    count = 0
    for before, after in pairwise(scores):
        alike = (others < scores[-1]).sum() if after < before else (others > scores[-1]).sum()
        moved = abs(after - before)
        if not (moved >= SHARE * abs(before) and moved > ERRORS * error and alike >= MIN_ALIKE):
            break
        count += 1
    return Outliers(tuple(order[:count]), scores[0], scores[count]) if count else None


def _without_each(metric: Formula, values: Floats) -> Floats:
    """The score without each segment; that of all where it is undefined."""
    total = values.sum(axis=0)
    scores = np.asarray(metric.formula(total - values), dtype=np.float64)
    return np.where(np.isnan(scores), metric.formula(total), scores)


def outlier_findings(
    metrics: Mapping[str, Formula], statistics: Mapping[str, Statistics], systems: tuple[str, ...]
) -> Iterator[Finding]:
    """One finding for each system and group of segments that move its scores.

    Args:
        metrics: The metrics by name.
        statistics: Their statistics by name, ``[systems, segments, k]``.
        systems: The systems' names.
    """
    names = Counter(metric.name for metric in metrics.values())
    for place, system in enumerate(systems):
        moved: dict[tuple[int, ...], list[str]] = defaultdict(list)
        for name, metric in metrics.items():
            if found := find_outliers(metric, statistics[name][place]):
                shown = metric.name if names[metric.name] == 1 else name
                moved[found.segments].append(
                    f"{shown} is {found.without:.2f} instead of {found.score:.2f}"
                )
        for segments, said in moved.items():
            numbers = " and ".join(str(index + 1) for index in segments)
            plural = "s" if len(segments) > 1 else ""
            more = f" and {len(said) - _NAMED} more scores change" if len(said) > _NAMED else ""
            yield Finding(
                "outlier",
                f"{system}: without segment{plural} {numbers}, {', '.join(said[:_NAMED])}{more}; "
                f"look at {'them' if plural else 'it'} before you trust the corpus score",
                system,
            )
