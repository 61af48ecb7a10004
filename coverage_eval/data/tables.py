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
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any, TypeAlias

from coverage_eval.data.files import (
    MAX_LINE_BYTES,
    STDIN,
    Column,
    CorpusWarning,
    ReadingNote,
    Source,
    atomic_write,
    check_source,
    read_segments,
    source_name,
    too_long,
)
from coverage_eval.errors import DataError, MissingDependencyError
from coverage_eval.tables.csv_rows import csv_record, is_formula
from fast_align_wrapper.files import check_inflation

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

_CARRIAGE_RETURN = (
    "ends in a carriage return, which was stripped, as in all further cells of the file"
)
_LINE_ENDS = re.compile(r"[ \t]*[\r\n]+\s*")
"""A line break inside a cell, with the spaces around it."""

_QUOTED = "is quoted, as spreadsheets and pandas write cells: give --quoted or --unquoted"

ONE_A_LINE = "write each object of a JSON array on its own line: jq -c '.[]' ARRAY > LINES"
"""What to do with a file that is one JSON array."""

_KINDS = {
    bool: "true or false",
    int: "a number",
    float: "a number",
    list: "a list; name one of its items, as in candidates.0",
    dict: "an object; name one of its fields, as in output.text",
}
"""JSON values that are not text, by their Python type."""

_MAX_DIGITS = 640
"""The lowest limit that Python can set on the digits of an integer."""

_PARQUET_MAGIC = b"PAR1"
_EXCEL_MAGIC = b"PK\x03\x04"
_PARQUET_ROWS = 4096
_PARQUET_TEXTS = {
    "string", "large_string", "string_view", "binary", "large_binary", "binary_view",
}  # fmt: skip
"""Arrow's types of text and bytes."""


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
            with _open_parquet(Path(self.source)) as file:
                return list(file.schema_arrow.names)
        if self._begins(_EXCEL_MAGIC):
            return _read_excel(Path(self.source), headed=self.headed)[0]
        first, lines = self._lines()
        if first.startswith("{"):
            return _paths(parse_object(first, f"{source_name(self.source)}: line 1"))
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
        if self._begins(_EXCEL_MAGIC):
            yield from _excel_records(Path(self.source), columns, headed=self.headed)
            return
        if self._begins(_PARQUET_MAGIC):
            yield from _parquet_records(Path(self.source), columns)
            return
        names = self.names() if columns is None else columns
        if self._lines()[0].startswith("{"):
            for _, record in read_objects(self.source):
                wanted = record if columns is None else columns
                found = {}
                for name in wanted:
                    with suppress(KeyError):
                        found[name] = find_field(record, name)
                yield found
            return
        for _, cells in self._rows(names):
            yield dict(zip(names, cells, strict=True))

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
            read = _read_parquet(Path(self.source), columns, keys)
            yield from ((f"row {number}", found) for number, found in enumerate(read, start=1))
            return
        if self._begins(_EXCEL_MAGIC):
            names, table = _read_excel(Path(self.source), headed=self.headed)
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
                    check_columns(where, _paths(record), columns)
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


def _paths(record: Mapping[str, Any]) -> list[str]:
    """The names of an object's fields, and of the fields and items of these."""
    found = []
    for name, value in record.items():
        found.append(name)
        items = enumerate(value) if isinstance(value, list) else ()
        inner = value if isinstance(value, dict) else {str(n): item for n, item in items}
        found += [f"{name}.{path}" for path in _paths(inner)]
    return found


def find_field(record: Mapping[str, Any], name: str) -> Any:
    """A field of an object by its name, or by a path such as ``output.text``.

    >>> find_field({"choices": [{"text": "a house"}]}, "choices.0.text")
    'a house'

    Raises:
        KeyError: There is none.
    """
    if name in record:
        return record[name]
    value: Any = record
    try:
        for part in name.split("."):
            value = value[int(part)] if isinstance(value, list) else value[part]
    except (TypeError, ValueError, LookupError):
        raise KeyError(name) from None
    return value


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


def check_columns(where: str, names: Sequence[str], needed: Sequence[str]) -> None:
    """Raise if a needed column is missing or occurs twice.

    Args:
        where: The file, and its line if it has lines.
        names: The columns of the file.
        needed: The columns that must occur once.

    Raises:
        DataError: The first such column; the message lists the columns of the file.
    """
    missing = [name for name in needed if name not in names]
    twice = [name for name in needed if names.count(name) > 1]
    if missing or twice:
        said = f"no column {', '.join(missing)}" if missing else f"two columns {twice[0]}"
        there = shorten(", ".join(names), 300, placeholder=" …")
        raise DataError(f"{where}: {said}; there are: {there}")


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


# JSON


def read_objects(source: Source) -> Iterator[tuple[str, dict[str, Any]]]:
    """Read the objects of JSON Lines, each with its place, such as ``errors.jsonl: line 7``.

    Args:
        source: A file's name (``.gz`` and ``.zst`` are unpacked) or ``-`` for standard input.

    Raises:
        DataError: As :func:`~coverage_eval.data.files.read_segments`; a line is not an object.
    """
    for number, line in enumerate(read_segments(source), start=1):
        where = f"{source_name(source)}: line {number}"
        yield where, parse_object(line, where)


def parse_object(text: str, where: str) -> dict[str, Any]:
    """Parse a JSON object.

    Raises:
        DataError: As :func:`parse_json`, or a value that is not an object.
    """
    value = parse_json(text, where)
    if isinstance(value, list):
        raise DataError(f"{where}: JSON, but not an object {{…}}; {ONE_A_LINE}")
    return check_object(value, where)


def check_object(value: Any, where: str) -> dict[str, Any]:
    """Return a JSON value if it is an object.

    Raises:
        DataError: A value that is not an object.
    """
    if not isinstance(value, dict):
        raise DataError(f"{where}: JSON, but not an object {{…}}")
    return value


def parse_json(text: str, where: str) -> Any:
    """Parse a JSON value.

    Raises:
        DataError: Not JSON, nested too deep, or a name that occurs twice in one object, where
            Python's parser would take the last value.
    """
    try:
        return json.loads(text, object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError) as error:
        if "digits" in str(error):  # a huge integer becomes infinite, as 1e400 does
            with suppress(ValueError, RecursionError):
                return json.loads(text, object_pairs_hook=_without_repeats, parse_int=_parse_whole)
        raise not_json(error, where) from error


def _parse_whole(digits: str) -> float:
    """An integer; infinite if it has thousands of digits."""
    return int(digits) if len(digits) <= _MAX_DIGITS else float(digits)


def not_json(error: Exception, where: str) -> DataError:
    """The error to raise where JSON's parser fails."""
    reason = str(error) or type(error).__name__
    return DataError(f"{where}: not JSON: {reason}".replace("\n", " "))


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name occurs twice in an object")
    return found


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


# Parquet


@contextmanager
def _open_parquet(path: Path, columns: Sequence[str] = ()) -> Iterator[ParquetFile]:
    """Open a file, some columns as dictionaries; pyarrow's errors become one line."""
    try:
        import pyarrow as pa
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise MissingDependencyError(
            f"{path}: Parquet needs pyarrow; pip install 'coverage-eval[parquet]'"
        ) from error
    try:
        with ParquetFile(path, read_dictionary=list(columns), pre_buffer=False) as file:
            yield file
    except (pa.ArrowException, OSError) as error:
        said = str(error).partition("\n")[0]
        raise DataError(f"{path}: damaged Parquet file ({said})") from error


def _read_parquet(
    path: Path, columns: Sequence[str], keys: Collection[str] = ()
) -> Iterator[tuple[object, ...]]:
    """Read the cells of some columns row by row: UTF-8, or None where a value is missing.

    Keys may also be numbers.

    Raises:
        DataError: A damaged file; a column that is missing, duplicate or not of text; a file that
            unpacks to far too much.
        MissingDependencyError: pyarrow is not installed.
    """
    size, unpacked = path.stat().st_size, 0
    with _open_parquet(path) as file:
        numbers = _check_parquet(path, file, columns, keys)
    import pyarrow as pa

    # As dictionaries: a text repeated in every row is in memory once, as in the file.
    with _open_parquet(path, [name for name in columns if name not in numbers]) as file:
        wanted = list(dict.fromkeys(columns))
        for batch in file.iter_batches(_PARQUET_ROWS, columns=wanted, use_threads=False):
            cells: dict[str, list[Any]] = {}
            for name in wanted:
                column = batch.column(name)
                if name in numbers:
                    cells[name] = column.to_pylist()
                    continue
                texts = [*column.dictionary.cast(pa.binary()).to_pylist(), None]
                places = column.indices.fill_null(len(texts) - 1).to_pylist()
                cells[name] = [texts[place] for place in places]
            for row in zip(*(cells[name] for name in columns), strict=True):
                unpacked += sum(len(c) + 1 if isinstance(c, bytes) else 1 for c in row)
                check_inflation(path, size, unpacked, DataError)
                yield row


def _parquet_records(path: Path, columns: Sequence[str] | None) -> Iterator[dict[str, Any]]:
    """Read columns of any kind row by row, as values of JSON.

    Raises:
        DataError: A damaged file; a missing or duplicate column; a value that Python cannot hold; a
            file that unpacks to far too much.
        MissingDependencyError: pyarrow is not installed.
    """
    size, unpacked = path.stat().st_size, 0
    with _open_parquet(path) as file:
        names = list(file.schema_arrow.names)
        wanted = names if columns is None else list(dict.fromkeys(columns))
        check_columns(str(path), names, wanted)
        _check_unpacked(path, file)
        leaves = (file.schema.column(place) for place in range(len(file.schema)))
        texts = [
            leaf.path
            for leaf in leaves
            if leaf.physical_type == "BYTE_ARRAY" and leaf.logical_type.type in {"STRING", "NONE"}
        ]
    # As dictionaries, in columns of lists and records too: see _read_parquet.
    with _open_parquet(path, texts) as file:
        for batch in file.iter_batches(_PARQUET_ROWS, columns=wanted, use_threads=False):
            cells = []
            for name in wanted:
                column = batch.column(name)
                unpacked += _unpacked_size(column)
                check_inflation(path, size, unpacked, DataError)
                try:
                    cells.append(list(map(_as_json, column.to_pylist())))
                except (ValueError, OverflowError, TypeError) as error:
                    said = str(error).partition("\n")[0]
                    raise DataError(f"{path}: column {name!r}: cannot be read: {said}") from error
            for row in zip(*cells, strict=True):
                yield dict(zip(wanted, row, strict=True))


def _unpacked_size(column: Any) -> int:
    """Bytes of the values of a column of Arrow once no text is a reference to a dictionary."""
    import pyarrow as pa
    from pyarrow import compute, types

    if types.is_dictionary(column.type):
        lengths = compute.binary_length(column.dictionary.cast(pa.large_binary()))
        return len(column) + int(compute.sum(lengths.take(column.indices)).as_py() or 0)
    if types.is_struct(column.type):
        return len(column) + sum(map(_unpacked_size, column.flatten()))
    if types.is_map(column.type):
        return len(column) + _unpacked_size(column.keys) + _unpacked_size(column.items)
    if types.is_nested(column.type):
        return len(column) + _unpacked_size(column.flatten())
    return int(column.nbytes) + len(column)


def _as_json(value: object) -> object:
    """A value of Parquet as one that JSON has."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, dict):
        return {str(key): _as_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return list(map(_as_json, value))
    return value if value is None or isinstance(value, (str, int, float)) else str(value)


def _check_parquet(
    path: Path, file: ParquetFile, columns: Sequence[str], keys: Collection[str]
) -> set[str]:
    """Raise if a column is missing or not text, or if the file unpacks to too much.

    Returns:
        The keys that are numbers.
    """
    from pyarrow import types

    schema = file.schema_arrow
    check_columns(str(path), schema.names, columns)
    # A field of a column of structs may have the name of another column.
    leaves = [file.schema.column(place).path for place in range(len(file.schema))]
    numbers: set[str] = set()
    for name in columns:
        kind = schema.field(name).type
        kind = kind.value_type if types.is_dictionary(kind) else kind
        if name in keys and (types.is_integer(kind) or types.is_floating(kind)):
            numbers.add(name)
        elif str(kind) not in _PARQUET_TEXTS:
            raise DataError(f"{path}: column {name!r} is not text: {kind}")
        check_columns(str(path), leaves, [name])
    _check_unpacked(path, file)
    return numbers


def _check_unpacked(path: Path, file: ParquetFile) -> None:
    """Raise if the file unpacks to too much, as it says itself; texts that repeat come on top."""
    # Reading the size from the columns aborts the process if their statistics are damaged
    # (pyarrow 26), so it is read from the row groups.
    groups = map(file.metadata.row_group, range(file.num_row_groups))
    unpacked = sum(group.total_byte_size for group in groups)
    check_inflation(path, path.stat().st_size, unpacked, DataError)


# Excel


def _read_excel(path: Path, *, headed: bool) -> tuple[list[str], list[list[Any]]]:
    """The names of the columns of the first sheet, and the cells of each row; "" for empty ones.

    Raises:
        DataError: A damaged file, or an empty sheet.
        MissingDependencyError: pandas' engine for Excel is not installed.
    """
    import pandas as pd

    try:
        frame = pd.read_excel(path, header=None, dtype=object, na_filter=False)
    except ImportError as error:
        raise MissingDependencyError(
            f"{path}: Excel needs openpyxl; pip install 'coverage-eval[excel]'"
        ) from error
    except Exception as error:  # engines raise errors of their own
        said = str(error).partition("\n")[0]
        raise DataError(f"{path}: not a table of Excel ({said})") from error
    rows = frame.to_numpy().tolist()
    if not rows:
        raise DataError(f"{path}: the first sheet is empty")
    if headed:
        return [str(name) for name in rows[0]], rows[1:]
    return [str(number) for number in range(1, len(rows[0]) + 1)], rows


def _excel_records(
    path: Path, columns: Sequence[str] | None, *, headed: bool
) -> Iterator[dict[str, Any]]:
    """Some columns row by row, as values of JSON."""
    names, rows = _read_excel(path, headed=headed)
    wanted = names if columns is None else list(dict.fromkeys(columns))
    check_columns(str(path), names, wanted)
    places = [names.index(name) for name in wanted]
    for row in rows:
        yield {name: _as_json(row[place]) for name, place in zip(wanted, places, strict=True)}


# Rows of systems


@dataclass(frozen=True, eq=False)
class _ColumnsInMemory:
    """Columns of one length by name, and the file that they come from."""

    source: Source
    columns: Mapping[str, Sequence[str]]

    def texts(self, columns: Sequence[str]) -> Iterator[tuple[str, ...]]:
        """The segments of some columns, row by row."""
        return zip(*(self.columns[name] for name in columns), strict=True)


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
        columns = _ColumnsInMemory(self.source, held)
        return (
            {system: Column(columns, f"of {system}") for system in systems},
            {name: Column(columns, name) for name in self.shared_names},
        )
