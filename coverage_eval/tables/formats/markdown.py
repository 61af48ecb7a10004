"""Tables as Markdown, for web pages and notebooks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from coverage_eval.tables.formats.cells import (
    ColumnContent,
    cell_lines,
    escape_controls,
    notes_with_mark,
    survey,
    without_empty_columns,
)
from coverage_eval.tables.formats.grids import grid_lines, paragraphs
from coverage_eval.tables.mapped import Mapped
from coverage_eval.tables.printout import Printout, Style
from coverage_eval.tables.table import Cell, Measured, Table


def render(printout: Printout, style: Style) -> Iterator[str]:
    """Titles in bold, tables, then notes and signatures as a list."""
    title = [[_bold(escape_markdown(printout.title))]] if printout.title else []
    tables = (part for table in printout.tables for part in _table(table, style.digits))
    return paragraphs(chain(title, tables))


def escape_markdown(text: str) -> str:
    """Text without a meaning in Markdown or HTML; the bar is left to the table's own escaping."""
    return re.sub(r"([\\`*_<\[\]#&~])", r"\\\1", escape_controls(text))


def _table(table: Table, digits: int) -> Iterator[Iterable[str]]:
    """Title, rows and notes, as far as they are there."""
    table, columns = without_empty_columns(table, survey(table))
    notes = map(escape_markdown, notes_with_mark(table, columns, "Bold: best figure."))
    signatures = [f"`{text}`" for text in table.signatures]
    if table.title:
        yield [_bold(escape_markdown(table.title))]
    if table.header:
        yield _grid(table, columns, digits)
    if lines := [f"- {line}" for line in [*notes, *signatures]]:
        yield lines


def _bold(text: str) -> str:
    return f"**{text}**"


def _grid(table: Table, columns: list[ColumnContent], digits: int) -> Iterator[str]:
    header = [_bar(escape_markdown(name)) for name in table.header]
    rows = Mapped(lambda row: [_cell(cell, digits) for cell in row], table.rows)
    return grid_lines(header, rows, "github", [column.side for column in columns])


def _cell(cell: Cell, digits: int) -> str:
    lines = cell_lines(cell, digits)
    if isinstance(cell, Measured):
        return "<br>".join([_bold(lines[0]) if cell.best else lines[0], *lines[1:]])
    return "<br>".join(_bar(escape_markdown(line)) for line in lines)


def _bar(text: str) -> str:
    return text.replace("|", "\\|")
