"""The only reader of text: segments from files, their tokens, parallel corpora.

UTF-8, one segment a line; only ``\\n`` ends a line, and an empty line is a segment. Tokens are
separated by runs of ASCII space and tab and by nothing else, as fast_align has it, so that REP,
DROP and the aligner agree on token positions.
"""

from __future__ import annotations

import gzip
import io
import os
import sys
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import chain, tee, zip_longest
from operator import itemgetter
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TypeAlias

from coverage_eval.errors import DataError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd
from fast_align_wrapper.files import check_inflation

STDIN = "-"

Source: TypeAlias = "str | os.PathLike[str]"
"""The name of a text file: plain, ``.gz``, ``.zst``, or ``-`` for standard input."""


class TextColumns(Protocol):
    """A file whose columns are texts; most are :class:`~.column_files.ColumnFile`."""

    @property
    def source(self) -> Source:
        """The file's name."""

    def texts(self, columns: Sequence[str]) -> Iterator[tuple[str, ...]]:
        """The segments of some columns, row by row."""


@dataclass(frozen=True)
class Column:
    """A text that is a column of a file, read where others are files of their own.

    Attributes:
        columns: The file.
        name: The column's name.
    """

    columns: TextColumns
    name: str


Text: TypeAlias = "Source | Column"
"""What segments are read from."""


MAX_LINE_BYTES: ContextVar[int] = ContextVar("MAX_LINE_BYTES", default=1 << 26)
"""The longest line that is read, in bytes: a file with a longer one is no text. Set it for more."""

_BLOCK_BYTES = 1 << 16
_BOM = "\ufeff"
_UNPACKERS: Mapping[str, Callable[[BinaryIO], Any]] = {
    ".gz": lambda packed: gzip.GzipFile(fileobj=packed),
    ".zst": zstd.ZstdFile,
}
_OTHER_FILES = {
    b"\x1f\x8b": "a gzip file; give it a name that ends in .gz",
    b"\x28\xb5\x2f\xfd": "a zstd file; give it a name that ends in .zst",
    b"PAR1": "a Parquet file; give it as --from FILE, with the names of its columns",
}
"""What begins as no text does, and what to do about it."""


class CorpusWarning(UserWarning):
    """Something in a text file was repaired on reading; the message names the file."""


def source_name(source: Text) -> str:
    """The name of a text for messages."""
    if isinstance(source, Column):
        return f"{source_name(source.columns.source)}: column {source.name}"
    return "standard input" if str(source) == STDIN else str(source)


def file_of(source: Text) -> Source:
    """The file that a text is read from."""
    return source.columns.source if isinstance(source, Column) else source


def check_source(*sources: Text | None) -> None:
    """Refuse texts that cannot be read, before any is; None is none.

    Raises:
        DataError: A file does not exist or is a folder, or lacks a column.
    """
    for source in sources:
        if source is None or str(file_of(source)) == STDIN:
            continue
        path = Path(file_of(source))
        if path.is_dir():
            raise DataError(f"{path}: is a folder; name a text file")
        if not path.exists():
            raise DataError(f"{path}: no such file")
        if isinstance(source, Column) and path.is_file():
            next(read_segments(source), None)


def check_readable_again(*sources: Text) -> None:
    """Refuse standard input and pipes, which can be read only once.

    Raises:
        DataError: One of the sources is no file.
    """
    for source in map(file_of, sources):
        if str(source) == STDIN or (Path(source).exists() and not Path(source).is_file()):
            raise DataError(f"{source_name(source)}: is read several times; give a file")


@contextmanager
def _open_bytes(source: Source) -> Iterator[BinaryIO]:
    check_source(source)
    if str(source) == STDIN:
        if sys.stdin is None:  # a shell's <&-
            raise DataError("standard input is closed; give the text as a file")
        yield sys.stdin.buffer
        return
    ending = Path(source).suffix
    try:
        with Path(source).open("rb") as file:
            yield _unpacked(source, file, ending) if ending in _UNPACKERS else file
    except (gzip.BadGzipFile, EOFError, zlib.error, zstd.ZstdError) as error:
        kind = "gzip" if ending == ".gz" else "zstd"
        raise DataError(f"{source}: damaged {kind} file ({error})") from error
    except OSError as error:
        raise DataError(f"{source}: cannot be read: {error.strerror or error}") from error


class _Unpacked(io.RawIOBase):
    """The bytes that a packed file unpacks to, as long as they are not far too many."""

    def __init__(self, source: Source, packed: BinaryIO, ending: str) -> None:
        self._source = source
        self._packed = packed
        self._unpacked = _UNPACKERS[ending](packed)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._unpacked.read(len(buffer))
        buffer[: len(data)] = data
        check_inflation(self._source, self._packed.tell(), self._unpacked.tell(), DataError)
        return len(data)


def _unpacked(source: Source, packed: BinaryIO, ending: str) -> BinaryIO:
    return io.BufferedReader(_Unpacked(source, packed, ending), io.DEFAULT_BUFFER_SIZE << 3)


def read_segments(source: Text) -> Iterator[str]:
    """Read the segments of a text one by one, without holding the file in memory.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "text"
    ...     _ = path.write_text("a red house\\n\\nthe dog sleeps\\n", encoding="utf-8")
    ...     list(read_segments(path))
    ['a red house', '', 'the dog sleeps']

    A byte order mark is removed; a ``\\r`` before the line end is stripped, with one warning.

    Args:
        source: A file's name (``.gz`` and ``.zst`` are unpacked), ``-`` for standard input, or a
            column of a file.

    Yields:
        One segment a line, without its line end; one a row of a column.

    Raises:
        DataError: The file is missing, a folder, damaged, or not UTF-8 (file, line, byte offset);
            or what a file of columns refuses.
    """
    if isinstance(source, Column):
        yield from (segment for (segment,) in source.columns.texts([source.name]))
        return
    with _open_bytes(source) as file:
        number = offset = 0
        warned = False
        for block in _blocks(source, file):
            try:
                text = block.decode().removesuffix("\n")
            except UnicodeDecodeError as error:
                raise DataError(_invalid_utf8(source, number, offset, error)) from error
            for segment in (text if offset else text.removeprefix(_BOM)).split("\n"):
                number += 1
                if segment.endswith("\r"):
                    segment = segment[:-1]  # noqa: PLW2901
                    if not warned:
                        warned = True
                        _warn_carriage_return(source, number)
                yield segment
            offset += len(block)


def _blocks(source: Source, file: BinaryIO) -> Iterator[bytes]:
    """Some whole lines at a time; of a line not much more is read than is taken (/dev/zero)."""
    most = MAX_LINE_BYTES.get()
    before = 0
    while block := file.read(_BLOCK_BYTES):
        if not block.endswith(b"\n"):
            block += file.readline(most + 1)
        if len(block) > most:
            for number, line in enumerate(io.BytesIO(block), start=before + 1):
                if len(line) > most:
                    raise DataError(f"{source_name(source)}: line {number} {too_long()}")
        before += block.count(b"\n")
        yield block


def too_long() -> str:
    """What is said of a segment of more than :data:`MAX_LINE_BYTES`, behind its place."""
    return (
        f"is longer than {MAX_LINE_BYTES.get():,} bytes; if it is text, raise the limit: "
        "coverage-eval --max-line-bytes SIZE …"
    )


def _invalid_utf8(source: Source, before: int, offset: int, error: UnicodeDecodeError) -> str:
    """The message on a block's bytes; lines and bytes before the block are counted."""
    byte = error.object[error.start]
    for magic, said in _OTHER_FILES.items():
        if offset == 0 and error.object.startswith(magic):
            return f"{source_name(source)}: {said}"
    line = before + error.object.count(b"\n", 0, error.start) + 1
    return (
        f"{source_name(source)}: line {line}: not valid UTF-8 at byte "
        f"offset {offset + error.start} (byte 0x{byte:02x}); convert the file to UTF-8 first"
    )


def _warn_carriage_return(source: Source, line: int) -> None:
    message = (
        f"{source_name(source)}: line {line} ends in a carriage return, which was stripped, "
        "as on all further lines of the file"
    )
    warnings.warn(message, CorpusWarning, stacklevel=3)


def check_stdin(*sources: Text | None) -> None:
    """Refuse to read standard input twice: the second reader would find nothing.

    Raises:
        DataError: ``-`` is named more than once; columns of one file are read together.
    """
    readers = {
        source.columns if isinstance(source, Column) else number
        for number, source in enumerate(sources)
        if source is not None and str(file_of(source)) == STDIN
    }
    if len(readers) > 1:
        raise DataError("'-' (standard input) is named more than once; give all but one as files")


def read_parallel(*sources: Text) -> Iterator[tuple[str, ...]]:
    """Read texts that belong together line by line, such as hypothesis and reference.

    Args:
        sources: At least one text; ``-`` at most once, but for columns of one file, which are read
            in one pass.

    Yields:
        One tuple a line, with a segment of each file.

    Raises:
        DataError: As :func:`read_segments`; the files have unequal numbers of lines (both names,
            both counts); there is no line at all; ``-`` is named twice.
    """
    check_stdin(*sources)
    check_source(*sources)
    names = [source_name(source) for source in sources]
    rows = in_step(names, _streams(sources))
    first = next(rows, None)
    if first is None:
        raise DataError(f"{' and '.join(names)}: no segments: the file is empty")
    yield first
    yield from rows


def _streams(sources: Sequence[Text]) -> list[Iterator[str]]:
    """The segments of each text, to be read in step; those of one file's columns, in one pass."""
    named = [source for source in sources if isinstance(source, Column)]
    of_columns: dict[TextColumns, Iterator[Iterator[str]]] = {}
    for columns in {source.columns: None for source in named}:
        names = [source.name for source in named if source.columns is columns]
        copies = enumerate(tee(columns.texts(names), len(names)))
        of_columns[columns] = iter([map(itemgetter(place), copy) for place, copy in copies])
    return [
        next(of_columns[source.columns]) if isinstance(source, Column) else read_segments(source)
        for source in sources
    ]


def in_step(names: Sequence[str], streams: Sequence[Iterable[Any]]) -> Iterator[tuple[Any, ...]]:
    """Rows of what belongs together line by line, with an item of each stream.

    Args:
        names: What the streams are called in the message.
        streams: As many; None is no item of them.

    Raises:
        DataError: One ends before another; all are counted to their ends for the message.
    """
    rows = zip_longest(*streams)
    for count, row in enumerate(rows):
        if None in row:
            counts = [count] * len(names)
            for rest in chain([row], rows):
                counts = [n + (item is not None) for n, item in zip(counts, rest, strict=True)]
            parts = [f"{name} has {n}" for name, n in zip(names, counts, strict=True)]
            raise DataError(
                f"unequal numbers of lines: {', '.join(parts)}; "
                "line N of one file must belong to line N of the other"
            )
        yield row
