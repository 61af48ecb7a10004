"""The formats of a report, each a function of its value: what yields the lines to print.

Text, Markdown and LaTeX round numbers and leave out empty columns; CSV, TSV, JSON and JSON Lines do
neither. No line has hidden characters. A new format is a function and a line in :data:`FORMATS`.

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
from types import SimpleNamespace
from typing import Any

from coverage_eval.core.escapes import escape_csv, escape_json
from coverage_eval.core.latex import latex
from coverage_eval.core.layout import cell_lines, markdown, text
from coverage_eval.core.report import NUMBER_FORMATS, Report, ScoreCell, Style, Table


def render(report: Report, output_format: str = "text", **style: Any) -> str:
    """The lines of :func:`render_lines` as one string, without a final line end."""
    return "\n".join(render_lines(report, output_format, **style))


def render_lines(report: Report, output_format: str = "text", **style: Any) -> Iterator[str]:
    """Show a report in a format, line by line.

    Args:
        report: What is shown.
        output_format: A name of :data:`FORMATS`.
        **style: Fields of :class:`~coverage_eval.core.report.Style`.

    Raises:
        ValueError: Several tables in a format that can hold only one, such as CSV; NaN in JSON.
    """
    return FORMATS[output_format](report, Style(**style))


def numbers(report: Report, digits: int) -> Iterator[str]:
    """The numbers alone: scores and other figures with decimals, as the tables show them.

    Of a table that is only for this, every cell.
    """
    shown = [table for table in report.tables if "numbers" in table.formats]
    for table in shown:
        for row in table.rows:
            for cell in row:
                if isinstance(cell, ScoreCell):
                    yield cell.format(digits)
                elif isinstance(cell, float) or table.formats == NUMBER_FORMATS:
                    yield cell_lines(cell, digits)[0]


# CSV and TSV

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


def _only_table(report: Report, output_format: str) -> Table:
    """The table of a format that holds only one."""
    tables = [table for table in report.tables if output_format in table.formats]
    if len(tables) != 1:
        raise ValueError(f"{output_format.upper()} holds one table, and there are {len(tables)}")
    return tables[0]


def _records(table: Table) -> Iterator[list[object]]:
    """The names of columns, then the rows, with unrounded numbers and all columns.

    A score takes three columns: its own, ``low`` and ``high``. Signatures are the last column.
    """
    names: list[object] = []
    for name, kinds in zip(table.header, table.traits, strict=True):
        names += [name, "low", "high"] if "score" in kinds else [name]
    yield [*names, "signature"] if table.signatures else names
    for number, row in enumerate(table.rows):
        record: list[object] = []
        for cell in row:
            record += [cell.value, cell.low, cell.high] if isinstance(cell, ScoreCell) else [cell]
        yield [*record, *_signature_of(table, number)]


def _signature_of(table: Table, number: int) -> Sequence[str]:
    """The signature of a row, if the table has signatures."""
    first = 0 if len(table.signatures) == 1 else number
    return table.signatures[first : first + 1]


def csv_lines(report: Report, _: Style) -> Iterator[str]:
    """Records whose hidden characters cannot steer a terminal."""
    for cells in _records(_only_table(report, "csv")):
        yield csv_record(escape_csv(cell) if isinstance(cell, str) else cell for cell in cells)


def tsv_lines(report: Report, style: Style) -> Iterator[str]:
    """Records separated by tabs and unquoted; tabs and line ends in cells become spaces."""
    for cells in _records(_only_table(report, "tsv")):
        texts = ["" if cell is None else re.sub(r"[\t\r\n]+", " ", str(cell)) for cell in cells]
        line = "\t".join(texts)
        yield line if style.as_is else escape_csv(line)


# JSON


def json_lines(report: Report, _: Style) -> Iterator[str]:
    """The rows of the only table, an object a line."""
    table = _only_table(report, "jsonl")
    if table.objects is not None:
        yield from map(json_line, table.objects)
        return
    for number, row in enumerate(table.rows):
        record = table.record(row)
        for signature in _signature_of(table, number):
            record["signature"] = signature
        yield json_line(record)


def json_line(value: Any) -> str:
    """A value as one line of JSON, hidden characters escaped; NaN is a ValueError."""
    return escape_json(json.dumps(value, ensure_ascii=False, allow_nan=False))


def json_text(report: Report, _: Style) -> Iterator[str]:
    """Plain values in UTF-8, hidden characters escaped; NaN is a ValueError."""
    value: Any = report.values
    if not value and len(report.tables) == 1:
        value = report.tables[0]
    elif not value:
        value = {"title": report.title, "tables": [table.to_dict() for table in report.tables]}
    whole = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False, default=_plain)
    return map(escape_json, whole.split("\n"))


def _plain(value: Any) -> Any:
    """A value that JSON lacks as plain ones; a table stands for its rows."""
    if isinstance(value, Table):
        return list(map(value.record, value.rows) if value.objects is None else value.objects)
    if hasattr(value, "to_dict"):
        return value.to_dict()
    return dict(value) if isinstance(value, Mapping) else list(value)


FORMATS: Mapping[str, Callable[[Report, Style], Iterator[str]]] = {
    "text": text,
    "json": json_text,
    "jsonl": json_lines,
    "csv": csv_lines,
    "tsv": tsv_lines,
    "latex": latex,
    "markdown": markdown,
}
"""What yields the lines to print, by the name of the format."""
