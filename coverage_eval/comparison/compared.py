"""Systems compared: what tables, breakdowns, verdicts and reports are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from coverage_eval.comparison.systems import Counted
from coverage_eval.comparison.testing import Cell, Testing
from coverage_eval.metrics.base import Metric


@dataclass(frozen=True)
class Compared:
    """The figures of systems on one test set, and what they were counted from.

    Attributes:
        metrics: The metrics by name, columns of the table.
        rows: Cells by system, then metric.
        baseline: The system that others are tested against.
        testing: How.
        segments: Size of the test set.
        counted: Texts, statistics and alignments, for breakdowns; None if there are only
            statistics.
    """

    metrics: Mapping[str, Metric[Any]]
    rows: Mapping[str, Mapping[str, Cell]]
    baseline: str
    testing: Testing
    segments: int
    counted: Counted | None = field(default=None, repr=False, compare=False)

    @property
    def others(self) -> list[str]:
        """The systems that the baseline is compared with."""
        return [system for system in self.rows if system != self.baseline]

    @property
    def signatures(self) -> dict[str, str]:
        """What moved the scores, by the name of the metric."""
        first = next(iter(self.rows.values()))
        return {cell.score.metric: str(cell.score.signature) for cell in first.values()}
