"""One table as CSV, for spreadsheets and programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from coverage_eval.tables.formats.cells import escape_csv, survey
from coverage_eval.tables.printout import Printout, Style
from coverage_eval.tables.table import Cell, Measured, Named, Table


def render(printout: Printout, _: Style) -> Iterator[str]:
    """A line of column names, then the rows, with numbers in full and empty columns kept.

    A measured score takes three columns, its own and ``low`` and ``high``; signatures are the last.

    Raises:
        ValueError: There are several tables.
    """
    return map(_line, _rows(printout.as_table()))


def _rows(table: Table) -> Iterator[Sequence[object]]:
    signatures = table.signatures
    if len(signatures) == 1:
        signatures *= len(table.rows)
    header: list[object] = []
    for name, column in zip(table.header, survey(table), strict=True):
        header += [name, "low", "high"] if column.measured else [name]
    yield [*header, "signature"] if signatures else header
    for number, row in enumerate(table.rows):
        cells: list[object] = []
        for cell in row:
            cells += _plain(cell)
        yield [*cells, signatures[number]] if signatures else cells


def _plain(cell: Cell) -> list[object]:
    if isinstance(cell, Measured):
        return [cell.value, cell.low, cell.high]
    return [cell.name if isinstance(cell, Named) else cell]


def _line(row: Sequence[object]) -> str:
    """One record; csv quotes what its line end contains, and a lone carriage return needs that."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\r\n").writerow([_safe(cell) for cell in row])
    return buffer.getvalue().removesuffix("\r\n")


def _safe(cell: object) -> object:
    """Text of a corpus is data: a spreadsheet must not take it for a formula."""
    if not isinstance(cell, str):
        return cell
    is_formula = cell[:1] in {"=", "+", "-", "@", "\t", "\r"}
    return escape_csv(f"'{cell}" if is_formula else cell)
