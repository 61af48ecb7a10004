"""The statistics of several systems on one test set, counted once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from coverage_eval.alignment import Triple, align_texts, cover_texts
from coverage_eval.corpus import Segment
from coverage_eval.errors import DataError
from coverage_eval.metrics.base import Metric, Statistics, TextMetric
from coverage_eval.metrics.drop import DROP, AlignedSegment
from coverage_eval.metrics.soft_drop import CoveredSegment, SoftDROP

if TYPE_CHECKING:
    from fast_align_wrapper import FastAlign

__all__ = ["Counted", "TestSet", "count_systems"]


@dataclass(frozen=True)
class TestSet:
    """A test set and the outputs of systems on it.

    Attributes:
        references: The reference's segments.
        systems: Each system's segments by its name, in the order of the table.
        sources: The source's segments; None if DROP is not wanted.

    Raises:
        DataError: No segments, no system, or unequal numbers of segments.
    """

    __test__ = False  # not a test for pytest, whatever its name

    references: Sequence[Segment]
    systems: Mapping[str, Sequence[Segment]]
    sources: Sequence[Segment] | None = None

    def __post_init__(self) -> None:
        if not self.systems:
            raise DataError("no system to compare")
        sizes = {name: len(texts) for name, texts in self.systems.items()}
        if self.sources is not None:
            sizes["the source"] = len(self.sources)
        for name, size in sizes.items():
            if size != len(self.references):
                raise DataError(
                    f"unequal numbers of segments: {name} has {size}, "
                    f"the reference {len(self.references)}"
                )
        if not self.references:
            raise DataError("no segments to score")

    def triples(self, system: str) -> Iterator[Triple]:
        """Source, reference and output of a system, segment by segment."""
        if self.sources is None:
            raise DataError("the source text is needed for DROP and SoftDROP")
        rows = zip(self.sources, self.references, self.systems[system], strict=True)
        return (Triple(*row) for row in rows)


@dataclass(frozen=True)
class Counted:
    """Statistics of all systems, and the alignments they came from.

    Attributes:
        statistics: Statistics ``[segments, k]`` by metric, then system.
        aligned: Links by system, if DROP was counted.
        covered: Coverages by system, if soft DROP was counted.
    """

    statistics: dict[str, dict[str, Statistics]]
    aligned: dict[str, list[AlignedSegment]] = field(default_factory=dict)
    covered: dict[str, list[CoveredSegment]] = field(default_factory=dict)


def count_systems(
    test_set: TestSet,
    metrics: Mapping[str, Metric],
    *,
    model: FastAlign | None = None,
    jobs: int = 1,
) -> Counted:
    """Count each metric's statistics for each system.

    Args:
        test_set: The texts.
        metrics: Metrics by name.
        model: A frozen alignment model, for DROP and soft DROP.
        jobs: Processes for metrics of text.

    Raises:
        DataError: A metric needs the source or a model that is not there.
        AlignerError: The aligner failed.
    """
    counted = Counted({name: {} for name in metrics})
    for name, metric in metrics.items():
        for system in test_set.systems:
            counted.statistics[name][system] = _count(
                metric, test_set, system, counted, model, jobs
            )
    return counted


def _count(
    metric: Metric,
    test_set: TestSet,
    system: str,
    counted: Counted,
    model: FastAlign | None,
    jobs: int,
) -> Statistics:
    if isinstance(metric, TextMetric):
        return metric.statistics(test_set.systems[system], test_set.references, jobs=jobs)
    if model is None:
        raise DataError(f"{metric.name} needs an alignment model")
    if isinstance(metric, DROP):
        method, sink = metric.alignment.symmetrize, metric.alignment.sink
        rows = align_texts(model, test_set.triples(system), symmetrize=method, sink=sink)
        counted.aligned[system] = list(rows)
        return metric.stream_statistics(counted.aligned[system])
    if isinstance(metric, SoftDROP):
        covered = cover_texts(model, test_set.triples(system), sink=metric.alignment.sink)
        counted.covered[system] = list(covered)
        return metric.stream_statistics(counted.covered[system])
    raise TypeError(f"systems cannot be compared by {metric.name}")
