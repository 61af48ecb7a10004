"""Tables on a terminal, by rich: aligned, coloured, and no wider than the window."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from coverage_eval.core.show.layout import lay_out
from coverage_eval.core.show.table import (
    SYSTEM_COLOURS,
    Cell,
    Printable,
    RowLabel,
    ScoreCell,
    Table,
    cell_lines,
    escape_controls,
    notes_with_marks,
    without_empty_columns,
)

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

MAX_ROWS = 2000
"""Longer tables are printed as in a pipe, because rich lays out all rows together."""


def print_on_terminal(printable: Printable, digits: int, console: Console) -> None:
    """Print titles, tables, notes and signatures.

    A score significantly better than the baseline's is green, a worse one red. Words in brackets
    are red in notes that show segments.

    Args:
        printable: What to print.
        digits: Digits after the decimal point.
        console: Where to print it.
    """
    parts: list[RenderableType] = []
    if printable.title:
        parts.append(_text(printable.title, "bold"))
    for table in printable.tables:
        parts += _parts(table, digits, console.width)
    for number, part in enumerate(parts):
        if number:
            console.print()
        console.print(part, crop=False)


def _parts(table: Table, digits: int, width: int) -> Iterator[RenderableType]:
    from rich import box
    from rich.console import Group
    from rich.table import Table as Grid

    table, columns = without_empty_columns(table)
    if table.title:
        yield _text(table.title, "bold")
    if table.header:
        names = [_text(name) for name in table.header]
        of_systems = table.header[0] == "system" and any(column.scores for column in columns)
        rows = [[_cell(cell, digits) for cell in row] for row in table.rows]
        for number, row in enumerate(rows if of_systems else ()):
            row[0] = with_dot(row[0], number)
        plain = ([cell.plain for cell in row] for row in rows)
        for part, widths in lay_out([name.plain for name in names], columns, plain, width):
            grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
            for i, wide in zip(part, widths, strict=True):
                is_right = columns[i].side == "right" and not columns[i].scores
                grid.add_column(names[i], justify="right" if is_right else "left", width=wide,
                                overflow="fold")  # fmt: skip
            for row in rows:
                grid.add_row(*(row[i] for i in part))
            yield grid
    if table.header:
        notes = notes_with_marks(table, columns)
        signatures = [_text(line, "dim") for line in table.signatures]
        for signature in signatures:
            signature.no_wrap, signature.overflow = True, "ignore"  # to be copied whole
        if lines := [*(_text(line, "dim") for line in notes), *signatures]:
            yield Group(*lines)
    elif table.notes:
        yield Group(*(_marked(line) for line in table.notes))


def _text(text: str, style: str = "") -> Text:
    from rich.text import Text

    return Text(escape_controls(text), style)


def with_dot(name: Text, number: int) -> Text:
    """A system's name after a dot of its colour; the dot of black keeps the terminal's colour."""
    from rich.text import Text

    colour = SYSTEM_COLOURS[number % len(SYSTEM_COLOURS)]
    return Text().append("● ", "" if colour == "#000000" else colour).append_text(name)


def _marked(line: str) -> Text:
    """A line with the text in brackets in red."""
    shown = _text(line)
    for found in re.finditer(r"\[[^\]]+\]", shown.plain):
        shown.stylize("bold red", *found.span())
    return shown


def _cell(cell: Cell, digits: int) -> Text:
    first, *rest = cell_lines(cell, digits)
    if not isinstance(cell, (ScoreCell, RowLabel)):
        return _text(first)
    shown = _text(first)
    if isinstance(cell, ScoreCell):
        styles = ["bold"] if cell.best else []
        if cell.significant:
            shown.append("*")
            styles += [] if cell.better is None else ["green" if cell.better else "red"]
        shown.stylize(" ".join(styles))
    for line in rest:
        shown.append(f"\n{line}", "dim")
    return shown
