"""All evidence of a comparison, segment by segment, as plain records."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import repeat
from typing import Any, TextIO

from coverage_eval.comparison.evidence import required_counts
from coverage_eval.comparison.table import Comparison
from coverage_eval.metrics.base import Metric
from coverage_eval.metrics.drop import DROP
from coverage_eval.metrics.rep import REP
from coverage_eval.metrics.soft_drop import SoftDROP
from coverage_eval.text.corpus import Segment
from coverage_eval.version import __version__

__all__ = ["evidence_records", "write_details"]

Record = dict[str, Any]


def write_details(comparison: Comparison, file: TextIO) -> None:
    """Write :func:`evidence_records` as JSON Lines."""
    for record in evidence_records(comparison):
        file.write(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")


def evidence_records(comparison: Comparison) -> Iterator[Record]:
    """One record that describes the comparison, then one for each system and segment.

    ``kind`` tells them apart. A segment's record has its number from 1, the texts as REP and DROP
    read them, and by metric the score (None where it is undefined, METEOR from 0 to 1), the
    statistics by name, and the evidence: ``repetitions`` of REP, ``dropped`` words of DROP,
    ``lost`` coverage of soft DROP, ``inexact_matches`` of METEOR and its parts.

    Raises:
        ValueError: The comparison was made from statistics alone.
    """
    counted = required_counts(comparison)
    texts = counted.tokens
    signatures = {metric.name: str(metric.signature()) for metric in comparison.metrics.values()}
    yield {
        "kind": "comparison",
        "version": __version__,
        "segments": comparison.segments,
        "systems": list(comparison.rows),
        "baseline": comparison.baseline,
        "signatures": signatures,
    }
    sources: Iterable[Segment | None] = repeat(None) if texts.sources is None else texts.sources
    for system, outputs in texts.systems.items():
        columns = [_column(comparison, name, system) for name in comparison.metrics]
        labels = [metric.name for metric in comparison.metrics.values()]
        rows = zip(sources, texts.references, outputs, *columns, strict=False)
        for number, (source, reference, output, *cells) in enumerate(rows, start=1):
            yield {
                "kind": "segment",
                "segment": number,
                "system": system,
                "source": _text(source),
                "reference": _text(reference),
                "hypothesis": _text(output),
                "metrics": dict(zip(labels, cells, strict=True)),
            }


def _text(segment: Segment | None) -> str | None:
    return segment if segment is None or isinstance(segment, str) else " ".join(segment)


def _column(comparison: Comparison, name: str, system: str) -> Iterator[Record]:
    """Score, statistics and evidence of each segment of a system by one metric."""
    metric = comparison.metrics[name]
    statistics = required_counts(comparison).statistics[name][system]
    rows = zip(
        metric.sentence_scores(statistics),
        statistics.tolist(),
        _evidence(comparison, name, system),
        strict=False,
    )
    for score, values, evidence in rows:
        counts = dict(zip(metric.statistic_names, values, strict=True))
        yield {"score": score, "statistics": counts, **evidence}


def _evidence(comparison: Comparison, name: str, system: str) -> Iterator[Record]:
    """What a metric can show beyond its statistics; nothing for BLEU and chrF."""
    counted = required_counts(comparison)
    metric: Metric = comparison.metrics[name]
    texts = counted.tokens
    if isinstance(metric, REP):
        for pair in zip(texts.systems[system], texts.references, strict=True):
            found = [asdict(r) | {"excess": r.excess} for r in metric.evidence(*pair)]
            yield {"repetitions": found}
    elif isinstance(metric, DROP):
        for aligned in counted.aligned[system]:
            yield {"dropped": [asdict(word) for word in metric.evidence(aligned)]}
    elif isinstance(metric, SoftDROP):
        for covered in counted.covered[system]:
            yield {"lost": [asdict(w) | {"loss": w.lost} for w in metric.evidence(covered)]}
    elif hasattr(metric, "evidence_columns"):
        raw = counted.texts
        pairs = list(zip(raw.systems[system], raw.references, strict=True))
        statistics = counted.statistics[name][system]
        for parts in metric.evidence_columns(pairs, statistics):
            yield parts | {"inexact_matches": [asdict(m) for m in parts["inexact_matches"]]}
    else:
        yield from repeat({})
