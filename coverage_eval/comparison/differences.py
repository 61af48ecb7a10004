"""The segments where a system and the baseline differ most."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from coverage_eval.comparison.compared import Compared
from coverage_eval.comparison.evidence import (
    find_metric,
    output_words,
    required_counts,
    required_metric,
    superfluous_words,
)
from coverage_eval.tables.table import Cell, Table

_MARKS = {
    "repetitions": "Words [in brackets] of an output are repeated beyond the reference.",
    "dropped": "Words [in brackets] of a source are dropped by the system named beside it.",
}


def most_different(comparison: Compared, top: int) -> Table:
    """For each metric and system, the segments whose scores differ most from the baseline's.

    Each segment has a row for the reference, and for the baseline and the system one for the
    output, with what it repeats in brackets if REP is among the metrics. If DROP is, a row for the
    source stands before each output, with the words that it drops in brackets.

    Args:
        comparison: The systems.
        top: Segments of each metric and system; ties are in the order of the text.
    """
    rows = tuple(
        row
        for name in comparison.metrics
        for system in comparison.others
        for row in _pair(comparison, name, system, top)
    )
    return Table(
        ("metric", "segment", "text", "score", "words"),
        rows,
        f"Segments whose scores differ most from {comparison.baseline}'s",
        "differences",
        notes=tuple(note for kind, note in _MARKS.items() if find_metric(comparison, kind)),
    )


def _pair(comparison: Compared, name: str, system: str, top: int) -> Iterator[tuple[Cell, ...]]:
    texts = required_counts(comparison).texts
    baseline = comparison.baseline
    ours, theirs = (segment_scores(comparison, name, who) for who in (system, baseline))
    for index in largest(np.abs(ours - theirs), top).tolist():
        segment, row = (comparison.metrics[name].name, index + 1), texts.rows[index]
        for number, reference in enumerate(row.references, start=1):
            which = "reference" if len(row.references) == 1 else f"reference {number}"
            yield *segment, which, None, " ".join(texts.tokens(reference))
        for who, scores in ((baseline, theirs), (system, ours)):
            if find_metric(comparison, "dropped") and row.source is not None:
                yield *segment, f"source of {who}", None, _marked_source(comparison, who, index)
            yield *segment, who, float(scores[index]), _marked_output(comparison, who, index)


def segment_scores(comparison: Compared, name: str, system: str) -> NDArray[np.float64]:
    """A system's scores of segments by one metric, NaN where they are undefined."""
    statistics = required_counts(comparison).statistics[name][system]
    return comparison.metrics[name].formula(statistics)


def largest(differences: NDArray[np.float64], top: int) -> NDArray[np.int64]:
    """Indices of the largest differences above zero, undefined ones left out."""
    order = np.argsort(-np.nan_to_num(differences), kind="stable")[:top]
    return order[np.nan_to_num(differences[order]) > 0]


def _marked_source(comparison: Compared, system: str, index: int) -> str:
    """A source segment with what a system drops in brackets."""
    counted = required_counts(comparison)
    name = required_metric(comparison, "dropped")
    dropped = counted.evidence_of(name, system, index)["dropped"]
    source = counted.observed[name][index].source  # as the metric's own aligner cuts it
    return _marked(source, {item.position for item in dropped})


def _marked_output(comparison: Compared, system: str, index: int) -> str:
    """An output with what it repeats in brackets; the first occurrences are not marked."""
    counted = required_counts(comparison)
    repeated: set[int] = set()
    if name := find_metric(comparison, "repetitions"):
        for item in counted.evidence_of(name, system, index)["repetitions"]:
            repeated.update(*superfluous_words(item))
    return _marked(output_words(comparison, system, index), repeated)


def _marked(tokens: Sequence[str], positions: Collection[int]) -> str:
    words = enumerate(tokens)
    return " ".join(f"[{word}]" if place in positions else word for place, word in words)
