"""Files of named columns, whose rows are segments: TSV, CSV, JSON Lines and Parquet.

What a file is, is seen in it: ``PAR1`` begins Parquet, a first line with ``{`` JSON Lines; in other
files the first line has the columns' names, between tabs or else between commas. No cell is guessed
at, which is why pandas does not read them: an empty text is a segment, a missing value or a number
in the place of a text is an error.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from coverage_eval.data.corpus import (
    MAX_LINE_BYTES,
    STDIN,
    CorpusWarning,
    Source,
    check_source,
    read_segments,
    source_name,
    too_long,
)
from coverage_eval.data.delimited import check_columns, split_fields
from coverage_eval.data.json_text import parse_object
from coverage_eval.data.parquet import is_parquet, parquet_names, read_parquet
from coverage_eval.errors import DataError

_CARRIAGE_RETURN = (
    "ends in a carriage return, which was stripped, as in all further cells of the file"
)
_QUOTED = "looks quoted, as spreadsheets and pandas write cells; if it is, say --quoted"

_KINDS = {
    bool: "true or false",
    int: "a number",
    float: "a number",
    list: "a list",
    dict: "an object",
}
"""What JSON has beside text, by its type in Python."""

_Rows: TypeAlias = "Iterator[tuple[str, Sequence[object]]]"
"""Where a row stands, such as ``line 7``, and the cells asked for."""


@dataclass(frozen=True, eq=False)
class ColumnFile:
    """A file of named columns, read as a stream, again each time.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "systems.tsv"
    ...     _ = path.write_text("reference\\tA\\na house\\ta house house\\n", encoding="utf-8")
    ...     list(ColumnFile(path).texts(["A", "reference"]))
    [('a house house', 'a house')]

    Args:
        source: Its name (``.gz`` and ``.zst`` are unpacked), or ``-`` for standard input, which is
            not for Parquet.
        quoted: Whether the fields of a TSV file are quoted, as spreadsheets and pandas write them;
            those of CSV always are.
        headed: Whether the first line of a TSV or CSV file has the columns' names; otherwise they
            are 1, 2, 3 and so on.
    """

    source: Source
    quoted: bool = False
    headed: bool = True

    def names(self) -> list[str]:
        """The names of the columns; of JSON Lines, those of the first line.

        Raises:
            DataError: As :meth:`texts`.
        """
        if self._is_parquet():
            return parquet_names(Path(self.source))
        first, lines = self._lines()
        if first.startswith("{"):
            return list(parse_object(first, f"{source_name(self.source)}: line 1"))
        return self._header(lines)[0]

    def texts(self, columns: Sequence[str]) -> Iterator[tuple[str, ...]]:
        r"""The texts of some columns, row by row.

        A ``\r`` at the end of a cell is stripped, with one warning, as at the end of a line.

        Raises:
            DataError: The file is missing, damaged or not UTF-8; a column is missing or there
                twice; a row has more or fewer fields than the header; a cell is missing, is no
                text, or is more than one line (file, line or row, and column).
            MissingDependencyError: Parquet, and its package is not installed.
        """
        warned = False
        for place, cells in self._rows(columns):
            row = []
            for name, cell in zip(columns, cells, strict=True):
                try:
                    text = _text_of(cell)
                except ValueError as error:
                    raise DataError(self._at(place, name, error)) from None
                if text.endswith("\r"):
                    text = text[:-1]
                    if not warned:
                        warned = True
                        self._warn(place, name, _CARRIAGE_RETURN)
                row.append(text)
            yield tuple(row)

    def _warn(self, place: str, column: str, said: str) -> None:
        warnings.warn(self._at(place, column, said), CorpusWarning, stacklevel=3)

    def _at(self, place: str, column: str, said: object) -> str:
        return f"{source_name(self.source)}: {place}, column {column!r}: {said}"

    def _is_parquet(self) -> bool:
        check_source(self.source)
        return str(self.source) != STDIN and is_parquet(Path(self.source))

    def _lines(self) -> tuple[str, Iterator[str]]:
        """The first line, and all of them."""
        lines = read_segments(self.source)
        first = next(lines, None)
        if first is None:
            raise DataError(f"{source_name(self.source)}: the file is empty")
        return first, chain([first], lines)

    def _rows(self, columns: Sequence[str]) -> _Rows:
        if self._is_parquet():
            numbered = read_parquet(Path(self.source), columns)
            return ((f"row {number}", cells) for number, cells in numbered)
        first, lines = self._lines()
        return (self._objects if first.startswith("{") else self._fields)(lines, columns)

    def _objects(self, lines: Iterable[str], columns: Sequence[str]) -> _Rows:
        """Rows of JSON Lines."""
        for number, line in enumerate(lines, start=1):
            where = f"{source_name(self.source)}: line {number}"
            record = parse_object(line, where)
            check_columns(where, list(record), columns)
            yield f"line {number}", [record[name] for name in columns]

    def _fields(self, lines: Iterable[str], columns: Sequence[str]) -> _Rows:
        """Rows of TSV or CSV."""
        header, quoted, rows = self._header(lines)
        check_columns(f"{source_name(self.source)}: line 1", header, columns)
        places = [header.index(name) for name in columns]
        warned = quoted
        for number, fields in rows:
            cells = [fields[place] for place in places]
            if not warned and (name := _quoted_column(columns, cells)):
                warned = True
                self._warn(f"line {number}", name, _QUOTED)
            yield f"line {number}", cells

    def _header(
        self, lines: Iterable[str]
    ) -> tuple[list[str], bool, Iterator[tuple[int, list[str]]]]:
        """The names of the columns of TSV or CSV, whether it is quoted, and its numbered rows."""
        lines = iter(lines)
        first = next(lines)
        has_commas = "\t" not in first and "," in first
        quoted = self.quoted or has_commas
        rows = split_fields(
            self.source,
            chain([first], lines),
            delimiter="," if has_commas else "\t",
            quoted=quoted,
        )
        line, fields = next(rows)
        if self.headed:
            return fields, quoted, rows
        names = [str(number) for number in range(1, len(fields) + 1)]
        return names, quoted, chain([(line, fields)], rows)


def _quoted_column(columns: Sequence[str], cells: Sequence[str]) -> str | None:
    """The first column whose cell must come from a program that quotes cells, if there is one."""
    for name, cell in zip(columns, cells, strict=True):
        inside = cell[1:-1]
        is_enclosed = len(cell) > 2 and cell[0] == cell[-1] == '"'
        if is_enclosed and '""' in inside and '"' not in inside.replace('""', ""):
            return name
    return None


def _text_of(cell: object) -> str:
    """The text of a cell, perhaps with a carriage return at its end.

    Raises:
        ValueError: Why it is none.
    """
    if isinstance(cell, bytes):
        try:
            cell = cell.decode()
        except UnicodeDecodeError as error:
            raise ValueError(f"not valid UTF-8 at byte {error.start}") from None
    if cell is None:
        raise ValueError("a missing value; if it is an empty segment, write an empty text")
    if not isinstance(cell, str):
        raise ValueError(f"is no text, but {_KINDS[type(cell)]}")
    if "\n" in cell:
        raise ValueError("has a line end inside; a segment is one line")
    if len(cell) > MAX_LINE_BYTES.get() or not cell.isascii():
        _check_bytes(cell)
    return cell


def _check_bytes(text: str) -> None:
    """Refuse half characters, which JSON can spell, and texts longer than a line may be."""
    try:
        length = len(text.encode())
    except UnicodeEncodeError as error:
        raise ValueError(f"not valid Unicode: half a character at {error.start + 1}") from None
    if length > MAX_LINE_BYTES.get():
        raise ValueError(too_long())
