"""Corpus scores and segment scores as text, CSV, JSON, LaTeX or Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any

from coverage_eval.metrics.base import Score
from coverage_eval.report.tables import render_json, render_table

__all__ = ["render_scores", "render_segments", "score_as_dict"]


def score_as_dict(score: Score) -> dict[str, Any]:
    """A score as plain values, the one JSON schema for one or many systems."""
    return {
        "metric": score.metric,
        "system": score.system,
        "score": score.value,
        "signature": str(score.signature),
        "segments": score.segments,
        "higher_is_better": score.higher_is_better,
        "statistics": score.statistics,
        "confidence": None if score.interval is None else asdict(score.interval),
    }


def render_scores(
    scores: Sequence[Score], output_format: str, *, width: int = 2, score_only: bool = False
) -> str:
    """Render corpus scores, without a final line end.

    Args:
        scores: At least one.
        output_format: One of :data:`coverage_eval.report.tables.FORMATS`.
        width: Digits after the decimal point in text, LaTeX and Markdown.
        score_only: Print nothing but the number (text only).
    """
    if output_format == "json":
        return render_json({"scores": [score_as_dict(score) for score in scores]})
    if output_format == "text":
        return "\n".join(score.format(width, score_only=score_only) for score in scores)
    header = ["metric", "score", "low", "high", "segments", "signature"]
    rows = [
        (
            score.metric,
            score.value,
            score.interval.low if score.interval else None,
            score.interval.high if score.interval else None,
            score.segments,
            str(score.signature),
        )
        for score in scores
    ]
    return render_table(header, rows, output_format, width=width)


def render_segments(
    corpus: Score,
    values: Sequence[float | None],
    output_format: str,
    *,
    evidence: Iterable[dict[str, Any]] | None = None,
    width: int = 2,
    score_only: bool = False,
) -> str:
    """Render segment scores, segments numbered from 1; an undefined score is empty, in JSON null.

    Args:
        corpus: The corpus score, whose signature the segments share.
        values: One score a segment, None where it is undefined.
        output_format: One of :data:`coverage_eval.report.tables.FORMATS`.
        evidence: One mapping of further columns a segment, all with the same keys; a list of
            dataclasses is shown as text in tables, as objects in JSON.
        width: Digits after the decimal point in text, LaTeX and Markdown.
        score_only: Leave out everything but the numbers, one a line (text only).
    """
    if output_format == "text" and score_only:
        return "\n".join("" if value is None else f"{value:.{width}f}" for value in values)
    extra = list(evidence) if evidence is not None else [{} for _ in values]
    if output_format == "json":
        segments = [
            {"segment": number, "score": value, **{k: _as_plain(v) for k, v in more.items()}}
            for number, (value, more) in enumerate(zip(values, extra, strict=True), start=1)
        ]
        return render_json({"scores": [{**score_as_dict(corpus), "sentences": segments}]})
    header = ["segment", "score", *(extra[0] if extra else ())]
    rows = [
        (number, value, *(_as_text(cell) for cell in more.values()))
        for number, (value, more) in enumerate(zip(values, extra, strict=True), start=1)
    ]
    return render_table(header, rows, output_format, width=width)


def _as_text(cell: object) -> object:
    """A list of evidence in one cell of a table."""
    return "; ".join(str(item) for item in cell) if isinstance(cell, list) else cell


def _as_plain(cell: object) -> object:
    """A list of evidence as JSON has it."""
    if not isinstance(cell, list):
        return cell
    return [asdict(item) if is_dataclass(item) else item for item in cell]  # type: ignore[arg-type]
