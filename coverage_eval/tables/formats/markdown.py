"""Tables as Markdown, for web pages and notebooks."""

from __future__ import annotations

import re

from coverage_eval.tables.formats.cells import (
    cell_lines,
    escape_controls,
    is_numeric,
    notes_with_mark,
    without_empty_columns,
)
from coverage_eval.tables.printout import Printout, Style
from coverage_eval.tables.table import Cell, Measured, Table

__all__ = ["escape_markdown", "render"]


def render(printout: Printout, style: Style) -> str:
    """Titles in bold, tables, then notes and signatures as a list."""
    title = [_bold(escape_markdown(printout.title))] if printout.title else []
    return "\n\n".join([*title, *(_table(table, style.digits) for table in printout.tables)])


def escape_markdown(text: str) -> str:
    """Text without a meaning in Markdown or HTML; the bar is left to the table's own escaping."""
    return re.sub(r"([\\`*_<\[\]#&~])", r"\\\1", escape_controls(text))


def _table(table: Table, digits: int) -> str:
    notes = [escape_markdown(note) for note in notes_with_mark(table, "Bold: best figure.")]
    signatures = [f"`{text}`" for text in table.signatures]
    parts = [
        _bold(escape_markdown(table.title)) if table.title else "",
        _grid(without_empty_columns(table), digits),
        "\n".join(f"- {line}" for line in [*notes, *signatures]),
    ]
    return "\n\n".join(part for part in parts if part)


def _bold(text: str) -> str:
    return f"**{text}**"


def _grid(table: Table, digits: int) -> str:
    if not table.header:
        return ""
    from tabulate import tabulate

    columns = range(len(table.header))
    return tabulate(
        [[_cell(cell, digits) for cell in row] for row in table.rows],
        headers=[_bar(escape_markdown(name)) for name in table.header],
        tablefmt="github",
        disable_numparse=True,
        colalign=["right" if is_numeric(table, i) else "left" for i in columns]
        if table.rows else None,
    )  # fmt: skip


def _cell(cell: Cell, digits: int) -> str:
    lines = cell_lines(cell, digits)
    if isinstance(cell, Measured):
        return "<br>".join([_bold(lines[0]) if cell.best else lines[0], *lines[1:]])
    return "<br>".join(_bar(escape_markdown(line)) for line in lines)


def _bar(text: str) -> str:
    return text.replace("|", "\\|")
