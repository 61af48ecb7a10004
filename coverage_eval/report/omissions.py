"""Segments with what is missing in them, or too much, as they are printed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from coverage_eval.metrics.score import Score
from coverage_eval.omissions.finder import FoundSegment
from coverage_eval.tables.table import Cell, LazyRows, Printable, Table

_LOSS_DIGITS = 4


def present_found(
    corpus: Score, segments: Sequence[tuple[int, FoundSegment]], name: str = "spans"
) -> Printable:
    """The scores of segments with their spans; positions from 1 in tables, from 0 in JSON.

    Args:
        corpus: The figure of the corpus, whose signature the segments share.
        segments: Numbers of segments, from 1, and what was found in each.
        name: What the spans are called.
    """
    has_probabilities = any(found.probability is not None for _, found in segments)
    header = ("segment", "score", *(["probability"] if has_probabilities else []), name)

    def cells(segment: tuple[int, FoundSegment]) -> tuple[Cell, ...]:
        number, found = segment
        probability = [found.probability] if has_probabilities else []
        return number, found.score, *probability, "; ".join(map(str, found.spans))

    def plain(segment: tuple[int, FoundSegment]) -> dict[str, Any]:
        number, found = segment
        return {
            "segment": number,
            "score": found.score,
            "probability": found.probability,
            name: [span.to_dict() for span in found.spans],
            "losses": found.losses.round(_LOSS_DIGITS).tolist(),
        }

    rows = LazyRows(cells, segments)
    return Printable(
        (Table(header, rows, signatures=(str(corpus.signature),)),),
        data={"scores": [{**corpus.to_dict(), "sentences": LazyRows(plain, segments)}]},
        numbers=LazyRows(lambda segment: segment[1].score, segments),
    )
