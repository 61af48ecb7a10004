"""Corpus scores and segment scores, as they are printed."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

from coverage_eval.metrics.score import Evidence, Score, interval_ends, plain_evidence
from coverage_eval.tables.table import Cell, LazyRows, Printable, ScoreCell, Table


def measured(score: Score) -> ScoreCell:
    """A score with its interval as a cell of a table."""
    return ScoreCell(score.score, *interval_ends(score.interval))


def scores_table(scores: Sequence[Score]) -> Table:
    """One row a score; in text, one line ``signature = score``."""
    return Table(
        ("metric", "score", "segments"),
        tuple((score.metric, measured(score), score.segments) for score in scores),
        signatures=tuple(str(score.signature) for score in scores),
        lines=True,
    )


def present_scores(scores: Sequence[Score]) -> Printable:
    """Corpus scores; at least one."""
    return Printable(
        (scores_table(scores),), data={"scores": [score.to_dict() for score in scores]}
    )


def present_segments(
    corpus: Score,
    values: Sequence[float | None],
    *,
    evidence: Sequence[Evidence] | None = None,
    errors_only: bool = False,
) -> Printable:
    """Segment scores, segments numbered from 1; an undefined score is empty, in JSON null.

    Args:
        corpus: The corpus score, whose signature the segments share.
        values: One score a segment, None where it is undefined.
        evidence: One mapping of further columns a segment, all with the same keys; a list of
            dataclasses is shown as text in tables, with positions from 1, and as objects in JSON,
            with positions from 0. It is gone through again for each format.
        errors_only: Leave out segments without an error: where lower is better, those whose score
            is 0 or undefined and that have no evidence.
    """
    extra = LazyRows(lambda _: {}, values) if evidence is None else evidence
    shown: Sequence[int] = range(len(values))
    if errors_only:
        rows = enumerate(zip(values, extra, strict=True))
        shown = array("q", (i for i, row in rows if _has_error(corpus, *row)))

    def cells(index: int) -> tuple[Cell, ...]:
        return index + 1, values[index], *map(_as_text, extra[index].values())

    def plain(index: int) -> dict[str, Any]:
        return {"segment": index + 1, "score": values[index], **plain_evidence(extra[index])}

    table = Table(("segment", "score", *(extra[0] if extra else ())), LazyRows(cells, shown))
    return Printable(
        (table,),
        data={"scores": [{**corpus.to_dict(), "sentences": LazyRows(plain, shown)}]},
        numbers=LazyRows(values.__getitem__, shown),
    )


def _has_error(corpus: Score, value: float | None, evidence: Evidence) -> bool:
    lists = [cell for cell in evidence.values() if isinstance(cell, list)]
    return any(lists) or corpus.higher_is_better or value not in {None, 0.0}


def _as_text(cell: Any) -> Cell:
    """A list of evidence in one cell of a table."""
    return "; ".join(str(item) for item in cell) if isinstance(cell, list) else cell
