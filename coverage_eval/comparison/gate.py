"""A gate for releases: which systems are significantly worse than the baseline, and where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from coverage_eval.comparison.breakdowns import largest, segment_scores
from coverage_eval.comparison.facts import unusable_systems
from coverage_eval.comparison.sentences import write_obstacle
from coverage_eval.comparison.table import Comparison
from coverage_eval.core.errors import DataError
from coverage_eval.core.report import DECISIVE, format_number, format_p

MAX_SEGMENTS = 5
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
        p_value: The p-value of that difference, as the table has it.
        segments: The segments that are worse by most, at most :data:`MAX_SEGMENTS`.
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
        score, other = (format_number(value, digits) for value in (self.score, self.baseline))
        change = f"{'+' if self.difference > 0 else ''}{format_number(self.difference, digits)}"
        segments = ", ".join(str(item.segment) for item in self.segments)
        return (
            f"{self.system} is worse than {baseline} by {self.metric}: {score} against {other} "
            f"({change}), {format_p(self.p_value)}; most in segments {segments}"
        )


def find_worse(comparison: Comparison, min_differences: Mapping[str, float]) -> list[Worsening]:
    """The systems that are worse than the baseline, by each metric of a gate.

    A system is worse if the difference is significant, with the p-value of the table, counts in the
    verdict, too, and is large enough: higher by metrics of errors, lower by metrics of quality.

    Args:
        comparison: The systems, tested.
        min_differences: By metric, the smallest difference that matters, in the metric's unit.

    Raises:
        ValueError: A metric is not among the comparison's, or no difference could be significant,
            because nothing was tested, or too few segments or resamples.
        DataError: A system says so little or so much that its low scores of errors mean nothing.
    """
    if unusable := unusable_systems(comparison.result):
        raise DataError(f"{', '.join(unusable)}: its low scores mean nothing, so no gate")
    facts = comparison.facts
    if unknown := [name for name in min_differences if name not in comparison.metrics]:
        raise ValueError(f"metric {unknown[0]!r} is not one of {', '.join(comparison.metrics)}")
    if facts.obstacle:
        raise ValueError(f"the gate cannot close: {write_obstacle(facts.obstacle, facts)}")
    no_merits = {test[:3] for test in facts.significant if not facts.counts_in_verdict(test)}
    worse = []
    for name, min_difference in min_differences.items():
        metric = comparison.metrics[name]
        if metric.higher_is_better is None:
            raise ValueError(
                f"nobody knows whether {metric.name} is better when higher or lower, so no system "
                "is worse by it"
            )
        sign = -1 if metric.higher_is_better else 1
        for system in comparison.others:
            cell = comparison.rows[system][name]
            assert cell.difference is not None  # it is not the baseline
            assert cell.adjusted is not None  # it was tested
            worse_by = sign * cell.difference
            is_large = worse_by > 0 and worse_by >= min_difference
            is_merit = (name, comparison.baseline, system) not in no_merits
            if is_large and is_merit and cell.adjusted < DECISIVE:
                worse.append(_worsening(comparison, name, system, sign))
    return worse


def _worsening(comparison: Comparison, name: str, system: str, sign: int) -> Worsening:
    """By how much a system is worse; a positive ``sign`` is that of errors."""
    cell = comparison.rows[system][name]
    assert cell.difference is not None
    assert cell.adjusted is not None
    scores = segment_scores(comparison.result, name, system)
    others = segment_scores(comparison.result, name, comparison.baseline)
    return Worsening(
        system,
        comparison.metrics[name].name,
        cell.score.score,
        comparison.rows[comparison.baseline][name].score.score,
        cell.difference,
        cell.adjusted,
        tuple(
            WorstSegment(index + 1, float(scores[index]), float(others[index]))
            for index in largest(np.multiply(sign, scores - others), MAX_SEGMENTS).tolist()
        ),
    )


def gate_as_dict(
    min_differences: Mapping[str, float], worse: Sequence[Worsening]
) -> dict[str, Any]:
    """The outcome as plain values; segments are numbered from 1."""
    return {
        "level": DECISIVE,
        "smallest_difference": dict(min_differences),
        "passed": not worse,
        "worse": [asdict(item) for item in worse],
    }
