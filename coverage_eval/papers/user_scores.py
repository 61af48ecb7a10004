"""A user's own table beside the printed ones: differences of cells, directions of effects.

The table is a CSV file with one figure per line. Its first line names the columns
``system,dataset,metric,value``, in any order. Names are those of the printed tables; case, spaces
and text in parentheses do not matter, so ``csparsemax (c = 0.2)`` is ``csparsemax``.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from coverage_eval.data.files import Source, read_segments, source_name
from coverage_eval.errors import DataError
from coverage_eval.papers.printed import TABLES, Key, PrintedCell, PrintedTable, load_table
from coverage_eval.tables.table import Cell, Printable, Table

COLUMNS = ("system", "dataset", "metric", "value")

_DIGITS = 9
"""Differences are rounded to these digits, so that 0.1 + 0.2 ties with 0.3."""

_SHOWN = 60
"""Characters of a bad cell that a message shows."""

_CELLS = ("table", "system", "dataset", "metric", "printed", "yours", "difference")
_DIRECTIONS = ("table", "system", "other", "dataset", "metric", "printed", "yours", "direction")


@dataclass(frozen=True)
class CellDifference:
    """One cell of both tables.

    Attributes:
        table: Name of the printed table.
        key: System, dataset and metric as printed.
        printed: The printed figure.
        ours: The user's figure.
    """

    table: str
    key: Key
    printed: PrintedCell
    ours: float

    @property
    def difference(self) -> float:
        """The user's figure minus the printed one."""
        return round(self.ours - self.printed.value, _DIGITS)


@dataclass(frozen=True)
class Direction:
    """Which of two systems is better, in print and in the user's table.

    Attributes:
        table: Name of the printed table.
        system: The system that is printed above the other.
        other: The system below it.
        dataset: The data set of both figures.
        metric: Their metric.
        printed: How much better the first system is in print; negative if it is worse.
        ours: The same in the user's table.
    """

    table: str
    system: str
    other: str
    dataset: str
    metric: str
    printed: float
    ours: float

    @property
    def outcome(self) -> str:
        """``same``, ``opposite``, or ``tie`` if the figures are equal in either table."""
        if self.printed == 0 or self.ours == 0:
            return "tie"
        return "same" if (self.printed > 0) == (self.ours > 0) else "opposite"


@dataclass(frozen=True)
class UserScores:
    """What the printed tables and the user's have in common.

    Attributes:
        cells: One for each of the user's figures, in printed order.
        directions: One for each pair of systems, data set and metric.
    """

    cells: tuple[CellDifference, ...]
    directions: tuple[Direction, ...]


def compare_scores(source: Source, tables: Sequence[str] = TABLES) -> UserScores:
    """Compare a user's table with printed ones.

    Args:
        source: The CSV file, or ``-`` for standard input.
        tables: The printed tables in which its figures are looked up.

    Raises:
        DataError: The file does not have the form above, names something that is not printed, or
            has a cell twice.
    """
    printed = [load_table(name) for name in tables]
    ours = read_scores(source, printed)
    cells = [
        CellDifference(table.name, key, cell, ours[key])
        for table in printed
        for key, cell in table.cells.items()
        if key in ours
    ]
    directions = [item for table in printed for item in _directions(table, ours)]
    return UserScores(tuple(cells), tuple(directions))


def _directions(table: PrintedTable, ours: dict[Key, float]) -> Iterator[Direction]:
    for system, other in combinations(table.systems, 2):
        for dataset, metric in table.columns:
            one, two = (system, dataset, metric), (other, dataset, metric)
            both = all(key in ours and key in table.cells for key in (one, two))
            if not both or metric not in table.better:
                continue
            printed = table.improvement(metric, table.value(*one), table.value(*two))
            mine = table.improvement(metric, ours[one], ours[two])
            gains = (round(printed, _DIGITS), round(mine, _DIGITS))
            yield Direction(table.name, system, other, dataset, metric, *gains)


def read_scores(source: Source, tables: Sequence[PrintedTable]) -> dict[Key, float]:
    """A user's table, with the printed names; raises as :func:`compare_scores`."""
    known = {fold_key(key): key for table in tables for key in table.cells}
    name = source_name(source)
    rows = _rows(source)
    _, header = next(rows, (1, []))
    header = [cell.strip().lower() for cell in header]
    if sorted(header) != sorted(COLUMNS):
        raise DataError(
            f"{name}: line 1: the columns must be {','.join(COLUMNS)}, "
            + (f"not {_shown(','.join(header))}" if header else "but it is empty")
        )
    ours: dict[Key, float] = {}
    for line, cells in rows:
        if not cells:
            continue
        where = f"{name}: line {line}"
        if len(cells) != len(header):
            raise DataError(f"{where}: {len(cells)} cells instead of {len(header)}")
        row = dict(zip(header, cells, strict=True))
        key = _known_key((row["system"], row["dataset"], row["metric"]), known, where)
        if key in ours:
            raise DataError(f"{where}: {', '.join(key)} is in the file twice")
        try:
            ours[key] = float(row["value"])
        except ValueError:
            ours[key] = math.nan
        if not math.isfinite(ours[key]):
            raise DataError(f"{where}: value '{_shown(row['value'])}' is not a number")
    if not ours:
        raise DataError(f"{name}: no figures below the first line")
    return ours


def _rows(source: Source) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(read_segments(source))
    try:
        for cells in reader:
            yield reader.line_num, cells
    except csv.Error as error:
        where = f"{source_name(source)}: line {reader.line_num}"
        raise DataError(f"{where}: not a CSV file: {error}") from error


def _known_key(key: Key, known: dict[Key, Key], where: str) -> Key:
    folded = fold_key(key)
    if folded in known:
        return known[folded]
    for place, column in enumerate(COLUMNS[:3]):
        names = {given[place]: printed[place] for given, printed in known.items()}
        if folded[place] not in names:
            raise DataError(
                f"{where}: no printed table has {column} '{_shown(key[place])}'; one of "
                + ", ".join(names.values())
            )
    raise DataError(f"{where}: no printed table has a figure for {_shown(', '.join(key))} together")


def fold_key(key: Key) -> Key:
    """The key without case, spaces, commas and what stands in parentheses."""
    # [^()] keeps the search linear in a cell with many open parentheses.
    system, dataset, metric = (re.sub(r"\([^()]*\)|[\s,]", "", part.casefold()) for part in key)
    return system, dataset, metric


def _shown(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def present_user_scores(comparison: UserScores) -> Printable:
    """Differences and directions.

    Tables for people show, for each pair of systems and each metric, on how many data sets the
    better system is the printed one, and then the other effects. CSV is one table with a column
    ``kind``; JSON has two lists.
    """
    cells: list[tuple[Cell, ...]] = [
        (c.table, *c.key, c.printed.value, c.ours, c.difference) for c in comparison.cells
    ]
    directions: list[tuple[Cell, ...]] = [
        (d.table, d.system, d.other, d.dataset, d.metric, d.printed, d.ours, d.outcome)
        for d in comparison.directions
    ]
    others = tuple(row for row in directions if row[-1] != "same")
    tables = [Table(_CELLS, tuple(cells)), _agreement(comparison), Table(_DIRECTIONS, others)]
    records: list[tuple[Cell, ...]] = [
        ("cell", table, system, None, *rest, None) for table, system, *rest in cells
    ]
    records += [("direction", *row[:-1], None, row[-1]) for row in directions]
    return Printable(
        tuple(table for table in tables if table.rows),
        records=Table(("kind", *_DIRECTIONS[:-1], "difference", "direction"), tuple(records)),
        data={
            "cells": [dict(zip(_CELLS, row, strict=True)) for row in cells],
            "directions": [dict(zip(_DIRECTIONS, row, strict=True)) for row in directions],
        },
        numbers=tuple(cell.difference for cell in comparison.cells),
    )


def _agreement(comparison: UserScores) -> Table:
    """For each pair of systems and each metric, on how many data sets the same one is better."""
    metrics = list(dict.fromkeys(item.metric for item in comparison.directions))
    counts: dict[tuple[str, str], dict[str, list[bool]]] = {}
    for item in comparison.directions:
        by_metric = counts.setdefault((item.system, item.other), {})
        by_metric.setdefault(item.metric, []).append(item.outcome == "same")
    rows = tuple(
        (*pair, *(f"{sum(by[m])} of {len(by[m])}" if m in by else None for m in metrics))
        for pair, by in counts.items()
    )
    title = "Data sets on which the same system is better as in print"
    return Table(("system", "other", *metrics), rows, title)
