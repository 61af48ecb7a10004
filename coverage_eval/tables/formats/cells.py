"""What the formats for people share: cells as text, columns worth showing, hostile characters."""

from __future__ import annotations

from dataclasses import replace

from coverage_eval.tables.table import Cell, Measured, Named, Table, format_figure, format_p

__all__ = [
    "cell_lines",
    "escape_controls",
    "escape_csv",
    "escape_json",
    "is_numeric",
    "notes_with_mark",
    "without_empty_columns",
]

_SHORT = (*range(0x20), *range(0x7F, 0xA0))
"""C0 and C1."""

_LONG = (
    *(0x2028, 0x2029),  # some programs take them for line ends
    *(0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)),  # Bidi_Control
    *range(0xD800, 0xE000),  # lone surrogates, which cannot be encoded
)

_CONTROLS = {
    **{code: f"\\x{code:02x}" for code in _SHORT},
    **{code: f"\\u{code:04x}" for code in _LONG},
}
_JSON_CONTROLS = {code: f"\\u{code:04x}" for code in (*_SHORT, *_LONG) if code >= 0x7F}
_CSV_CONTROLS = {code: text for code, text in _CONTROLS.items() if chr(code) not in "\t\n\r"}


def escape_controls(text: str) -> str:
    """Control characters as ``\\x1b``: they break rows, command a terminal, or turn its text."""
    return text.translate(_CONTROLS)


def escape_json(text: str) -> str:
    """JSON as the same JSON without control characters, which are in strings only."""
    return text.translate(_JSON_CONTROLS)


def escape_csv(text: str) -> str:
    """As :func:`escape_controls`, but for those that CSV quotes."""
    return text.translate(_CSV_CONTROLS)


def cell_lines(cell: Cell, digits: int) -> list[str]:
    """A cell as text: the figure or the name, then what stands below it in small print.

    Control characters are escaped; what else has a meaning in a format is left to that format.
    """
    if isinstance(cell, Measured):
        p = [] if cell.p is None else [format_p(cell.p)]
        return [format_figure(cell.value, digits), *cell.interval(digits), *p]
    if isinstance(cell, Named):
        return [escape_controls(cell.name), escape_controls(cell.remark)]
    if isinstance(cell, float):
        return [format_figure(cell, digits)]
    return ["" if cell is None else escape_controls(str(cell))]


def without_empty_columns(table: Table) -> Table:
    """The table without columns in which no row has anything."""
    kept = [
        i
        for i in range(len(table.header))
        if not table.rows or any(row[i] not in {None, ""} for row in table.rows)
    ]
    return replace(
        table,
        header=tuple(table.header[i] for i in kept),
        rows=tuple(tuple(row[i] for i in kept) for row in table.rows),
    )


def is_numeric(table: Table, column: int) -> bool:
    """Whether a column has numbers and no text; it is then set to the right."""
    cells = [row[column] for row in table.rows if row[column] is not None]
    return bool(cells) and not any(isinstance(cell, (str, Named)) for cell in cells)


def notes_with_mark(table: Table, mark: str) -> list[str]:
    """The notes, the first of them what marks a best figure if there is one."""
    cells = (cell for row in table.rows for cell in row)
    marked = any(isinstance(cell, Measured) and cell.best for cell in cells)
    return [mark, *table.notes] if marked else list(table.notes)
