"""What the formats for people share: cells as text, columns worth showing, hostile characters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from unicodedata import east_asian_width

from coverage_eval.tables.mapped import Mapped
from coverage_eval.tables.table import Cell, Measured, Named, Table, format_figure, format_p

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


def text_width(text: str) -> int:
    """Columns that text takes on a terminal: two for each East Asian character."""
    return sum(2 if east_asian_width(c) in "WF" else 1 for c in text)


@dataclass
class ColumnContent:
    """What is in a column of a table.

    Attributes:
        filled: There is something.
        numbers: There are numbers, or measured scores.
        texts: There are texts.
        names: There are names with remarks.
        measured: There are measured scores.
        intervals: Some of them have an interval or a p-value below them.
        best: One of them is the best.
    """

    filled: bool = False
    numbers: bool = False
    texts: bool = False
    names: bool = False
    measured: bool = False
    intervals: bool = False
    best: bool = False

    @property
    def side(self) -> str:
        """Where it is set: numbers alone to the right."""
        return "right" if self.numbers and not (self.texts or self.names) else "left"

    def add(self, cell: Cell) -> None:
        """Take up a cell."""
        if cell is None:
            return
        self.filled = self.filled or cell != ""
        self.texts = self.texts or isinstance(cell, str)
        self.names = self.names or isinstance(cell, Named)
        self.numbers = self.numbers or not isinstance(cell, (str, Named))
        if isinstance(cell, Measured):
            self.measured = True
            self.intervals = self.intervals or bool(cell.interval(0)) or cell.p is not None
            self.best = self.best or cell.best


def survey(table: Table) -> list[ColumnContent]:
    """What is in each column; rows, of which there may be many, are gone through once."""
    columns = [ColumnContent() for _ in table.header]
    for row in table.rows:
        for column, cell in zip(columns, row, strict=True):
            column.add(cell)
    return columns


def without_empty_columns(
    table: Table, columns: list[ColumnContent]
) -> tuple[Table, list[ColumnContent]]:
    """The table without columns in which no row has anything."""
    kept = [i for i, column in enumerate(columns) if column.filled or not table.rows]
    if len(kept) == len(columns):
        return table, columns
    header = tuple(table.header[i] for i in kept)
    rows = Mapped(lambda row: tuple(row[i] for i in kept), table.rows)
    return replace(table, header=header, rows=rows), [columns[i] for i in kept]


def notes_with_mark(table: Table, columns: list[ColumnContent], mark: str) -> list[str]:
    """The notes, the first of them what marks a best figure if there is one."""
    return [mark, *table.notes] if any(column.best for column in columns) else list(table.notes)
