"""What both papers print: tables, the translations of Appendix B and Figure 2, and Figure 1.

The data files beside this module have the printed digits. A user's own table can be compared with
the printed ones: differences of cells, directions of effects.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from itertools import combinations
from statistics import fmean
from typing import Any, TypeAlias

from coverage_eval.core.errors import DataError
from coverage_eval.core.files import PathLike, file_name
from coverage_eval.core.report import HUMAN_FORMATS, NUMBER_FORMATS, ROW_FORMATS, Report, Table
from coverage_eval.core.tables import TextTable

Key: TypeAlias = tuple[str, str, str]
"""System, dataset and metric of a cell."""

TABLES = ("table1", "table2", "report_table2", "report_table3", "report_table4")
"""Tables 1 and 2 of Malaviya et al. (2018), Tables 2 to 4 of Madsen et al. (2017)."""

_KEY = ("system", "dataset", "metric")
_CELL = ("table", *_KEY, "printed", "yours", "difference")
_DIRECTION = (
    "table", "system", "other", "dataset", "metric", "printed", "yours", "direction",
)  # fmt: skip
"""The columns of what :func:`compare_scores` gives."""

SYSTEMS = ("softmax", "sparsemax", "csoftmax", "csparsemax")
"""The four systems of Appendix B, in its order; Figure 2 has the first and the last."""


def read_data(name: str) -> dict[str, Any]:
    """Read ``data/<name>.json`` of this package, which may be installed or zipped."""
    text = (files("coverage_eval.papers") / "data" / f"{name}.json").read_text("utf-8")
    data: dict[str, Any] = json.loads(text)
    return data


@dataclass(frozen=True)
class PrintedCell:
    """One printed figure.

    Attributes:
        text: The printed text, such as ``0.10 ± 0.002``.
        value: The figure.
        half_width: Half the width of its confidence interval; None if none is printed.
    """

    text: str
    value: float
    half_width: float | None = None

    @property
    def low(self) -> float:
        """Lower end of the interval; the value if there is no interval."""
        return self.value - (self.half_width or 0.0)

    @property
    def high(self) -> float:
        """Upper end of the interval; the value if there is no interval."""
        return self.value + (self.half_width or 0.0)


@dataclass(frozen=True)
class PrintedTable:
    """A printed table.

    Attributes:
        name: One of :data:`TABLES`.
        systems: Its rows, in order.
        columns: Pairs of dataset and metric, in order.
        cells: By system, dataset and metric.
        better: ``higher`` or ``lower`` for each metric that has a better direction.
        is_printed: Whether a paper prints these figures; otherwise they are a user's.
    """

    name: str
    systems: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    cells: dict[Key, PrintedCell]
    better: dict[str, str]
    is_printed: bool = True

    @property
    def datasets(self) -> tuple[str, ...]:
        """The data sets, in the order of the columns."""
        return tuple(dict.fromkeys(dataset for dataset, _ in self.columns))

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics, in the order of the columns."""
        return tuple(dict.fromkeys(metric for _, metric in self.columns))

    def value(self, system: str, dataset: str, metric: str) -> float:
        """The figure in one cell."""
        return self.cells[system, dataset, metric].value

    def only(self, systems: Sequence[str]) -> PrintedTable:
        """The same table with only these systems."""
        cells = {key: cell for key, cell in self.cells.items() if key[0] in systems}
        return replace(self, systems=tuple(systems), cells=cells)

    def mean(self, metric: str, systems: Sequence[str], datasets: Sequence[str]) -> float:
        """The mean figure of some systems on some data sets."""
        return fmean(self.value(s, d, metric) for s in systems for d in datasets)

    def improvement(self, metric: str, value: float, other: float) -> float:
        """How much better a value is than another; negative if it is worse."""
        return value - other if self.better[metric] == "higher" else other - value


@lru_cache(maxsize=len(TABLES))
def load_table(name: str) -> PrintedTable:
    """Load one of :data:`TABLES`."""
    data = read_data(name)
    columns = tuple((dataset, metric) for dataset, metric in data["columns"])
    cells = {}
    for system, texts in data["rows"].items():
        for column, text in zip(columns, texts, strict=True):
            value, _, half_width = text.partition(" ± ")
            cells[(system, *column)] = PrintedCell(
                text, float(value), float(half_width) if half_width else None
            )
    return PrintedTable(name, tuple(data["rows"]), columns, cells, data["better"])


@dataclass(frozen=True)
class Example:
    """One example, tokenised and lowercased as printed.

    Attributes:
        source: The German input.
        reference: The English reference.
        outputs: Name of each system → its translation.
    """

    source: str
    reference: str
    outputs: dict[str, str]


@dataclass(frozen=True)
class ExampleSet:
    """Examples that are printed together.

    ``references`` and ``outputs`` give one segment per example.

    Attributes:
        examples: In printed order.
    """

    examples: tuple[Example, ...]

    @property
    def references(self) -> list[str]:
        """The references."""
        return [example.reference for example in self.examples]

    def outputs(self, system: str) -> list[str]:
        """The translations by one of :data:`SYSTEMS`.

        Raises:
            KeyError: There is no system with that name.
        """
        return [example.outputs[system] for example in self.examples]


@lru_cache(maxsize=2)
def _load_examples(name: str) -> ExampleSet:
    return ExampleSet(tuple(Example(**example) for example in read_data(name)["examples"]))


def load_appendix_b() -> ExampleSet:
    """The eight examples of Appendix B of Malaviya et al. (2018), as printed."""
    return _load_examples("appendix_b")


def load_figure2() -> ExampleSet:
    """The two sentence pairs of Figure 2, translated by softmax and csparsemax."""
    return _load_examples("figure2")


def compare_scores(source: PathLike, tables: Sequence[str] = TABLES) -> Report:
    """Compare a user's table with printed ones.

    Args:
        source: A CSV file with the columns ``system,dataset,metric,value`` and the printed names,
            or ``-`` for standard input.
        tables: The printed tables in which its figures are looked up.

    Returns:
        The cells with their differences, and every pair of systems with the direction of its
        effect: ``same``, ``opposite`` or ``tie``.

    Raises:
        DataError: The file does not have this form, names something that is not printed, or has a
            cell twice.
    """
    figures = _read_scores(source, tables)
    cells: list[tuple[Any, ...]] = []
    directions: list[tuple[Any, ...]] = []
    for name in tables:
        table = load_table(name)
        found = [key for key in table.cells if key in figures]
        for key in found:
            printed = table.cells[key].value
            cells.append((name, *key, printed, figures[key], round(figures[key] - printed, 9)))
        directions += _compare_directions(table, found, figures)
    records = [("cell", table, system, None, *rest, None) for table, system, *rest in cells]
    records += [("direction", *row[:-1], None, row[-1]) for row in directions]
    differences = [(row[-1],) for row in cells]
    named = {
        "cells": Table(_CELL, cells, formats=HUMAN_FORMATS),
        "directions": Table(_DIRECTION, directions, formats=HUMAN_FORMATS),
    }
    header = ("kind", *_DIRECTION[:-1], "difference", "direction")
    shown = [table for table in named.values() if table.rows]
    shown.append(Table(header, records, formats=ROW_FORMATS))
    shown.append(Table(("difference",), differences, formats=NUMBER_FORMATS))
    return Report(tuple(shown), named)


def _read_scores(source: PathLike, tables: Sequence[str]) -> dict[Key, float]:
    """A user's figures, all of which are printed in some tables.

    Raises:
        DataError: As :func:`compare_scores`.
    """
    name, table = file_name(source), TextTable(source)
    if sorted(table.names) != sorted([*_KEY, "value"]):
        raise DataError(f"{name}: the columns must be {','.join(_KEY)},value")
    rows = list(zip(*map(table.texts, [*_KEY, "value"]), strict=True))
    if not rows:
        raise DataError(f"{name}: no figures; each line is like csparsemax,De-En,BLEU,29.85")
    printed = {key for table in tables for key in load_table(table).cells}
    figures: dict[Key, float] = {}
    for system, dataset, metric, value in rows:
        key = (system, dataset, metric)
        problem = ""
        if key not in printed:
            problem = "no printed table has this figure"
        elif not is_number(value):
            problem = "not a number"
        elif key in figures:
            problem = "twice in the file"
        if problem:
            raise DataError(f"{name}: {','.join(key)},{value}: {problem}")
        figures[key] = float(value)
    return figures


def is_number(text: str) -> bool:
    """Whether a cell of a user's table is a finite number."""
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _compare_directions(
    table: PrintedTable, keys: Sequence[Key], figures: Mapping[Key, float]
) -> list[tuple[Any, ...]]:
    """Whether the same system of each pair is better in a user's table and in the printed one."""
    rows = []
    for first, second in combinations(keys, 2):
        (system, *column), (other, *column_of_other) = first, second
        dataset, metric = column
        if column != column_of_other or metric not in table.better:
            continue
        values = table.cells[first].value, table.cells[second].value
        printed = round(table.improvement(metric, *values), 9)
        yours = round(table.improvement(metric, figures[first], figures[second]), 9)
        direction = "tie"
        if printed * yours != 0:
            direction = "same" if printed * yours > 0 else "opposite"
        rows.append((table.name, system, other, dataset, metric, printed, yours, direction))
    return rows
