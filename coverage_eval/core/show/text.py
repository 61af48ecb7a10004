"""Tables as text, with colours on a terminal, and as Markdown for web pages and notebooks.

No name and no number is ever cut: texts are wrapped, and columns that do not fit are printed below.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, zip_longest

from rich import get_console
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from coverage_eval.core.show.table import (
    SYSTEM_COLOURS,
    Cell,
    ColumnContent,
    Printable,
    ScoreCell,
    Style,
    Table,
    cell_lines,
    escape_controls,
    notes_with_marks,
    without_empty_columns,
)

_GAP = 2
"""Spaces between columns."""

_MIN_WIDTH = 10
"""No column of text is wrapped to fewer characters, unless its texts are shorter."""

_MAX_WORD_SHARE = 0.5
"""A word longer than this share of the width may be broken."""


Line = tuple[str, str]
"""A line of a cell, and how a terminal shows it, such as ``bold red``."""

_DOT = "● "
"""Before the name of a system on a terminal, in the system's colour."""


def render_text(printable: Printable, style: Style) -> Iterator[str]:
    """Titles, tables, notes and signatures, separated by empty lines.

    On a console, a score significantly better than the baseline's is green and a worse one red;
    so are words in brackets in notes that show segments.
    """
    if style.score_only:
        for cell in printable.figures():
            if isinstance(cell, ScoreCell):
                yield cell.format(style.digits)
            else:
                yield cell_lines(cell, style.digits)[0]
        return
    title = [_wrapped(_text(printable.title, "bold"), style)] if printable.title else []
    tables = (part for table in printable.tables for part in _text_parts(table, style))
    for number, part in enumerate(chain(title, tables)):
        if number:
            yield ""
        for line in part:
            yield _coloured(line, style.console) if style.console else str(line).rstrip()


def _coloured(line: str | Text, console: Console) -> str:
    with console.capture() as captured:
        console.print(line, end="", soft_wrap=True)  # it fits, or is to be copied whole
    return captured.get()


def _text_parts(table: Table, style: Style) -> Iterator[Iterable[str | Text]]:
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
        yield _wrapped(_text(table.title, "bold"), style)
    if table.header:
        yield from _text_grids(table, columns, style)
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


def _text_grids(
    table: Table, columns: Sequence[ColumnContent], style: Style
) -> Iterator[Iterator[str | Text]]:
    """The table; if its columns do not fit even when wrapped, several grids one below another.

    Scores are aligned to the left, above their intervals.
    """
    of_systems = table.header[0] == "system" and any(column.scores for column in columns)

    def rows() -> Iterator[list[list[Line]]]:
        yield [[(escape_controls(name), "bold")] for name in table.header]
        for number, row in enumerate(table.rows):
            cells = [_text_cell(cell, style.digits) for cell in row]
            if of_systems and style.console:
                colour = SYSTEM_COLOURS[number % len(SYSTEM_COLOURS)]
                cells[0][0] = (_DOT + cells[0][0][0], "" if colour == "#000000" else colour)
            yield cells

    sides = ["left" if column.scores else column.side for column in columns]
    for block in _lay_out(table.header, columns, rows(), style.columns):
        shown = ([row[i] for i in block] for row in rows())
        lines = _grid(shown, list(block.values()), [sides[i] for i in block])
        yield (_assembled(line) if style.console else _joined(line) for line in lines)


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


def _joined(line: Iterable[Line]) -> str:
    return (" " * _GAP).join([text for text, _ in line])


def _assembled(line: Iterable[Line]) -> Text:
    """A line with its colours; that of a system is the colour of its dot alone."""
    shown = Text()
    for text, look in line:
        shown.append(" " * _GAP if shown else "")
        is_dotted = text.startswith(_DOT)
        shown.append(_DOT if is_dotted else text, look)
        shown.append(text.removeprefix(_DOT) if is_dotted else "")
    return shown


def _grid(
    rows: Iterable[Sequence[Sequence[Line]]], widths: Sequence[int], sides: Sequence[str]
) -> Iterator[list[Line]]:
    """Lines of cells as wide as their columns: the first row, dashes, then the other rows."""
    for number, row in enumerate(rows):
        cells = [_wrap(cell, width) for cell, width in zip(row, widths, strict=True)]
        for level in zip_longest(*cells, fillvalue=("", "")):
            yield [
                (_pad(text, width, side), look)
                for (text, look), width, side in zip(level, widths, sides, strict=True)
            ]
        if number == 0:
            yield [("-" * width, "") for width in widths]


def _wrap(cell: Sequence[Line], width: int) -> Sequence[Line]:
    """The lines of a cell, none wider than this."""
    if all(cell_len(text) <= width for text, _ in cell):
        return cell
    return [
        (part.plain.rstrip(), look)
        for text, look in cell
        for part in Text(text).wrap(get_console(), width)
    ]


def _pad(text: str, width: int, side: str) -> str:
    spaces = " " * (width - cell_len(text))
    return spaces + text if side == "right" else text + spaces


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


def _lay_out(
    header: Sequence[str],
    contents: Sequence[ColumnContent],
    rows: Iterable[Sequence[Sequence[Line]]],
    width: int | None,
) -> list[dict[int, int]]:
    """Blocks that are printed one below another: which columns, and how wide each of them is.

    Names of columns, names of rows, scores and numbers keep their width; texts are wrapped. The
    columns that name a row begin every block.

    Args:
        header: Names of the columns.
        contents: What the columns contain.
        rows: The cells as they are printed, with the names of columns.
        width: Characters that a line may have; None for lines of any length.
    """
    natural, words = _measure(rows, len(header))
    if width is None:
        return [dict(enumerate(natural))]
    limit = int(width * _MAX_WORD_SHARE)
    least = [
        full if content.numbers or content.labels else min(full, max(_MIN_WIDTH, min(word, limit)))
        for content, full, word in zip(contents, natural, words, strict=True)
    ]
    # A name that leaves no room for the widest number is broken at last.
    room = width - _GAP - max(least[1:], default=-_GAP)
    least[0] = min(least[0], max(room, _MIN_WIDTH))
    keys = header.index("system") + 1 if header[0] == "segment" and "system" in header else 1
    return [_fit(part, natural, least, width) for part in _side_by_side(least, width, keys)]


def _side_by_side(least: Sequence[int], width: int, keys: int) -> Iterator[list[int]]:
    """Groups of columns that fit; those that name a row are in every group, if they leave room."""
    widest = max(least[keys:], default=0)
    if sum(least[:keys]) + _GAP * keys + widest > width:
        keys = 1
    part = list(range(keys))
    for i in range(keys, len(least)):
        taken = sum(least[j] + _GAP for j in part) + least[i]
        if taken > width and len(part) > keys:
            yield part
            part = list(range(keys))
        part.append(i)
    yield part


def _fit(
    part: Sequence[int], natural: Sequence[int], least: Sequence[int], width: int
) -> dict[int, int]:
    """Widths of columns: wide ones share one limit, and no column is narrower than its least."""
    for limit in range(width, _MIN_WIDTH - 1, -1):
        widths = {i: min(natural[i], max(limit, least[i])) for i in part}
        if sum(widths.values()) + _GAP * (len(part) - 1) <= width:
            break
    return widths


def render_markdown(printable: Printable, style: Style) -> Iterator[str]:
    """Titles in bold, tables, then notes and signatures as a list."""
    title = [[f"**{_escape_markdown(printable.title)}**"]] if printable.title else []
    tables = (part for table in printable.tables for part in _markdown_parts(table, style.digits))
    for number, part in enumerate(chain(title, tables)):
        if number:
            yield ""
        yield from part


def _markdown_parts(table: Table, digits: int) -> Iterator[Iterable[str]]:
    """Title, rows, and a list of notes and signatures, each if there are any."""

    def rows() -> Iterator[list[list[Line]]]:
        yield [[(_escape_markdown(name).replace("|", "\\|"), "")] for name in table.header]
        for row in table.rows:
            yield [[(_markdown_cell(cell, digits), "")] for cell in row]

    table, columns = without_empty_columns(table)
    if table.title:
        yield [f"**{_escape_markdown(table.title)}**"]
    if table.header:
        widths, _ = _measure(rows(), len(columns))
        lines = _grid(rows(), widths, [column.side for column in columns])
        yield (f"| {' | '.join([text for text, _ in line])} |" for line in lines)
    notes = map(_escape_markdown, notes_with_marks(table, columns, star=False))
    if items := [*notes, *(f"`{text}`" for text in table.signatures)]:
        yield [f"- {item}" for item in items]


def _markdown_cell(cell: Cell, digits: int) -> str:
    lines = cell_lines(cell, digits)
    if isinstance(cell, ScoreCell):
        return "<br>".join([f"**{lines[0]}**" if cell.best else lines[0], *lines[1:]])
    return "<br>".join(_escape_markdown(line).replace("|", "\\|") for line in lines)


def _escape_markdown(text: str) -> str:
    """Escape the special characters of Markdown and HTML, except the bars between cells."""
    return re.sub(r"([\\`*_<\[\]#&~])", r"\\\1", escape_controls(text))
