"""Tables as plain text, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import fill
from unicodedata import east_asian_width

from coverage_eval.tables.formats.cells import (
    cell_lines,
    escape_controls,
    is_numeric,
    notes_with_mark,
    without_empty_columns,
)
from coverage_eval.tables.printout import Printout, Style
from coverage_eval.tables.table import Cell, Measured, Table

__all__ = ["render"]

_GAP = 2  # spaces between columns; tabulate leaves as much beside the names of columns
_NARROWEST = 10  # no column of text is wrapped to less


def render(printout: Printout, style: Style) -> str:
    """Titles, tables, notes and signatures, each apart from the next by an empty line."""
    if style.score_only:
        return "\n".join(_number(cell, style.digits) for cell in printout.figures())
    title = [_wrapped(printout.title, style.columns)] if printout.title else []
    return "\n\n".join([*title, *(_table(table, style) for table in printout.tables)])


def _number(cell: Cell, digits: int) -> str:
    return cell.format(digits) if isinstance(cell, Measured) else cell_lines(cell, digits)[0]


def _table(table: Table, style: Style) -> str:
    if table.lines:
        return "\n".join(_score_lines(table, style.digits))
    notes = notes_with_mark(table, "*: best figure.")
    parts = [
        _wrapped(table.title, style.columns),
        _grids(without_empty_columns(table), style),
        "\n".join(_wrapped(note, style.columns) for note in notes),
        "\n".join(table.signatures),
    ]
    return "\n\n".join(part for part in parts if part)


def _score_lines(table: Table, digits: int) -> Iterator[str]:
    for signature, row in zip(table.signatures, table.rows, strict=True):
        for cell in row:
            if isinstance(cell, Measured):
                yield f"{signature} = {cell.format(digits)}"


def _wrapped(text: str, columns: int | None) -> str:
    """A paragraph that fits; a line that starts with a space is an example to be copied."""
    text = escape_controls(text)
    return text if columns is None or text.startswith(" ") else fill(text, columns)


def _grids(table: Table, style: Style) -> str:
    """The table, in parts below each other where even wrapped columns are too many."""
    if not table.header:
        return ""
    header = [escape_controls(name) for name in table.header]
    cells = [[_cell(cell, style.digits) for cell in row] for row in table.rows]
    if style.columns is None or not cells:
        return _grid(table, header, cells, range(len(header)))
    natural = [
        max(_width(name) + _GAP, *(_width(line) for cell in column for line in cell.split("\n")))
        for name, *column in zip(header, *cells, strict=True)
    ]
    widths = _fit(table, natural, style.columns)
    parts = _parts(widths, style.columns)
    return "\n\n".join(_grid(table, header, cells, part, widths) for part in parts)


def _cell(cell: Cell, digits: int) -> str:
    first, *rest = cell_lines(cell, digits)
    best = isinstance(cell, Measured) and cell.best
    return "\n".join([f"{first}*" if best else first, *rest])


def _width(text: str) -> int:
    """Columns that text takes on a terminal: two for each East Asian character."""
    return sum(2 if east_asian_width(c) in "WF" else 1 for c in text)


def _fit(table: Table, natural: Sequence[int], columns: int) -> list[int]:
    """Widths of columns: text is cut down to one common width, figures keep theirs."""
    least = [
        max(_NARROWEST, _width(name) + _GAP)
        if all(isinstance(row[i], str | None) for row in table.rows)
        else natural[i]
        for i, name in enumerate(table.header)
    ]
    widths = list(natural)
    for limit in range(max(natural), _NARROWEST - 1, -1):
        widths = [min(w, max(limit, low)) for w, low in zip(natural, least, strict=True)]
        if sum(widths) + _GAP * (len(widths) - 1) <= columns:
            break
    return widths


def _parts(widths: Sequence[int], columns: int) -> list[list[int]]:
    """Columns that fit side by side, the first one in every part."""
    parts = [[0]]
    for i in range(1, len(widths)):
        width = sum(widths[j] + _GAP for j in parts[-1]) + widths[i]
        if width > columns and len(parts[-1]) > 1:
            parts.append([0])
        parts[-1].append(i)
    return parts


def _grid(
    table: Table,
    header: Sequence[str],
    cells: Sequence[Sequence[str]],
    columns: Sequence[int],
    widths: Sequence[int] | None = None,
) -> str:
    """Some columns of a table; measured scores are set to the left, above their intervals."""
    from tabulate import tabulate

    scores = {i for row in table.rows for i, cell in enumerate(row) if isinstance(cell, Measured)}
    sides = ["right" if is_numeric(table, i) and i not in scores else "left" for i in columns]
    return tabulate(
        [[row[i] for i in columns] for row in cells],
        headers=[header[i] for i in columns],
        tablefmt="simple",
        disable_numparse=True,
        colalign=sides if cells else None,
        maxcolwidths=None if widths is None else [widths[i] for i in columns],
    )
