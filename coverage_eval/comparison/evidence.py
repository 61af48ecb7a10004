"""The evidence of REP and DROP, system by system, for breakdowns and reports."""

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
    """The name of the first column whose metric has this kind of evidence; None if none has."""
    columns = result.metrics.items()
    return next((name for name, metric in columns if metric.evidence_name == evidence), None)


def required_metric(result: Result, evidence: str) -> str:
    """As :func:`find_metric`, for a metric that a table needs.

    Raises:
        ValueError: No metric has such evidence.
    """
    name = find_metric(result, evidence)
    if name is None:
        raise ValueError(f"none of the metrics has evidence of {evidence} words")
    return name


def expected_words(result: Result, system: str) -> Iterator[ExpectedWord]:
    """All source words that count for DROP's denominator, and which of them a system drops."""
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
    """What a metric found in each segment of a system; empty if no metric finds such evidence."""
    name = find_metric(result, evidence)
    if name is None:
        return iter([()] * result.segments)
    return (found[evidence] for found in result.evidence_of(name, system))


def output_words(result: Result, system: str, index: int) -> Sequence[str]:
    """An output's words as REP has cut them, if it is among the metrics.

    Args:
        result: The systems.
        system: Whose output.
        index: The segment, counted from 0.
    """
    name = find_metric(result, "repetitions")
    metric = result.metrics[name] if name else None
    tokens = metric.tokens if isinstance(metric, TokenMetric) else result.tokens
    return tokens(result.rows[index].hypotheses[result.systems.index(system)])


def superfluous_starts(item: Repetition) -> tuple[int, ...]:
    """Where those occurrences start that count as errors: the reference's share comes first."""
    return item.positions[-item.excess :]


def superfluous_words(item: Repetition) -> list[range]:
    """The positions of the words that each superfluous occurrence repeats."""
    # When a word occurs twice in a row, the second one is superfluous.
    skipped = 1 if item.kind == "word" else 0
    length = len(item.ngram)
    return [range(start + skipped, start + length) for start in superfluous_starts(item)]
