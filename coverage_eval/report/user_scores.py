"""A user's table beside the printed ones, as text, CSV, JSON, LaTeX or Markdown."""

from __future__ import annotations

from typing import TypeAlias

from coverage_eval.published.user_scores import Comparison, Direction
from coverage_eval.report.tables import render_json, render_table

__all__ = ["render_comparison"]

Rows: TypeAlias = "list[tuple[object, ...]]"

_CELLS = ("table", "system", "dataset", "metric", "printed", "yours", "difference")
_DIRECTIONS = ("table", "system", "other", "dataset", "metric", "printed", "yours", "direction")


def render_comparison(comparison: Comparison, output_format: str, *, width: int = 2) -> str:
    """Render differences and directions.

    CSV is one table with a column ``kind``; JSON has two lists. The forms for people show, for each
    pair of systems and metric, on how many data sets the better system is the same, and then the
    effects that are not.

    Args:
        comparison: The comparison.
        output_format: One of :data:`coverage_eval.report.tables.FORMATS`.
        width: Digits after the decimal point in text, LaTeX and Markdown.
    """
    cells: Rows = [
        (c.table, *c.key, c.printed.value, c.ours, c.difference) for c in comparison.cells
    ]
    directions: Rows = [_row(item) for item in comparison.directions]
    if output_format == "json":
        return render_json(
            {
                "cells": [dict(zip(_CELLS, row, strict=True)) for row in cells],
                "directions": [dict(zip(_DIRECTIONS, row, strict=True)) for row in directions],
            }
        )
    if output_format == "csv":
        return _as_csv(cells, directions)
    tables = [render_table(_CELLS, cells, output_format, width=width)]
    if directions:
        tables.append(_agreement(comparison, output_format))
    others = [row for row in directions if row[-1] != "same"]
    if others:
        tables.append(render_table(_DIRECTIONS, others, output_format, width=width))
    return "\n\n".join(tables)


def _row(item: Direction) -> tuple[object, ...]:
    return (
        item.table, item.system, item.other, item.dataset, item.metric, item.printed, item.ours,
        item.outcome,
    )  # fmt: skip


def _as_csv(cells: Rows, directions: Rows) -> str:
    header = ("kind", *_DIRECTIONS[:-1], "difference", "direction")
    rows: Rows = [("cell", table, system, None, *rest, None) for table, system, *rest in cells]
    rows += [("direction", *row[:-1], None, row[-1]) for row in directions]
    return render_table(header, rows, "csv")


def _agreement(comparison: Comparison, output_format: str) -> str:
    """Pairs of systems by metrics: on how many data sets the better system is the same."""
    metrics = list(dict.fromkeys(item.metric for item in comparison.directions))
    counts: dict[tuple[str, str], dict[str, list[bool]]] = {}
    for item in comparison.directions:
        by_metric = counts.setdefault((item.system, item.other), {})
        by_metric.setdefault(item.metric, []).append(item.outcome == "same")
    rows = [
        (*pair, *(_share(by_metric.get(metric)) for metric in metrics))
        for pair, by_metric in counts.items()
    ]
    header = ("same direction", "as to", *metrics)
    return render_table(header, rows, output_format)


def _share(same: list[bool] | None) -> str | None:
    return None if same is None else f"{sum(same)} of {len(same)}"
