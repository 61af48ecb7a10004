"""Tables as text, with colours on a terminal.

No name and no number is ever cut: texts are wrapped, and a table that is still too wide has its
names, or all its cells, on lines of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from rich import get_console
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from coverage_eval.core.show.table import (
    Cell,
    Kinds,
    Printable,
    ScoreCell,
    Style,
    Table,
    apart,
    cell_lines,
    escape_controls,
    notes_with_marks,
    pad,
    side,
    without_empty_columns,
)

_GAP = "  "
"""Between columns, and before figures below a name."""

_MIN_WIDTH = 10
"""No column of text is wrapped to fewer characters, unless its texts are shorter."""

_MAX_WORD_SHARE = 0.5
"""A word longer than this share of the width may be broken."""

Line = tuple[str, str]
"""A line of a cell, and how a terminal shows it, such as ``bold red``."""


def render_text(printable: Printable, style: Style) -> Iterator[str]:
    """Titles, tables, notes and signatures, separated by empty lines.

    On a console, a score significantly better than the baseline's is green and a worse one red;
    so are words in brackets in notes that show segments.
    """
    if style.score_only:
        yield from printable.figures(style.digits)
        return
    parts = (part for table in printable.titled for part in _text_parts(table, style))
    for line in apart(parts):
        yield _coloured(line, style.console) if style.console else str(line).rstrip()


def _coloured(line: str | Text, console: Console) -> str:
    with console.capture() as captured:
        console.print(line, end="", soft_wrap=True)  # it fits, or is to be copied whole
    return captured.get()


def _text_parts(table: Table, style: Style) -> Iterator[Iterable[str | Text]]:
    """Title, rows, notes and signatures, each if there are any."""
    if table.lines:
        yield [
            Text(f"{signature} = {cell.format(style.digits)}")
            for signature, row in zip(table.signatures, table.rows, strict=True)
            for cell in row
            if isinstance(cell, ScoreCell)
        ]
        return
    table, columns = without_empty_columns(table)
    if table.title:
        yield _wrapped(_text(table.title, "bold"), style)
    if table.header:
        lines = _grid(table, columns, style)
        if style.console:
            yield (Text(_GAP).join(Text(*part) for part in line) for line in lines)
        else:
            yield (_GAP.join(text for text, _ in line) for line in lines)
    notes = [
        _text(note, "dim" if table.header else "")
        for note in notes_with_marks(table, columns, bold=style.console is not None)
    ]
    for note in notes if not table.header else ():
        note.highlight_regex(r"\[[^\]]+\]", "bold red")
    if notes:
        yield [line for note in notes for line in _wrapped(note, style)]
    if table.signatures:
        yield [_text(signature, "dim") for signature in table.signatures]


def _text(text: str, look: str = "") -> Text:
    return Text(escape_controls(text), look)


def _wrapped(text: Text, style: Style) -> Iterable[Text]:
    """A wrapped paragraph; a line that starts with a space is an example to copy, and stays."""
    if style.columns is None or text.plain.startswith(" "):
        return [text]
    return text.wrap(get_console(), style.columns)


def _grid(table: Table, columns: Sequence[Kinds], style: Style) -> Iterator[Sequence[Line]]:
    """The names of the columns, dashes, and the rows; scores are above their intervals.

    In a table that is too wide, the text that begins a row is a line above the rest of it. If that
    does not help, every cell is a line behind the name of its column.
    """

    def rows() -> Iterator[list[list[Line]]]:
        yield [[(escape_controls(name), "bold")] for name in table.header]
        yield from ([_text_cell(cell, style.digits) for cell in row] for row in table.rows)

    natural, words = _measure(rows(), len(columns))
    width = style.columns or sum(natural) + len(_GAP) * len(natural)
    longest = int(width * _MAX_WORD_SHARE)
    least = [
        full if "number" in column else min(full, max(_MIN_WIDTH, min(word, longest)))
        for column, full, word in zip(columns, natural, words, strict=True)
    ]
    sides = ["left" if "score" in column else side(column) for column in columns]
    widths = _fit(natural, least, width)
    named = not widths and "text" in columns[0]
    if named:
        widths = _fit([0, *natural[1:]], [0, *least[1:]], width)
    if not widths:
        yield from _cell_by_cell(rows(), width)
        return
    for number, row in enumerate(rows()):
        if named:
            yield from ([line] for line in _wrap(row[0], width))
            row[0] = [("", "")]
        yield from _side_by_side(row, widths, sides)
        if number == 0:
            yield [("-" * width, "") for width in widths]


def _text_cell(cell: Cell, digits: int) -> list[Line]:
    first, *rest = cell_lines(cell, digits)
    look = ""
    if isinstance(cell, ScoreCell):
        look = "bold" if cell.best else ""
        if cell.significant:
            first += "*"
            if cell.better is not None:
                look += " green" if cell.better else " red"
    return [(first, look.strip()), *((line, "dim") for line in rest)]


def _measure(rows: Iterable[Sequence[Sequence[Line]]], columns: int) -> tuple[list[int], list[int]]:
    """The widest line and the widest word of each column."""
    natural, words = [0] * columns, [0] * columns
    for row in rows:
        for i, cell in enumerate(row):
            for line, _ in cell:
                if (width := cell_len(line)) > words[i]:
                    natural[i] = max(natural[i], width)
                    words[i] = max(words[i], *map(cell_len, line.split()))
    return natural, words


def _fit(natural: Sequence[int], least: Sequence[int], width: int) -> list[int] | None:
    """Widths of columns: wide ones share one limit, and no column is narrower than its least."""
    for limit in range(max(width, _MIN_WIDTH), _MIN_WIDTH - 1, -1):
        widths = [min(full, max(limit, low)) for full, low in zip(natural, least, strict=True)]
        if sum(widths) + len(_GAP) * (len(widths) - 1) <= width:
            return widths
    return None


def _side_by_side(
    cells: Sequence[list[Line]], widths: Sequence[int], sides: Sequence[str]
) -> Iterator[Sequence[Line]]:
    """The lines of a row, whose cells are wrapped to the widths of their columns."""
    wrapped = [_wrap(cell, width) for cell, width in zip(cells, widths, strict=True)]
    for level in zip_longest(*wrapped, fillvalue=("", "")):
        yield [
            (pad(text, width, side), look)
            for (text, look), width, side in zip(level, widths, sides, strict=True)
        ]


def _wrap(cell: list[Line], width: int) -> list[Line]:
    """The lines of a cell, none wider than this."""
    if all(cell_len(text) <= width for text, _ in cell):
        return cell
    return [
        (part.plain.rstrip(), look)
        for text, look in cell
        for part in Text(text).wrap(get_console(), width)
    ]


def _cell_by_cell(rows: Iterator[Sequence[list[Line]]], width: int) -> Iterator[Sequence[Line]]:
    """Each cell behind the name of its column, and an empty line between rows."""
    header = next(rows)
    label = max(cell_len(name) for ((name, _),) in header)
    widths = (label, max(1, width - label - len(_GAP)))
    for number, row in enumerate(rows):
        if number:
            yield []
        for name, cell in zip(header, row, strict=True):
            line = _GAP.join([text for text, _ in cell]), cell[0][1]
            yield from _side_by_side([name, [line]], widths, ("left", "left"))
