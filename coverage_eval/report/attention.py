"""Scores of attention maps as text, CSV, JSON, LaTeX or Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from coverage_eval.attention_maps.scores import ScoreTable, SegmentScores
from coverage_eval.metrics.base import Signature
from coverage_eval.report.tables import render_json, render_table

__all__ = ["render_attention_scores", "render_coverage", "sign_table"]


def render_attention_scores(table: ScoreTable, output_format: str, *, width: int = 2) -> str:
    """One row a segment, numbered from 1, and a last one for the corpus.

    Args:
        table: The scores.
        output_format: One of :data:`coverage_eval.report.tables.FORMATS`. JSON also has every
            source word's coverage.
        width: Digits after the decimal point in text, LaTeX and Markdown.
    """
    segments, corpus, signature = table.segments, table.corpus, table.signature
    if output_format == "json":
        records = [
            {"segment": number, **item.values, "coverage": list(item.coverage), **_named(item)}
            for number, item in enumerate(segments, start=1)
        ]
        return render_json({"signature": str(signature), "corpus": corpus, "segments": records})
    header = ["segment", *corpus, "over_attended_words", "under_attended_words"]
    rows: list[list[object]] = [
        [str(number), *item.values.values(), *(" ".join(words) for words in _named(item).values())]
        for number, item in enumerate(segments, start=1)
    ]
    rows.append(["corpus", *corpus.values(), "", ""])
    return sign_table(header, rows, signature, output_format, width=width)


def render_coverage(table: ScoreTable, output_format: str, *, width: int = 2) -> str:
    """One row a source word: segment and position from 1, coverage, and whether it stands out."""
    header = ["segment", "position", "word", "coverage", "attended"]
    rows: list[list[object]] = [
        [number, position + 1, word, value, _attended(item, position)]
        for number, item in enumerate(table.segments, start=1)
        for position, (word, value) in enumerate(zip(item.words, item.coverage, strict=True))
    ]
    if output_format == "json":
        records = [dict(zip(header, row, strict=True)) for row in rows]
        return render_json({"signature": str(table.signature), "words": records})
    return sign_table(header, rows, table.signature, output_format, width=width)


def sign_table(
    header: Sequence[str],
    rows: Sequence[Sequence[object]],
    signature: Signature,
    output_format: str,
    *,
    width: int = 2,
) -> str:
    """A table with its signature: a column in CSV, a comment in LaTeX, a last line elsewhere."""
    if output_format == "csv":
        signed = [[*row, str(signature)] for row in rows]
        return render_table([*header, "signature"], signed, output_format)
    table = render_table(header, rows, output_format, width=width)
    if output_format == "latex":
        return f"{table}\n% {signature}"
    return f"{table}\n\n`{signature}`" if output_format == "markdown" else f"{table}\n{signature}"


def _named(item: SegmentScores) -> dict[str, list[Any]]:
    """Words that stand out, with their positions from 1."""
    return {
        "over_attended_words": [f"{i + 1}:{item.words[i]}" for i in item.over],
        "under_attended_words": [f"{i + 1}:{item.words[i]}" for i in item.under],
    }


def _attended(item: SegmentScores, position: int) -> str:
    if position in item.over:
        return "over"
    return "under" if position in item.under else ""
