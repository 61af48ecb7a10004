"""The commonest errors of each system: words it drops, alone or not, and n-grams it repeats."""

from __future__ import annotations

from collections import Counter
from typing import TypeVar

from coverage_eval.comparison.compared import Compared
from coverage_eval.comparison.evidence import expected_words, repetitions
from coverage_eval.tables.table import Cell, Table

T = TypeVar("T", str, tuple[str, str])

_KINDS = {"ngram": "n-gram", "word": "word twice in a row"}


def _most(counts: Counter[T], top: int) -> list[tuple[T, int]]:
    """The commonest with their counts; ties are in alphabetical order."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:top]


def most_dropped_words(comparison: Compared, top: int) -> Table:
    """The source words that each system drops most often.

    Args:
        comparison: The systems, DROP among the metrics.
        top: Words of each system; ties are in alphabetical order.
    """
    rows: list[tuple[Cell, ...]] = []
    for system in comparison.rows:
        expected: Counter[str] = Counter()
        dropped: Counter[str] = Counter()
        for item in expected_words(comparison, system):
            expected[item.word] += 1
            dropped[item.word] += item.dropped
        rows += [
            (system, word, times, expected[word], 100.0 * times / expected[word])
            for word, times in _most(+dropped, top)
        ]
    header = ("system", "word", "dropped", "expected", "% dropped")
    title = "Source words that are dropped most often"
    return Table(header, tuple(rows), title, "dropped-words")


def words_dropped_by_one(comparison: Compared, top: int) -> Table:
    """The source words that the baseline drops and another system does not, and the reverse.

    Args:
        comparison: The systems, DROP among the metrics.
        top: Words of each two systems; ties are in alphabetical order.
    """
    pairs = [(comparison.baseline, other) for other in comparison.others]
    rows: list[tuple[Cell, ...]] = []
    for system, other in [pair for one in pairs for pair in (one, one[::-1])]:
        words = zip(
            expected_words(comparison, system), expected_words(comparison, other), strict=True
        )
        alone = Counter(ours.word for ours, theirs in words if ours.dropped and not theirs.dropped)
        rows += [(system, other, word, times) for word, times in _most(alone, top)]
    header = ("system", "but not", "word", "times")
    title = f"Source words that one drops and the other does not, of {comparison.baseline} and each"
    return Table(header, tuple(rows), title, "dropped-by-one")


def most_repeated_ngrams(comparison: Compared, top: int) -> Table:
    """The n-grams that each system repeats most often beyond the reference.

    Args:
        comparison: The systems, REP among the metrics.
        top: N-grams of each system; ties are in alphabetical order.
    """
    rows: list[tuple[Cell, ...]] = []
    for system in comparison.rows:
        excess: Counter[tuple[str, str]] = Counter()
        segments: Counter[tuple[str, str]] = Counter()
        for _, found in repetitions(comparison, system):
            for item in found:
                key = (" ".join(item.ngram), _KINDS[item.kind])
                excess[key] += item.excess
                segments[key] += 1
        rows += [(system, *key, times, segments[key]) for key, times in _most(excess, top)]
    header = ("system", "n-gram", "kind", "times", "segments")
    title = "N-grams that are repeated most often beyond the reference"
    return Table(header, tuple(rows), title, "repeated-ngrams")
