"""Columns of text in Parquet files, a batch of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from coverage_eval.errors import DataError, MissingDependencyError
from coverage_eval.text.delimited import check_columns
from fast_align_wrapper.files import check_inflation

if TYPE_CHECKING:
    from pyarrow import Array
    from pyarrow.parquet import ParquetFile

_MAGIC = b"PAR1"
_BATCH_ROWS = 4096
_TEXTS = {"string", "large_string", "string_view", "binary", "large_binary", "binary_view"}
"""What Arrow calls text, or bytes that may be text."""


def is_parquet(path: Path) -> bool:
    """Whether a file begins as Parquet does; a pipe, which can be read only once, does not."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def parquet_names(path: Path) -> list[str]:
    """The names of the columns.

    Raises:
        DataError: A damaged file.
        MissingDependencyError: pyarrow is not installed.
    """
    with _opened(path) as file:
        return list(file.schema_arrow.names)


def read_parquet(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, list[bytes | None]]]:
    """Read the cells of some columns, row by row, numbered from 1.

    Yields:
        The row's number and its cells: UTF-8, or None where a value is missing.

    Raises:
        DataError: A damaged file; a column that is missing, there twice or not of text; a file that
            unpacks to far too much.
        MissingDependencyError: pyarrow is not installed.
    """
    size, unpacked, number = path.stat().st_size, 0, 0
    with _opened(path) as file:
        _check_columns(path, file, columns)
    # As dictionaries, so that a text that stands in every row is in memory once, as in the file.
    with _opened(path, columns) as file:
        wanted = list(dict.fromkeys(columns))
        for batch in file.iter_batches(_BATCH_ROWS, columns=wanted, use_threads=False):
            cells = {name: _cells(batch.column(name)) for name in wanted}
            for row in zip(*(cells[name] for name in columns), strict=True):
                number += 1
                unpacked += sum(len(cell or b"") + 1 for cell in row)
                check_inflation(path, size, unpacked, DataError)
                yield number, list(row)


@contextmanager
def _opened(path: Path, columns: Sequence[str] = ()) -> Iterator[ParquetFile]:
    """The file; what pyarrow says of damage becomes one line."""
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


def _check_columns(path: Path, file: ParquetFile, columns: Sequence[str]) -> None:
    """Refuse columns that are not there or not of text, and those that unpack to too much."""
    from pyarrow import types

    schema = file.schema_arrow
    check_columns(str(path), schema.names, columns)
    # Those of a column of structs may have the name of another column.
    leaves = [file.schema.column(place).path for place in range(len(file.schema))]
    for name in columns:
        kind = schema.field(name).type
        kind = kind.value_type if types.is_dictionary(kind) else kind
        if str(kind) not in _TEXTS:
            raise DataError(f"{path}: column {name!r} is no text: {kind}")
        check_columns(str(path), leaves, [name])
    # What a row group says of itself: to ask for its columns aborts the process where their
    # statistics are damaged (pyarrow 26).
    groups = map(file.metadata.row_group, range(file.num_row_groups))
    unpacked = sum(group.total_byte_size for group in groups)
    check_inflation(path, path.stat().st_size, unpacked, DataError)


def _cells(column: Array) -> list[bytes | None]:
    """The cells of a batch's column; those that are equal are one object."""
    import pyarrow as pa

    texts = column.dictionary.cast(pa.binary()).to_pylist()
    return [None if place is None else texts[place] for place in column.indices.to_pylist()]
