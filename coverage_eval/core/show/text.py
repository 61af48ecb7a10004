"""Tables as plain text, and as Markdown for web pages and notebooks, drawn by tabulate."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from textwrap import fill

from coverage_eval.core.show.layout import lay_out
from coverage_eval.core.show.table import (
    Cell,
    ColumnContent,
    LazyRows,
    Printable,
    ScoreCell,
    Style,
    Table,
    cell_lines,
    escape_controls,
    notes_with_marks,
    without_empty_columns,
)

_BESIDE_NAMES = 2
"""Characters that tabulate adds to the names of columns."""

_TOGETHER = 4096
"""Rows given to tabulate in one call; it copies each of them several times."""

_ABOVE = 2
"""Lines of a grid above its rows: the names of columns, and the line below them."""

Row = Sequence[str]


def render_text(printable: Printable, style: Style) -> Iterator[str]:
    """Titles, tables, notes and signatures, separated by empty lines."""
    if style.score_only:
        return (
            cell.format(style.digits)
            if isinstance(cell, ScoreCell)
            else cell_lines(cell, style.digits)[0]
            for cell in printable.figures()
        )
    title = [[_wrapped(printable.title, style.columns)]] if printable.title else []
    tables = (part for table in printable.tables for part in _text_parts(table, style))
    return _paragraphs(chain(title, tables))


def render_markdown(printable: Printable, style: Style) -> Iterator[str]:
    """Titles in bold, tables, then notes and signatures as a list."""
    title = [[f"**{_escape_markdown(printable.title)}**"]] if printable.title else []
    tables = (part for table in printable.tables for part in _markdown_parts(table, style.digits))
    return _paragraphs(chain(title, tables))


def _paragraphs(parts: Iterable[Iterable[str]]) -> Iterator[str]:
    """The lines of all parts, with an empty line between parts."""
    for number, part in enumerate(parts):
        if number:
            yield ""
        yield from part


def _text_parts(table: Table, style: Style) -> Iterator[Iterable[str]]:
    """Title, rows, notes and signatures, each if there are any."""
    if table.lines:
        yield [
            f"{signature} = {cell.format(style.digits)}"
            for signature, row in zip(table.signatures, table.rows, strict=True)
            for cell in row
            if isinstance(cell, ScoreCell)
        ]
        return
    table, columns = without_empty_columns(table)
    if table.title:
        yield [_wrapped(table.title, style.columns)]
    if table.header:
        yield from _text_grids(table, columns, style)
    if notes := notes_with_marks(table, columns, bold=False):
        yield [_wrapped(note, style.columns) for note in notes]
    if table.signatures:
        yield table.signatures


def _wrapped(text: str, columns: int | None) -> str:
    """A wrapped paragraph; a line that starts with a space is an example to copy, and stays."""
    text = escape_controls(text)
    return text if columns is None or text.startswith(" ") else fill(text, columns)


def _text_grids(
    table: Table, columns: Sequence[ColumnContent], style: Style
) -> Iterator[Iterator[str]]:
    """The table; if its columns do not fit even when wrapped, several grids one below another.

    Scores are aligned to the left, above their intervals.
    """
    header = [escape_controls(name) for name in table.header]
    cells = LazyRows(lambda row: [_text_cell(cell, style.digits) for cell in row], table.rows)
    sides = ["left" if column.scores else column.side for column in columns]
    if style.columns is None or not cells:
        yield _grid(header, cells, "simple", sides)
        return
    for part, widths in lay_out(header, columns, cells, style.columns, beside_names=_BESIDE_NAMES):
        yield _grid(
            [header[i] for i in part],
            [[row[i] for i in part] for row in cells],
            "simple",
            [sides[i] for i in part],
            widths,
        )


def _text_cell(cell: Cell, digits: int) -> str:
    first, *rest = cell_lines(cell, digits)
    star = "*" if isinstance(cell, ScoreCell) and cell.significant else ""
    return "\n".join([first + star, *rest])


def _markdown_parts(table: Table, digits: int) -> Iterator[Iterable[str]]:
    """Title, rows, and a list of notes and signatures, each if there are any."""
    table, columns = without_empty_columns(table)
    if table.title:
        yield [f"**{_escape_markdown(table.title)}**"]
    if table.header:
        header = [_escape_markdown(name).replace("|", "\\|") for name in table.header]
        rows = LazyRows(lambda row: [_markdown_cell(cell, digits) for cell in row], table.rows)
        yield _grid(header, rows, "github", [column.side for column in columns])
    notes = map(_escape_markdown, notes_with_marks(table, columns, star=False))
    if lines := [f"- {line}" for line in (*notes, *(f"`{text}`" for text in table.signatures))]:
        yield lines


def _markdown_cell(cell: Cell, digits: int) -> str:
    lines = cell_lines(cell, digits)
    if isinstance(cell, ScoreCell):
        return "<br>".join([f"**{lines[0]}**" if cell.best else lines[0], *lines[1:]])
    return "<br>".join(_escape_markdown(line).replace("|", "\\|") for line in lines)


def _escape_markdown(text: str) -> str:
    """Escape the special characters of Markdown and HTML, except the bars between cells."""
    return re.sub(r"([\\`*_<\[\]#&~])", r"\\\1", escape_controls(text))


def _grid(
    header: Row,
    rows: Sequence[Row],
    form: str,
    sides: Sequence[str],
    widths: Sequence[int] | None = None,
) -> Iterator[str]:
    """The lines of a table of text.

    Args:
        header: Names of the columns, each on one line.
        rows: Cells; long tables are read twice.
        form: A format of tabulate with two lines above the rows and none below.
        sides: ``left`` or ``right`` for each column.
        widths: Widths to wrap the columns to; None for lines of any length.
    """
    from tabulate import tabulate

    def grid(part: Sequence[Sequence[str | _Words]]) -> list[str]:
        return tabulate(
            part,
            headers=header,
            tablefmt=form,
            disable_numparse=True,
            colalign=sides if part else None,
            maxcolwidths=widths,
        ).split("\n")

    if widths is not None:
        yield from grid([[_Words(cell) for cell in row] for row in rows])
        return
    if len(rows) <= _TOGETHER:
        yield from grid(list(rows))
        return
    # A row of the widest cells ends each part, so all parts are equally wide; it is not printed.
    widest = _widest(rows)
    for first in range(0, len(rows), _TOGETHER):
        yield from grid([*rows[first : first + _TOGETHER], widest])[_ABOVE if first else 0 : -1]


class _Words:
    """A cell to wrap; of a string, tabulate would fail at "4,096" and print "False" as True."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text


def _widest(rows: Sequence[Row]) -> Row:
    """A row with the widest line of each column, as tabulate measures it."""
    from wcwidth import wcswidth

    found = [""] * len(rows[0])
    widths = [0] * len(found)
    for row in rows:
        for column, cell in enumerate(row):
            for line in cell.split("\n"):
                if (width := wcswidth(line)) > widths[column]:
                    found[column], widths[column] = line, width
    return found
