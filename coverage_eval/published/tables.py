"""The tables of both papers with the digits that are printed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from coverage_eval.published.files import Citation, read_data

Key: TypeAlias = tuple[str, str, str]
"""System, dataset and metric of a cell."""

TABLES = ("table1", "table2", "report_table2", "report_table3", "report_table4")
"""Tables 1 and 2 of Malaviya et al. (2018), Tables 2 to 4 of Madsen et al. (2017)."""


@dataclass(frozen=True)
class PrintedCell:
    """One printed figure.

    Attributes:
        text: As it is printed, such as ``0.10 ± 0.002``.
        value: The figure.
        half_width: Half the width of its confidence interval; None if none is printed.
    """

    text: str
    value: float
    half_width: float | None = None

    @property
    def low(self) -> float:
        """Lower end of the interval, the value where there is none."""
        return self.value - (self.half_width or 0.0)

    @property
    def high(self) -> float:
        """Upper end of the interval, the value where there is none."""
        return self.value + (self.half_width or 0.0)


@dataclass(frozen=True)
class PrintedTable:
    """One table.

    Attributes:
        name: One of :data:`TABLES`.
        citation: Where it is printed.
        systems: Its rows, in order.
        columns: Pairs of dataset and metric, in order.
        cells: By system, dataset and metric.
        better: ``higher`` or ``lower`` for each metric that has a better direction.
    """

    name: str
    citation: Citation
    systems: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    cells: dict[Key, PrintedCell]
    better: dict[str, str]

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

    def improvement(self, metric: str, value: float, other: float) -> float:
        """By how much a value is better than another; negative where it is worse."""
        return value - other if self.better[metric] == "higher" else other - value


@lru_cache(maxsize=len(TABLES))
def load_table(name: str) -> PrintedTable:
    """Load one of :data:`TABLES`.

    Raises:
        ValueError: There is no table of that name.
    """
    if name not in TABLES:
        raise ValueError(f"unknown table {name!r}; one of {', '.join(TABLES)}")
    data = read_data(name)
    columns = tuple((dataset, metric) for dataset, metric in data["columns"])
    cells = {
        (system, *column): _cell(text)
        for system, texts in data["rows"].items()
        for column, text in zip(columns, texts, strict=True)
    }
    return PrintedTable(
        name=name,
        citation=Citation(data["source"], data["place"]),
        systems=tuple(data["rows"]),
        columns=columns,
        cells=cells,
        better=data["better"],
    )


def _cell(text: str) -> PrintedCell:
    value, _, half_width = text.partition(" ± ")
    return PrintedCell(text, float(value), float(half_width) if half_width else None)
