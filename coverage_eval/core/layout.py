"""A report as text and as Markdown: columns that are padded, and in text fit the window."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Any, TypeAlias

from coverage_eval.core.escapes import escape_controls
from coverage_eval.core.report import (
    SIGNIFICANT,
    Cell,
    ColumnTraits,
    Report,
    ScoreCell,
    Style,
    Table,
    format_number,
    format_p,
)

_GAP = "  "
"""Between columns of text."""

_MIN_WIDTH = 10
"""No column of text is wrapped to fewer characters, unless its texts are shorter."""

MAX_TALL = 5
"""Rows whose scores have their intervals and p-values on lines of their own."""

_IN_BRACKETS = r"\[[^\]]+\]"
"""Words with an error."""

_LABEL = re.compile(r"\S+(?: \S+)?\s{2,}")
"""What a line is of, such as ``source``, before its text."""

_FIGURE = "figure "
"""Before the look of a score, whose interval beside it is dim."""

Line: TypeAlias = "tuple[str, str]"
"""A line of a cell, and how a terminal shows it, such as ``bold red``."""


# What LaTeX and pages share


def cell_lines(cell: Cell, digits: int) -> list[str]:
    """A cell as text; below a score its interval, such as ``2.90–3.81``, and its p-value.

    Hidden characters are escaped; each format escapes its own special characters. Spaces at the
    edges are left out.
    """
    if isinstance(cell, float):
        return [format_number(cell, digits)]
    if not isinstance(cell, ScoreCell):
        return ["" if cell is None else escape_controls(str(cell)).strip()]
    digits = cell.digits(digits)
    lines = [format_number(cell.value, digits)]
    if cell.low is not None and cell.high is not None:
        low, high = format_number(cell.low, digits), format_number(cell.high, digits)
        dash = " – " if "-" in low + high else "–"
        lines.append(f"{low}{dash}{high}")
    if cell.p is not None:
        lines.append(format_p(cell.p))
    return lines


def column_alignment(column: ColumnTraits) -> str:
    """How a column is aligned: ``right`` if it has numbers and no text."""
    return "right" if "number" in column and "text" not in column else "left"


def legend(table: Table, *, star: bool = True, bold: bool = True) -> list[str]:
    """One sentence on the marks in a table, or none.

    Args:
        table: The table.
        star: Whether the format marks significant differences by a star.
        bold: Whether the format prints the best figures in bold.
    """
    kinds = set().union(*table.traits)
    sentences = []
    if star and "significant" in kinds:
        sentences.append(f"*: p < {SIGNIFICANT:g}.")
    if bold and "best" in kinds:
        cells = (cell for row in table.rows for cell in row)
        tested = any(isinstance(cell, ScoreCell) and cell.p is not None for cell in cells)
        sentences.append(f"Bold: best figure{', told from the next by a test' * tested}.")
    return [" ".join(sentences)] if sentences else []


# Text


def text(report: Report, style: Style) -> Iterator[str]:
    """Titles, tables, notes and signatures, separated by empty lines.

    On a console, a score significantly better than the baseline's is green and a worse one red;
    so are words in brackets in notes that show segments.
    """
    parts: list[Iterable[str]] = []
    if report.title:
        parts.append(_paragraph(report.title, style, "bold"))
    shown = [table for table in report.tables if "text" in table.formats]
    for table in shown:
        if table.as_score_lines:
            parts.append(_score_lines(table, style))
        else:
            parts += _parts_of(table, style)
    for number, part in enumerate(parts):
        if number:
            yield ""
        yield from part


def _score_lines(table: Table, style: Style) -> list[str]:
    """Scores without a table: ``signature = score``, or on a terminal the score, then the rest."""
    lines = []
    for (name, *cells), signature in zip(table.rows, table.signatures, strict=True):
        (score,) = (cell for cell in cells if isinstance(cell, ScoreCell))
        if style.is_terminal:
            figure, *interval = cell_lines(score, style.digits)
            ends = [f"95% {line}" for line in interval]
            lines.append(_coloured("   ".join([f"{name} {figure}", *ends]), "bold", style))
            lines += _signature_lines(signature, style)
        else:
            lines.append(f"{escape_controls(signature)} = {score.format(style.digits)}")
    return lines


def _signature_lines(signature: str, style: Style) -> list[str]:
    """A signature; in a window in lines that fit, which end behind a setting."""
    room = style.width if style.is_terminal else None
    lines = [""]
    for setting in re.split(r"(?<=\|)", escape_controls(signature)):
        if lines[-1] and room is not None and width_of(lines[-1] + setting) > room:
            lines.append("  ")
        lines[-1] += setting
    return [_coloured(line, "dim", style) for line in lines]


def _parts_of(table: Table, style: Style) -> Iterator[Iterable[str]]:
    """The title, the rows, the notes and the signatures of a table, if there are any."""
    if table.title:
        yield _paragraph(table.title, style, "bold")
    if table.header:
        yield _text_grid(table, style)
    notes = [*legend(table, bold=style.console is not None), *table.notes]
    if notes and table.header:
        yield [line for note in notes for line in _paragraph(note, style, "dim")]
    elif notes:  # the first is the headline of the others
        first, *rest = notes
        shown = _paragraph(first, style, "bold")
        yield shown + [line for note in rest for line in _paragraph(note, style, "", _IN_BRACKETS)]
    if table.signatures and style.signatures:
        yield [line for item in table.signatures for line in _signature_lines(item, style)]


def _paragraph(whole: str, style: Style, look: str, highlight: str = "") -> list[str]:
    """A wrapped paragraph; a line that starts with a space is an example to copy, and stays.

    Behind a label, such as ``source``, the lines below the first one are indented.

    Args:
        whole: The paragraph.
        style: The width, and the terminal if there is one.
        look: How a terminal shows it.
        highlight: What a terminal shows in red: a regular expression.
    """
    whole = escape_controls(whole)
    is_whole = style.width is None or whole.startswith(" ") or width_of(whole) <= style.width
    if is_whole and not style.console:
        return [whole.rstrip()]
    from rich import get_console
    from rich.text import Text

    marked = Text(whole, look)
    if highlight:
        marked.highlight_regex(highlight, "bold red")
    if is_whole:
        return [_printed(marked, style)]
    label = _LABEL.match(whole)
    indent = label.end() if label else 0
    lines = marked[indent:].wrap(get_console(), (style.width or 0) - indent)
    heads = [marked[:indent], *[Text(" " * indent)] * (len(lines) - 1)]
    return [_printed(head + line, style) for head, line in zip(heads, lines, strict=True)]


def _coloured(line: str, look: str, style: Style) -> str:
    """A line as a terminal shows it; elsewhere as it is, without spaces at its end."""
    if not style.console:
        return line.rstrip()
    from rich.text import Text

    return _printed(Text(line, look), style)


def _printed(line: Any, style: Style) -> str:
    """What a terminal is sent for a line, a :class:`rich.text.Text`, without spaces at its end."""
    line.rstrip()
    if not style.console:
        plain: str = line.plain
        return plain
    with style.console.capture() as captured:
        style.console.print(line, end="", soft_wrap=True)  # it fits, or is to be copied whole
    shown: str = captured.get()
    return shown


def _text_grid(table: Table, style: Style) -> Iterator[str]:
    """The rows in columns; on a terminal with colours.

    Many scores have a line each, with their intervals; what is significant has its star.
    """
    are_many = len(table.rows) > MAX_TALL
    widths = [0] * len(table.header)  # of intervals that stand beside their scores
    for row in table.rows if are_many else ():
        for column, cell in enumerate(row):
            widths[column] = max(widths[column], len(_interval(cell, style.digits)))

    def lines(cell: Cell, column: int) -> list[Line]:
        figure, *below = cell_lines(cell, style.digits)
        if not isinstance(cell, ScoreCell):
            return [(figure, "")]
        colour = {True: "green", False: "red", None: ""}[cell.better if cell.significant else None]
        look = f"{_FIGURE}{'bold' if cell.best else ''} {colour}"
        # The stars stand behind the column of figures.
        figure += "*" if cell.significant else " " * ("significant" in table.traits[column])
        if not are_many:
            return [(figure, look), *((line, "dim") for line in below)]
        if width := widths[column]:
            figure += f"{_GAP}{_interval(cell, style.digits):>{width}}"
        return [(figure, look)]

    for line in _grid(table, table.shown_columns, lines, style.width):
        if style.console:
            from rich.text import Text

            yield _printed(Text(_GAP).join(map(_look_of, line)), style)
        else:
            yield _GAP.join(words for words, _ in line).rstrip()


def _look_of(piece: Line) -> Any:
    """A piece of a line as a :class:`rich.text.Text`: of a score, only the figure has its look."""
    from rich.text import Text

    words, look = piece
    if not look.startswith(_FIGURE):
        return Text(words, look)
    before, figure, behind = re.split(r"(\S+)", words, maxsplit=1)
    return Text.assemble(before, (figure, look.removeprefix(_FIGURE).strip()), (behind, "dim"))


def _interval(cell: Cell, digits: int) -> str:
    """The interval of a score, or nothing."""
    has_one = isinstance(cell, ScoreCell) and cell.low is not None
    return cell_lines(cell, digits)[1] if has_one else ""


# Markdown


def markdown(report: Report, style: Style) -> Iterator[str]:
    """Titles in bold, tables, then notes and signatures as a list."""
    for number, part in enumerate(_markdown_parts(report, style.digits)):
        if number:
            yield ""
        yield from part


def _markdown_parts(report: Report, digits: int) -> Iterator[Iterable[str]]:
    def lines(cell: Cell, _: int) -> list[Line]:
        first, *rest = cell_lines(cell, digits)
        if isinstance(cell, ScoreCell):
            return [("<br>".join([f"**{first}**" if cell.best else first, *rest]), "")]
        return [(_escape_markdown(first).replace("|", "\\|"), "")]

    if report.title:
        yield [f"**{_escape_markdown(report.title)}**"]
    shown = [table for table in report.tables if "markdown" in table.formats]
    for table in shown:
        if table.title:
            yield [f"**{_escape_markdown(table.title)}**"]
        if table.header:
            grid = _grid(table, table.shown_columns, lines)
            yield (f"| {' | '.join(words for words, _ in line)} |" for line in grid)
        items = [_escape_markdown(note) for note in (*legend(table, star=False), *table.notes)]
        items += [f"`{escape_controls(signature)}`" for signature in table.signatures]
        if items:
            yield [f"- {item}" for item in items]


def _escape_markdown(plain: str) -> str:
    """Escape the special characters of Markdown and HTML, except the bars between cells."""
    return re.sub(r"([\\`*_<\[\]#&~])", r"\\\1", escape_controls(plain))


# Columns


def width_of(line: str) -> int:
    """The columns that a line takes on a terminal."""
    if line.isascii():
        return len(line)
    from rich.cells import cell_len

    return cell_len(line)


def _grid(
    table: Table,
    columns: Sequence[int],
    lines: Callable[[Cell, int], list[Line]],
    room: int | None = None,
) -> Iterator[Sequence[Line]]:
    """The names of the columns, dashes, and the rows; scores are above their intervals.

    No name and no number is ever cut: texts are wrapped, and a table that is still too wide is
    printed as two, of half its columns each, below the first column, which both have.

    Args:
        table: The table.
        columns: The columns that are shown, by index.
        lines: Makes the lines of a cell, whose column is given.
        room: Columns of the terminal; None for lines of any length.
    """
    widths, gaps = _fit(table, columns, lines, room), len(_GAP) * (len(columns) - 1)
    if room is not None and sum(widths) + gaps > room and len(columns) > 2:
        half = len(columns) // 2 + 1
        yield from _grid(table, columns[:half], lines, room)
        yield []
        yield from _grid(table, [columns[0], *columns[half:]], lines, room)
        return
    sides = [column_alignment(table.traits[i]) for i in columns]
    for number, row in enumerate(_cells(table, columns, lines)):
        for level in zip_longest(*map(_wrap, row, widths), fillvalue=("", "")):
            line = []
            for (words, look), width, where in zip(level, widths, sides, strict=True):
                spaces = " " * (width - width_of(words))
                line.append((spaces + words if where == "right" else words + spaces, look))
            yield line
        if number == 0:
            yield [("-" * width, "") for width in widths]


def _cells(
    table: Table, columns: Sequence[int], lines: Callable[[Cell, int], list[Line]]
) -> Iterator[list[list[Line]]]:
    """The lines of each cell: first of the names of columns, then row by row."""
    yield [[(words, "bold") for words, _ in lines(table.header[i], i)] for i in columns]
    for row in table.rows:
        yield [lines(row[i], i) for i in columns]


def _fit(
    table: Table,
    columns: Sequence[int],
    lines: Callable[[Cell, int], list[Line]],
    room: int | None,
) -> list[int]:
    """The widths of columns, so narrow that they fit, if that cuts no word and no number."""
    natural, words = [0] * len(columns), [0] * len(columns)
    gaps = len(_GAP) * (len(columns) - 1)
    for row in _cells(table, columns, lines):
        for column, cell in enumerate(row):
            for line, _ in cell:
                natural[column] = max(natural[column], width_of(line))
                words[column] = max(words[column], *map(width_of, line.split()), 0)
    if room is None or sum(natural) + gaps <= room:
        return natural
    narrowest = [  # a word that is longer than half of the room may be broken
        full if "number" in table.traits[i] else min(full, max(_MIN_WIDTH, min(word, room // 2)))
        for i, full, word in zip(columns, natural, words, strict=True)
    ]
    for limit in range(max(room, _MIN_WIDTH), _MIN_WIDTH, -1):
        widths = [min(full, max(limit, low)) for full, low in zip(natural, narrowest, strict=True)]
        if sum(widths) + gaps <= room:
            return widths
    return [min(full, max(_MIN_WIDTH, low)) for full, low in zip(natural, narrowest, strict=True)]


def _wrap(cell: list[Line], width: int) -> list[Line]:
    """The lines of a cell, none wider than this."""
    if all(width_of(words) <= width for words, _ in cell):
        return cell
    from rich import get_console
    from rich.text import Text

    console = get_console()
    return [(part.plain, look) for words, look in cell for part in Text(words).wrap(console, width)]
