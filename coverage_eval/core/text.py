"""Tables whose columns are texts: TSV, CSV, JSON Lines and Parquet, one segment per row.

A column is named behind its file: ``outputs.jsonl:mt``, ``texts.tsv:ref``, ``x.jsonl:out.text``
for a field of an object, ``sheet.csv:3`` where the first line has no names. What a file is shows in
its first bytes: Parquet begins with ``PAR1``, JSON Lines with ``{``; other files are TSV or CSV.
Nothing is guessed about cells, as pandas would: an empty text is a segment, and a missing value or
a number in place of a text is an error.
"""

from __future__ import annotations

import csv
import json
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from coverage_eval.core import files
from coverage_eval.core.errors import DataError, MissingDependencyError
from coverage_eval.core.files import (
    MAX_LINE_BYTES,
    STDIN,
    Column,
    CorpusWarning,
    ReadingNote,
    Source,
    Text,
    atomic_write,
    check_columns,
    check_source,
    copy_of_pipe,
    source_name,
    too_long,
)
from coverage_eval.core.json_objects import (
    ONE_A_LINE,
    field_names,
    find_field,
    parse_object,
    read_objects,
)
from coverage_eval.core.show.formats import csv_record, is_formula

ENDINGS = (".csv", ".jsonl", ".ndjson", ".parquet", ".tsv")
"""Endings of tables, in any case; ``.gz`` or ``.zst`` may follow."""

_NAMED = re.compile(
    rf"(?P<file>.+?(?:{'|'.join(map(re.escape, ENDINGS))})(?:\.gz|\.zst)?"
    r"|-|/dev/(?:stdin|fd/\d+))(?::(?P<column>.+))?",
    re.IGNORECASE | re.DOTALL,
)
"""A table, and after the first colon behind its ending, a column."""

_URL = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)

_CARRIAGE_RETURN = (
    "ends in a carriage return, which was stripped, as in all further cells of the file"
)
_LINE_ENDS = re.compile(r"[ \t]*[\r\n]+\s*")
"""A line break inside a cell, with the spaces around it."""

_KINDS = {
    bool: "true or false",
    int: "a number",
    float: "a number",
    list: "a list; name one of its items, as in candidates.0",
    dict: "an object; name one of its fields, as in output.text",
}
"""Values that are not text, by their Python type."""

_PARQUET = b"PAR1"

ROLES: Mapping[str, tuple[str, ...]] = {
    "src": ("src", "source"),
    "ref": ("ref", "reference"),
    "hyp": ("hyp", "hypothesis", "mt", "output", "target", "translation"),
    "tgt": ("tgt", "target", "ref", "reference"),
    "links": ("links", "alignment"),
    "ref_links": ("ref_links", "ref-links"),
}
"""What columns of the texts of a command are usually called."""


def find_text(name: Source, tables: MutableMapping[str, TextTable] | None = None) -> Text:
    """What a name means: a file of lines, or a column of a table.

    An existing file whose name has a colon is that file. Otherwise the column follows the first
    colon after a table's ending, or after ``-`` or ``/dev/fd/N``.

    Args:
        name: Such as ``out.txt``, ``-``, ``out.jsonl.gz:mt`` or ``-:mt``.
        tables: The tables of other names, so that columns of one table are read together.

    Raises:
        DataError: The name is a URL.
    """
    path = str(name)
    if _URL.match(path):
        raise DataError(f"{path}: is a URL; download the file first, and name it here")
    found = _NAMED.fullmatch(path)
    if found is None or found["column"] is None or _exists(path):
        return name
    tables = {} if tables is None else tables
    file = STDIN if found["file"] == "/dev/stdin" else found["file"]
    return Column(tables.setdefault(file, TextTable(file)), found["column"])


def read_segments(source: Text) -> Iterator[str]:
    """The segments of a text by its name: a file of lines, or a column of a table.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "out.jsonl"
    ...     _ = path.write_text('{"mt": "a red house"}\\n{"mt": ""}\\n', encoding="utf-8")
    ...     list(read_segments(f"{path}:mt"))
    ['a red house', '']

    Args:
        source: Such as ``out.txt``, ``out.txt.gz``, ``-`` or ``out.jsonl:mt``.

    Raises:
        DataError: As :func:`~coverage_eval.core.files.read_segments`; the name is a URL, or a
            table's without a column.
    """
    if not isinstance(source, Column):
        source = find_text(source)
    if not isinstance(source, Column) and is_table(source):
        there = ", ".join(TextTable(source).names())
        raise DataError(f"{source} is a table: name a column of it, as {source}:COLUMN: {there}")
    return files.read_segments(source)


def file_named(name: Source) -> str:
    """The file in a name, without a column."""
    found = _NAMED.fullmatch(str(name))
    return str(name) if found is None or _exists(str(name)) else str(found["file"])


def is_text(name: Source) -> bool:
    """Whether a name is that of a file that exists, or of a column of one."""
    return _exists(file_named(name))


def is_table(name: Source) -> bool:
    """Whether a name is that of a table, and lacks a column."""
    found = _NAMED.fullmatch(str(name))
    return found is not None and found["column"] is None and "." in found["file"]


def column_for(role: str, names: Sequence[str]) -> str | None:
    """The column that is usually this text of a command, of those with these names."""
    by_name = {name.lower(): name for name in reversed(names)}
    return next((by_name[usual] for usual in ROLES[role] if usual in by_name), None)


def _exists(path: str) -> bool:
    with suppress(OSError, ValueError):  # too long for a name
        return Path(path).exists()
    return False


@dataclass(frozen=True, eq=False)
class TextTable:
    """A file of named columns; each call reads it as a stream from its start.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "systems.tsv"
    ...     _ = path.write_text("reference\\tA\\na house\\ta house house\\n", encoding="utf-8")
    ...     list(TextTable(path).texts(["A", "reference"]))
    [('a house house', 'a house')]

    Args:
        source: Its name (``.gz`` and ``.zst`` are unpacked), or ``-`` for standard input. A pipe is
            copied to disk when it is first read.
    """

    source: Source

    def names(self) -> list[str]:
        """The names of the columns; in JSON Lines, those of the first line.

        A field of an object, and an item of a list, in JSON has a name such as ``output.text`` and
        ``candidates.0``.

        Raises:
            DataError: As :meth:`texts`.
        """
        if self._is_parquet:
            with self._parquet() as file:
                return list(file.schema_arrow.names)
        first = self._first_line
        if first.startswith("{"):
            return field_names(parse_object(first, self._at("line 1")))
        return next(self._fields())[1]

    def texts(self, columns: Sequence[str]) -> Iterator[tuple[str, ...]]:
        r"""The texts of some columns, row by row.

        A ``\r`` at the end of a cell is stripped, with one warning, as at the end of a line. Line
        breaks inside a cell become a space each; a note says at the end in how many cells.

        Raises:
            DataError: The file is missing, damaged or not UTF-8; a column is missing or occurs
                twice; a row has more or fewer fields than the header; a cell is missing or is not
                text (the message names file, line or row, and column); the table has a row for each
                segment and system.
            MissingDependencyError: The file is Parquet, and pyarrow is not installed.
        """
        warned = False
        broken: Counter[str] = Counter()
        for place, cells in self.cells(columns):
            row = []
            for name, cell in zip(columns, cells, strict=True):
                try:
                    text = _text_of(cell)
                except ValueError as error:
                    raise DataError(f"{self._at(place)}, column {name!r}: {error}") from None
                if "\n" in text:
                    text = _LINE_ENDS.sub(" ", text.strip("\r\n"))
                    broken[name] += 1
                if text.endswith("\r"):
                    text = text[:-1]
                    if not warned:
                        warned = True
                        said = f"{self._at(place)}, column {name!r}: {_CARRIAGE_RETURN}"
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
        if not self._is_parquet and self._first_line.startswith("{"):
            return list(dict.fromkeys(name for _, record in self._objects() for name in record))
        names = self.names()
        check_columns(source_name(self.source), names, names)
        return names

    def records(self) -> Iterator[dict[str, Any]]:
        """All columns of each row, by name: text, or in JSON Lines and Parquet any value.

        Texts keep their line breaks. Values of Parquet that JSON lacks, such as dates, are text.

        Raises:
            DataError: As :meth:`texts`.
        """
        if self._is_parquet:
            names = self.names()
            for _, values in self.cells(names):
                yield dict(zip(names, map(_as_json, values), strict=True))
        elif self._first_line.startswith("{"):
            yield from (record for _, record in self._objects())
        else:
            rows = self._fields()
            names = next(rows)[1]
            yield from (dict(zip(names, fields, strict=True)) for _, fields in rows)

    def _at(self, place: str) -> str:
        return f"{source_name(self.source)}: {place}"

    @cached_property
    def _path(self) -> Path:
        """The file; of a pipe, a copy that is removed with this object."""
        check_source(self.source)
        if str(self.source) != STDIN and Path(self.source).is_file():
            return Path(self.source)
        copy = NamedTemporaryFile(prefix="coverage-eval-")  # noqa: SIM115
        self.__dict__["_copy"] = copy
        copy_of_pipe(self.source, copy)
        return Path(copy.name)

    @cached_property
    def _is_parquet(self) -> bool:
        with self._path.open("rb") as file:
            return file.read(len(_PARQUET)) == _PARQUET

    @cached_property
    def _first_line(self) -> str:
        first = next(self._lines(), None)
        if first is None:
            raise DataError(f"{source_name(self.source)}: the file is empty")
        if re.match(r"\s*\[\s*(\{|$)", first):
            raise DataError(f"{source_name(self.source)}: is not JSON Lines; {ONE_A_LINE}")
        return first

    def _lines(self) -> Iterator[str]:
        return files.read_segments(self._path, self.source)

    def _objects(self) -> Iterator[tuple[str, dict[str, Any]]]:
        return read_objects(self._path, self.source)

    def cells(self, columns: Sequence[str]) -> Iterator[tuple[str, Sequence[object]]]:
        """The place of each row, such as ``line 7``, and its cells in some columns, as they are.

        Raises:
            DataError: As :meth:`texts`.
        """
        rows = self._places_and_records(columns)
        system: object = None
        for number, (place, names, record) in enumerate(rows):
            if "system" in record and "system" not in columns:
                system = record["system"] if number == 0 else system
                if record["system"] != system:
                    raise DataError(self._pivot(columns[0], names))
            yield place, [find_field(record, name) for name in columns]

    def _places_and_records(
        self, columns: Sequence[str]
    ) -> Iterator[tuple[str, Sequence[str], Mapping[str, Any]]]:
        """Each row's place, the names of its columns, and its cells by name."""
        if self._is_parquet:
            names = self.names()
            wanted = [name if name in names else name.partition(".")[0] for name in columns]
            check_columns(source_name(self.source), names, wanted)
            wanted += ["system"] if "system" in names else []
            for number, record in enumerate(self._parquet_rows(wanted), start=1):
                _check_fields(self._at(f"row {number}"), record, columns)
                yield f"row {number}", names, record
            return
        if self._first_line.startswith("{"):
            for number, (where, record) in enumerate(self._objects(), start=1):
                _check_fields(where, record, columns)
                yield f"line {number}", list(record), record
            return
        rows = self._fields()
        line, header = next(rows)
        names = header
        if not set(columns) & set(header) and all(map(_is_number, columns)):
            if _has_names(header):
                there = ", ".join(header)
                raise DataError(f"{self._at('line 1')}: has the names of columns: {there}")
            names = [str(number) for number in range(1, len(header) + 1)]
            rows = chain([(line, header)], rows)
        check_columns(self._at("line 1"), names, columns)
        for line, fields in rows:
            yield f"line {line}", names, dict(zip(names, fields, strict=True))

    def _fields(self) -> Iterator[tuple[int, list[str]]]:
        """The fields of each line of TSV or CSV, with the line's number; the header comes first.

        Raises:
            DataError: A row has fewer or more fields than the first; a quoted field does not end.
        """
        delimiter = _delimiter(self._first_line)
        rows: Iterator[tuple[int, list[str]]]
        if delimiter == "\t" and not self._is_quoted:
            rows = ((n, line.split("\t")) for n, line in enumerate(self._lines(), start=1))
        else:
            rows = self._quoted_rows(delimiter)
        width = None
        for number, row in rows:
            width = len(row) if width is None else width
            if len(row) != width:
                where = self._at(f"line {number}")
                raise DataError(f"{where}: {len(row)} fields where the header has {width}")
            yield number, row

    def _quoted_rows(self, delimiter: str) -> Iterator[tuple[int, list[str]]]:
        """As csv reads them; the number of a row is that of its last line."""
        # Python's own limit, of the whole process, is 131,072 characters.
        csv.field_size_limit(max(MAX_LINE_BYTES.get(), csv.field_size_limit()))
        lines = (f"{line}\n" for line in self._lines())
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        try:
            for row in reader:
                yield reader.line_num, row or [""]  # an empty line is one empty field
        except csv.Error as error:
            said = f"a field {too_long()}" if "field limit" in str(error) else error
            raise DataError(f"{self._at(f'line {reader.line_num}')}: {said}") from error

    @cached_property
    def _is_quoted(self) -> bool:
        """Whether a TSV file is quoted, as the first cell with a quotation mark inside shows."""
        for number, line in enumerate(self._lines()):
            cells = [cell for cell in line.split("\t") if '"' in cell] if '"' in line else []
            enclosed = [len(cell) > 1 and cell[0] == cell[-1] == '"' for cell in cells]
            if any(map(_looks_quoted, cells)):
                return True
            if any('"' in cell[1:-1] for cell in cells) or not all(enclosed):
                return False
            if number == 0 and len(cells) == line.count("\t") + 1:
                return True  # every column's name is in quotation marks
        return False

    def _pivot(self, column: str, names: Sequence[str]) -> str:
        """The error for a table with a row for each segment and system, with what to do."""
        shared = [name for role in ("src", "ref") if (name := column_for(role, names))]
        index = json.dumps(["segment", *(name for name in shared if name != column)])
        read = f'pd.read_csv("{self.source}", sep="\\t", quoting=3, keep_default_na=False)'
        if self._is_parquet or self._first_line.startswith("{"):
            kind = "parquet" if self._is_parquet else "json"
            lines = "" if self._is_parquet else ", lines=True"
            read = f'pd.read_{kind}("{self.source}"{lines})'
        elif _delimiter(self._first_line) != "\t":
            read = f'pd.read_csv("{self.source}", keep_default_na=False)'
        return (
            f"{source_name(self.source)}: has a row for each segment and system (its column "
            "'system' has several values); make a column of each system first, with pandas: "
            f't = {read}; t["segment"] = t.groupby("system").cumcount(); '
            f't.pivot(index={index}, columns="system", values="{column}").reset_index()'
            '.to_json("systems.jsonl", orient="records", lines=True, force_ascii=False)'
        )

    def _parquet_rows(self, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
        with self._parquet() as file:
            try:
                for batch in file.iter_batches(4096, columns=list(dict.fromkeys(columns))):
                    yield from batch.to_pylist()
            except (ValueError, OverflowError) as error:  # such as dates that Python cannot hold
                said = str(error).partition("\n")[0]
                raise DataError(f"{source_name(self.source)}: cannot be read: {said}") from error

    def _parquet(self) -> Any:
        """The open file, to be closed; pyarrow's errors become one line."""
        try:
            import pyarrow as pa
            from pyarrow.parquet import ParquetFile
        except ImportError as error:
            raise MissingDependencyError(
                f"{self.source}: Parquet needs pyarrow; pip install 'coverage-eval[parquet]'"
            ) from error
        try:
            return ParquetFile(self._path)
        except (pa.ArrowException, OSError) as error:
            said = str(error).partition("\n")[0]
            raise DataError(f"{source_name(self.source)}: damaged Parquet file ({said})") from error


def _check_fields(where: str, record: Mapping[str, Any], columns: Sequence[str]) -> None:
    """Raise if an object lacks one of the fields with these names or paths."""
    name = ""
    try:
        for name in columns:
            find_field(record, name)
    except KeyError:
        check_columns(where, field_names(record), [name])


def _delimiter(first: str) -> str:
    """What separates the fields of a first line: tabs, or else commas or semicolons."""
    bare = re.sub(r'"[^"]*"', "", first)
    if "\t" in first or not re.search("[,;]", bare or first):
        return "," if "," in first and "\t" not in first else "\t"
    return max(",;", key=bare.count)


def _is_number(name: str) -> bool:
    return re.fullmatch("[1-9][0-9]{0,3}", name) is not None


def _has_names(header: Sequence[str]) -> bool:
    """Whether a first line looks like names of columns: different words, and no number."""
    words = all(re.fullmatch(r"[^\W\d][\w.-]*", cell) for cell in header)
    return words and len(set(header)) == len(header)


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


def _as_json(value: object) -> object:
    """A value of Parquet as one that JSON has."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, dict):
        return {str(key): _as_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return list(map(_as_json, value))
    return value if value is None or isinstance(value, (str, int, float)) else str(value)


# Writing


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
        as formulas (:func:`~coverage_eval.core.show.formats.is_formula`).

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
