"""What breakdowns are made of: the evidence of REP and DROP, system by system."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from coverage_eval.comparison.systems import Counted
from coverage_eval.comparison.table import Comparison
from coverage_eval.metrics.base import Metric
from coverage_eval.metrics.drop import DROP, AlignedSegment
from coverage_eval.metrics.rep import REP, Repetition
from coverage_eval.text.corpus import tokenize

__all__ = [
    "ExpectedWord",
    "expected_words",
    "find_metric",
    "has_metric",
    "repetitions",
    "required_counts",
]

M = TypeVar("M", bound=Metric)


@dataclass(frozen=True)
class ExpectedWord:
    """A source word that the reference translates.

    Attributes:
        word: The word.
        position: Its position in the source, from 0.
        length: The source's length in words.
        dropped: Whether the system does not translate it.
    """

    word: str
    position: int
    length: int
    dropped: bool


def required_counts(comparison: Comparison) -> Counted:
    """Texts, statistics and alignments of a comparison.

    Raises:
        ValueError: It was made from statistics alone.
    """
    if comparison.counted is None:
        raise ValueError("a breakdown needs the texts, and there are only statistics")
    return comparison.counted


def has_metric(comparison: Comparison, kind: type[Metric]) -> bool:
    """Whether a metric of this class is among the columns."""
    return any(isinstance(metric, kind) for metric in comparison.metrics.values())


def find_metric(comparison: Comparison, kind: type[M]) -> M:
    """The metric of this class among the columns.

    Raises:
        ValueError: There is none.
    """
    for metric in comparison.metrics.values():
        if isinstance(metric, kind):
            return metric
    raise ValueError(f"{kind.name} is not among the metrics")


def expected_words(comparison: Comparison, system: str) -> Iterator[ExpectedWord]:
    """All source words that count for DROP's denominator, and which of them a system drops."""
    metric = find_metric(comparison, DROP)
    for segment in required_counts(comparison).aligned[system]:
        assert segment.source is not None
        length = len(tokenize(segment.source))
        dropped = {item.position for item in metric.evidence(segment)}
        # What an empty hypothesis drops is all that could be dropped.
        nothing = AlignedSegment(segment.source, segment.reference_links, ())
        for item in metric.evidence(nothing):
            assert item.word is not None
            yield ExpectedWord(item.word, item.position, length, item.position in dropped)


def repetitions(comparison: Comparison, system: str) -> Iterator[tuple[int, Sequence[Repetition]]]:
    """For each segment the number of words of a system's output, and what it repeats."""
    metric = find_metric(comparison, REP)
    texts = required_counts(comparison).tokens
    for output, reference in zip(texts.systems[system], texts.references, strict=True):
        yield len(tokenize(output)), metric.evidence(output, reference)
