"""Tables in Parquet, read with pyarrow, and in Excel's files, read with pandas."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coverage_eval.data.files import check_columns
from coverage_eval.errors import DataError, MissingDependencyError
from fast_align_wrapper.files import check_inflation

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

_PARQUET_ROWS = 4096
_PARQUET_TEXTS = {
    "string", "large_string", "string_view", "binary", "large_binary", "binary_view",
}  # fmt: skip
"""Arrow's types of text and bytes."""


@contextmanager
def open_parquet(path: Path, columns: Sequence[str] = ()) -> Iterator[ParquetFile]:
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


def read_parquet(
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
    with open_parquet(path) as file:
        numbers = _check_parquet(path, file, columns, keys)
    import pyarrow as pa

    # As dictionaries: a text repeated in every row is in memory once, as in the file.
    with open_parquet(path, [name for name in columns if name not in numbers]) as file:
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


def parquet_records(path: Path, columns: Sequence[str] | None) -> Iterator[dict[str, Any]]:
    """Read columns of any kind row by row, as values of JSON.

    Raises:
        DataError: A damaged file; a missing or duplicate column; a value that Python cannot hold; a
            file that unpacks to far too much.
        MissingDependencyError: pyarrow is not installed.
    """
    size, unpacked = path.stat().st_size, 0
    with open_parquet(path) as file:
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
    # As dictionaries, in columns of lists and records too: see read_parquet.
    with open_parquet(path, texts) as file:
        for batch in file.iter_batches(_PARQUET_ROWS, columns=wanted, use_threads=False):
            cells = []
            for name in wanted:
                column = batch.column(name)
                unpacked += _unpacked_size(column)
                check_inflation(path, size, unpacked, DataError)
                try:
                    cells.append(list(map(as_json, column.to_pylist())))
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


def as_json(value: object) -> object:
    """A value of Parquet or Excel as one that JSON has."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, dict):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return list(map(as_json, value))
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


def read_excel(path: Path, *, headed: bool) -> tuple[list[str], list[list[Any]]]:
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
