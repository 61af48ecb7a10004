"""Scores of attention maps, as they are printed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coverage_eval.attention_maps.scores import SCORES, ScoreTable, SegmentScores
from coverage_eval.data.disk_list import DiskList
from coverage_eval.tables.mapped import Mapped
from coverage_eval.tables.printout import Printout
from coverage_eval.tables.table import Cell, Table


def present_attention(scores: ScoreTable) -> Printout:
    """One row a segment, numbered from 1, and a last one for the corpus.

    JSON also has every source word's coverage.
    """
    segments = scores.segments
    corpus = _cells(scores.corpus)
    header = ("segment", *scores.corpus, "over_attended_words", "under_attended_words")
    signature = str(scores.signature)

    def row(index: int) -> tuple[Cell, ...]:
        if index == len(segments):
            return "corpus", *corpus, None, None
        item = segments[index]
        return str(index + 1), *_cells(item.values), *map(" ".join, _named(item).values())

    def plain(index: int) -> dict[str, Any]:
        item = segments[index]
        scored = {"segment": index + 1, **item.values, "coverage": list(item.coverage)}
        return scored | _named(item)

    rows = Mapped(row, range(len(segments) + 1))
    objects = Mapped(plain, range(len(segments)))
    return Printout(
        (Table(header, rows, signatures=(signature,)),),
        data={"signature": signature, "corpus": scores.corpus, "segments": objects},
        numbers=corpus,
    )


def present_coverage(scores: ScoreTable) -> Printout:
    """One row a source word: segment and position from 1, coverage, and whether it stands out."""
    header = ("segment", "position", "word", "coverage", "attended")
    rows: DiskList[tuple[Cell, ...]] = DiskList(
        (number, position + 1, word, value, _attended(item, position))
        for number, item in enumerate(scores.segments, start=1)
        for position, (word, value) in enumerate(zip(item.words, item.coverage, strict=True))
    )
    signature = str(scores.signature)
    words = Mapped(lambda row: dict(zip(header, row, strict=True)), rows)
    table = Table(header, rows, signatures=(signature,))
    return Printout((table,), data={"signature": signature, "words": words})


def _cells(values: Mapping[str, float | None]) -> tuple[Cell, ...]:
    """Scores as cells; those that the corpus sums are counts."""
    return tuple(
        int(value)
        if value is not None and name in SCORES and SCORES[name].corpus == "sum"
        else value
        for name, value in values.items()
    )


def _named(item: SegmentScores) -> dict[str, list[str]]:
    """Words that stand out, with their positions from 1."""
    return {
        "over_attended_words": [f"{i + 1}:{item.words[i]}" for i in item.over],
        "under_attended_words": [f"{i + 1}:{item.words[i]}" for i in item.under],
    }


def _attended(item: SegmentScores, position: int) -> str:
    if position in item.over:
        return "over"
    return "under" if position in item.under else ""
