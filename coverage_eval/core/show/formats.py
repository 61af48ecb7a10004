"""The output formats, and CSV and JSON, which programs read.

A new format is a function and a line in :data:`FORMATS`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from coverage_eval.core.show import latex, text
from coverage_eval.core.show.csv_rows import csv_record
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


def render_lines(
    printable: Printable,
    output_format: str = "text",
    *,
    width: int = 2,
    columns: int | None = None,
    score_only: bool = False,
) -> Iterator[str]:
    """Render what a command prints, line by line.

    The formats for people (text, LaTeX, Markdown) round numbers and leave out empty columns; the
    formats for programs (CSV, JSON) do neither.

    Args:
        printable: What is printed.
        output_format: A name of :data:`FORMATS`.
        width: Digits after the decimal point.
        columns: Width that text must fit; None for lines of any length.
        score_only: Text shows only the numbers, one per line.

    Raises:
        ValueError: Several tables in a format that can hold only one, such as CSV.
    """
    return FORMATS[output_format].render(printable, Style(width, columns, score_only))


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
    "text": Format(text.render_text),
    "json": Format(_render_json),
    "jsonl": Format(_render_jsonl, several=False),
    "csv": Format(_render_csv, several=False),
    "tsv": Format(_render_tsv, several=False),
    "latex": Format(latex.render_latex),
    "markdown": Format(text.render_markdown),
}
