"""Lines of fields between tabs or commas, row by row."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import shorten
from typing import TypeAlias

from coverage_eval.data.corpus import Source, read_segments, source_name
from coverage_eval.errors import DataError

Record: TypeAlias = "Mapping[str, str]"


def bad_line(source: Source, line: int, said: object) -> DataError:
    """An error that names a file and a line."""
    return DataError(f"{source_name(source)}: line {line}: {said}")


def read_header(source: Source) -> list[str]:
    """The first line's fields between tabs; empty for an empty file."""
    return next(read_segments(source), "").split("\t")


def read_records(
    source: Source, needed: Sequence[str], *, quoted: bool = False
) -> Iterator[tuple[int, Record]]:
    """Read rows between tabs as mappings from the header's names, each with its line number.

    Args:
        source: A file's name (``.gz`` and ``.zst`` are unpacked) or ``-`` for standard input.
        needed: Columns that must be there; there may be others.
        quoted: As :func:`split_fields` has it.

    Raises:
        DataError: As :func:`split_fields`; a column is missing or there twice; there is no row.
    """
    rows = split_fields(source, read_segments(source), quoted=quoted)
    _, header = next(rows, (1, []))
    check_columns(f"{source_name(source)}: line 1", header, [*needed, *header])
    line = 1
    for line, row in rows:
        yield line, dict(zip(header, row, strict=True))
    if line == 1:
        raise DataError(f"{source_name(source)}: no row under the header")


def split_fields(
    source: Source, lines: Iterable[str], *, delimiter: str = "\t", quoted: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Cut lines into fields, as many in each as in the first; with the lines' numbers.

    Args:
        source: The file's name, for messages.
        lines: Its lines, as :func:`~coverage_eval.data.corpus.read_segments` reads them.
        delimiter: What stands between fields.
        quoted: Whether a field that begins with a quotation mark ends with one, as spreadsheets
            and pandas write it. Otherwise such a mark is a character like others.

    Raises:
        DataError: A row has fewer or more fields than the first; a quoted field does not end.
    """
    plain = ((number, line.split(delimiter)) for number, line in enumerate(lines, start=1))
    width = None
    for number, row in _unquoted(source, lines, delimiter) if quoted else plain:
        width = len(row) if width is None else width
        if len(row) != width:
            said = f"{len(row)} fields where the header has {width}"
            raise bad_line(source, number, said)
        yield number, row


def _unquoted(
    source: Source, lines: Iterable[str], delimiter: str
) -> Iterator[tuple[int, list[str]]]:
    """Fields without their quotation marks; the line is that in which the last field ends."""
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            yield reader.line_num, row or [""]  # an empty line is one empty field
    except csv.Error as error:
        raise bad_line(source, reader.line_num, error) from error


def check_columns(where: str, names: Sequence[str], needed: Sequence[str]) -> None:
    """Refuse a file in which a needed column is missing or there twice.

    Args:
        where: The file, and its line if it has lines.
        names: The columns that there are.
        needed: Those that must be there once.

    Raises:
        DataError: The first such column, with those that there are.
    """
    missing = [name for name in needed if name not in names]
    twice = [name for name in needed if names.count(name) > 1]
    if missing or twice:
        said = f"no column {', '.join(missing)}" if missing else f"two columns {twice[0]}"
        there = shorten(", ".join(names), 300, placeholder=" …")
        raise DataError(f"{where}: {said}; there are: {there}")
