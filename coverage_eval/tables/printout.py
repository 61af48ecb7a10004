"""What a command prints, before it is known in which format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from coverage_eval.tables.table import Cell, Measured, Named, Table


@dataclass(frozen=True)
class Printout:
    """Tables for people, and the same facts for programs.

    Attributes:
        tables: Tables for text, LaTeX and Markdown.
        title: What all of them show together.
        records: The one table of CSV, every figure in its own unit; by default the only table.
            None where there are several tables: then there is no CSV.
        data: Plain values that JSON prints; by default the rows of the tables by column name.
        numbers: The figures that ``--score-only`` prints, one a line; by default all of them.
    """

    tables: tuple[Table, ...]
    title: str = ""
    records: Table | None = None
    data: Any = None
    numbers: Sequence[Cell] | None = None

    def as_table(self) -> Table:
        """The table of CSV.

        Raises:
            ValueError: There are several tables.
        """
        if self.records is None and len(self.tables) != 1:
            raise ValueError("CSV is one table: ask for several of them in another format")
        return self.records or self.tables[0]

    def as_data(self) -> Any:
        """The plain values of JSON: a list of rows, or all tables with their notes."""
        if self.data is not None:
            return self.data
        if len(self.tables) == 1:
            return _rows_as_dicts(self.tables[0])
        return {"title": self.title, "tables": tables_as_dicts(self.tables)}

    def figures(self) -> Sequence[Cell]:
        """The numbers alone: scores as they stand in the tables, counts left out."""
        if self.numbers is not None:
            return self.numbers
        cells = (cell for table in self.tables for row in table.rows for cell in row)
        return tuple(cell for cell in cells if isinstance(cell, (float, Measured)))


@dataclass(frozen=True)
class Style:
    """How a printout is shown.

    Attributes:
        digits: Digits after the decimal point in the formats for people.
        columns: Width of the terminal that text must fit; None where lines may be of any length.
        score_only: Text has nothing but the numbers.
    """

    digits: int = 2
    columns: int | None = None
    score_only: bool = False


def tables_as_dicts(tables: Sequence[Table]) -> list[dict[str, Any]]:
    """Tables as plain values, with names, notes and signatures where they have some."""
    return [
        {
            **({"name": table.name} if table.name else {}),
            "title": table.title,
            "rows": _rows_as_dicts(table),
            **({"notes": list(table.notes)} if table.notes else {}),
            **({"signatures": list(table.signatures)} if table.signatures else {}),
        }
        for table in tables
    ]


def _rows_as_dicts(table: Table) -> list[dict[str, Any]]:
    return [dict(zip(table.header, map(_plain, row), strict=True)) for row in table.rows]


def _plain(cell: Cell) -> Any:
    if isinstance(cell, Measured):
        return asdict(cell)
    return cell.name if isinstance(cell, Named) else cell
