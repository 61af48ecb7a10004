"""The output formats: CSV and JSON, which programs read, and LaTeX.

A new format is a function and a line in :data:`FORMATS`.

All CSV of this project is written here, by one rule: a cell that a spreadsheet would run as a
formula gets an apostrophe before it, and a cell with a comma, a quotation mark or any line end,
also a lone carriage return, is quoted. Numbers are written as they are, and half a character, which
UTF-8 cannot encode, as ``\\ud800``.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from coverage_eval.core.show.table import (
    Cell,
    Kinds,
    Printable,
    ScoreCell,
    Style,
    Table,
    cell_lines,
    escape_controls,
    escape_csv,
    escape_json,
    notes_with_marks,
    render_markdown,
    rows_as_dicts,
    side,
    survey,
    without_empty_columns,
)

__all__ = ["FORMATS", "OF_ONE_TABLE", "render", "render_lines"]


def render(printable: Printable, output_format: str = "text", **style: Any) -> str:
    """The lines of :func:`render_lines` as one string, without a final line end."""
    return "\n".join(render_lines(printable, output_format, **style))


def render_lines(printable: Printable, output_format: str = "text", **style: Any) -> Iterator[str]:
    """Render what a command prints, line by line.

    The formats for people (text, LaTeX, Markdown) round numbers and leave out empty columns; the
    formats for programs (CSV, JSON) do neither.

    Args:
        printable: What is printed.
        output_format: A name of :data:`FORMATS`.
        **style: Fields of :class:`~coverage_eval.core.show.table.Style`.

    Raises:
        ValueError: Several tables in a format that can hold only one, such as CSV.
    """
    return FORMATS[output_format](printable, Style(**style))


def _render_text(printable: Printable, style: Style) -> Iterator[str]:
    from coverage_eval.core.show.text import render_text  # rich takes a tenth of a second

    return render_text(printable, style)


def _render_json(printable: Printable, _: Style) -> Iterator[str]:
    """Plain values in UTF-8, control characters escaped; NaN is a ValueError."""
    encoder = json.JSONEncoder(ensure_ascii=False, indent=1, allow_nan=False, default=_LazyList)
    line = ""
    for piece in encoder.iterencode(printable.as_data()):
        *lines, line = (line + piece).split("\n")
        yield from map(escape_json, lines)
    yield escape_json(line)


class _LazyList(list[Any]):
    """A sequence that the encoder takes for a list, without holding its items in memory."""

    def __init__(self, items: Sequence[Any]) -> None:
        super().__init__()
        self._items = items

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)


def _render_csv(printable: Printable, _: Style) -> Iterator[str]:
    """A line of column names, then the rows, with unrounded numbers and all columns.

    A score takes three columns: its own, ``low`` and ``high``. Signatures are the last column.

    Raises:
        ValueError: There are several tables.
    """
    return map(_record, _records(printable.as_table()))


def _render_tsv(printable: Printable, _: Style) -> Iterator[str]:
    """The same separated by tabs and unquoted; tabs and line ends in cells become spaces.

    Raises:
        ValueError: There are several tables.
    """
    for cells in _records(printable.as_table()):
        yield "\t".join("" if cell is None else _ONE_LINE.sub(" ", str(cell)) for cell in cells)


_ONE_LINE = re.compile(r"[\t\r\n]+")


def _records(table: Table) -> Iterator[list[object]]:
    """The names of columns, then the rows."""
    signatures = table.signatures
    if len(signatures) == 1:
        signatures *= len(table.rows)
    header: list[object] = []
    for name, column in zip(table.header, survey(table), strict=True):
        header += [name, "low", "high"] if "score" in column else [name]
    yield [*header, "signature"] if signatures else header
    for number, row in enumerate(table.rows):
        cells: list[object] = []
        for cell in row:
            if isinstance(cell, ScoreCell):
                cells += [cell.value, cell.low, cell.high]
            else:
                cells.append(cell)
        yield [*cells, signatures[number]] if signatures else cells


_FORMULA = re.compile(r"[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20\u2212]")
"""The first characters of a formula: OWASP's list, with the full-width forms that programs for
Chinese and Japanese read, and the minus sign."""

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


class _Echo:
    """A file that stores nothing: csv returns what ``write`` returns."""

    def write(self, text: str) -> str:
        return text


_WRITER = csv.writer(_Echo(), lineterminator="\r\n")  # quotes a lone carriage return, too


def is_formula(text: str) -> bool:
    """Whether a spreadsheet would run a cell with this text.

    >>> [text for text in ("-1.5", "- Yes.", "=A1", "\uff1dA1", "a=1") if is_formula(text)]
    ['- Yes.', '=A1', '\uff1dA1']
    """
    return _FORMULA.match(text) is not None and not _NUMBER.fullmatch(text)


def csv_record(cells: Iterable[object]) -> str:
    """One record of CSV, without its line end; None is an empty cell.

    >>> print(csv_record(["a", 1.5, None, "=A1", "b, c"]))
    a,1.5,,'=A1,"b, c"
    """
    safe = [
        cell
        if cell is None or isinstance(cell, (int, float))
        else f"'{cell}"
        if is_formula(str(cell))
        else str(cell)
        for cell in cells
    ]
    record: str = _WRITER.writerow(safe).removesuffix("\r\n")
    return record.encode("utf-8", "backslashreplace").decode()


def _render_jsonl(printable: Printable, _: Style) -> Iterator[str]:
    """The rows of the only table, one object per line.

    Raises:
        ValueError: There are several tables.
    """
    for row in rows_as_dicts(printable.as_table()):
        yield escape_json(json.dumps(row, ensure_ascii=False, allow_nan=False))


def _record(cells: Sequence[object]) -> str:
    """One record, whose control characters cannot steer a terminal."""
    return csv_record(escape_csv(cell) if isinstance(cell, str) else cell for cell in cells)


_ESCAPES = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "`": "{`}",
    '"': r"{\char34}",  # babel makes it active in some languages
    "×": r"$\times$", "↑": r"$\uparrow$", "↓": r"$\downarrow$",
    "α": r"$\alpha$", "β": r"$\beta$", "–": r"\textendash{}",
}  # fmt: skip


def _render_latex(printable: Printable, style: Style) -> Iterator[str]:
    """Tables with a title or a caption as floats, others as bare tabulars.

    The notes and signatures of a bare tabular are comments.
    """
    yield r"% needs \usepackage{booktabs}"
    if printable.title:
        yield _comment(printable.title)
    for table in printable.tables:
        yield from _table(table, style.digits)


def escape_latex(text: str) -> str:
    """Escape text for LaTeX, with control characters as ``\\x1b`` and without ligatures.

    Other unprintable characters become spaces.
    """
    visible = "".join(c if c.isprintable() else " " for c in escape_controls(text))
    escaped = "".join(_ESCAPES.get(c, c) for c in visible)
    return re.sub(r"([-'])(?=\1)", r"\1{}", escaped)


def _comment(text: str) -> str:
    return f"% {escape_controls(text)}"


def _table(table: Table, digits: int) -> Iterator[str]:
    table, columns = without_empty_columns(table)
    if not table.header:
        yield escape_latex(" ".join([table.title, *table.notes])) + r"\par"
        return
    if not (table.title or table.caption):
        yield from _tabular(table, columns, digits)
        yield from map(_comment, (*table.notes, *table.signatures))
        return
    notes = notes_with_marks(table, columns, star=False)
    first = table.caption or f"{table.title}."
    yield from (r"\begin{table}[t]", r"\centering")
    yield from _tabular(table, columns, digits)
    yield rf"\caption{{{escape_latex(' '.join([first, *notes]))}}}"
    if table.signatures:
        yield r"\par\smallskip\raggedright\tiny\ttfamily"
        for signature in table.signatures:  # a line may end after each of its settings
            yield r"\textbar\allowbreak{}".join(map(escape_latex, signature.split("|"))) + r"\par"
    yield r"\end{table}"


def _tabular(table: Table, columns: Sequence[Kinds], digits: int) -> Iterator[str]:
    aligned = [side(column)[0] for column in columns]
    # No space before the arrow that says which direction is better.
    header = [escape_latex(re.sub(" (?=[↑↓])", "", name)) for name in table.header]
    yield from (rf"\begin{{tabular}}{{{''.join(aligned)}}}", r"\toprule", _row(header), r"\midrule")
    rows = [[_lines(cell, digits) for cell in row] for row in table.rows]
    apart = any(len(lines) > 1 for cells in rows for lines in cells)
    for number, cells in enumerate(rows):
        if number and apart:
            yield r"\addlinespace"
        yield _row([lines[0] for lines in cells])
        for level in range(1, max(map(len, cells))):  # intervals, then p-values
            small = [lines[level] if level < len(lines) else "" for lines in cells]
            yield _row([rf"{{\scriptsize {text}}}" if text else "" for text in small])
    yield from (r"\bottomrule", r"\end{tabular}")


def _row(cells: Sequence[str]) -> str:
    r"""One row; LaTeX would take a leading star or bracket as an argument of the \\ before it."""
    line = " & ".join(cells) + r" \\"
    return f"{{}}{line}" if line[:1] in {"*", "["} else line


def _lines(cell: Cell, digits: int) -> list[str]:
    lines = cell_lines(cell, digits)
    if not isinstance(cell, ScoreCell):
        return [escape_latex(line) for line in lines]
    first = rf"\textbf{{{lines[0]}}}" if cell.best else lines[0]
    small = (re.sub(r"^p (.) (.*)", r"$p\1\2$", line) for line in lines[1:])
    return [first, *(line.replace("–", "--") for line in small)]


FORMATS: Mapping[str, Callable[[Printable, Style], Iterator[str]]] = {
    "text": _render_text,
    "json": _render_json,
    "jsonl": _render_jsonl,
    "csv": _render_csv,
    "tsv": _render_tsv,
    "latex": _render_latex,
    "markdown": render_markdown,
}
"""What yields the lines to print, by the name of the format."""

OF_ONE_TABLE = frozenset({"jsonl", "csv", "tsv"})
"""The formats that cannot hold several tables."""
