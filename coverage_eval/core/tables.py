"""Tables whose columns are texts: TSV, CSV, JSON and Parquet, one segment per row.

A column is named behind its file: ``outputs.jsonl:mt``, ``texts.tsv:ref``, ``x.jsonl:out.text``
for a field of an object, ``sheet.csv:3`` where the first line has no names. Parquet is told by the
ending ``.parquet``, and JSON Lines and a JSON array by their content; the first line of other files
tells whether they are CSV or TSV. TSV has no quotation marks around cells, unless it has them
around every name in its first line. A JSON array of strings is a text. Cells are read as they are
written: ``007`` and ``NA`` are texts, and an empty text is a segment. A number of JSON in place of
a text is an error, and so is a missing value in a source; a missing output is empty.
"""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import warnings
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from coverage_eval.core import files
from coverage_eval.core.errors import CorpusWarning, DataError, MissingDependencyError, ReadingNote
from coverage_eval.core.files import FileText, PathLike, Text

ROLES: Mapping[str, tuple[str, ...]] = {
    "src": ("src", "source"),
    "ref": ("ref", "reference"),
    "hyp": ("hyp", "hypothesis", "mt", "output", "target", "translation"),
    "tgt": ("tgt", "target", "ref", "reference"),
    "links": ("links", "alignment"),
    "ref_links": ("ref_links", "ref-links"),
}
"""What columns of the texts of a command are usually called."""

SYSTEM = "system"
SEGMENTS = ("segment", "segment_id", "seg_id", "seg", "docsegid", "globalsegid")
_DOCUMENTS = ("doc", "doc_id", "docid", "document", "document_id")
_IDS = ("id", "uid", "key", "line", "sentence_id", "sid", "index")
"""What columns that tell systems and segments apart are usually called."""

_MEMORY = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
_MAX_BYTES = _MEMORY // 8
"""The largest table that is read; its cells take several times its size in memory."""

Row = dict[str, Any]
Rows = tuple[list[str], list[Row]]
"""The names of the columns, and the rows."""


def column_for(role: str, names: Sequence[str]) -> str | None:
    """The column that is usually this text of a command, of those with these names."""
    by_name = {name.lower(): name for name in reversed(names)}
    return next((by_name[usual] for usual in ROLES[role] if usual in by_name), None)


def list_names(names: Sequence[str]) -> str:
    """Names in an error, which lists at most twenty."""
    return ", ".join(names[:20]) + (f" and {len(names) - 20:,} more" if len(names) > 20 else "")


class TextTable:
    """A file of named columns, read whole when its names or cells are first asked for.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "systems.tsv"
    ...     _ = path.write_text("reference\\tA\\na house\\ta house house\\n", encoding="utf-8")
    ...     TextTable(path).texts("A")
    ['a house house']

    Args:
        path: Its name (``.gz`` and ``.zst`` are unpacked), or ``-`` for standard input.
        asked: The columns that are wanted. If all are numbers, the first line of TSV or CSV may
            have no names; it is then a row, and the columns are called by their numbers.
        file: The file, if it is open already.

    Attributes:
        groups: The rows of the file, from 0, that each row of a :meth:`select` stands for.
    """

    def __init__(
        self, path: PathLike, asked: Sequence[str] = (), file: FileText | None = None
    ) -> None:
        self.path = path
        self.file = file or FileText(path)
        self.name = self.file.name
        self.asked = [*asked]
        self.groups: Sequence[Sequence[int]] | None = None

    def select(self, groups: Iterable[Sequence[int]]) -> TextTable:
        """A table with a row for some rows of the file each, which must have the same texts."""
        selected = copy(self)
        selected.groups = [*groups]
        return selected

    @cached_property
    def _content(self) -> Rows:
        if Path(self.path).suffix.lower() == ".parquet":
            return _read_parquet(self.file)
        items = read_json(self.file)
        if items is None:
            return _read_separated(self.file, self.asked)
        for number, item in enumerate(items, start=1):
            if type(item) is not type(items[0]) and dict in {type(item), type(items[0])}:
                raise DataError(f"{self.name}: row {number}: JSON, but not an object {{…}}")
        rows = items if isinstance(items[0], dict) else [{"": item} for item in items]
        return field_names(rows[0]), rows

    @property
    def names(self) -> list[str]:
        """The names of the columns; of JSON, also paths in the first row, such as ``output.text``.

        Raises:
            DataError: As :attr:`rows`.
        """
        return self._content[0]

    @property
    def rows(self) -> list[Row]:
        """All columns of each row by name: texts, or of JSON and Parquet any value.

        Raises:
            DataError: The file is missing, damaged, not UTF-8 or too large for the memory; a row
                has more or fewer fields than the first; two columns have one name.
            MissingDependencyError: The file is Parquet, and pyarrow is not installed.
        """
        rows = self._content[1]
        return rows if self.groups is None else [rows[first] for first, *_ in self.groups]

    def cells(self, column: str) -> Iterator[tuple[str, Any]]:
        """Where each row is, such as ``row 7``, and its cell in a column, as it is.

        Raises:
            DataError: As :attr:`rows`; a row lacks the column; rows of one segment disagree.
        """
        names, rows = self._content
        if not rows and column not in names:
            raise self._lacks(column, names)
        for first, *others in self.groups or ((row,) for row in range(len(rows))):
            cell = self._cell(first, column)
            for other in others:
                if self._cell(other, column) != cell:
                    raise DataError(
                        f"{self.name}: row {other + 1}, column {column!r}: another text than in "
                        f"row {first + 1}, which has the same segment"
                    )
            yield f"row {first + 1}", cell

    def _cell(self, index: int, column: str) -> Any:
        row = self._content[1][index]
        try:
            cell = row[column] if column in row else find_field(row, column)
        except KeyError:
            raise self._lacks(column, field_names(row), index) from None
        # MQM's annotators put <v> around an error, which differs from rater to rater.
        is_marked = self.groups is not None and "severity" in row and isinstance(cell, str)
        return re.sub("</?v>", "", cell) if is_marked else cell

    def _lacks(self, column: str, names: Sequence[str], index: int = 0) -> DataError:
        where = f"{self.name}: row {index + 1}" if index else self.name
        return DataError(f"{where}: no column {column}; there are: {list_names(names)}")

    def texts(self, column: str, *, optional: bool = False) -> list[str]:
        """The text of each row in a column, with a space for each line break inside.

        Args:
            column: Its name.
            optional: Whether a missing value is an empty text.

        Raises:
            DataError: As :meth:`cells`; a cell is missing or is not text.

        Warns:
            ReadingNote: Cells have line breaks; it says how many.
        """
        texts, broken = [], 0
        for where, cell in self.cells(column):
            text = "" if optional and is_missing(cell) else cell
            if problem := _why_no_text(text):
                raise DataError(f"{self.name}: {where}, column {column!r}: {problem}")
            broken += "\n" in text
            texts.append(join_lines(text))
        if broken:
            cells = f"{broken:,} cell{'s' * (broken > 1)} with line breaks, read as one line each"
            warnings.warn(f"{self.name}: column {column!r}: {cells}", ReadingNote, stacklevel=2)
        return texts


class ColumnText(Text):
    """A column of a table as a text.

    Args:
        table: The table.
        column: The column's name.
    """

    def __init__(self, table: TextTable, column: str) -> None:
        self.table = table
        self.column = column
        self.path = table.path
        self.name = f"{files.file_name(table.path)}:{column}"
        table.asked.append(column)

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
        yield from self.table.texts(self.column, optional=optional)


def _why_no_text(cell: object) -> str:
    """Why a cell is not text; empty if it is one."""
    if cell is None:
        return "a missing value; if it is an empty segment, write an empty text"
    if isinstance(cell, list):
        return "is not text, but a list; name one of its items, as in candidates.0"
    if isinstance(cell, dict):
        return "is not text, but an object; name one of its fields, as in output.text"
    if not isinstance(cell, str):
        is_number = isinstance(cell, (int, float)) and not isinstance(cell, bool)
        return f"is not text, but {'a number' if is_number else json.dumps(cell, default=str)}"
    try:
        cell.encode()
    except UnicodeEncodeError as error:  # JSON can encode half a character
        return f"not valid Unicode: half a character at {error.start + 1}"
    return ""


def join_lines(cell: str) -> str:
    """The text of a cell with a space for each line break inside, and the spaces around it."""
    if "\n" not in cell and not cell.endswith("\r"):
        return cell
    return re.sub(r"(?<![ \t])[ \t]*[\r\n]+\s*", " ", cell.strip("\r\n"))


def is_missing(value: object) -> bool:
    """Whether a value stands for no text: None, or what pandas and JSON write for it.

    >>> is_missing(None), is_missing(float("nan")), is_missing("None"), is_missing([])
    (True, True, False, False)
    """
    return not isinstance(value, (str, Iterable)) and str(value) in {"None", "nan", "<NA>", "NaT"}


# Readers. Those of pandas change texts: read_csv fills a row that is too short with empty cells,
# and read_json drops half characters and refuses large numbers.


def _check(file: FileText, names: Sequence[str], size: int) -> None:
    """Raise if two columns have one name, or a table of this size in bytes is too large."""
    if size > _MAX_BYTES:
        raise DataError(
            f"{file.name}: a table of more than {_MAX_BYTES / 1e9:.1f} GB, which is too large for "
            f"{_MEMORY / 1e9:.1f} GB of memory; score it with Spark, or in parts"
        )
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        there = list_names(names)
        raise DataError(f"{file.name}: two columns are called {twice}; there are: {there}")


def _read_parquet(file: FileText) -> Rows:
    try:
        import pyarrow as pa
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise MissingDependencyError(
            f"{file.name}: Parquet needs pyarrow; pip install 'coverage-eval[parquet]'"
        ) from error
    path = file.regular_file
    try:
        with ParquetFile(path) as opened:
            groups = map(opened.metadata.row_group, range(opened.metadata.num_row_groups))
            names = opened.schema_arrow.names
            _check(file, names, sum(group.total_byte_size for group in groups))
            return names, opened.read().to_pylist()
    # Dates that Python cannot hold are the last two.
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        if isinstance(error, DataError):
            raise
        reason = str(error).partition("\n")[0]
        raise DataError(f"{file.name}: cannot be read as Parquet ({reason})") from error


def _lines(file: FileText) -> list[str]:
    """The lines of a table, if they fit into memory; CSV may have carriage returns at their end."""
    lines, size = [], 0
    for line in file.lines(quietly=True):
        size += len(line)
        if size > _MAX_BYTES:
            _check(file, (), size)
        lines.append(line)
    return lines


def _read_separated(file: FileText, asked: Sequence[str]) -> Rows:
    """TSV or CSV, which Excel writes with commas or semicolons."""
    lines = _lines(file)
    if not lines:
        raise DataError(f"{file.name}: the file is empty")
    bare = re.sub(r'"[^"]*"', "", lines[0])
    is_csv = _has_ending(file, "csv") or re.search("[,;]", bare)
    has_tabs = "\t" in lines[0] or not is_csv
    if has_tabs and not re.fullmatch(r'"[^"]*"(\t"[^"]*")*', lines[0]):
        rows = [line.split("\t") for line in lines]
    else:
        # Python's own limit, of the whole process, is 131,072 characters.
        csv.field_size_limit(max(files.MAX_LINE_BYTES, csv.field_size_limit()))
        delimiter = "\t" if has_tabs else max(",;", key=bare.count)
        reader = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter, strict=True)
        try:
            rows = [row or [""] for row in reader]  # an empty line is one empty field
        except csv.Error as error:
            raise DataError(f"{file.name}: line {reader.line_num}: {error}") from error
    names = rows[0]
    are_numbers = bool(asked) and all(re.fullmatch("[1-9][0-9]{0,3}", name) for name in asked)
    are_names = all(re.fullmatch(r"[^\W\d][\w.-]*", name) for name in names)
    if are_numbers and not {*asked} & {*names} and not (are_names and len({*names}) == len(names)):
        names = [str(number) for number in range(1, len(names) + 1)]
    else:
        del rows[0]
    _check(file, names, 0)
    for number, row in enumerate(rows, start=1):
        if len(row) != len(names):
            where = f"{file.name}: row {number}"
            raise DataError(f"{where}: {len(row)} fields where the first line has {len(names)}")
    return names, [dict(zip(names, row, strict=True)) for row in rows]


def _has_ending(file: FileText, ending: str) -> bool:
    return re.search(rf"\.{ending}(\.gz|\.zst)?$", str(file.path), re.IGNORECASE) is not None


def read_json(file: FileText) -> list[Any] | None:
    """The rows of JSON Lines, or an array of texts or rows; None for a file that is neither.

    The first two lines of JSON Lines tell, since the output of a language model may be JSON.

    Raises:
        DataError: A line is no JSON; or the name ends in ``.json``, and the content is neither.
    """
    lines = [line for line in file.first_lines if line.strip()][:2]
    is_json = _has_ending(file, "json")
    if lines and all(map(_is_object, lines)) and not (is_json and len(lines) == 1):
        return [parse_json(line, f"{file.name}: row {n}") for n, line in enumerate(_lines(file), 1)]
    value = read_value(file) if is_json or (lines and lines[0].lstrip()[0] == "[") else None
    if isinstance(value, list) and value:
        are_texts = all(item is None or isinstance(item, str) for item in value)
        if are_texts or isinstance(value[0], dict):
            return value
    if not is_json:
        return None
    message = f"{file.name}: is no JSON of texts, which is an array of strings or of objects"
    for name, field in value.items() if isinstance(value, dict) else ():
        if isinstance(field, list) and field and isinstance(field[0], dict):
            program = shlex.quote(f".[{json.dumps(name)}]")
            message += f"; type: jq {program} {shlex.quote(str(file.path))} > ROWS.json"
    raise DataError(message)


def _is_object(line: str) -> bool:
    try:
        value = json.loads(line) if line.lstrip().startswith("{") else None
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and bool(value)


def read_value(file: FileText) -> Any:
    """The only value of a file of JSON; None for another file.

    Raises:
        DataError: An object has two fields of one name.
    """
    try:
        return _parse("\n".join(_lines(file)))
    except DataError as error:
        raise DataError(f"{file.name}: {error}") from None
    except (ValueError, RecursionError):
        return None


def parse_json(text: str, where: str) -> Any:
    """Parse a JSON value.

    Raises:
        DataError: It is not JSON, or nested too deep, or an object has two fields of one name.
    """
    try:
        return _parse(text)
    except DataError as error:
        raise DataError(f"{where}: {error}") from None
    except (ValueError, RecursionError) as error:
        reason = str(error) or type(error).__name__
        raise DataError(f"{where}: not JSON: {reason}".replace("\n", " ")) from error


def _parse(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_unique_fields)


def _unique_fields(pairs: Sequence[tuple[str, Any]]) -> Row:
    record = dict(pairs)
    if len(record) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"an object has two fields {twice!r:.60}")
    return record


def field_names(record: Mapping[str, Any]) -> list[str]:
    """The names of an object's fields, and of the fields and items of these."""
    names = []
    for name, value in record.items():
        names.append(name)
        items = enumerate(value) if isinstance(value, list) else ()
        inner = value if isinstance(value, dict) else {str(n): item for n, item in items}
        names += [f"{name}.{path}" for path in field_names(inner)]
    return names


def find_field(record: Mapping[str, Any], path: str) -> Any:
    """A field of an object by a path such as ``output.text``.

    >>> find_field({"choices": [{"text": "a house"}]}, "choices.0.text")
    'a house'

    Raises:
        KeyError: There is none.
    """
    value: Any = record
    try:
        for part in path.split("."):
            value = value[int(part)] if isinstance(value, list) else value[part]
    except (TypeError, ValueError, LookupError):
        raise KeyError(path) from None
    return value


# Tables with a row for each segment and system, such as WMT's


@dataclass(frozen=True)
class LongTable:
    """A table with a row for each segment and system; more rows of both must have the same texts.

    Args:
        table: The table.
        keys: The columns that tell which segment a row is of. Without any, the rows of each system
            are in the same order.
        systems: The rows of each segment, from 0, by system.
    """

    table: TextTable
    keys: Sequence[str]
    systems: Mapping[str, Mapping[Hashable, Sequence[int]]]

    @cached_property
    def segments(self) -> dict[Hashable, list[int]]:
        """All rows of each segment that all systems have, in the order of their first rows.

        Segments that are numbered from 1 are in the order of their numbers.
        """
        rows: dict[Hashable, list[int]] = {}
        for of_system in self.systems.values():
            for segment, some in of_system.items():
                rows.setdefault(segment, []).extend(some)
        in_all = [key for key in rows if all(key in some for some in self.systems.values())]
        first: dict[Hashable, int] = {(str(n),): n for n in range(1, len(rows) + 1)}
        if first.keys() != rows.keys():
            first = {key: min(some) for key, some in rows.items()}
        return {key: sorted(rows[key]) for key in sorted(in_all, key=first.__getitem__)}

    def of_system(self, system: str, column: str) -> ColumnText:
        """A column of the rows of a system, one for each segment that all have."""
        rows = self.systems[system]
        text = ColumnText(self.table.select(rows[key] for key in self.segments), column)
        text.name = f"{text.name} of {system}"
        return text

    @cached_property
    def shared(self) -> TextTable:
        """A row for each segment that all systems have, for its source and reference."""
        return self.table.select(self.segments.values())

    @cached_property
    def pooled(self) -> TextTable:
        """A row for each segment of each system, in the order of the rows."""
        groups = [rows for of_system in self.systems.values() for rows in of_system.values()]
        return self.table.select(sorted(groups, key=min))

    def check(self) -> None:
        """Warn of segments that some systems lack.

        Raises:
            DataError: No column names the segments, and the systems have unequal numbers of rows;
                or no segment has a row of each.

        Warns:
            CorpusWarning: Segments are left out.
        """
        where = self.table.path
        count = len({key for rows in self.systems.values() for key in rows}) - len(self.segments)
        if count and not self.keys:
            raise DataError(
                f"{where}: no column says which segment a row is of, and the systems have unequal "
                "numbers of rows: add a column 'segment', 'seg_id', or 'doc' and 'seg'"
            )
        if not self.segments:
            systems = list_names([*self.systems])
            raise DataError(f"{where}: no segment has a row of each of {systems}")
        if count:
            message = f"segments are left out, since not all of its systems have them: {where}"
            warnings.warn(f"{count:,} {message}", CorpusWarning, stacklevel=2)


def find_systems(table: TextTable, column: str = SYSTEM) -> LongTable | None:
    """The systems of a table; None if it is not one of several systems for one segment.

    What differs in every row, an object or a sentence is no name of a system, but perhaps the
    prompt of a language model, and says nothing about the rows.

    Args:
        table: The table.
        column: The column of the systems' names, of no more than four words.

    Raises:
        DataError: The table cannot be read.
    """
    if column not in table.names:
        return None
    cells = [row.get(column) for row in table.rows]
    are_names = all(isinstance(cell, str | int) for cell in cells)
    if not are_names or not all(re.fullmatch(r"\S+( \S+){,3}", str(cell)) for cell in cells):
        return None
    systems = [*map(str, cells)]
    keys = [name for name in table.names if name.lower() in (*SEGMENTS, *_DOCUMENTS)]
    if not any(name.lower() in SEGMENTS for name in keys):
        keys = [name for name in table.names if name.lower() in _IDS]
        keys = [name for name in keys if _names_segments(table, name, systems)]
    found: dict[str, dict[Hashable, list[int]]] = {system: {} for system in systems}
    for index, (system, row) in enumerate(zip(systems, table.rows, strict=True)):
        key = tuple(str(row.get(name)) for name in keys) if keys else len(found[system])
        found[system].setdefault(key, []).append(index)
    segments = [key for of_system in found.values() for key in of_system]
    has_several = len(set(segments)) < len(segments)
    # Without names of segments, names that repeat are all there is to see.
    is_long = has_several and (bool(keys) or 2 * len(found) <= len(systems))
    return LongTable(table, keys, found) if is_long else None


def _names_segments(table: TextTable, column: str, systems: Sequence[str]) -> bool:
    """Whether each system has an id once, and several systems have it."""
    ids = [str(row.get(column)) for row in table.rows]
    is_once = "severity" in table.names or len({*zip(systems, ids, strict=True)}) == len(ids)
    return is_once and len({*ids}) < len(ids)


def check_one_system(table: TextTable, column: str) -> None:
    """Refuse a table of several systems as one text, whose scores would be those of none.

    Raises:
        DataError: The message has the line that compares the systems.

    Warns:
        CorpusWarning: Another column seems to have the systems' names.
    """
    for name in table.names if table.groups is None else ():
        may_name = re.search("sys|model|engine|provider|translator", name, re.IGNORECASE)
        if name == column or not may_name or not (found := find_systems(table, name)):
            continue
        of_segment = (
            f"its segments are told by {list_names(found.keys)}"
            if found.keys
            else ("the rows of each system are in the same order")
        )
        if name == SYSTEM:
            raise DataError(
                f"{table.name}: has a row for each segment and system (its column {SYSTEM!r} has "
                f"several values; {of_segment}); type: {how_to_compare(table, column)}"
            )
        if found.keys:
            warnings.warn(
                f"{table.name}: seems to have a row for each segment and system (in its column "
                f"{name!r}; {of_segment}), and all rows count as one text; to tell the systems "
                f"apart, type: {how_to_compare(table, column)} --systems-in {shlex.quote(name)}",
                CorpusWarning,
                stacklevel=2,
            )


def how_to_compare(table: TextTable, column: str) -> str:
    """The line that compares the systems of a table, if it has texts to compare them with."""
    ref, src = (column_for(role, table.names) for role in ("ref", "src"))
    texts = {"--ref": ref, "--src": None if ref else src}
    given = "".join(f" {flag} {table.path}:{name}" for flag, name in texts.items() if name)
    return f"coverage-eval compare {table.path}:{column}{given}"


def join_by_id(tables: Sequence[TextTable]) -> Mapping[TextTable, TextTable]:
    """The same tables in the order of the first, if a column of ids says that theirs differs.

    Args:
        tables: Tables whose rows belong together.

    Raises:
        DataError: A table has the ids of another and more; the message names them.

    Warns:
        ReadingNote: The rows were joined.
    """
    same = {table: table for table in tables}
    if len({str(table.path) for table in tables}) < 2 or any(t.groups for t in tables):
        return same
    usual = (*_IDS[:3], *SEGMENTS)
    column = next((name for name in usual if all(name in t.names for t in tables)), None)
    if column is None:
        return same
    ids = {table: [str(row.get(column)) for row in table.rows] for table in tables}
    if any(len({*some}) < len(some) for some in ids.values()):
        return same  # they name something else
    first = tables[0]
    for table in tables[1:]:
        fewer, more = sorted((first, table), key=lambda item: len(ids[item]))
        known = {*ids[fewer]}
        extra = [name for name in ids[more] if name not in known]
        if extra and len(extra) == len(ids[more]) - len(ids[fewer]):
            raise DataError(
                f"{more.name} has rows whose {column!r} {fewer.name} lacks: {list_names(extra)}; "
                "remove them, or add theirs with an empty text"
            )
        if not extra and ids[table] != ids[first]:
            row_of = {name: row for row, name in enumerate(ids[table])}
            same[table] = table.select([row_of[name]] for name in ids[first])
            note = f"{table.name}: rows are in the order of {first.name}, joined by {column!r}"
            warnings.warn(note, ReadingNote, stacklevel=2)
    return same
