"""Files of tab-separated values with a header, row by row."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence

from coverage_eval.errors import DataError
from coverage_eval.text.corpus import Source, read_segments, source_name

__all__ = ["bad_line", "read_header", "read_records"]

Record = Mapping[str, str]


def bad_line(source: Source, line: int, said: object) -> DataError:
    """An error that names a file and a line."""
    return DataError(f"{source_name(source)}: line {line}: {said}")


def read_header(source: Source) -> list[str]:
    """The first line's fields; empty for an empty file."""
    return next(read_segments(source), "").split("\t")


def read_records(
    source: Source, needed: Sequence[str], *, quoted: bool = False
) -> Iterator[tuple[int, Record]]:
    """Read rows as mappings from the header's names, each with its line number.

    Args:
        source: A file's name (``.gz`` is unpacked) or ``-`` for standard input.
        needed: Columns that must be there; there may be others.
        quoted: Whether a field that begins with a quotation mark ends with one, as spreadsheets
            and pandas write it. Otherwise such a mark is a character like others.

    Raises:
        DataError: A column is missing or there twice; a row has fewer or more fields than the
            header; a quoted field does not end; there is no row.
    """
    lines = (f"{line}\n" for line in read_segments(source))
    reader = (
        csv.reader(lines, delimiter="\t", strict=True)
        if quoted
        else csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    )
    try:
        header = next(reader, [])
        _check_header(source, header, needed)
        count = 0
        for count, row in enumerate(reader, start=1):  # noqa: B007
            if len(row) != len(header):
                said = f"{len(row)} fields where the header has {len(header)}"
                raise bad_line(source, reader.line_num, said)
            yield reader.line_num, dict(zip(header, row, strict=True))
    except csv.Error as error:
        raise bad_line(source, reader.line_num, error) from error
    if count == 0:
        raise DataError(f"{source_name(source)}: no row under the header")


def _check_header(source: Source, header: Sequence[str], needed: Sequence[str]) -> None:
    missing = [name for name in needed if name not in header]
    twice = [name for name in dict.fromkeys(header) if header.count(name) > 1]
    if missing or twice:
        said = f"no column {', '.join(missing)}" if missing else f"two columns {twice[0]}"
        raise bad_line(source, 1, f"{said}; the header has: {', '.join(header)}")
