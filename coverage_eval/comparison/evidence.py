"""The evidence of REP and DROP for each system, for breakdowns and reports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from coverage_eval.metrics.measure import Result, TokenMetric
from coverage_eval.metrics.rep import Repetition


class ExpectedWord(NamedTuple):
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


def find_metric(result: Result, evidence: str) -> str | None:
    """The name of the first metric with this kind of evidence; None if no metric has it."""
    columns = result.metrics.items()
    return next((name for name, metric in columns if metric.evidence_name == evidence), None)


def required_metric(result: Result, evidence: str) -> str:
    """The name of the first metric with this kind of evidence.

    Raises:
        ValueError: No metric has such evidence.
    """
    name = find_metric(result, evidence)
    if name is None:
        raise ValueError(f"none of the metrics gives evidence of the kind {evidence!r}")
    return name


def expected_words(result: Result, system: str) -> Iterator[ExpectedWord]:
    """All source words in DROP's denominator, and whether a system drops them."""
    name = required_metric(result, "dropped")
    metric: Any = result.metrics[name]
    rows = zip(result.answers(*metric.requests()), result.evidence_of(name, system), strict=True)
    for row, found in rows:
        dropped = {item.position for item in found["dropped"]}
        for position in sorted(metric.expected(row)):
            if position >= 0:  # not the mark of an empty line of links
                word = row.source[position]
                yield ExpectedWord(word, position, len(row.source), position in dropped)


def repetitions(result: Result, system: str) -> Iterator[tuple[int, Sequence[Repetition]]]:
    """For each segment the number of words of a system's output, and what it repeats."""
    required_metric(result, "repetitions")
    for index, found in enumerate(findings(result, "repetitions", system)):
        yield len(output_words(result, system, index)), found


def findings(result: Result, evidence: str, system: str) -> Iterator[Sequence[Any]]:
    """The evidence in each segment of a system's output; empty if no metric has such evidence."""
    name = find_metric(result, evidence)
    if name is None:
        return iter([()] * result.segments)
    return (found[evidence] for found in result.evidence_of(name, system))


def output_words(result: Result, system: str, index: int) -> Sequence[str]:
    """An output's words, tokenised as for REP if that is among the metrics.

    Args:
        result: The systems.
        system: The system.
        index: The segment, counted from 0.
    """
    name = find_metric(result, "repetitions")
    metric = result.metrics[name] if name else None
    tokens = metric.tokens if isinstance(metric, TokenMetric) else result.tokens
    return tokens(result.rows[index].hypotheses[result.systems.index(system)])


def superfluous_starts(item: Repetition) -> tuple[int, ...]:
    """Where the occurrences start that count as errors; the first ones match the reference."""
    return item.positions[-item.excess :]


def superfluous_words(item: Repetition) -> list[range]:
    """The positions of the words that each superfluous occurrence repeats."""
    # When a word occurs twice in a row, the second one is superfluous.
    skipped = 1 if item.kind == "word" else 0
    length = len(item.ngram)
    return [range(start + skipped, start + length) for start in superfluous_starts(item)]
