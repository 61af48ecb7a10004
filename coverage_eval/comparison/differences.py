"""The segments where a system and the baseline differ most."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from coverage_eval.comparison.evidence import BreakdownTable, required_counts
from coverage_eval.comparison.table import Comparison
from coverage_eval.text.corpus import Segment

__all__ = ["most_different"]


def most_different(comparison: Comparison, top: int) -> BreakdownTable:
    """For each metric and system, the segments whose scores differ most from the baseline's.

    Each segment has three rows: the reference, the baseline's output and the system's.

    Args:
        comparison: The systems.
        top: Segments of each metric and system; ties are in the order of the text.
    """
    rows = [
        row
        for name in comparison.metrics
        for system in comparison.rows
        if system != comparison.baseline
        for row in _pair(comparison, name, system, top)
    ]
    return BreakdownTable(
        "differences",
        f"Segments whose scores differ most from {comparison.baseline}'s",
        ("metric", "segment", "text", "score", "words"),
        tuple(rows),
    )


def _pair(comparison: Comparison, name: str, system: str, top: int) -> Iterator[tuple[object, ...]]:
    texts = required_counts(comparison).texts
    baseline = comparison.baseline
    label = comparison.metrics[name].name
    ours, theirs = _scores(comparison, name, system), _scores(comparison, name, baseline)
    for index in _largest(np.abs(ours - theirs), top):
        number = int(index) + 1
        yield label, number, "reference", None, _text(texts.rows[index].references[0])
        for who, scores in ((baseline, theirs), (system, ours)):
            yield label, number, who, float(scores[index]), _text(texts.hypothesis(int(index), who))


def _scores(comparison: Comparison, name: str, system: str) -> NDArray[np.float64]:
    """Segment scores as tables show them, NaN where they are undefined."""
    statistics = required_counts(comparison).statistics[name][system]
    return comparison.metrics[name].formula(statistics)


def _largest(differences: NDArray[np.float64], top: int) -> NDArray[np.int64]:
    """Indices of the largest differences above zero, undefined ones left out."""
    order = np.argsort(-np.nan_to_num(differences), kind="stable")[:top]
    return order[np.nan_to_num(differences[order]) > 0]


def _text(segment: Segment) -> str:
    return segment if isinstance(segment, str) else " ".join(segment)
