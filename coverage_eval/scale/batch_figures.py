"""Figures as the batch scorer sees them: what is observed of rows, and what is made of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from coverage_eval.data.rows import Row
from coverage_eval.metrics.base import Evidence, Formula, Metric, Statistics, plain_evidence
from coverage_eval.omissions.finder import FoundSegment, OmissionFinder
from coverage_eval.omissions.share import OmissionShare


class MeasuredRows(NamedTuple):
    """A figure of some rows.

    Attributes:
        statistics: ``[systems, rows, k]``.
        scores: Of each system, then row; None where undefined.
        evidence: Of each row, then system, as plain values; empty if it was not asked for.
    """

    statistics: Statistics
    scores: Sequence[Sequence[float | None]]
    evidence: Sequence[Sequence[Evidence]]


@dataclass(frozen=True)
class BatchFigure(ABC):
    """A figure of a stream of rows.

    Attributes:
        formula: Its formula, names of statistics, signature.
    """

    formula: Any

    @property
    @abstractmethod
    def observes(self) -> str:
        """Figures that observe the same have one name of it, and one aligner's work serves all."""

    @abstractmethod
    def observe(self, rows: Iterable[Row]) -> Iterator[Any]:
        """What it looks at, row by row."""

    @abstractmethod
    def measure(self, observed: Sequence[Any], systems: int, *, explain: bool) -> MeasuredRows:
        """What it is of some rows, which may be none."""


class MetricFigure(BatchFigure):
    """A metric."""

    @property
    def observes(self) -> str:
        """Texts, links or coverages."""
        metric: Metric[Any] = self.formula
        return f"{sorted(metric.needs & {'links', 'coverages'})}"

    def observe(self, rows: Iterable[Row]) -> Iterator[Any]:
        """As the metric."""
        return iter(self.formula.observe(rows))

    def measure(self, observed: Sequence[Any], systems: int, *, explain: bool) -> MeasuredRows:
        """Counted and explained by the metric."""
        metric: Metric[Any] = self.formula
        statistics = metric.count_part(observed, systems)
        found = metric.explain(observed) if explain else ()
        evidence = [tuple(map(plain_evidence, row)) for row in found]
        return MeasuredRows(
            statistics, [metric.segment_scores(rows) for rows in statistics], evidence
        )


class OmissionFigure(BatchFigure):
    """The share of segments with omissions or additions; a segment's score is the finder's."""

    @property
    def observes(self) -> str:
        """What is found, which no other figure looks at."""
        return str(self.formula.name)

    def observe(self, rows: Iterable[Row]) -> Iterator[FoundSegment]:
        """What the finder finds."""
        finder: OmissionFinder = self.formula.finder
        return finder.find(rows)

    def measure(self, observed: Sequence[Any], systems: int, *, explain: bool) -> MeasuredRows:  # noqa: ARG002
        """Whether something was found in each segment; spans and probability as evidence."""
        share: OmissionShare = self.formula
        flags = np.array([share.is_found(found) for found in observed], dtype=np.int64)
        statistics = np.column_stack([flags, np.ones_like(flags)])[None]
        evidence = [
            ({"probability": found.probability, "spans": [one.to_dict() for one in found.spans]},)
            for found in observed
        ]
        return MeasuredRows(statistics, [[found.score for found in observed]], evidence)


def batch_figure(formula: Formula) -> BatchFigure:
    """A metric or a share of segments as a figure of batches."""
    return (OmissionFigure if isinstance(formula, OmissionShare) else MetricFigure)(formula)
