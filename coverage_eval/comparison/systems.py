"""The statistics of several systems on one test set, counted once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from coverage_eval.alignment.aligner import with_sink
from coverage_eval.errors import DataError
from coverage_eval.metrics.base import Metric, Statistics, TextMetric
from coverage_eval.metrics.drop import DROP, AlignedSegment, AlignmentSettings
from coverage_eval.metrics.rep import REP
from coverage_eval.metrics.soft_drop import CoveredSegment, SoftDROP, coverage
from coverage_eval.text.corpus import Segment
from coverage_eval.text.tokenizers import get_tokenizer

if TYPE_CHECKING:
    from fast_align_wrapper import FastAlign

__all__ = ["Counted", "TestSet", "count_systems"]

T = TypeVar("T")


@dataclass(frozen=True)
class TestSet:
    """A test set and the outputs of systems on it.

    Attributes:
        references: The reference's segments.
        systems: Each system's segments by its name, in the order of the table.
        sources: The source's segments; None if DROP is not wanted.

    Raises:
        DataError: No segments, no system, or unequal numbers of segments.
        TypeError: A single string where a list of segments is meant.
    """

    __test__ = False  # not a test for pytest, whatever its name

    references: Sequence[Segment]
    systems: Mapping[str, Sequence[Segment]]
    sources: Sequence[Segment] | None = None

    def __post_init__(self) -> None:
        if not self.systems:
            raise DataError("no system to compare")
        if any(isinstance(text, str) for text in (self.references, self.sources)) or any(
            isinstance(texts, str) for texts in self.systems.values()
        ):
            raise TypeError("every text is a list of segments, not a single string")
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

    def required_sources(self) -> Sequence[Segment]:
        """The source's segments.

        Raises:
            DataError: There are none.
        """
        if self.sources is None:
            raise DataError("the source text is needed for DROP and SoftDROP")
        return self.sources

    def tokenized(self, tok: str) -> TestSet:
        """The same texts with one of sacreBLEU's tokenisers applied to every side.

        Raises:
            ValueError: No tokeniser has that name.
            MissingDependencyError: The tokeniser needs a package that is not installed.
        """
        if tok == "none":
            return self
        tokenizer = get_tokenizer(tok)

        def apply(segments: Sequence[Segment]) -> list[str]:
            return [tokenizer(s if isinstance(s, str) else " ".join(s)) for s in segments]

        systems = {name: apply(segments) for name, segments in self.systems.items()}
        sources = None if self.sources is None else apply(self.sources)
        return TestSet(apply(self.references), systems, sources)


@dataclass(frozen=True)
class Counted:
    """Statistics of all systems, with the texts and alignments they came from.

    Attributes:
        texts: The texts as they were given; BLEU, chrF and METEOR read these.
        tokens: The texts in the tokenisation of REP and DROP.
        statistics: Statistics ``[segments, k]`` by metric, then system.
        aligned: Links by system, if DROP was counted.
        covered: Coverages by system, if soft DROP was counted.
    """

    texts: TestSet
    tokens: TestSet
    statistics: dict[str, dict[str, Statistics]]
    aligned: dict[str, list[AlignedSegment]] = field(default_factory=dict)
    covered: dict[str, list[CoveredSegment]] = field(default_factory=dict)


def count_systems(
    texts: TestSet,
    metrics: Mapping[str, Metric],
    *,
    model: FastAlign | None = None,
    tok: str = "none",
    jobs: int = 1,
) -> Counted:
    """Count each metric's statistics for each system.

    Args:
        texts: The texts.
        metrics: Metrics by name.
        model: A frozen alignment model, for DROP and soft DROP.
        tok: The tokeniser to apply for REP and DROP; their settings must name it.
        jobs: Processes for metrics of text.

    Raises:
        DataError: A metric needs the source or a model that is not there.
        AlignerError: The aligner failed.
        ValueError: A metric's settings name another tokeniser.
    """
    _check_tokenizer(metrics, tok)
    counted = Counted(texts, texts.tokenized(tok), {})
    for name, metric in metrics.items():
        counted.statistics[name] = _count(metric, counted, model, jobs)
    return counted


def _check_tokenizer(metrics: Mapping[str, Metric], tok: str) -> None:
    for metric in metrics.values():
        settings = metric if isinstance(metric, REP) else getattr(metric, "alignment", None)
        named = getattr(settings, "tok", tok)
        if named != tok:
            raise ValueError(f"{metric.name} is set to tokeniser {named!r}, the text to {tok!r}")


def _count(
    metric: Metric, counted: Counted, model: FastAlign | None, jobs: int
) -> dict[str, Statistics]:
    """One metric's statistics by system."""
    if isinstance(metric, TextMetric):
        texts = counted.tokens if isinstance(metric, REP) else counted.texts
        return {
            system: metric.statistics(segments, texts.references, jobs=jobs)
            for system, segments in texts.systems.items()
        }
    if not isinstance(metric, DROP | SoftDROP):
        raise TypeError(f"systems cannot be compared by {metric.name}")
    if model is None:
        raise DataError(f"{metric.name} needs an alignment model")
    if isinstance(metric, DROP):
        counted.aligned.update(_align(model, counted.tokens, metric.alignment))
        return {s: metric.stream_statistics(rows) for s, rows in counted.aligned.items()}
    counted.covered.update(_cover(model, counted.tokens, metric.alignment))
    return {s: metric.stream_statistics(rows) for s, rows in counted.covered.items()}


def _align(
    model: FastAlign, texts: TestSet, settings: AlignmentSettings
) -> dict[str, list[AlignedSegment]]:
    """Links of each system, and of the reference, all from one run of the aligner."""
    links = model.align(_all_pairs(texts, sink=settings.sink), settings.symmetrize)
    found: dict[str, list[AlignedSegment]] = {system: [] for system in texts.systems}
    for source, (reference, *outputs) in _per_segment(texts, links):
        for rows, output in zip(found.values(), outputs, strict=True):
            rows.append(AlignedSegment(source, reference, output))
    return found


def _cover(
    model: FastAlign, texts: TestSet, settings: AlignmentSettings
) -> dict[str, list[CoveredSegment]]:
    """Coverages of each system, and of the reference, all from one run of the aligner."""
    pairs = _all_pairs(texts, sink=settings.sink)
    covered = (coverage(item.matrix) for item in model.posteriors(pairs, "forward"))
    found: dict[str, list[CoveredSegment]] = {system: [] for system in texts.systems}
    for source, (reference, *outputs) in _per_segment(texts, covered):
        for rows, output in zip(found.values(), outputs, strict=True):
            rows.append(CoveredSegment(source, reference, output))
    return found


def _all_pairs(texts: TestSet, *, sink: bool) -> Iterator[tuple[Segment, Segment]]:
    """Each source with its reference and every output."""
    rows = zip(texts.references, *texts.systems.values(), strict=True)
    for source, targets in zip(texts.required_sources(), rows, strict=True):
        for target in targets:
            yield (with_sink(source) if sink else source), target


def _per_segment(texts: TestSet, items: Iterator[T]) -> Iterator[tuple[Segment, tuple[T, ...]]]:
    """Each source with what came of it and the reference, and of it and every output."""
    together = zip(*[items] * (1 + len(texts.systems)), strict=True)
    return zip(texts.required_sources(), together, strict=True)
