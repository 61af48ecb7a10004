"""Tables as values, and their forms for people and programs.

Text, Markdown and LaTeX round numbers and leave out empty columns; CSV and JSON do neither. A new
form is a function and a line in :data:`FORMATS`.

All CSV of this project is written here, by one rule: a cell that a spreadsheet would run as a
formula gets an apostrophe before it, and a cell with a comma, a quotation mark or any line end,
also a lone carriage return, is quoted. Numbers are written as they are, and half a character, which
UTF-8 cannot encode, as ``\\ud800``.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import chain, islice, zip_longest
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from rich import get_console
from rich.cells import cell_len
from rich.text import Text

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

T = TypeVar("T")


SIGNIFICANT = 0.05
"""Tables and pictures mark a difference whose p-value is below this, and sentences call it real."""


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

    def _ends(self, digits: int) -> list[str]:
        return [format_figure(end, digits) for end in (self.low, self.high) if end is not None]

    def format(self, digits: int = 2) -> str:
        """The score and its interval on one line, such as ``3.37 [2.90, 3.81]``."""
        ends = self._ends(digits)
        return format_figure(self.value, digits) + (f" [{', '.join(ends)}]" if ends else "")

    def small_print(self, digits: int) -> list[str]:
        """What stands below the score: the interval, such as ``2.90–3.81``, and the p-value."""
        ends = self._ends(digits)
        interval = (" – " if "-" in "".join(ends) else "–").join(ends)
        return [*([interval] if ends else []), *([] if self.p is None else [format_p(self.p)])]


Cell: TypeAlias = "str | int | float | ScoreCell | None"
"""None is an undefined figure: an empty cell, and null in JSON."""

Kinds: TypeAlias = Set[str]
"""What a column has: ``text``, ``number``, ``score``, ``best``, and ``significant`` scores."""


class LazyRows(Sequence[T]):
    """Rows computed on demand: a function of the items of other sequences.

    >>> rows = LazyRows(lambda number, word: (number, word.upper()), range(1, 3), ["a", "b"])
    >>> rows[:2], rows[-1], len(rows)
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
        numbers = range(len(self))[index]
        if isinstance(numbers, range):
            return [self[number] for number in numbers]
        return self._function(*(sequence[numbers] for sequence in self._sequences))


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

    @cached_property
    def kinds(self) -> Sequence[Kinds]:
        """What each column has; nothing if all its cells are empty."""
        columns: list[set[str]] = [set() for _ in self.header]
        for row in self.rows:
            for kinds, cell in zip(columns, row, strict=True):
                if isinstance(cell, ScoreCell):
                    kinds.update(("number", "score"), ["best"] * cell.best)
                    kinds.update(["significant"] * cell.significant)
                elif cell is not None and cell != "":
                    kinds.add("text" if isinstance(cell, str) else "number")
        return columns

    def select(self, kept: Sequence[int]) -> Table:
        """The table with some of its columns."""
        rows = LazyRows(lambda row: tuple(row[i] for i in kept), self.rows)
        return replace(self, header=tuple(self.header[i] for i in kept), rows=rows)

    def without_empty_columns(self) -> Table:
        """The table as people see it."""
        kept = [i for i, kinds in enumerate(self.kinds) if kinds or not self.rows]
        return self if len(kept) == len(self.header) else self.select(kept)

    def to_records(self) -> Sequence[dict[str, Any]]:
        """The rows by column name as plain values, computed on demand."""

        def plain(cell: Cell) -> Any:
            if isinstance(cell, ScoreCell):
                return {name: value for name, value in vars(cell).items() if name != "better"}
            return cell

        return LazyRows(lambda row: dict(zip(self.header, map(plain, row), strict=True)), self.rows)

    def to_dict(self) -> dict[str, Any]:
        """The table as plain values; an empty name, notes and signatures are left out."""
        plain = {"name": self.name, "title": self.title, "rows": list(self.to_records())}
        plain |= {"notes": list(self.notes), "signatures": list(self.signatures)}
        return {key: value for key, value in plain.items() if value or key in {"title", "rows"}}

    def to_frame(self) -> pd.DataFrame:
        """The rows as a data frame."""
        import pandas as pd

        return pd.DataFrame(list(self.rows), columns=pd.Index(self.header))

    def _repr_markdown_(self) -> str:
        """The table as a notebook shows it."""
        return render(Printable((self,)), "markdown")


@dataclass(frozen=True)
class Printable:
    """What a command prints in the format of the user's choice.

    Attributes:
        tables: Tables for people: text, LaTeX and Markdown.
        title: The title of all tables together.
        records: The table for CSV, with every figure in its own unit; by default the only table.
        data: Plain values for JSON; by default the rows of the tables by column name.
        numbers: The figures that ``--score-only`` prints, one per line; by default all scores.
        signatures: The settings behind the scores, where the table for CSV has no place for them.
    """

    tables: tuple[Table, ...]
    title: str = ""
    records: Table | None = None
    data: Any = None
    numbers: Sequence[Cell] | None = None
    signatures: tuple[str, ...] = ()

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
            return self.tables[0].to_records()
        return {"title": self.title, "tables": [table.to_dict() for table in self.tables]}

    def figures(self, digits: int) -> Iterator[str]:
        """The numbers alone: scores as the tables show them, without counts."""
        cells = (cell for table in self.tables for row in table.rows for cell in row)
        scores = (cell for cell in cells if isinstance(cell, (float, ScoreCell)))
        for cell in scores if self.numbers is None else self.numbers:
            yield (
                cell.format(digits) if isinstance(cell, ScoreCell) else cell_lines(cell, digits)[0]
            )


@dataclass(frozen=True)
class Style:
    """How tables are shown.

    Attributes:
        digits: Digits after the decimal point in the formats for people.
        columns: Width that text must fit; None for lines of any length.
        console: The terminal that text is coloured for; None for no colours.
    """

    digits: int = 2
    columns: int | None = None
    console: Console | None = None


def render(printable: Printable, output_format: str = "text", **style: Any) -> str:
    """The lines of :func:`render_lines` as one string, without a final line end."""
    return "\n".join(render_lines(printable, output_format, **style))


def render_lines(printable: Printable, output_format: str = "text", **style: Any) -> Iterator[str]:
    """Render what a command prints, line by line.

    Args:
        printable: What is printed.
        output_format: A name of :data:`FORMATS`.
        **style: Fields of :class:`Style`.

    Raises:
        ValueError: Several tables in a format that can hold only one, such as CSV; NaN in JSON.
    """
    return FORMATS[output_format](printable, Style(**style))


# Characters that no form prints as they are ----------------------------------

HIDDEN = (
    *(*range(0x20), *range(0x7F, 0xA0), 0xAD),  # C0 and C1, and the soft hyphen
    *(0x2028, 0x2029),  # some programs treat them as line ends
    *(0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)),  # Bidi_Control
    *(0x180E, 0x200B, *range(0x2060, 0x2066), 0xFEFF),  # invisible
    *range(0xFFF9, 0xFFFC),  # annotations
    *range(0xD800, 0xE000),  # lone surrogates, which cannot be encoded
    *range(0xE0000, 0xE0080),  # invisible letters that a program may still read
)
"""Without U+200C and U+200D, which Persian, Hindi and emoji need."""


def spell_utf16(text: str) -> str:
    """Every character as JSON writes it, ``\\u202e``, and those above U+FFFF as two halves."""
    units = text.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4))


_CONTROLS = {
    code: f"\\x{code:02x}" if code < 0x100 else ascii(chr(code)).strip("'") for code in HIDDEN
}
_CSV_CONTROLS = {code: text for code, text in _CONTROLS.items() if chr(code) not in "\t\n\r"}
_JSON_CONTROLS = {code: spell_utf16(chr(code)) for code in HIDDEN if code >= 0x7F}


def escape_controls(text: str) -> str:
    """Show control characters as ``\\x1b``: they break rows, steer terminals, and hide text."""
    return text if text.isprintable() else text.translate(_CONTROLS)


def escape_csv(text: str) -> str:
    """As :func:`escape_controls`, without the characters that CSV quotes."""
    return text if text.isprintable() else text.translate(_CSV_CONTROLS)


def escape_json(text: str) -> str:
    """Escape control characters of a JSON text; they occur only in its strings."""
    return text if text.isprintable() else text.translate(_JSON_CONTROLS)


# What the forms for people share ---------------------------------------------


def cell_lines(cell: Cell, digits: int) -> list[str]:
    """A cell as text, then the lines in small print below a score.

    Control characters are escaped; each format escapes its own special characters. Spaces at the
    edges are left out.
    """
    if isinstance(cell, ScoreCell):
        return [format_figure(cell.value, digits), *cell.small_print(digits)]
    if isinstance(cell, float):
        return [format_figure(cell, digits)]
    return ["" if cell is None else escape_controls(str(cell)).strip()]


def side(column: Kinds, left: Kinds = frozenset({"text"})) -> str:
    """How a column is aligned: ``right`` if it has numbers, and nothing that is on the left."""
    return "right" if "number" in column and not column & left else "left"


def legend(table: Table, *, star: bool = True, bold: bool = True) -> list[str]:
    """One sentence on the marks in a table, or none.

    Args:
        table: The table.
        star: Whether the format marks significant differences by a star.
        bold: Whether the format prints the best figures in bold.
    """
    kinds = set().union(*table.kinds)
    stars = [f"*: p < {SIGNIFICANT:g}."] if star and "significant" in kinds else []
    marks = [*stars, "Bold: best figure."] if bold and "best" in kinds else stars
    return [" ".join(marks)] if marks else []


def _apart(
    printable: Printable, parts: Callable[[Table], Iterator[Iterable[T]]]
) -> Iterator[T | str]:
    """The lines of the title and of all parts of tables, with an empty one between two parts."""
    tables = (Table((), (), printable.title), *printable.tables)
    for number, part in enumerate(filter(None, chain.from_iterable(map(parts, tables)))):
        if number:
            yield ""
        yield from part


# Text and Markdown: columns that are padded ----------------------------------

_GAP = "  "
"""Between columns of text."""

_MIN_WIDTH = 10
"""No column of text is wrapped to fewer characters, unless its texts are shorter."""

Line: TypeAlias = "tuple[str, str]"
"""A line of a cell, and how a terminal shows it, such as ``bold red``."""


def _widest(rows: Iterable[Iterable[Iterable[str]]]) -> list[int]:
    """The widest text of each column, whose cells hold any number of texts."""
    widths = ([max(map(cell_len, texts), default=0) for texts in row] for row in rows)
    return reduce(lambda one, other: list(map(max, one, other)), widths)


def _fits(widths: Sequence[int], room: int | None) -> bool:
    return room is None or sum(widths) + len(_GAP) * (len(widths) - 1) <= room


def _grid(
    table: Table,
    lines: Callable[[Cell], list[Line]],
    left: Kinds = frozenset({"text"}),
    room: int | None = None,
) -> Iterator[Sequence[Line]]:
    """The names of the columns, dashes, and the rows; scores are above their intervals.

    No name and no number is ever cut: texts are wrapped, and a table that is still too wide is
    printed as two, of half its columns each, below the first column, which both have.

    Args:
        table: The table.
        lines: Makes the lines of a cell.
        left: What makes a column stand on the left.
        room: Columns of the terminal; None for lines of any length.
    """

    def rows() -> Iterator[list[list[Line]]]:
        yield [[(text, "bold") for text, _ in lines(name)] for name in table.header]
        yield from (list(map(lines, row)) for row in table.rows)

    widths = natural = _widest(([text for text, _ in cell] for cell in row) for row in rows())
    if room is not None and not _fits(natural, room):
        words = _widest(
            ([word for text, _ in cell for word in text.split()] for cell in row) for row in rows()
        )
        least = [  # a word that is longer than half of the room may be broken
            full if "number" in column else min(full, max(_MIN_WIDTH, min(word, room // 2)))
            for column, full, word in zip(table.kinds, natural, words, strict=True)
        ]
        for limit in range(max(room, _MIN_WIDTH), _MIN_WIDTH - 1, -1):
            widths = [min(full, max(limit, low)) for full, low in zip(natural, least, strict=True)]
            if _fits(widths, room):
                break
    if not _fits(widths, room) and len(widths) > 2:
        half = len(widths) // 2 + 1
        yield from _grid(table.select(range(half)), lines, left, room)
        yield []
        yield from _grid(table.select([0, *range(half, len(widths))]), lines, left, room)
        return
    sides = [side(column, left) for column in table.kinds]
    for number, row in enumerate(rows()):
        for level in zip_longest(*map(_wrap, row, widths), fillvalue=("", "")):
            yield [
                (_pad(text, width, side), look)
                for (text, look), width, side in zip(level, widths, sides, strict=True)
            ]
        if number == 0:
            yield [("-" * width, "") for width in widths]


def _pad(text: str, width: int, side: str) -> str:
    spaces = " " * (width - cell_len(text))
    return spaces + text if side == "right" else text + spaces


def _wrap(cell: list[Line], width: int) -> list[Line]:
    """The lines of a cell, none wider than this."""
    if all(cell_len(text) <= width for text, _ in cell):
        return cell
    return [(part.plain, look) for text, look in cell for part in _wrapped(_text(text), width)]


def _text(text: str, look: str = "") -> Text:
    return Text(escape_controls(text), look)


def _wrapped(text: Text, width: int | None) -> Iterable[Text]:
    """A wrapped paragraph; a line that starts with a space is an example to copy, and stays."""
    if width is None or text.plain.startswith(" "):
        return [text]
    return text.wrap(get_console(), width)


def _render_text(printable: Printable, style: Style) -> Iterator[str]:
    """Titles, tables, notes and signatures, separated by empty lines.

    On a console, a score significantly better than the baseline's is green and a worse one red;
    so are words in brackets in notes that show segments.
    """
    for line in _apart(printable, lambda table: _text_parts(table, style)):
        yield _coloured(line, style.console) if style.console else str(line).rstrip()


def _coloured(line: str | Text, console: Console) -> str:
    with console.capture() as captured:
        console.print(line, end="", soft_wrap=True)  # it fits, or is to be copied whole
    return captured.get()


def _text_parts(table: Table, style: Style) -> Iterator[Iterable[str | Text]]:
    """Title, rows, notes and signatures, each if there are any."""
    if table.lines:
        scores = Printable((table,)).figures(style.digits)
        yield [f"{name} = {score}" for name, score in zip(table.signatures, scores, strict=True)]
        return
    table = table.without_empty_columns()
    yield _wrapped(_text(table.title, "bold"), style.columns) if table.title else []
    if table.header:
        on_left = {"text", "score"}
        grid = _grid(table, lambda cell: _text_lines(cell, style.digits), on_left, style.columns)
        if style.console:
            yield (_text(_GAP).join(_text(*piece) for piece in line) for line in grid)
        else:
            yield (_GAP.join(text for text, _ in line) for line in grid)
    marks = legend(table, bold=style.console is not None)
    notes = [_text(note, "dim" if table.header else "") for note in (*marks, *table.notes)]
    for note in notes if not table.header else ():
        note.highlight_regex(r"\[[^\]]+\]", "bold red")
    yield [line for note in notes for line in _wrapped(note, style.columns)]
    yield [_text(signature, "dim") for signature in table.signatures]


def _text_lines(cell: Cell, digits: int) -> list[Line]:
    first, *rest = cell_lines(cell, digits)
    if not isinstance(cell, ScoreCell):
        return [(first, "")]
    colour = {True: "green", False: "red", None: ""}[cell.better if cell.significant else None]
    look = f"{'bold' if cell.best else ''} {colour}".strip()
    return [(first + "*" * cell.significant, look), *((line, "dim") for line in rest)]


def _render_markdown(printable: Printable, style: Style) -> Iterator[str]:
    """Titles in bold, tables, then notes and signatures as a list."""
    return _apart(printable, lambda table: _markdown_parts(table, style.digits))


def _markdown_parts(table: Table, digits: int) -> Iterator[Iterable[str]]:
    table = table.without_empty_columns()
    yield [f"**{_escape_markdown(table.title)}**"] if table.title else []
    if table.header:
        grid = _grid(table, lambda cell: _markdown_lines(cell, digits))
        yield (f"| {' | '.join(text for text, _ in line)} |" for line in grid)
    notes = map(_escape_markdown, (*legend(table, star=False), *table.notes))
    yield [f"- {item}" for item in (*notes, *(f"`{text}`" for text in table.signatures))]


def _markdown_lines(cell: Cell, digits: int) -> list[Line]:
    first, *rest = cell_lines(cell, digits)
    if isinstance(cell, ScoreCell):
        return [("<br>".join([f"**{first}**" if cell.best else first, *rest]), "")]
    return [(_escape_markdown(first).replace("|", "\\|"), "")]


def _escape_markdown(text: str) -> str:
    """Escape the special characters of Markdown and HTML, except the bars between cells."""
    return re.sub(r"([\\`*_<\[\]#&~])", r"\\\1", escape_controls(text))


# LaTeX -----------------------------------------------------------------------

_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "`": "{`}",
    '"': r"{\char34}",  # babel makes it active in some languages
    "×": r"$\times$", "↑": r"$\uparrow$", "↓": r"$\downarrow$",
    "α": r"$\alpha$", "β": r"$\beta$", "–": r"\textendash{}",
}  # fmt: skip


def escape_latex(text: str) -> str:
    """Escape text for LaTeX, with control characters as ``\\x1b`` and without ligatures.

    Other unprintable characters become spaces.
    """
    visible = (c if c.isprintable() else " " for c in escape_controls(text))
    escaped = "".join(_LATEX.get(c, c) for c in visible)
    return re.sub(r"([-'])(?=\1)", r"\1{}", escaped)


def _render_latex(printable: Printable, style: Style) -> Iterator[str]:
    """Tables with a title or a caption as floats, others as bare tabulars.

    The notes and signatures of a bare tabular are comments.
    """
    yield r"% needs \usepackage{booktabs}"
    if printable.title:
        yield f"% {escape_controls(printable.title)}"
    for table in printable.tables:
        yield from _latex_table(table, style.digits)


def _latex_table(table: Table, digits: int) -> Iterator[str]:
    table = table.without_empty_columns()
    if not table.header:
        yield escape_latex(" ".join([table.title, *table.notes])) + r"\par"
        return
    if not (table.title or table.caption):
        yield from _tabular(table, digits)
        yield from (f"% {escape_controls(text)}" for text in (*table.notes, *table.signatures))
        return
    caption = [table.caption or f"{table.title}.", *legend(table, star=False), *table.notes]
    yield from (r"\begin{table}[t]", r"\centering")
    yield from _tabular(table, digits)
    yield rf"\caption{{{escape_latex(' '.join(caption))}}}"
    if table.signatures:
        yield r"\par\smallskip\raggedright\tiny\ttfamily"
        for signature in table.signatures:  # a line may end after each of its settings
            yield r"\textbar\allowbreak{}".join(map(escape_latex, signature.split("|"))) + r"\par"
    yield r"\end{table}"


def _tabular(table: Table, digits: int) -> Iterator[str]:
    yield rf"\begin{{tabular}}{{{''.join(side(column)[0] for column in table.kinds)}}}"
    # No space before the arrow that says which direction is better.
    header = [escape_latex(re.sub(" (?=[↑↓])", "", name)) for name in table.header]
    yield from (r"\toprule", _latex_row(header), r"\midrule")
    rows = [[_latex_lines(cell, digits) for cell in row] for row in table.rows]
    is_apart = any(len(lines) > 1 for cells in rows for lines in cells)
    for number, cells in enumerate(rows):
        if number and is_apart:
            yield r"\addlinespace"
        yield from map(_latex_row, zip_longest(*cells, fillvalue=""))
    yield from (r"\bottomrule", r"\end{tabular}")


def _latex_row(cells: Sequence[str]) -> str:
    r"""One row; LaTeX would take a leading star or bracket as an argument of the \\ before it."""
    return re.sub(r"^(?=[*\[])", "{}", " & ".join(cells)) + r" \\"


def _latex_lines(cell: Cell, digits: int) -> list[str]:
    first, *rest = cell_lines(cell, digits)
    if not isinstance(cell, ScoreCell):
        return [escape_latex(first)]
    small = (re.sub(r"^p (.) (.*)", r"$p\1\2$", line).replace("–", "--") for line in rest)
    best = rf"\textbf{{{first}}}" if cell.best else first
    return [best, *(rf"{{\scriptsize {line}}}" for line in small)]


# CSV and TSV -----------------------------------------------------------------

_FORMULA = re.compile(r"[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20\u2212]")
"""The first characters of a formula: OWASP's list, with the full-width forms that programs for
Chinese and Japanese read, and the minus sign."""

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def is_formula(text: str) -> bool:
    """Whether a spreadsheet would run a cell with this text.

    >>> [text for text in ("-1.5", "- Yes.", "=A1", "\uff1dA1", "a=1") if is_formula(text)]
    ['- Yes.', '=A1', '\uff1dA1']
    """
    return _FORMULA.match(text) is not None and not _NUMBER.fullmatch(text)


_WRITER = csv.writer(SimpleNamespace(write=str), lineterminator="\r\n")
"""It returns what ``write`` returns, and quotes a lone carriage return, too."""


def csv_record(cells: Iterable[object]) -> str:
    """One record of CSV, without its line end; None is an empty cell.

    >>> print(csv_record(["a", 1.5, None, "=A1", "b, c"]))
    a,1.5,,'=A1,"b, c"
    """
    safe = [f"'{cell}" if isinstance(cell, str) and is_formula(cell) else cell for cell in cells]
    record: str = _WRITER.writerow(safe).removesuffix("\r\n")
    return record.encode("utf-8", "backslashreplace").decode()


def _records(table: Table) -> Iterator[list[object]]:
    """The names of columns, then the rows, with unrounded numbers and all columns.

    A score takes three columns: its own, ``low`` and ``high``. Signatures are the last column.
    """
    signatures = table.signatures * (len(table.rows) if len(table.signatures) == 1 else 1)
    header = (
        [name, "low", "high"] if "score" in column else [name]
        for name, column in zip(table.header, table.kinds, strict=True)
    )
    yield [*chain.from_iterable(header), *(["signature"] if signatures else [])]
    for number, row in enumerate(table.rows):
        yield [*chain.from_iterable(map(_figures, row)), *signatures[number : number + 1]]


def _figures(cell: Cell) -> list[object]:
    return [cell.value, cell.low, cell.high] if isinstance(cell, ScoreCell) else [cell]


def _render_csv(printable: Printable, _: Style) -> Iterator[str]:
    """Records whose control characters cannot steer a terminal."""
    for cells in _records(printable.as_table()):
        yield csv_record(escape_csv(cell) if isinstance(cell, str) else cell for cell in cells)


def _render_tsv(printable: Printable, _: Style) -> Iterator[str]:
    """The same separated by tabs and unquoted; tabs and line ends in cells become spaces."""
    for cells in _records(printable.as_table()):
        texts = ("" if cell is None else str(cell) for cell in cells)
        yield "\t".join(re.sub(r"[\t\r\n]+", " ", text) for text in texts)


# JSON ------------------------------------------------------------------------


class _LazyList(list[Any]):
    """A sequence that the encoder takes for a list, with only its first item in memory."""

    def __init__(self, items: Sequence[Any]) -> None:
        super().__init__(islice(items, 1))
        self._items = items

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)


def _render_json(printable: Printable, _: Style) -> Iterator[str]:
    """Plain values in UTF-8, control characters escaped; NaN is a ValueError."""
    encoder = json.JSONEncoder(ensure_ascii=False, indent=1, allow_nan=False, default=_LazyList)
    line = ""
    for piece in encoder.iterencode(printable.as_data()):
        *lines, line = (line + piece).split("\n")
        yield from map(escape_json, lines)
    yield escape_json(line)


def json_line(value: Any) -> str:
    """A value as one line of JSON, control characters escaped; NaN is a ValueError."""
    return escape_json(json.dumps(value, ensure_ascii=False, allow_nan=False))


def _render_jsonl(printable: Printable, _: Style) -> Iterator[str]:
    """The rows of the only table, one object per line."""
    return map(json_line, printable.as_table().to_records())


FORMATS: Mapping[str, Callable[[Printable, Style], Iterator[str]]] = {
    "text": _render_text,
    "json": _render_json,
    "jsonl": _render_jsonl,
    "csv": _render_csv,
    "tsv": _render_tsv,
    "latex": _render_latex,
    "markdown": _render_markdown,
}
"""What yields the lines to print, by the name of the format."""

OF_ONE_TABLE = frozenset({"jsonl", "csv", "tsv"})
"""The formats that cannot hold several tables."""
