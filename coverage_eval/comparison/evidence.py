"""What breakdowns are made of: the evidence of REP and DROP, system by system."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from coverage_eval.comparison.compared import Compared
from coverage_eval.comparison.systems import Counted
from coverage_eval.metrics.base import TokenMetric
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


def required_counts(comparison: Compared) -> Counted:
    """Texts, statistics and alignments of a comparison.

    Raises:
        ValueError: It was made from statistics alone.
    """
    if comparison.counted is None:
        raise ValueError("a breakdown needs the texts, and there are only statistics")
    return comparison.counted


def find_metric(comparison: Compared, evidence: str) -> str | None:
    """The name of the first column whose metric has this kind of evidence; None if none has."""
    columns = comparison.metrics.items()
    return next((name for name, metric in columns if metric.evidence_name == evidence), None)


def required_metric(comparison: Compared, evidence: str) -> str:
    """As :func:`find_metric`, of a metric that a table cannot do without.

    Raises:
        ValueError: No metric has such evidence.
    """
    name = find_metric(comparison, evidence)
    if name is None:
        raise ValueError(f"none of the metrics has evidence of {evidence} words")
    return name


def expected_words(comparison: Compared, system: str) -> Iterator[ExpectedWord]:
    """All source words that count for DROP's denominator, and which of them a system drops."""
    name = required_metric(comparison, "dropped")
    counted = required_counts(comparison)
    metric: Any = counted.metrics[name]
    rows = zip(counted.observed[name], counted.evidence(name, system), strict=True)
    for row, found in rows:
        dropped = {item.position for item in found["dropped"]}
        for position in sorted(metric.expected(row)):
            if position >= 0:  # not what an empty line of links stands for
                word = row.source[position]
                yield ExpectedWord(word, position, len(row.source), position in dropped)


def repetitions(comparison: Compared, system: str) -> Iterator[tuple[int, Sequence[Repetition]]]:
    """For each segment the number of words of a system's output, and what it repeats."""
    required_metric(comparison, "repetitions")
    for index, found in enumerate(findings(comparison, "repetitions", system)):
        yield len(output_words(comparison, system, index)), found


def findings(comparison: Compared, evidence: str, system: str) -> Iterator[Sequence[Any]]:
    """What a metric found in each segment of a system; nothing where no metric finds such."""
    name = find_metric(comparison, evidence)
    if name is None:
        return iter([()] * comparison.segments)
    return (found[evidence] for found in required_counts(comparison).evidence(name, system))


def output_words(comparison: Compared, system: str, index: int) -> Sequence[str]:
    """An output's words as REP has cut them, if it is among the metrics.

    Args:
        comparison: The systems.
        system: Whose output.
        index: The segment, counted from 0.
    """
    texts = required_counts(comparison).texts
    name = find_metric(comparison, "repetitions")
    metric = comparison.metrics[name] if name else None
    tokens = metric.tokens if isinstance(metric, TokenMetric) else texts.tokens
    return tokens(texts.hypothesis(index, system))


def superfluous_starts(item: Repetition) -> tuple[int, ...]:
    """Where those occurrences start that count as errors: the reference's share comes first."""
    return item.positions[-item.excess :]


def superfluous_words(item: Repetition) -> list[range]:
    """The positions of the words that each superfluous occurrence says again."""
    # Of a word twice in a row, the second is too much.
    skipped = 1 if item.kind == "word" else 0
    length = len(item.ngram)
    return [range(start + skipped, start + length) for start in superfluous_starts(item)]
