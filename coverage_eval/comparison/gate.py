"""A gate for releases: which systems are significantly worse than the baseline, and where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from coverage_eval.comparison.breakdowns import largest, segment_scores
from coverage_eval.comparison.statements import unusable_systems
from coverage_eval.comparison.table import Comparison
from coverage_eval.core.errors import DataError
from coverage_eval.core.report import digits_apart, format_number, format_p

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


def find_worse(comparison: Comparison, min_differences: Mapping[str, float]) -> list[Worsening]:
    """The systems that are worse than the baseline, by each metric of a gate.

    A system is worse if the difference is significant, with the p-value of the table, and is large
    enough: higher by metrics of errors, lower by metrics of quality.

    Args:
        comparison: The systems, tested.
        min_differences: By metric, the smallest difference that matters, in the metric's unit.

    Raises:
        ValueError: A metric is not among the comparison's, or no difference could be significant,
            because nothing was tested, or too few segments.
        DataError: A system says so little or so much that its low scores of errors mean nothing.
    """
    if unusable := unusable_systems(comparison.result):
        raise DataError(f"{', '.join(unusable)}: its low scores mean nothing, so no gate")
    if unknown := [name for name in min_differences if name not in comparison.metrics]:
        raise ValueError(f"metric {unknown[0]!r} is not one of {', '.join(comparison.metrics)}")
    if obstacle := comparison.statements.obstacle:
        raise ValueError(f"the gate cannot close: {obstacle}")
    worse = []
    for name, min_difference in min_differences.items():
        metric = comparison.metrics[name]
        if metric.presentation.higher_is_better is None:
            raise ValueError(
                f"nobody knows whether {metric.presentation.name} is better when higher or lower, "
                "so no system is worse by it; say --higher-is-better or --lower-is-better"
            )
        for system in comparison.others:
            cell = comparison.score_cell(name, system)
            is_large = abs(comparison.rows[system][name].difference or 0.0) >= min_difference
            if cell.better is False and cell.significant and is_large:
                worse.append(_worsening(comparison, name, system))
    return worse


def _worsening(comparison: Comparison, name: str, system: str) -> Worsening:
    """By how much a system is worse."""
    both = (system, comparison.baseline)
    cell, baseline = (comparison.rows[each][name] for each in both)
    assert cell.difference is not None  # it is not the baseline
    assert cell.adjusted is not None  # it was tested
    scores, others = (segment_scores(comparison.result, name, each) for each in both)
    worse_by = others - scores if cell.score.higher_is_better else scores - others
    worst = tuple(
        WorstSegment(index + 1, float(scores[index]), float(others[index]))
        for index in largest(worse_by, MAX_SEGMENTS).tolist()
    )
    figures = (cell.score.score, baseline.score.score, cell.difference, cell.adjusted)
    return Worsening(system, cell.score.metric, *figures, worst)


def describe_worse(
    comparison: Comparison, worse: Sequence[Worsening], digits: int = 2
) -> list[str]:
    """A line for each system that is worse: by which columns, and by which it is better.

    Differences are those of the figures that are printed.

    Args:
        comparison: The systems, tested.
        worse: What :func:`find_worse` found in it.
        digits: Digits after the decimal point.
    """
    lines = []
    for system in dict.fromkeys(item.system for item in worse):
        own = [item for item in worse if item.system == system]
        changes = [
            _change(item.metric, item.score, item.baseline, item.p_value, digits) for item in own
        ]
        better = []
        for name, baseline in comparison.rows[comparison.baseline].items():
            cell = comparison.score_cell(name, system)
            if cell.better and cell.p is not None and cell.significant:
                scores = (cell.value, baseline.score.score, cell.p)
                better.append(_change(baseline.score.metric, *scores, digits))
        parts = [f"{system} is worse than {comparison.baseline}: {', '.join(changes)}"]
        parts += [f"better: {', '.join(better)}"] * bool(better)
        segments = ", ".join(str(item.segment) for item in own[0].segments)
        lines.append("; ".join([*parts, f"most in segments {segments}"]))
    return lines


def _change(metric: str, score: float, baseline: float, p_value: float, digits: int) -> str:
    """A score and the baseline's: ``REP 8.02 against 2.33 (+5.69, p = 0.002)``."""
    digits = digits_apart(score, [baseline], digits)
    change = round(score, digits) - round(baseline, digits)
    sign = "+" if change > 0 else ""
    return (
        f"{metric} {format_number(score, digits)} against {format_number(baseline, digits)} "
        f"({sign}{format_number(change, digits)}, {format_p(p_value)})"
    )


def gate_as_dict(
    min_differences: Mapping[str, float], worse: Sequence[Worsening]
) -> dict[str, Any]:
    """The outcome as plain values; segments are numbered from 1."""
    return {
        "smallest_difference": dict(min_differences),
        "passed": not worse,
        "worse": [asdict(item) for item in worse],
    }
