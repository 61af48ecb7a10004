"""Segments of a comparison: rows of scores, and records of all evidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from coverage_eval.comparison.table import Comparison
from coverage_eval.core.lists import LazyRows
from coverage_eval.core.mark import plain_columns
from coverage_eval.core.report import (
    HUMAN_FORMATS,
    NUMBER_FORMATS,
    ROW_FORMATS,
    Cell,
    Report,
    Table,
)
from coverage_eval.core.tokenizers import segment_text
from coverage_eval.version import __version__


def comparison_segments_report(comparison: Comparison, worst: int | None = None) -> Report:
    """A row for each segment and system, with a column for each metric.

    Args:
        comparison: The systems.
        worst: How many rows to show, the worst by the first metric; None for all.
    """
    header, rows = comparison.segment_rows()
    shown: Sequence[tuple[Cell, ...]] = rows
    if worst is not None:
        first = next(iter(comparison.metrics.values()))
        sign = -1 if first.presentation.higher_is_better is False else 1
        defined = [row for row in rows if isinstance(row[2], float)]
        shown = sorted(defined, key=lambda row: sign * float(str(row[2])))[:worst]
    signatures = comparison.signatures
    table = Table(header, shown, formats=(HUMAN_FORMATS | ROW_FORMATS) - {"jsonl"})
    width = len(header) - 2  # A segment without a score has a line, too.
    numbers = LazyRows(
        lambda number: (shown[number // width][2 + number % width],), range(width * len(shown))
    )
    records = Table((), (), objects=evidence_records(comparison), formats=frozenset({"jsonl"}))
    values = {"signatures": signatures, "sentences": table}
    scores = Table(("score",), numbers, formats=NUMBER_FORMATS)
    return Report((table, records, scores), values, signatures=tuple(signatures.values()))


def evidence_records(comparison: Comparison) -> Sequence[dict[str, Any]]:
    """One record that describes the comparison, then one for each system and segment.

    ``kind`` tells them apart. A segment's record has its number from 1, its texts as they were
    written, and by metric the score (None where it is undefined), the statistics by name, the
    probability of an error if there is one, the marks
    (:meth:`~coverage_eval.core.mark.Mark.to_dict`) and what else explains the score. A mark says
    at which characters of its text it starts and ends, from 0. The first record says what each
    kind of mark is.

    Raises:
        ValueError: The comparison was made from statistics alone.
    """
    result, metrics = comparison.result, comparison.metrics
    scores = {
        (name, system): result.segment_scores(name, system)
        for name in metrics
        for system in result.systems
    }

    def record(number: int) -> dict[str, Any]:
        if number == 0:
            return _description(comparison)
        position, index = divmod(number - 1, result.segments)
        system, row = result.systems[position], result.rows[index]
        references = list(map(segment_text, row.references))
        by_metric = {}
        for name, metric in metrics.items():
            values = result.statistics_of(name, system)[index].tolist()
            by_metric[metric.presentation.name] = {
                "score": scores[name, system][index],
                "statistics": dict(zip(metric.statistic_names, values, strict=True)),
                **plain_columns(result.explanations(name)[index][position].columns),
            }
        return {
            "kind": "segment",
            "segment": index + 1,
            "system": system,
            "source": None if row.source is None else segment_text(row.source),
            "reference": references[0] if len(references) == 1 else references,
            "hypothesis": segment_text(row.hypotheses[position]),
            "metrics": by_metric,
        }

    return LazyRows(record, range(1 + len(result.systems) * result.segments))


def _description(comparison: Comparison) -> dict[str, Any]:
    """The first record."""
    metrics = comparison.metrics.values()
    return {
        "kind": "comparison",
        "version": __version__,
        "segments": comparison.segments,
        "systems": list(comparison.rows),
        "baseline": comparison.baseline,
        "signatures": comparison.signatures,
        "kinds": {
            m.presentation.name: [kind.to_dict() for kind in m.presentation.kinds] for m in metrics
        },
    }
