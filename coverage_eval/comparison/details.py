"""Segments of a comparison: rows of scores for people, and all evidence as records for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from coverage_eval.comparison.evidence import output_words, source_words
from coverage_eval.comparison.table import Comparison
from coverage_eval.core.show import Cell, LazyRows, Printable, Table, json_line
from coverage_eval.version import __version__


def present_comparison_segments(comparison: Comparison, worst: int | None = None) -> Printable:
    """A row for each segment and system, with a column for each metric.

    Args:
        comparison: The systems.
        worst: How many rows to show, the worst by the first metric; None for all.
    """
    header, rows = comparison.segment_rows()
    shown: Sequence[tuple[Cell, ...]] = rows
    if worst is not None:
        first = next(iter(comparison.metrics.values()))
        sign = -1 if first.higher_is_better is False else 1
        defined = [row for row in rows if isinstance(row[2], float)]
        shown = sorted(defined, key=lambda row: sign * float(str(row[2])))[:worst]
    signatures = comparison.signatures
    records = LazyRows(lambda row: dict(zip(header, row, strict=True)), shown)
    return Printable(
        (Table(header, shown),),
        data={"signatures": signatures, "sentences": records},
        signatures=tuple(signatures.values()),
    )


def evidence_lines(comparison: Comparison) -> Iterator[str]:
    """:func:`evidence_records` as lines of JSON Lines."""
    return map(json_line, evidence_records(comparison))


def evidence_records(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """One record that describes the comparison, then one for each system and segment.

    ``kind`` tells them apart. A segment's record has its number from 1, its texts in the tokens
    that marks count, and by metric the score (None where it is undefined), the statistics by
    name, the probability of an error if there is one, the marks
    (:meth:`~coverage_eval.core.mark.Mark.to_dict`) and what else explains the score. Positions
    of words count from 0. The first record says what each kind of mark is.

    Raises:
        ValueError: The comparison was made from statistics alone.
    """
    result, metrics = comparison.measured, comparison.metrics
    yield {
        "kind": "comparison",
        "version": __version__,
        "segments": comparison.segments,
        "systems": list(comparison.rows),
        "baseline": comparison.baseline,
        "signatures": comparison.signatures,
        "kinds": {m.name: [kind.to_dict() for kind in m.kinds] for m in metrics.values()},
    }
    for system in result.systems:
        columns = [_evidence(comparison, name, system) for name in metrics]
        for index, (row, *cells) in enumerate(zip(result.rows, *columns, strict=True)):
            source = source_words(result, index)
            references = [" ".join(result.tokens.as_written(text)) for text in row.references]
            yield {
                "kind": "segment",
                "segment": index + 1,
                "system": system,
                "source": None if source is None else " ".join(source),
                "reference": references[0] if len(references) == 1 else references,
                "hypothesis": " ".join(output_words(result, system, index)),
                "metrics": dict(zip((m.name for m in metrics.values()), cells, strict=True)),
            }


def _evidence(comparison: Comparison, name: str, system: str) -> Iterator[dict[str, Any]]:
    """Score, statistics and evidence of each segment of a system by one metric."""
    result, names = comparison.measured, comparison.metrics[name].statistic_names
    scores = result.segment_scores(name, system)
    rows = zip(
        scores, result.statistics_of(name, system), result.evidence_of(name, system), strict=True
    )
    for score, values, explanation in rows:
        statistics = dict(zip(names, values.tolist(), strict=True))
        yield {"score": score, "statistics": statistics} | explanation.to_dict()
