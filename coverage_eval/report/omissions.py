"""Segments with what is missing in them, or too much, as they are printed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from coverage_eval.metrics.score import Evidence, Score, plain_evidence
from coverage_eval.tables.table import Cell, LazyRows, Printable, Table


def present_found(
    corpus: Score, evidence: Sequence[Evidence], shown: Any, name: str = "spans"
) -> Printable:
    """The scores of segments with their spans; positions from 1 in tables, from 0 in JSON.

    Args:
        corpus: The figure of the corpus, whose signature the segments share.
        evidence: What was found in each segment.
        shown: Indices of the segments that are shown.
        name: What the spans are called.
    """
    has_probabilities = any(evidence[int(i)]["probability"] is not None for i in shown)
    header = ("segment", "score", *(["probability"] if has_probabilities else []), name)

    def cells(index: int) -> tuple[Cell, ...]:
        found = evidence[int(index)]
        probability = [found["probability"]] if has_probabilities else []
        return int(index) + 1, found["score"], *probability, "; ".join(map(str, found["spans"]))

    def plain(index: int) -> dict[str, Any]:
        found = plain_evidence(evidence[int(index)])
        spans = {name if key == "spans" else key: value for key, value in found.items()}
        return {"segment": int(index) + 1, **spans}

    rows = LazyRows(cells, shown)
    return Printable(
        (Table(header, rows, signatures=(str(corpus.signature),)),),
        data={"scores": [{**corpus.to_dict(), "sentences": LazyRows(plain, shown)}]},
        numbers=LazyRows(lambda index: evidence[int(index)]["score"], shown),
    )
