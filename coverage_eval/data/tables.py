"""Tables with named columns and one segment per row: TSV, CSV, JSON Lines, Parquet and Excel.

The format is recognised by the content: Parquet begins with ``PAR1``, Excel's files with ``PK``,
JSON Lines with ``{``; in other files the first line has the columns' names, separated by tabs or
else by commas or semicolons. Only Excel's files are read with pandas, which guesses: here an empty
text is a segment, and a missing value or a number in place of a text is an error.
"""

from __future__ import annotations

import csv
import json
import re
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

from coverage_eval.data.files import (
    MAX_LINE_BYTES,
    STDIN,
    Column,
    CorpusWarning,
    HeldColumns,
    ReadingNote,
    Source,
    atomic_write,
    check_columns,
    check_source,
    read_segments,
    source_name,
    too_long,
)
from coverage_eval.data.json_objects import (
    ONE_A_LINE,
    field_names,
    find_field,
    parse_object,
    read_objects,
)
from coverage_eval.data.parquet_and_excel import (
    as_json,
    open_parquet,
    parquet_records,
    read_excel,
    read_parquet,
)
from coverage_eval.errors import DataError
from coverage_eval.tables.csv_rows import csv_record, is_formula

_CARRIAGE_RETURN = (
    "ends in a carriage return, which was stripped, as in all further cells of the file"
)
_LINE_ENDS = re.compile(r"[ \t]*[\r\n]+\s*")
"""A line break inside a cell, with the spaces around it."""

_QUOTED = "is quoted, as spreadsheets and pandas write cells: give --quoted or --unquoted"

_KINDS = {
    bool: "true or false",
    int: "a number",
    float: "a number",
    list: "a list; name one of its items, as in candidates.0",
    dict: "an object; name one of its fields, as in output.text",
}
"""JSON values that are not text, by their Python type."""

_PARQUET_MAGIC = b"PAR1"
_EXCEL_MAGIC = b"PK\x03\x04"


@dataclass(frozen=True, eq=False)
class ColumnFile:
    """A file of named columns; each call reads it as a stream from its start.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "systems.tsv"
    ...     _ = path.write_text("reference\\tA\\na house\\ta house house\\n", encoding="utf-8")
    ...     list(ColumnFile(path).texts(["A", "reference"]))
    [('a house house', 'a house')]

    Args:
        source: Its name (``.gz`` and ``.zst`` are unpacked), or ``-`` for standard input, which
            can be neither Parquet nor Excel.
        quoted: Whether the fields of a TSV file are quoted, as spreadsheets and pandas write them;
            CSV always is. None to find out from the file; a pipe can be read only once, so its
            quoted cells are then an error.
        headed: Whether the first line of a TSV or CSV file has the columns' names; otherwise they
            are 1, 2, 3 and so on.
    """

    source: Source
    quoted: bool | None = None
    headed: bool = True

    def names(self) -> list[str]:
        """The names of the columns; in JSON Lines, those of the first line.

        A field of an object, and an item of a list, in JSON has a name such as ``output.text`` and
        ``candidates.0``.

        Raises:
            DataError: As :meth:`texts`.
        """
        if self._begins(_PARQUET_MAGIC):
            with open_parquet(Path(self.source)) as file:
                return list(file.schema_arrow.names)
        if self._begins(_EXCEL_MAGIC):
            return read_excel(Path(self.source), headed=self.headed)[0]
        first, lines = self._lines()
        if first.startswith("{"):
            return field_names(parse_object(first, f"{source_name(self.source)}: line 1"))
        return self._header(first, lines)[0]

    def texts(
        self, columns: Sequence[str], *, keys: Collection[str] = ()
    ) -> Iterator[tuple[str, ...]]:
        r"""The texts of some columns, row by row.

        A ``\r`` at the end of a cell is stripped, with one warning, as at the end of a line. Line
        breaks inside a cell become a space each; a note says at the end in how many cells.

        Args:
            columns: The names of the columns.
            keys: Those among them that may have numbers in place of texts, such as identifiers.

        Raises:
            DataError: The file is missing, damaged or not UTF-8; a column is missing or occurs
                twice; a row has more or fewer fields than the header; a cell is missing or is not
                text (the message names file, line or row, and column).
            MissingDependencyError: The file is Parquet or Excel, and its package is not installed.
        """
        warned = False
        broken: Counter[str] = Counter()
        for place, cells in self._rows(columns, keys):
            row = []
            for name, cell in zip(columns, cells, strict=True):
                try:
                    if name in keys and isinstance(cell, (int, float)):
                        text = _spell_number(cell)
                    else:
                        text = _text_of(cell)
                except ValueError as error:
                    raise DataError(self._at(place, name, error)) from None
                if "\n" in text:
                    text = _LINE_ENDS.sub(" ", text.strip("\r\n"))
                    broken[name] += 1
                if text.endswith("\r"):
                    text = text[:-1]
                    if not warned:
                        warned = True
                        said = self._at(place, name, _CARRIAGE_RETURN)
                        warnings.warn(said, CorpusWarning, stacklevel=2)
                row.append(text)
            yield tuple(row)
        for name, count in broken.items():
            said = f"{count:,} cell{'s' * (count > 1)} with line breaks, read as one line each"
            note = f"{source_name(self.source)}: column {name!r}: {said}"
            warnings.warn(note, ReadingNote, stacklevel=2)

    def all_names(self) -> list[str]:
        """The names of the columns; in JSON Lines, of all lines, each of which is read.

        Raises:
            DataError: As :meth:`texts`; two columns have one name.
        """
        is_binary = self._begins(_PARQUET_MAGIC) or self._begins(_EXCEL_MAGIC)
        if not is_binary and self._lines()[0].startswith("{"):
            found = (name for _, record in read_objects(self.source) for name in record)
            return list(dict.fromkeys(found))
        names = self.names()
        check_columns(source_name(self.source), names, names)
        return names

    def records(self, columns: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
        """Some columns of each row, by name: text, or in JSON Lines and Parquet any value.

        Texts keep their line breaks. Values of Parquet and Excel that JSON lacks, such as dates,
        are text.

        Args:
            columns: Their names; None for all. Lines of JSON may lack some of them.

        Raises:
            DataError: As :meth:`texts`; a value that Python cannot hold.
        """
        if self._begins(_PARQUET_MAGIC):
            yield from parquet_records(Path(self.source), columns)
            return
        names = self.names() if columns is None else columns
        if not self._begins(_EXCEL_MAGIC) and self._lines()[0].startswith("{"):
            for _, record in read_objects(self.source):
                wanted = record if columns is None else columns
                found = {}
                for name in wanted:
                    with suppress(KeyError):
                        found[name] = find_field(record, name)
                yield found
            return
        for _, cells in self._rows(names):
            yield dict(zip(names, map(as_json, cells), strict=True))

    def _at(self, place: str, column: str, said: object) -> str:
        return f"{source_name(self.source)}: {place}, column {column!r}: {said}"

    def _begins(self, magic: bytes) -> bool:
        """Whether the file begins with these bytes; False for a pipe, which is read only once."""
        check_source(self.source)
        path = Path(self.source)
        if str(self.source) == STDIN or not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(len(magic)) == magic

    def _lines(self) -> tuple[str, Iterator[str]]:
        """The first line, and all lines."""
        lines = read_segments(self.source)
        first = next(lines, None)
        if first is None:
            raise DataError(f"{source_name(self.source)}: the file is empty")
        if re.match(r"\s*\[\s*(\{|$)", first):
            raise DataError(f"{source_name(self.source)}: is not JSON Lines; {ONE_A_LINE}")
        return first, chain([first], lines)

    def _rows(
        self, columns: Sequence[str], keys: Collection[str] = ()
    ) -> Iterator[tuple[str, Sequence[object]]]:
        """The place of each row, such as ``line 7``, and its cells in some columns."""
        if self._begins(_PARQUET_MAGIC):
            read = read_parquet(Path(self.source), columns, keys)
            yield from ((f"row {number}", found) for number, found in enumerate(read, start=1))
            return
        if self._begins(_EXCEL_MAGIC):
            names, table = read_excel(Path(self.source), headed=self.headed)
            check_columns(source_name(self.source), names, columns)
            wanted = [names.index(name) for name in columns]
            for number, row in enumerate(table, start=1 + self.headed):
                yield f"row {number}", [row[place] for place in wanted]
            return
        first, lines = self._lines()
        if first.startswith("{"):
            for number, line in enumerate(lines, start=1):
                where = f"{source_name(self.source)}: line {number}"
                record = parse_object(line, where)
                if any(name not in record for name in columns):
                    check_columns(where, field_names(record), columns)
                yield f"line {number}", [find_field(record, name) for name in columns]
            return
        header, quoted, rows = self._header(first, lines)
        check_columns(f"{source_name(self.source)}: line 1", header, columns)
        places = [header.index(name) for name in columns]
        for number, fields in rows:
            cells = [fields[place] for place in places]
            if self.quoted is None and not quoted and any(map(_looks_quoted, cells)):
                name = columns[[*map(_looks_quoted, cells)].index(True)]
                raise DataError(self._at(f"line {number}", name, _QUOTED))
            yield f"line {number}", cells

    @cached_property
    def _is_quoted(self) -> bool:
        """Whether a TSV file is quoted, as the first cell with a quotation mark inside shows."""
        if str(self.source) == STDIN or not Path(self.source).is_file():
            return False
        for number, line in enumerate(read_segments(self.source)):
            cells = [cell for cell in line.split("\t") if '"' in cell] if '"' in line else []
            enclosed = [len(cell) > 1 and cell[0] == cell[-1] == '"' for cell in cells]
            if any(map(_looks_quoted, cells)):
                return True
            if any('"' in cell[1:-1] for cell in cells) or not all(enclosed):
                return False
            if number == 0 and self.headed and len(cells) == line.count("\t") + 1:
                return True  # every column's name is in quotation marks
        return False

    def _header(
        self, first: str, lines: Iterable[str]
    ) -> tuple[list[str], bool, Iterator[tuple[int, list[str]]]]:
        """The names of the columns of TSV or CSV, whether it is quoted, and its numbered rows."""
        delimiter = _delimiter(first)
        is_csv = delimiter != "\t"
        quoted = is_csv or (self._is_quoted if self.quoted is None else self.quoted)
        rows = split_fields(self.source, lines, delimiter=delimiter, quoted=quoted)
        line, fields = next(rows)
        if self.headed:
            return fields, quoted, rows
        names = [str(number) for number in range(1, len(fields) + 1)]
        return names, quoted, chain([(line, fields)], rows)


def _delimiter(first: str) -> str:
    """What separates the fields of a first line: tabs, or else commas or semicolons."""
    bare = re.sub(r'"[^"]*"', "", first)
    if "\t" in first or not re.search("[,;]", bare or first):
        return "," if "," in first and "\t" not in first else "\t"
    return max(",;", key=bare.count)


def _spell_number(number: float) -> str:
    """A number as an identifier: 7 for 7.0, as programs write a column with missing values."""
    is_whole = isinstance(number, float) and number.is_integer()
    return str(int(number) if is_whole else number)


def _looks_quoted(cell: str) -> bool:
    """Whether a program quoted this cell: the quotation marks inside it are doubled."""
    inside = cell[1:-1]
    is_enclosed = len(cell) > 2 and cell[0] == cell[-1] == '"'
    return is_enclosed and '""' in inside and '"' not in inside.replace('""', "")


def _text_of(cell: object) -> str:
    """The text of a cell; it may have line breaks, and end in a carriage return.

    Raises:
        ValueError: The cell is not text; the message says why.
    """
    if isinstance(cell, bytes):
        try:
            cell = cell.decode()
        except UnicodeDecodeError as error:
            raise ValueError(f"not valid UTF-8 at byte {error.start}") from None
    if cell is None:
        raise ValueError("a missing value; if it is an empty segment, write an empty text")
    if not isinstance(cell, str):
        kind = next((said for kind, said in _KINDS.items() if isinstance(cell, kind)), "a date")
        raise ValueError(f"is not text, but {kind}")
    if len(cell) > MAX_LINE_BYTES.get() or not cell.isascii():
        try:
            length = len(cell.encode())
        except UnicodeEncodeError as error:  # JSON can encode half a character
            raise ValueError(f"not valid Unicode: half a character at {error.start + 1}") from None
        if length > MAX_LINE_BYTES.get():
            raise ValueError(too_long())
    return cell


# TSV and CSV

Record: TypeAlias = "Mapping[str, str]"
"""A row of a TSV file, by the names of the columns."""


def bad_line(source: Source, line: int, said: object) -> DataError:
    """The error to raise for a line of a file."""
    return DataError(f"{source_name(source)}: line {line}: {said}")


def read_header(source: Source) -> list[str]:
    """The fields of the first line, between tabs; one empty field if the file is empty."""
    return next(read_segments(source), "").split("\t")


def read_records(
    source: Source, needed: Sequence[str], *, quoted: bool = False
) -> Iterator[tuple[int, Record]]:
    """Read the rows of a TSV file as mappings from the header's names, with their line numbers.

    Args:
        source: A file's name (``.gz`` and ``.zst`` are unpacked) or ``-`` for standard input.
        needed: Columns that must be there; there may be others.
        quoted: See :func:`split_fields`.

    Raises:
        DataError: As :func:`split_fields`; a column is missing or occurs twice; there is no row.
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
    """Split lines into fields, the same number in each; yield each line's number and fields.

    Args:
        source: The file's name, for messages.
        lines: Its lines, as :func:`~coverage_eval.data.files.read_segments` reads them.
        delimiter: The character between fields.
        quoted: Whether quotation marks enclose fields, as spreadsheets and pandas write them. Such
            a field may span several lines; its row then has the number of the last one. Otherwise
            quotation marks are ordinary characters.

    Raises:
        DataError: A row has fewer or more fields than the first; a quoted field does not end.
    """
    rows: Iterator[tuple[int, list[str]]]
    if quoted:
        rows = _quoted_rows(source, lines, delimiter)
    else:
        rows = ((number, line.split(delimiter)) for number, line in enumerate(lines, start=1))
    width = None
    for number, row in rows:
        width = len(row) if width is None else width
        if len(row) != width:
            raise bad_line(source, number, f"{len(row)} fields where the header has {width}")
        yield number, row


def _quoted_rows(
    source: Source, lines: Iterable[str], delimiter: str
) -> Iterator[tuple[int, list[str]]]:
    most = MAX_LINE_BYTES.get()
    # Python's own limit, of the whole process, is 131,072 characters.
    csv.field_size_limit(max(most, csv.field_size_limit()))
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            yield reader.line_num, row or [""]  # an empty line is one empty field
    except csv.Error as error:
        said = f"a field {too_long()}" if "field limit" in str(error) else error
        raise bad_line(source, reader.line_num, said) from error


def free_names(names: Iterable[str], taken: Iterable[str]) -> dict[str, str]:
    """Names for a user's columns beside columns of ours, so that none hides another.

    >>> free_names(["id", "rep"], ["segment", "rep"])
    {'id': 'id', 'rep': 'input rep'}

    Args:
        names: The user's names.
        taken: Ours.

    Returns:
        The new name of each of the user's columns; most keep their own.
    """
    names, found = list(names), dict.fromkeys(taken, "")
    used = {*found, *names}
    free = {}
    for name in names:
        new = name
        while new in found or (new != name and new in used):
            new = f"input {new}"
        used.add(new)
        free[name] = new
    return free


def write_records(path: str, columns: Sequence[str], records: Iterable[Mapping[str, Any]]) -> int:
    """Write rows as JSON Lines, or as TSV or CSV if the file's name ends so.

    Args:
        path: The file.
        columns: Names of the columns of TSV and CSV, in this order whatever that of a row is.
            Rows may lack some, and have no others.
        records: The rows.

    Returns:
        How many cells have an apostrophe before them in CSV, because a spreadsheet would run them
        as formulas (:func:`~coverage_eval.tables.csv_rows.is_formula`).

    Raises:
        DataError: The file cannot be written; a cell of TSV has a tab or a line end.
    """
    ending, changed = Path(path).suffix.lower(), 0
    with atomic_write(path) as file:
        if ending in {".csv", ".tsv"}:
            write = csv_record if ending == ".csv" else partial(_tsv_record, path)
            file.write(f"{write(columns)}\n")
        for record in records:
            if ending not in {".csv", ".tsv"}:
                line = json.dumps(record, ensure_ascii=False, default=str)
                # JSON may encode half a character, which UTF-8 cannot.
                file.write(line.encode("utf-8", "backslashreplace").decode() + "\n")
                continue
            if others := [name for name in record if name not in columns]:
                raise DataError(f"{path}: the input changed: it has a new column {others[0]!r}")
            row = [record.get(name) for name in columns]
            changed += sum(isinstance(cell, str) and is_formula(cell) for cell in row)
            file.write(f"{write(row)}\n")
    return changed if ending == ".csv" else 0


def _tsv_record(path: str, cells: Iterable[object]) -> str:
    texts = ["" if cell is None else str(cell) for cell in cells]
    if any(re.search(r"[\t\n\r]", text) for text in texts):
        raise DataError(
            f"{path}: a text has a tab or a line end, which TSV cannot hold; write .jsonl"
        )
    return "\t".join(texts).encode("utf-8", "backslashreplace").decode()


# Rows of systems


@dataclass(frozen=True, eq=False)
class SystemTexts:
    """The outputs of each system, from a file with one row per segment and system.

    Args:
        source: The file.
        shared_names: The names of texts that all systems share, such as the source.
    """

    source: Source
    shared_names: tuple[str, ...]
    _texts: dict[str, dict[str, str]] = field(default_factory=dict)
    _shared: dict[str, tuple[str, str, tuple[str, ...]]] = field(default_factory=dict)
    """The place, the system and the shared texts of each segment's first row."""

    @classmethod
    def read(
        cls,
        file: ColumnFile,
        system: str,
        text: str,
        shared: Sequence[str] = (),
        segment: str | None = None,
        texts: Sequence[str] = (),
    ) -> SystemTexts:
        """Read the outputs from a file with a column of systems.

        Args:
            file: The file.
            system: The column of systems' names.
            text: The column of translations.
            shared: Columns that all systems share, such as the source.
            segment: The column of segments' names; None if the rows of all systems are in the same
                order.
            texts: Shared columns that must be text; all others may be numbers.

        Raises:
            DataError: As :meth:`ColumnFile.texts` and :meth:`add`.
        """
        found = cls(file.source, tuple(shared))
        columns = [system, text, *([] if segment is None else [segment]), *shared]
        rows = file.texts(columns, keys={*columns} - {text, *texts})
        for number, (name, translation, *rest) in enumerate(rows, start=1):
            key = None if segment is None else rest.pop(0)
            found.add(f"row {number}", name, key, translation, tuple(rest))
        return found

    @property
    def systems(self) -> list[str]:
        """The systems, in the order of their first rows."""
        return list(self._texts)

    def add(
        self, place: str, system: str, segment: str | None, text: str, shared: tuple[str, ...]
    ) -> None:
        """Add one segment as one system translated it.

        Args:
            place: Where it stands, such as ``row 7``.
            system: The system.
            segment: The segment's name; None for the next one of the system.
            text: The translation.
            shared: The texts that all systems share, as many as ``shared_names``.

        Raises:
            DataError: A system without a name, a segment that the system has already, or a shared
                text that differs from another system's.
        """
        where = f"{source_name(self.source)}: {place}"
        if not system:
            raise DataError(f"{where}: the system has no name")
        texts = self._texts.setdefault(system, {})
        key = str(len(texts) + 1) if segment is None else segment
        if key in texts:
            raise DataError(f"{where}: segment {key} of {system} occurs twice")
        texts[key] = text
        first_place, first_system, first = self._shared.setdefault(key, (place, system, shared))
        for name, ours, theirs in zip(self.shared_names, shared, first, strict=True):
            if ours != theirs:
                raise DataError(
                    f"{where}: its {name} differs from {first_place}, the same segment ({key}) "
                    f"of {first_system}; sort the rows alike, or name the column that tells "
                    "segments apart: --segment-col"
                )

    def columns(self, systems: Sequence[str]) -> tuple[dict[str, Column], dict[str, Column]]:
        """The texts of some systems and their shared texts, segment by segment.

        Returns:
            Columns by system, and the shared ones by name.

        Raises:
            DataError: There is no such system, or it lacks a segment that another system has.
        """
        file = source_name(self.source)
        for system in systems:
            if system not in self._texts:
                raise DataError(f"{file}: no system {system}; there are: {', '.join(self._texts)}")
        segments = dict.fromkeys(key for system in systems for key in self._texts[system])
        held: dict[str, list[str]] = {}
        for system in systems:
            texts = self._texts[system]
            lacking = [segment for segment in segments if segment not in texts]
            if lacking:
                raise DataError(
                    f"{file}: {system} has {len(texts)} of the {len(segments)} segments of "
                    f"{', '.join(systems)}; the first missing one is {lacking[0]}"
                )
            held[f"of {system}"] = [texts[segment] for segment in segments]
        for number, name in enumerate(self.shared_names):
            held[name] = [self._shared[segment][2][number] for segment in segments]
        columns = HeldColumns(self.source, held)
        return (
            {system: Column(columns, f"of {system}") for system in systems},
            {name: Column(columns, name) for name in self.shared_names},
        )
