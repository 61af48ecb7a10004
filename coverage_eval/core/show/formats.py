"""The output formats, and CSV and JSON, which programs read.

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
from typing import Any, NamedTuple

from coverage_eval.core.show.latex import render_latex
from coverage_eval.core.show.table import (
    Printable,
    RowLabel,
    ScoreCell,
    Style,
    Table,
    escape_csv,
    escape_json,
    rows_as_dicts,
    survey,
)

__all__ = ["FORMATS", "Format", "render", "render_lines"]


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
    return FORMATS[output_format].render(printable, Style(**style))


def _render_text(printable: Printable, style: Style) -> Iterator[str]:
    from coverage_eval.core.show.text import render_text  # rich takes a tenth of a second

    return render_text(printable, style)


def _render_markdown(printable: Printable, style: Style) -> Iterator[str]:
    from coverage_eval.core.show.text import render_markdown

    return render_markdown(printable, style)


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
        header += [name, "low", "high"] if column.scores else [name]
    yield [*header, "signature"] if signatures else header
    for number, row in enumerate(table.rows):
        cells: list[object] = []
        for cell in row:
            if isinstance(cell, ScoreCell):
                cells += [cell.value, cell.low, cell.high]
            else:
                cells.append(cell.name if isinstance(cell, RowLabel) else cell)
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


class Format(NamedTuple):
    """An output format.

    Attributes:
        render: Yields the lines to print.
        several: Whether the format can hold several tables.
    """

    render: Callable[[Printable, Style], Iterator[str]]
    several: bool = True


FORMATS: Mapping[str, Format] = {
    "text": Format(_render_text),
    "json": Format(_render_json),
    "jsonl": Format(_render_jsonl, several=False),
    "csv": Format(_render_csv, several=False),
    "tsv": Format(_render_tsv, several=False),
    "latex": Format(render_latex),
    "markdown": Format(_render_markdown),
}
