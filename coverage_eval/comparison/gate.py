"""A gate for releases: which systems are significantly worse than the baseline, and where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from coverage_eval.comparison.breakdowns import largest, segment_scores
from coverage_eval.comparison.table import Comparison
from coverage_eval.core.errors import DataError
from coverage_eval.core.show import SIGNIFICANT, format_figure, format_p
from coverage_eval.core.significance import min_resamples

_SHOWN = 5
"""Segments named for each system and metric."""


@dataclass(frozen=True)
class WorstSegment:
    """A segment's scores; segments are numbered from 1."""

    segment: int
    score: float
    baseline: float


@dataclass(frozen=True)
class Worsening:
    """By how much a system is worse than the baseline by one metric.

    Attributes:
        system: The system.
        metric: The metric as tables call it.
        score: The system's score.
        baseline: The baseline's.
        difference: The score minus the baseline's.
        p_value: The p-value of that difference, corrected over the systems.
        segments: The segments that are worse by most, at most five.
    """

    system: str
    metric: str
    score: float
    baseline: float
    difference: float
    p_value: float
    segments: Sequence[WorstSegment]

    def describe(self, baseline: str, digits: int = 2) -> str:
        """One line for people.

        Args:
            baseline: The name of the baseline.
            digits: Digits after the decimal point.
        """
        ours, theirs = (format_figure(value, digits) for value in (self.score, self.baseline))
        change = f"{'+' if self.difference > 0 else ''}{format_figure(self.difference, digits)}"
        places = ", ".join(str(item.segment) for item in self.segments)
        return (
            f"{self.system} is worse than {baseline} by {self.metric}: {ours} against {theirs} "
            f"({change}), {format_p(self.p_value)}; most in segments {places}"
        )


def find_worse(comparison: Comparison, smallest: Mapping[str, float]) -> list[Worsening]:
    """The systems that are worse than the baseline, by each metric of a gate.

    A system is worse if the difference is significant, its p-value corrected as in the table, and
    at least the smallest that matters: higher by metrics of errors, lower by metrics of quality.

    Args:
        comparison: The systems, tested.
        smallest: By metric, the smallest difference that matters, in the metric's unit.

    Raises:
        ValueError: A metric is not among the comparison's, nothing was tested, or too few resamples
            were drawn for any difference to be significant.
        DataError: A system says so little or so much that its low scores of errors mean nothing.
    """
    if comparison.unusable:
        raise DataError(
            f"{', '.join(comparison.unusable)}: its low scores mean nothing, so no gate"
        )
    others = comparison.others
    least, drawn = min_resamples(len(others), SIGNIFICANT), comparison.test.resamples
    if drawn < least:
        raise ValueError(f"{drawn} resamples cannot show p < {SIGNIFICANT:g}: draw {least} or more")
    return [
        found
        for name, difference in smallest.items()
        for system in others
        if (found := _worsening(comparison, name, system, difference))
    ]


def _worsening(comparison: Comparison, name: str, system: str, smallest: float) -> Worsening | None:
    if name not in comparison.metrics:
        raise ValueError(f"metric {name!r} is not one of {', '.join(comparison.metrics)}")
    metric, cell = comparison.metrics[name], comparison.rows[system][name]
    assert cell.difference is not None  # it is not the baseline
    assert cell.adjusted is not None  # it was tested
    if metric.higher_is_better is None:
        raise ValueError(f"{metric.name} has no better direction, so no system is worse by it")
    sign = -1 if metric.higher_is_better else 1
    worse_by = sign * cell.difference
    if not (worse_by > 0 and worse_by >= smallest and cell.adjusted < SIGNIFICANT):
        return None
    ours = segment_scores(comparison.measured, name, system)
    theirs = segment_scores(comparison.measured, name, comparison.baseline)
    return Worsening(
        system,
        metric.name,
        cell.score.score,
        comparison.rows[comparison.baseline][name].score.score,
        cell.difference,
        cell.adjusted,
        tuple(
            WorstSegment(index + 1, float(ours[index]), float(theirs[index]))
            for index in largest(np.multiply(sign, ours - theirs), _SHOWN).tolist()
        ),
    )


def gate_as_dict(smallest: Mapping[str, float], worse: Sequence[Worsening]) -> dict[str, Any]:
    """The outcome as plain values; segments are numbered from 1."""
    return {
        "level": SIGNIFICANT,
        "smallest_difference": dict(smallest),
        "passed": not worse,
        "worse": [asdict(item) for item in worse],
    }
