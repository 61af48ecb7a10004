"""A user's table beside the printed ones, as they are printed."""

from __future__ import annotations

from typing import TypeAlias

from coverage_eval.published.user_scores import UserScores
from coverage_eval.tables.table import Cell, Printable, Table

Rows: TypeAlias = "list[tuple[Cell, ...]]"

_CELLS = ("table", "system", "dataset", "metric", "printed", "yours", "difference")
_DIRECTIONS = ("table", "system", "other", "dataset", "metric", "printed", "yours", "direction")


def present_user_scores(comparison: UserScores) -> Printable:
    """Differences and directions.

    People see, for each pair of systems and metric, on how many data sets the better system is the
    same, and then the effects that are not. CSV is one table with a column ``kind``; JSON has two
    lists.
    """
    cells: Rows = [
        (c.table, *c.key, c.printed.value, c.ours, c.difference) for c in comparison.cells
    ]
    directions: Rows = [
        (d.table, d.system, d.other, d.dataset, d.metric, d.printed, d.ours, d.outcome)
        for d in comparison.directions
    ]
    others = tuple(row for row in directions if row[-1] != "same")
    tables = [Table(_CELLS, tuple(cells)), _agreement(comparison), Table(_DIRECTIONS, others)]
    return Printable(
        tuple(table for table in tables if table.rows),
        records=_records(cells, directions),
        data={
            "cells": [dict(zip(_CELLS, row, strict=True)) for row in cells],
            "directions": [dict(zip(_DIRECTIONS, row, strict=True)) for row in directions],
        },
        numbers=tuple(cell.difference for cell in comparison.cells),
    )


def _records(cells: Rows, directions: Rows) -> Table:
    rows: Rows = [("cell", table, system, None, *rest, None) for table, system, *rest in cells]
    rows += [("direction", *row[:-1], None, row[-1]) for row in directions]
    return Table(("kind", *_DIRECTIONS[:-1], "difference", "direction"), tuple(rows))


def _agreement(comparison: UserScores) -> Table:
    """Pairs of systems by metrics: on how many data sets the better system is the same."""
    metrics = list(dict.fromkeys(item.metric for item in comparison.directions))
    counts: dict[tuple[str, str], dict[str, list[bool]]] = {}
    for item in comparison.directions:
        by_metric = counts.setdefault((item.system, item.other), {})
        by_metric.setdefault(item.metric, []).append(item.outcome == "same")
    rows = tuple(
        (*pair, *(_share(by_metric.get(metric)) for metric in metrics))
        for pair, by_metric in counts.items()
    )
    return Table(("same direction", "as to", *metrics), rows)


def _share(same: list[bool] | None) -> str | None:
    return None if same is None else f"{sum(same)} of {len(same)}"
