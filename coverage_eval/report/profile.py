"""The profile of one output as text, CSV, JSON, LaTeX or Markdown."""

from __future__ import annotations

from typing import Any

from coverage_eval.metrics.profile import Profile, ProfiledFigure
from coverage_eval.report.scores import score_as_dict
from coverage_eval.report.tables import render_json, render_table

__all__ = ["render_profile", "render_profile_segments"]


def render_profile(
    profile: Profile, output_format: str, *, width: int = 2, score_only: bool = False
) -> str:
    """Render the corpus figures, without a final line end.

    Args:
        profile: The figures.
        output_format: One of :data:`coverage_eval.report.tables.FORMATS`.
        width: Digits after the decimal point in text, LaTeX and Markdown.
        score_only: Print nothing but the numbers, one a line (text only).
    """
    if output_format == "text" and score_only:
        return "\n".join(
            "" if item.score is None else item.score.format(width, score_only=True)
            for item in profile.figures
        )
    if output_format == "json":
        return render_json({"scores": [_as_dict(item) for item in profile.figures]})
    intervals = any(item.score and item.score.interval for item in profile.figures)
    header = ["figure", "score", *(["low", "high"] if intervals else []), "better", "meaning"]
    rows = [_row(item, intervals=intervals) for item in profile.figures]
    return render_table([*header, "signature"], rows, output_format, width=width)


def render_profile_segments(profile: Profile, output_format: str, *, width: int = 2) -> str:
    """Render one row a segment, numbered from 1, with a column for each figure.

    An undefined value is an empty cell, in JSON null. JSON has the corpus figures too.
    """
    columns = [item.sentence_scores() for item in profile.figures]
    header = ["segment", *(item.figure.key for item in profile.figures)]
    rows = [(number, *row) for number, row in enumerate(zip(*columns, strict=True), start=1)]
    if output_format != "json":
        return render_table(header, rows, output_format, width=width)
    return render_json(
        {
            "scores": [_as_dict(item) for item in profile.figures],
            "sentences": [dict(zip(header, row, strict=True)) for row in rows],
        }
    )


def _row(item: ProfiledFigure, *, intervals: bool) -> tuple[object, ...]:
    figure, score = item.figure, item.score
    ends: tuple[object, ...] = ()
    if intervals:
        interval = score.interval if score else None
        ends = (interval.low, interval.high) if interval else (None, None)
    value = score.value if score else None
    signature = str(figure.metric.signature())
    return (figure.key, value, *ends, figure.better, _meaning(item), signature)


def _meaning(item: ProfiledFigure) -> str:
    figure = item.figure
    return figure.meaning if item.score else f"undefined: {figure.metric.undefined}"


def _as_dict(item: ProfiledFigure) -> dict[str, Any]:
    named = {"figure": item.figure.key, "better": item.figure.better, "meaning": _meaning(item)}
    if item.score is None:
        return {**named, "score": None, "signature": str(item.figure.metric.signature())}
    return {**named, **score_as_dict(item.score)}
