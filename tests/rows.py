"""Rows and batches of one system's texts, made from lists."""

from __future__ import annotations

from typing import Any

from coverage_eval.core.batches import ONE_SYSTEM, Row, Texts
from coverage_eval.core.counting import count_fitted
from coverage_eval.core.metric import Metric, Statistics
from coverage_eval.core.result import Result
from coverage_eval.core.score import Score


def make_text_rows(hypotheses: Any, references: Any = None, sources: Any = None) -> list[Row]:
    """One row for each segment."""
    return list(Texts.from_lists({"the hypothesis": hypotheses}, references, sources).rows())


def result_of(metric: Metric, hypotheses: Any, *texts: Any, jobs: int = 1, **named: Any) -> Result:
    """The counts of one system's texts, in which nothing looks for mistakes."""
    test_set = Texts.from_lists({ONE_SYSTEM: hypotheses}, *texts, **named)
    metric.check_needs(test_set.references or None, test_set.source)
    return count_fitted(
        test_set, {metric.presentation.name: metric.fit(test_set.sample)}, jobs=jobs
    )


def statistics_of(metric: Metric, *texts: Any, **named: Any) -> Statistics:
    """The statistics ``[segments, k]`` of one system's texts."""
    return result_of(metric, *texts, **named).statistics_of(metric.presentation.name)


def score_of(metric: Metric, *texts: Any, **named: Any) -> Score:
    """The corpus score of one system's texts."""
    return result_of(metric, *texts, **named).score(metric.presentation.name)


def segment_scores_of(metric: Metric, *texts: Any, **named: Any) -> list[float | None]:
    """The score of each segment of one system's texts."""
    return result_of(metric, *texts, **named).segment_scores(metric.presentation.name)
