"""All evidence of a comparison, segment by segment, as plain records."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TextIO

from coverage_eval.comparison.evidence import required_counts
from coverage_eval.comparison.table import Comparison
from coverage_eval.metrics.base import known_score, plain_evidence
from coverage_eval.tables.table import escape_json
from coverage_eval.version import __version__

Record = dict[str, Any]


def write_details(comparison: Comparison, file: TextIO) -> None:
    """Write :func:`evidence_records` as JSON Lines."""
    for record in evidence_records(comparison):
        file.write(escape_json(json.dumps(record, ensure_ascii=False, allow_nan=False)) + "\n")


def evidence_records(comparison: Comparison) -> Iterator[Record]:
    """One record that describes the comparison, then one for each system and segment.

    ``kind`` tells them apart. A segment's record has its number from 1, its texts as REP and DROP
    cut them into words, and by metric the score (None where it is undefined), the statistics by
    name, and the evidence: ``repetitions`` of REP, ``dropped`` words of DROP, ``lost`` coverage of
    soft DROP, ``inexact_matches`` of METEOR and its parts. Positions of words count from 0.

    Raises:
        ValueError: The comparison was made from statistics alone.
    """
    texts = required_counts(comparison).texts
    yield {
        "kind": "comparison",
        "version": __version__,
        "segments": comparison.segments,
        "systems": list(comparison.rows),
        "baseline": comparison.baseline,
        "signatures": comparison.signatures,
    }
    labels = [metric.name for metric in comparison.metrics.values()]
    for index, system in enumerate(texts.systems):
        columns = [_column(comparison, name, system) for name in comparison.metrics]
        for number, (row, *cells) in enumerate(zip(texts.rows, *columns, strict=True), start=1):
            source = None if row.source is None else " ".join(texts.source_tokens(row.source))
            references = [" ".join(texts.tokens(reference)) for reference in row.references]
            yield {
                "kind": "segment",
                "segment": number,
                "system": system,
                "source": source,
                "reference": references[0] if len(references) == 1 else references,
                "hypothesis": " ".join(texts.tokens(row.hypotheses[index])),
                "metrics": dict(zip(labels, cells, strict=True)),
            }


def _column(comparison: Comparison, name: str, system: str) -> Iterator[Record]:
    """Score, statistics and evidence of each segment of a system by one metric."""
    metric = comparison.metrics[name]
    counted = required_counts(comparison)
    statistics = counted.statistics[name][system]
    scores = metric.formula(statistics)
    rows = zip(scores, statistics, counted.evidence(name, system), strict=True)
    for score, values, evidence in rows:
        counts = dict(zip(metric.statistic_names, values.tolist(), strict=True))
        yield {"score": known_score(score), "statistics": counts, **plain_evidence(evidence)}
