"""Tables whose columns are texts: TSV, CSV, JSON and Parquet, one segment per row.

A column is named behind its file: ``outputs.jsonl:mt``, ``texts.tsv:ref``, ``x.jsonl:out.text``
for a field of an object, ``sheet.csv:3`` where the first line has no names. Parquet is told by the
ending ``.parquet``, and JSON Lines and a JSON array by their content; other files are TSV or CSV. A
JSON array of strings is a text; rows that are arrays have columns ``0``, ``1``, …, or the names in
the first. Nothing is guessed about cells, as pandas would: an empty text is a segment, and a number
in place of a text, or a missing value in a source, is an error; a missing output is empty.
"""

from __future__ import annotations

import csv
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

from coverage_eval.core import files
from coverage_eval.core.errors import CorpusWarning, DataError, MissingDependencyError, ReadingNote
from coverage_eval.core.files import FileText, PathLike, Text
from coverage_eval.core.json_values import field_names, find_field, is_row, parse_json, read_array

_CARRIAGE_RETURN = (
    "ends in a carriage return, which was stripped, as in all further cells of the file"
)
_LINE_ENDS = re.compile(r"(?<![ \t])[ \t]*[\r\n]+\s*")
"""A line break inside a cell, with the spaces around it."""

_KINDS = {
    bool: "true or false",
    int: "a number",
    float: "a number",
    list: "a list; name one of its items, as in candidates.0",
    dict: "an object; name one of its fields, as in output.text",
}
"""Values that are not text, by their Python type."""

ROLES: Mapping[str, tuple[str, ...]] = {
    "src": ("src", "source"),
    "ref": ("ref", "reference"),
    "hyp": ("hyp", "hypothesis", "mt", "output", "target", "translation"),
    "tgt": ("tgt", "target", "ref", "reference"),
    "links": ("links", "alignment"),
    "ref_links": ("ref_links", "ref-links"),
}
"""What columns of the texts of a command are usually called."""


def column_for(role: str, names: Sequence[str]) -> str | None:
    """The column that is usually this text of a command, of those with these names."""
    by_name = {name.lower(): name for name in reversed(names)}
    return next((by_name[usual] for usual in ROLES[role] if usual in by_name), None)


class TextTable:
    """A file of named columns; each call reads it as a stream from its start.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "systems.tsv"
    ...     _ = path.write_text("reference\\tA\\na house\\ta house house\\n", encoding="utf-8")
    ...     list(TextTable(path).texts(["A", "reference"]))
    [('a house house', 'a house')]

    Args:
        path: Its name (``.gz`` and ``.zst`` are unpacked), or ``-`` for standard input. A pipe is
            copied to disk when it is first read.
        file: The file, if it is open already.
    """

    def __init__(self, path: PathLike, file: FileText | None = None) -> None:
        self.path = path
        self.file = file or FileText(path)
        self.name = self.file.name

    def names(self) -> list[str]:
        """The names of the columns; in JSON Lines, those of the first line.

        A field of an object, and an item of a list, in JSON has a name such as ``output.text`` and
        ``candidates.0``.

        Raises:
            DataError: As :meth:`texts`.
        """
        kind, lines = self._open()
        if kind == "parquet":
            with self._parquet() as file:
                return list(file.schema_arrow.names)
        if kind in {"json", "array"}:
            _, record = next(self.rows(()), ("", {}))
            return field_names(record)
        return next(self._fields(kind, lines))[1]

    def columns(self) -> list[str]:
        """What its columns can be called: names, or numbers where the first line has no names.

        Raises:
            DataError: As :meth:`texts`.
        """
        names, (kind, _) = self.names(), self._open()
        if kind in {"parquet", "json", "array"} or _has_names(names):
            return names
        return [str(number) for number in range(1, len(names) + 1)]

    def texts(
        self, columns: Sequence[str], optional: Sequence[str] = ()
    ) -> Iterator[tuple[str, ...]]:
        r"""The texts of some columns, row by row.

        A ``\r`` at the end of a cell is stripped, with one warning, as at the end of a line. Line
        breaks inside a cell become a space each; a note says at the end in how many cells.

        Args:
            columns: Their names.
            optional: Those of them in which a missing value is an empty text.

        Raises:
            DataError: The file is missing, damaged or not UTF-8; a column is missing or occurs
                twice; a row has more or fewer fields than the header; a cell is missing or is not
                text (the message names file, line or row, and column).
            MissingDependencyError: The file is Parquet, and pyarrow is not installed.
        """
        warned = False
        broken: Counter[str] = Counter()
        for location, cells in self.cells(columns):
            row = []
            for name, cell in zip(columns, cells, strict=True):
                try:
                    text = "" if name in optional and is_missing(cell) else _text_of(cell)
                except ValueError as error:
                    raise DataError(f"{self._at(location)}, column {name!r}: {error}") from None
                if "\n" in text:
                    text = join_lines(text)
                    broken[name] += 1
                if text.endswith("\r"):
                    text = text[:-1]
                    if not warned:
                        warned = True
                        message = f"{self._at(location)}, column {name!r}: {_CARRIAGE_RETURN}"
                        warnings.warn(message, CorpusWarning, stacklevel=2)
                row.append(text)
            yield tuple(row)
        for name, count in broken.items():
            cells_read = f"{count:,} cell{'s' * (count > 1)} with line breaks"
            note = f"{self._at(f'column {name!r}')}: {cells_read}, read as one line each"
            warnings.warn(note, ReadingNote, stacklevel=2)

    def cells(self, columns: Sequence[str]) -> Iterator[tuple[str, Sequence[object]]]:
        """The place of each row, such as ``line 7``, and its cells in some columns, as they are.

        Raises:
            DataError: As :meth:`texts`.
        """
        for location, record in self.rows(columns):
            try:
                yield location, [find_field(record, name) for name in columns]
            except KeyError as missing:  # noqa: PERF203 (it ends the loop)
                files.check_columns(self._at(location), field_names(record), missing.args)

    def records(self, *known: str) -> Iterator[dict[str, Any]]:
        """All columns of each row, by name: text, or in JSON Lines and Parquet any value.

        Texts keep their line breaks.

        Args:
            *known: Columns that are there; their numbers, if the first line has no names.

        Raises:
            DataError: As :meth:`texts`; two columns have one name.
        """
        return (record for _, record in self.rows(known, only=False))

    def _at(self, location: str) -> str:
        return f"{self.file.name}: {location}"

    def _open(self) -> tuple[str, Iterator[Any]]:
        """What the table is, and its lines, or the items of an array.

        It is ``parquet``, ``json``, ``array``, or what separates the fields of TSV or CSV.

        Raises:
            DataError: A text file cannot be read or is empty.
        """
        if Path(self.path).suffix.lower() == ".parquet":
            return "parquet", iter(())
        if array := read_array(self.file):
            return "array", iter(array)
        # CSV has carriage returns at line ends (RFC 4180), and other tables from Excel, too.
        lines = self.file.lines(quietly=True)
        first = next(lines, None)
        if first is None:
            raise DataError(self._at("the file is empty"))
        is_json = first.startswith("{") or is_row(first)
        return "json" if is_json else _delimiter(first), chain([first], lines)

    def rows(
        self, columns: Sequence[str], *, only: bool = True
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """Each row's place, and its cells by name.

        Args:
            columns: Those that must be there.
            only: Whether no others are read from Parquet.
        """
        kind, lines = self._open()
        if kind == "parquet":
            for number, record in enumerate(self._parquet_rows(columns if only else ()), start=1):
                yield f"row {number}", record
            return
        if kind == "json":
            places = ((f"line {number}", text) for number, text in enumerate(lines, start=1))
            yield from self._named((at, parse_json(text, self._at(at))) for at, text in places)
            return
        if kind == "array":
            items = list(lines)
            if not any(isinstance(item, (dict, list)) for item in items):
                items = [{"": item} for item in items]
            yield from self._named((f"item {n}", item) for n, item in enumerate(items, start=1))
            return
        rows = self._fields(kind, lines)
        line, names = header = next(rows)
        are_numbers = all(re.fullmatch("[1-9][0-9]{0,3}", name) for name in columns)
        if are_numbers and columns and not (set(columns) & set(names) or _has_names(names)):
            names = [str(number) for number in range(1, len(names) + 1)]
            rows = chain([header], rows)
        files.check_columns(self._at("line 1"), names, columns if only else names)
        for line, fields in rows:
            yield f"line {line}", dict(zip(names, fields, strict=True))

    def _named(self, rows: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Rows of JSON as objects; the cells of a list have the names in the first, or numbers.

        Raises:
            DataError: A row is no object and no list, or a list of another length.
        """
        kind: Any = None
        names: list[str] = []
        for place, row in rows:
            kind = kind or type(row)
            if kind not in {dict, list} or not isinstance(row, kind):
                raise DataError(self._at(f"{place}: JSON, but not an object {{…}}"))
            if kind is dict:
                yield place, row
                continue
            if not names:
                names = [str(number) for number in range(len(row))]
                if all(isinstance(cell, str) for cell in row) and _has_names(row):
                    names = row
                    continue
            if len(row) != len(names):
                message = f"{place}: {len(row)} cells where the first row has {len(names)}"
                raise DataError(self._at(message))
            yield place, dict(zip(names, row, strict=True))

    def _fields(self, delimiter: str, lines: Iterator[str]) -> Iterator[tuple[int, list[str]]]:
        """The fields of each line of TSV or CSV, with the line's number; the header comes first.

        Raises:
            DataError: A row has fewer or more fields than the first; a quoted field does not end.
        """
        width = None
        split = self._split_at_tabs(lines) if delimiter == "\t" else self._unquote(lines, delimiter)
        for number, row in split:
            width = len(row) if width is None else width
            if len(row) != width:
                where = self._at(f"line {number}")
                raise DataError(f"{where}: {len(row)} fields where the header has {width}")
            yield number, row

    def _split_at_tabs(self, lines: Iterator[str]) -> Iterator[tuple[int, list[str]]]:
        """The fields of a TSV file, which is quoted or not, as the first quotation marks show."""
        undecided: list[str] = []
        is_quoted, number = None, 0
        for number, line in enumerate(lines, start=1):
            if undecided or '"' in line:
                undecided.append(line)
                is_quoted = _is_quoted(line, is_header=number == 1)
                if is_quoted is not None or len(undecided) == _TELLING_LINES:
                    break
            else:
                yield number, line.split("\t")
        rest, before = chain(undecided, lines), number - len(undecided)
        if is_quoted:
            yield from self._unquote(rest, "\t", before)
        else:
            yield from ((n, line.split("\t")) for n, line in enumerate(rest, start=before + 1))

    def _unquote(
        self, lines: Iterable[str], delimiter: str, before: int = 0
    ) -> Iterator[tuple[int, list[str]]]:
        """Lines as csv reads them; the number of a row is that of its last line."""
        # Python's own limit, of the whole process, is 131,072 characters.
        csv.field_size_limit(max(files.MAX_LINE_BYTES, csv.field_size_limit()))
        reader = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter, strict=True)
        try:
            for row in reader:
                yield before + reader.line_num, row or [""]  # an empty line is one empty field
        except csv.Error as error:
            reason = f"a field {files.too_long()}" if "field limit" in str(error) else error
            where = self._at(f"line {before + reader.line_num}")
            raise DataError(f"{where}: {reason}") from error

    def _parquet_rows(self, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
        names = self.names()
        wanted = [name if name in names else name.partition(".")[0] for name in columns]
        files.check_columns(self.file.name, names, wanted or names)
        wanted = list(dict.fromkeys(wanted))
        with self._parquet() as file:
            for batch in file.iter_batches(4096, columns=wanted if columns else None):
                yield from batch.to_pylist()

    @contextmanager
    def _parquet(self) -> Iterator[Any]:
        """The open file; pyarrow's errors become one line."""
        try:
            import pyarrow as pa
            from pyarrow.parquet import ParquetFile
        except ImportError as error:
            raise MissingDependencyError(
                f"{self.path}: Parquet needs pyarrow; pip install 'coverage-eval[parquet]'"
            ) from error
        path = self.file.regular_file
        try:
            with ParquetFile(path) as file:
                yield file
        # Dates that Python cannot hold are the last two.
        except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
            reason = str(error).partition("\n")[0]
            raise DataError(self._at(f"cannot be read as Parquet ({reason})")) from error


class ColumnText(Text):
    """A column of a table as a text; columns that share a table are read together.

    Args:
        table: The table.
        column: The column's name.
    """

    def __init__(self, table: TextTable, column: str) -> None:
        self.table = table
        self.column = column
        self.path = table.path
        self.name = f"{files.file_name(table.path)}:{column}"

    def __str__(self) -> str:
        return f"{self.path}:{self.column}"

    def __iter__(self) -> Iterator[str]:
        """Yield the segment of each row.

        Raises:
            DataError: As :meth:`TextTable.texts`.
        """
        return self.read(optional=False)

    def read(self, *, optional: bool) -> Iterator[str]:
        """As iteration; an ``optional`` column may lack values, which are blank segments."""
        names = [self.column]
        return (segment for (segment,) in self.table.texts(names, names if optional else ()))


def _delimiter(first: str) -> str:
    """What separates the fields of a first line: tabs, or else commas or semicolons."""
    bare = re.sub(r'"[^"]*"', "", first)
    if "\t" in first or not re.search("[,;]", bare or first):
        return "," if "," in first and "\t" not in first else "\t"
    return max(",;", key=bare.count)


def _has_names(header: Sequence[str]) -> bool:
    """Whether a first line looks like names of columns: different words, and no number."""
    words = all(re.fullmatch(r"[^\W\d][\w.-]*", cell) for cell in header)
    return words and len(set(header)) == len(header)


_TELLING_LINES = 10_000
"""Lines after which a TSV file is not quoted if none of them tells."""


def _is_quoted(line: str, *, is_header: bool) -> bool | None:
    """Whether a line of TSV shows that its file is quoted; None if it does not tell."""
    cells = [cell for cell in line.split("\t") if '"' in cell]
    enclosed = [cell[1:-1] for cell in cells if len(cell) > 1 and cell[0] == cell[-1] == '"']
    if any('"' in text and '"' not in text.replace('""', "") for text in enclosed):
        return True  # quotation marks inside are doubled
    if len(enclosed) < len(cells) or any('"' in text for text in enclosed):
        return False
    return True if is_header and len(cells) == line.count("\t") + 1 else None


def join_lines(cell: str) -> str:
    """The text of a cell with a space for each line break inside."""
    return _LINE_ENDS.sub(" ", cell.strip("\r\n")) if "\n" in cell else cell


def is_missing(value: object) -> bool:
    """Whether a value stands for no text: None, or what pandas and JSON write for it.

    >>> is_missing(None), is_missing(float("nan")), is_missing("None"), is_missing([])
    (True, True, False, False)
    """
    return not isinstance(value, (str, Iterable)) and str(value) in {"None", "nan", "<NA>", "NaT"}


def _text_of(cell: object) -> str:
    """The text of a cell; it may have line breaks, and end in a carriage return.

    Raises:
        ValueError: The cell is not text; the message says why.
    """
    if cell is None:
        raise ValueError("a missing value; if it is an empty segment, write an empty text")
    if not isinstance(cell, str):
        what = next((name for kind, name in _KINDS.items() if isinstance(cell, kind)), "a date")
        raise ValueError(f"is not text, but {what}")
    if len(cell) > files.MAX_LINE_BYTES or not cell.isascii():
        try:
            length = len(cell.encode())
        except UnicodeEncodeError as error:  # JSON can encode half a character
            raise ValueError(f"not valid Unicode: half a character at {error.start + 1}") from None
        if length > files.MAX_LINE_BYTES:
            raise ValueError(files.too_long())
    return cell
