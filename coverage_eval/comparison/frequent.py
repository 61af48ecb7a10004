"""The commonest errors of each system: words it drops most often, n-grams it repeats most often."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from coverage_eval.comparison.evidence import expected_words, repetitions
from coverage_eval.tables.table import Cell, Table

if TYPE_CHECKING:
    from coverage_eval.comparison.table import Comparison

__all__ = ["most_dropped_words", "most_repeated_ngrams"]

_KINDS = {"ngram": "n-gram", "word": "word twice in a row"}


def most_dropped_words(comparison: Comparison, top: int) -> Table:
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
        most = sorted(+dropped, key=lambda word: (-dropped[word], word))[:top]
        rows += [
            (system, word, dropped[word], expected[word], 100.0 * dropped[word] / expected[word])
            for word in most
        ]
    header = ("system", "word", "dropped", "expected", "% dropped")
    title = "Source words that are dropped most often"
    return Table(header, tuple(rows), title, "dropped-words")


def most_repeated_ngrams(comparison: Comparison, top: int) -> Table:
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
        most = sorted(excess, key=lambda key: (-excess[key], key))[:top]
        rows += [(system, *key, excess[key], segments[key]) for key in most]
    header = ("system", "n-gram", "kind", "times", "segments")
    title = "N-grams that are repeated most often beyond the reference"
    return Table(header, tuple(rows), title, "repeated-ngrams")
