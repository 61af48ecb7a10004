"""A comparison beside its table: segments, and all evidence."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from coverage_eval.compare.evidence import output_words, source_words
from coverage_eval.compare.table import Comparison
from coverage_eval.core.show.table import Cell, LazyRows, Printable, Table, escape_json
from coverage_eval.version import __version__


def present_comparison_segments(comparison: Comparison, worst: int | None = None) -> Printable:
    """A row for each segment and system, with a column for each metric.

    Args:
        comparison: The systems.
        worst: How many rows to show, the worst by the first metric; None for all.
    """
    header, found = comparison.segment_rows()
    rows: Sequence[tuple[Cell, ...]] = found
    if worst is not None:
        first = next(iter(comparison.metrics.values()))
        sign = -1 if first.higher_is_better is False else 1
        defined = [row for row in found if isinstance(row[2], float)]
        rows = sorted(defined, key=lambda row: sign * float(str(row[2])))[:worst]
    signatures = comparison.signatures

    def plain(row: tuple[Cell, ...]) -> dict[str, Cell]:
        return dict(zip(header, row, strict=True))

    return Printable(
        (Table(header, rows),),
        data={"signatures": signatures, "sentences": LazyRows(plain, rows)},
        signatures=tuple(signatures.values()),
    )


Record = dict[str, Any]


def evidence_lines(comparison: Comparison) -> Iterator[str]:
    """:func:`evidence_records` as lines of JSON Lines."""
    for record in evidence_records(comparison):
        yield escape_json(json.dumps(record, ensure_ascii=False, allow_nan=False))


def evidence_records(comparison: Comparison) -> Iterator[Record]:
    """One record that describes the comparison, then one for each system and segment.

    ``kind`` tells them apart. A segment's record has its number from 1, its texts in the tokens
    that marks count, and by metric the score (None where it is undefined), the statistics by
    name, the probability of an error if there is one, the marks
    (:meth:`~coverage_eval.core.mark.Mark.to_dict`) and what else explains the score. Positions
    of words count from 0. The first record says what each kind of mark is.

    Raises:
        ValueError: The comparison was made from statistics alone.
    """
    result = comparison.measured
    yield {
        "kind": "comparison",
        "version": __version__,
        "segments": comparison.segments,
        "systems": list(comparison.rows),
        "baseline": comparison.baseline,
        "signatures": comparison.signatures,
        "kinds": {
            metric.name: [kind.to_dict() for kind in metric.kinds]
            for metric in comparison.metrics.values()
        },
    }
    labels = [metric.name for metric in comparison.metrics.values()]
    for system in result.systems:
        columns = [_column(comparison, name, system) for name in comparison.metrics]
        for number, (row, *cells) in enumerate(zip(result.rows, *columns, strict=True), start=1):
            source = source_words(result, number - 1)
            references = [
                " ".join(result.tokens.as_written(reference)) for reference in row.references
            ]
            yield {
                "kind": "segment",
                "segment": number,
                "system": system,
                "source": None if source is None else " ".join(source),
                "reference": references[0] if len(references) == 1 else references,
                "hypothesis": " ".join(output_words(result, system, number - 1)),
                "metrics": dict(zip(labels, cells, strict=True)),
            }


def _column(comparison: Comparison, name: str, system: str) -> Iterator[Record]:
    """Score, statistics and evidence of each segment of a system by one metric."""
    result, metric = comparison.measured, comparison.metrics[name]
    statistics = result.statistics_of(name, system)
    scores = result.segment_scores(name, system)
    rows = zip(scores, statistics, result.evidence_of(name, system), strict=True)
    for score, values, found in rows:
        counts = dict(zip(metric.statistic_names, values.tolist(), strict=True))
        yield {"score": score, "statistics": counts} | found.to_dict()
