"""Tables as values, which :mod:`coverage_eval.core.show.formats` prints, and as Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import asdict, dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

T = TypeVar("T")


SIGNIFICANT = 0.05
"""Tables and pictures mark a difference whose p-value is below this, and sentences call it real."""


SYSTEM_COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000",
    "#8A3FFC", "#8C564B", "#808A00",
)  # fmt: skip
"""The colours of systems, in their order, in pictures and reports: the palette of Okabe and Ito,
whose colours stay distinct under the common forms of colour blindness, and three more for up to ten
systems."""


def format_figure(value: float, digits: int = 2) -> str:
    """A number with ``digits`` digits after the decimal point; zero never has a sign."""
    return f"{round(value, digits) + 0.0:.{digits}f}"


def format_p(value: float) -> str:
    """A p-value as tables show it: ``p = 0.012``, ``p < 0.001``.

    One just below the threshold gets more digits, such as ``p = 0.0496``, so that its star is true.
    """
    if value < 0.0005:
        return "p < 0.001"
    digits = 3
    while value < SIGNIFICANT <= round(value, digits):
        digits += 1
    return f"p = {value:.{digits}f}"


@dataclass(frozen=True)
class ScoreCell:
    """A score as one cell of a table.

    Attributes:
        value: The score, in the unit that the table shows.
        low: Lower end of its confidence interval, if it has one.
        high: Upper end of the interval.
        p: p-value of the test against a baseline, if there was one.
        best: Whether no other row is better.
        better: Whether it is better than the baseline's; None if that is unknown.
    """

    value: float
    low: float | None = None
    high: float | None = None
    p: float | None = None
    best: bool = False
    better: bool | None = None

    @property
    def significant(self) -> bool:
        """Whether the test found a difference from the baseline."""
        return self.p is not None and self.p < SIGNIFICANT

    def format(self, digits: int = 2) -> str:
        """The score and its interval on one line, such as ``3.37 [2.90, 3.81]``."""
        ends = [format_figure(end, digits) for end in (self.low, self.high) if end is not None]
        return format_figure(self.value, digits) + (f" [{', '.join(ends)}]" if ends else "")

    def small_print(self, digits: int) -> list[str]:
        """What stands below the score: the interval, such as ``2.90–3.81``, and the p-value."""
        ends = [format_figure(end, digits) for end in (self.low, self.high) if end is not None]
        interval = (" – " if "-" in "".join(ends) else "–").join(ends)
        return [*([interval] if ends else []), *([] if self.p is None else [format_p(self.p)])]


Cell: TypeAlias = "str | int | float | ScoreCell | None"
"""None is an undefined figure: an empty cell, and null in JSON."""


class LazyRows(Sequence[T]):
    """Rows computed on demand: a function of the items of other sequences.

    >>> rows = LazyRows(lambda number, word: (number, word.upper()), range(1, 3), ["a", "b"])
    >>> list(rows), rows[-1], len(rows)
    ([(1, 'A'), (2, 'B')], (2, 'B'), 2)

    Args:
        function: Takes an item of each sequence.
        sequences: At least one, all of one length; arrays are allowed.
    """

    def __init__(self, function: Callable[..., T], *sequences: Any) -> None:
        self._function = function
        self._sequences = sequences

    def __len__(self) -> int:
        return len(self._sequences[0])

    def __iter__(self) -> Iterator[T]:
        return map(self._function, *self._sequences)

    def __getitem__(self, index: Any) -> Any:
        items = [sequence[index] for sequence in self._sequences]
        if isinstance(index, slice):
            return list(map(self._function, *items))
        return self._function(*items)


@dataclass(frozen=True)
class Table:
    """Rows under a header, with the notes that a reader needs.

    Attributes:
        header: Names of the columns.
        rows: The cells of each row, one for each column; :class:`LazyRows` keep a long table out of
            memory. A table without columns has only a title and notes.
        title: What the table shows; printed above it.
        name: Its name in JSON, where there are several tables.
        notes: Sentences printed below it.
        signatures: The settings behind the scores: one signature for all rows, one for each row,
            or one for each column of scores.
        caption: The first sentence of its caption in LaTeX.
        lines: Whether text shows each row as one line: its signature and its score.
    """

    header: tuple[str, ...]
    rows: Sequence[tuple[Cell, ...]]
    title: str = ""
    name: str = ""
    notes: tuple[str, ...] = ()
    signatures: tuple[str, ...] = ()
    caption: str = ""
    lines: bool = False

    def to_frame(self) -> pd.DataFrame:
        """The rows as a data frame."""
        import pandas as pd

        return pd.DataFrame(list(self.rows), columns=pd.Index(self.header))

    def _repr_markdown_(self) -> str:
        """The table as a notebook shows it."""
        return "\n".join(render_markdown(Printable((self,)), Style()))


@dataclass(frozen=True)
class Printable:
    """What a command prints in the format of the user's choice.

    Attributes:
        tables: Tables for people: text, LaTeX and Markdown.
        title: The title of all tables together.
        records: The table for CSV, with every figure in its own unit; by default the only table.
        data: Plain values for JSON; by default the rows of the tables by column name.
        numbers: The figures that ``--score-only`` prints, one per line; by default all of them.
        signatures: The settings behind the scores, where the table for CSV has no place for them.
    """

    tables: tuple[Table, ...]
    title: str = ""
    records: Table | None = None
    data: Any = None
    numbers: Sequence[Cell] | None = None
    signatures: tuple[str, ...] = ()

    @property
    def titled(self) -> tuple[Table, ...]:
        """The tables, and before them one that is only their title."""
        return (*([Table((), (), self.title)] if self.title else []), *self.tables)

    def as_table(self) -> Table:
        """The table of CSV.

        Raises:
            ValueError: There are several tables.
        """
        if self.records is None and len(self.tables) != 1:
            raise ValueError("CSV holds one table; choose another format for several tables")
        return self.records or self.tables[0]

    def as_data(self) -> Any:
        """The plain values of JSON: a list of rows, or all tables with their notes."""
        if self.data is not None:
            return self.data
        if len(self.tables) == 1:
            return list(rows_as_dicts(self.tables[0]))
        return {"title": self.title, "tables": tables_as_dicts(self.tables)}

    def figures(self, digits: int) -> Iterator[str]:
        """The numbers alone: scores as the tables show them, without counts."""
        cells = (cell for table in self.tables for row in table.rows for cell in row)
        scores = (cell for cell in cells if isinstance(cell, (float, ScoreCell)))
        for cell in scores if self.numbers is None else self.numbers:
            if isinstance(cell, ScoreCell):
                yield cell.format(digits)
            else:
                yield cell_lines(cell, digits)[0]


def tables_as_dicts(tables: Sequence[Table]) -> list[dict[str, Any]]:
    """Tables as plain values; empty names, notes and signatures are left out."""
    return [
        {
            **({"name": table.name} if table.name else {}),
            "title": table.title,
            "rows": list(rows_as_dicts(table)),
            **({"notes": list(table.notes)} if table.notes else {}),
            **({"signatures": list(table.signatures)} if table.signatures else {}),
        }
        for table in tables
    ]


def rows_as_dicts(table: Table) -> Sequence[dict[str, Any]]:
    """The rows by column name as plain values, computed on demand."""

    def plain(cell: Cell) -> Any:
        if isinstance(cell, ScoreCell):
            return {name: value for name, value in asdict(cell).items() if name != "better"}
        return cell

    return LazyRows(lambda row: dict(zip(table.header, map(plain, row), strict=True)), table.rows)


@dataclass(frozen=True)
class Style:
    """How tables are shown.

    Attributes:
        digits: Digits after the decimal point in the formats for people.
        columns: Width that text must fit; None for lines of any length.
        score_only: Whether text shows only the numbers.
        console: The terminal that text is coloured for; None for no colours.
    """

    digits: int = 2
    columns: int | None = None
    score_only: bool = False
    console: Console | None = None


_HIDDEN = (
    *(*range(0x20), *range(0x7F, 0xA0), 0xAD),  # C0 and C1, and the soft hyphen
    *(0x2028, 0x2029),  # some programs treat them as line ends
    *(0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)),  # Bidi_Control
    *(0x180E, 0x200B, *range(0x2060, 0x2066), 0xFEFF),  # invisible
    *range(0xFFF9, 0xFFFC),  # annotations
    *range(0xD800, 0xE000),  # lone surrogates, which cannot be encoded
    *range(0xE0000, 0xE0080),  # invisible letters that a program may still read
)
"""Without U+200C and U+200D, which Persian, Hindi and emoji need."""

_CONTROLS = {
    code: f"\\x{code:02x}" if code < 0x100 else ascii(chr(code)).strip("'") for code in _HIDDEN
}
_CSV_CONTROLS = {code: text for code, text in _CONTROLS.items() if chr(code) not in "\t\n\r"}


def spell_utf16(text: str) -> str:
    """Every character as JSON writes it, ``\\u202e``, and those above U+FFFF as two halves."""
    units = text.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4))


_JSON_CONTROLS = {code: spell_utf16(chr(code)) for code in _CONTROLS if code >= 0x7F}


def escape_controls(text: str) -> str:
    """Show control characters as ``\\x1b``: they break rows, steer terminals, and hide text."""
    return text if text.isprintable() else text.translate(_CONTROLS)


def escape_json(text: str) -> str:
    """Escape control characters of a JSON text; they occur only in its strings."""
    return text if text.isprintable() else text.translate(_JSON_CONTROLS)


def escape_csv(text: str) -> str:
    """As :func:`escape_controls`, without the characters that CSV quotes."""
    return text if text.isprintable() else text.translate(_CSV_CONTROLS)


def cell_lines(cell: Cell, digits: int) -> list[str]:
    """A cell as text, then the lines in small print below it.

    Control characters are escaped; each format escapes its own special characters. Spaces at the
    edges are left out.
    """
    if isinstance(cell, ScoreCell):
        return [format_figure(cell.value, digits), *cell.small_print(digits)]
    if isinstance(cell, float):
        return [format_figure(cell, digits)]
    return ["" if cell is None else escape_controls(str(cell)).strip()]


Kinds = Set[str]
"""What a column has: ``text``, ``number``, ``score``, ``best``, and ``significant`` scores."""


def survey(table: Table) -> list[Kinds]:
    """What each column has, from one pass over the rows; nothing if all its cells are empty."""
    columns: list[set[str]] = [set() for _ in table.header]
    for row in table.rows:
        for kinds, cell in zip(columns, row, strict=True):
            if isinstance(cell, ScoreCell):
                marks = {"best": cell.best, "significant": cell.significant}
                kinds.update(("number", "score"), (name for name, is_so in marks.items() if is_so))
            elif cell is not None and cell != "":
                kinds.add("text" if isinstance(cell, str) else "number")
    return list(columns)


def side(column: Kinds) -> str:
    """How a column is aligned: ``right`` if it has only numbers, else ``left``."""
    return "right" if "number" in column and "text" not in column else "left"


def without_empty_columns(table: Table) -> tuple[Table, list[Kinds]]:
    """The table without its empty columns, and what the other columns have."""
    columns = survey(table)
    kept = [i for i, column in enumerate(columns) if column or not table.rows]
    if len(kept) == len(columns):
        return table, columns
    header = tuple(table.header[i] for i in kept)
    rows = LazyRows(lambda row: tuple(row[i] for i in kept), table.rows)
    return replace(table, header=header, rows=rows), [columns[i] for i in kept]


def notes_with_marks(
    table: Table, columns: Sequence[Kinds], *, star: bool = True, bold: bool = True
) -> list[str]:
    """The notes, after a legend of the marks in the table.

    Args:
        table: The table.
        columns: What its columns have.
        star: Whether the format marks significant differences by a star.
        bold: Whether the format prints the best figures in bold.
    """
    marks = []
    if star and any("significant" in column for column in columns):
        marks.append(f"*: p < {SIGNIFICANT:g}.")
    if bold and any("best" in column for column in columns):
        marks.append("Bold: best figure.")
    return [*([" ".join(marks)] if marks else []), *table.notes]


def apart(parts: Iterable[Iterable[T]]) -> Iterator[T | str]:
    """The lines of the parts, with an empty one between two parts."""
    for number, part in enumerate(parts):
        if number:
            yield ""
        yield from part


def pad(text: str, width: int, side: str) -> str:
    """Text with spaces to so many columns of a terminal, aligned to the ``left`` or ``right``."""
    from rich.cells import cell_len  # rich takes a tenth of a second

    spaces = " " * (width - cell_len(text))
    return spaces + text if side == "right" else text + spaces


def render_markdown(printable: Printable, style: Style) -> Iterator[str]:
    """Titles in bold, tables, then notes and signatures as a list."""
    tables = printable.titled
    return apart(part for table in tables for part in _markdown_parts(table, style.digits))


def _markdown_parts(table: Table, digits: int) -> Iterator[Iterable[str]]:
    """Title, rows, and a list of notes and signatures, each if there are any."""

    def rows() -> Iterator[list[str]]:
        return ([_markdown_cell(cell, digits) for cell in row] for row in table.rows)

    table, columns = without_empty_columns(table)
    if table.title:
        yield [f"**{_escape_markdown(table.title)}**"]
    if table.header:
        from rich.cells import cell_len

        names = [_markdown_cell(name, digits) for name in table.header]
        widths = list(map(cell_len, names))
        for row in rows():
            widths = list(map(max, widths, map(cell_len, row)))
        dashes = ["-" * width for width in widths]
        sides = [side(column) for column in columns]
        lines = chain([names, dashes], rows())
        yield (f"| {' | '.join(map(pad, row, widths, sides))} |" for row in lines)
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
