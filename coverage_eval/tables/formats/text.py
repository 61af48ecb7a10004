"""Tables as plain text, for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from textwrap import fill

from coverage_eval.tables.formats.cells import (
    ColumnContent,
    cell_lines,
    escape_controls,
    notes_with_mark,
    survey,
    text_width,
    without_empty_columns,
)
from coverage_eval.tables.formats.grids import grid_lines, paragraphs
from coverage_eval.tables.mapped import Mapped
from coverage_eval.tables.printout import Printout, Style
from coverage_eval.tables.table import Cell, Measured, Table

_GAP = 2  # spaces between columns; tabulate leaves as much beside the names of columns
_NARROWEST = 10  # no column of text is wrapped to less


def render(printout: Printout, style: Style) -> Iterator[str]:
    """Titles, tables, notes and signatures, each apart from the next by an empty line."""
    if style.score_only:
        return (_number(cell, style.digits) for cell in printout.figures())
    title = [[_wrapped(printout.title, style.columns)]] if printout.title else []
    tables = (part for table in printout.tables for part in _table(table, style))
    return paragraphs(chain(title, tables))


def _number(cell: Cell, digits: int) -> str:
    return cell.format(digits) if isinstance(cell, Measured) else cell_lines(cell, digits)[0]


def _table(table: Table, style: Style) -> Iterator[Iterable[str]]:
    """Title, rows, notes and signatures, as far as they are there."""
    if table.lines:
        yield _score_lines(table, style.digits)
        return
    table, columns = without_empty_columns(table, survey(table))
    notes = notes_with_mark(table, columns, "*: best figure.")
    if table.title:
        yield [_wrapped(table.title, style.columns)]
    if table.header:
        yield from _grids(table, columns, style)
    if notes:
        yield [_wrapped(note, style.columns) for note in notes]
    if table.signatures:
        yield table.signatures


def _score_lines(table: Table, digits: int) -> Iterator[str]:
    for signature, row in zip(table.signatures, table.rows, strict=True):
        for cell in row:
            if isinstance(cell, Measured):
                yield f"{signature} = {cell.format(digits)}"


def _wrapped(text: str, columns: int | None) -> str:
    """A paragraph that fits; a line that starts with a space is an example to be copied."""
    text = escape_controls(text)
    return text if columns is None or text.startswith(" ") else fill(text, columns)


def _grids(table: Table, columns: list[ColumnContent], style: Style) -> Iterator[Iterator[str]]:
    """The table, in parts below each other where even wrapped columns are too many.

    Measured scores are set to the left, above their intervals.
    """
    header = [escape_controls(name) for name in table.header]
    cells = Mapped(lambda row: [_cell(cell, style.digits) for cell in row], table.rows)
    sides = ["left" if column.measured else column.side for column in columns]
    if style.columns is None or not cells:
        yield grid_lines(header, cells, "simple", sides)
        return
    natural = [text_width(name) + _GAP for name in header]
    for row in cells:
        for i, cell in enumerate(row):
            natural[i] = max(natural[i], *map(text_width, cell.split("\n")))
    figures = [column.numbers or column.names for column in columns]
    widths = _fit(header, figures, natural, style.columns)
    for part in _parts(widths, style.columns):
        yield grid_lines(
            [header[i] for i in part],
            [[row[i] for i in part] for row in cells],
            "simple",
            [sides[i] for i in part],
            [widths[i] for i in part],
        )


def _cell(cell: Cell, digits: int) -> str:
    first, *rest = cell_lines(cell, digits)
    best = isinstance(cell, Measured) and cell.best
    return "\n".join([f"{first}*" if best else first, *rest])


def _fit(
    header: Sequence[str], figures: Sequence[bool], natural: Sequence[int], columns: int
) -> list[int]:
    """Widths of columns: text is cut down to one common width, figures keep theirs."""
    least = [
        width if is_figure else max(_NARROWEST, text_width(name) + _GAP)
        for name, is_figure, width in zip(header, figures, natural, strict=True)
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
