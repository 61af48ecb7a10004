"""Text files: read segment by segment, one file or several in parallel.

UTF-8, one segment per line; only ``\\n`` ends a line, and an empty line is a segment. Only runs of
ASCII spaces and tabs separate tokens, as in fast_align: REP, DROP and the aligner must agree on
token positions.
"""

from __future__ import annotations

import gzip
import io
import os
import sys
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, tee, zip_longest
from operator import itemgetter
from pathlib import Path
from textwrap import shorten
from typing import IO, Any, BinaryIO, Protocol, TypeAlias

from coverage_eval.core.errors import CorpusWarning, DataError, UnequalLinesError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

STDIN = "-"

Source: TypeAlias = "str | os.PathLike[str]"
"""The name of a text file: plain, ``.gz``, ``.zst``, or ``-`` for standard input."""


class TextColumns(Protocol):
    """A file whose columns are texts: a :class:`~.text.TextTable`."""

    @property
    def source(self) -> Source:
        """The file's name."""

    def texts(self, columns: Sequence[str]) -> Iterator[tuple[str, ...]]:
        """The segments of some columns, row by row."""


@dataclass(frozen=True)
class Column:
    """A column of a table as a text.

    Attributes:
        columns: The table.
        name: The column's name; empty if the file has only one text.
    """

    columns: TextColumns
    name: str

    def __str__(self) -> str:
        """As it was named."""
        return ":".join(filter(None, (str(self.columns.source), self.name)))


Text: TypeAlias = "Source | Column"
"""A text file or a column of a table."""


@dataclass(frozen=True, eq=False)
class HeldText:
    """A text in memory in place of a table.

    Attributes:
        source: What messages call it.
        lines: Its segments, strings or lists of tokens.
    """

    source: str
    lines: Sequence[Any]

    def texts(self, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:  # noqa: ARG002 (it has one)
        """Its segments."""
        return zip(self.lines, strict=True)


def held_text(name: str, lines: Sequence[Any]) -> Column:
    """Segments in memory as a text that messages call by this name."""
    return Column(HeldText(name, lines), "")


MAX_LINE_BYTES = 1 << 26
"""The longest line that is read, in bytes: a file with a longer line is probably not text."""

_BLOCK_BYTES = 1 << 16
_BOM = "\ufeff"
_UNPACKERS: Mapping[str, Callable[[BinaryIO], Any]] = {
    ".gz": lambda packed: gzip.GzipFile(fileobj=packed, mode="rb"),
    ".zst": zstd.ZstdFile,
}
_CARRIAGE_RETURNS = (
    "ends in a carriage return, which was stripped, as on all further lines of the file",
    "has carriage returns inside; if they end lines, replace them: tr '\\r' '\\n'",
)
_OTHER_FILES = {
    b"\x1f\x8b": "a gzip file; give it a name that ends in .gz",
    b"\x28\xb5\x2f\xfd": "a zstd file; give it a name that ends in .zst",
    b"PAR1": "a Parquet file; give it a name that ends in .parquet, and name a column: FILE:COLUMN",
    b"PK\x03\x04": "an Excel file or another zip archive; unpack it, or convert a table: python -c "
    "\"import pandas as pd; pd.read_excel('FILE.xlsx').to_csv('FILE.csv', index=False)\"",
}
"""First bytes of files that are not text, and what to do with such a file."""


def text_name(source: Text) -> str:
    """The name of a text in messages."""
    if isinstance(source, Column):
        file = text_name(source.columns.source)
        return f"{file}:{source.name}" if source.name else file
    return "standard input" if str(source) == STDIN else str(source)


def file_of(source: Text) -> Source:
    """The file that holds a text."""
    return source.columns.source if isinstance(source, Column) else source


def is_held(source: Text) -> bool:
    """Whether a text is in memory."""
    return isinstance(source, Column) and isinstance(source.columns, HeldText)


def check_source(*sources: Text) -> None:
    """Raise if the file of a text cannot be read.

    Raises:
        DataError: A file does not exist or is a folder.
    """
    for source in sources:
        path = Path(file_of(source))
        if is_held(source) or str(path) == STDIN:
            continue
        if path.is_dir():
            raise DataError(f"{path}: is a folder; name a text file")
        if not path.exists():
            raise DataError(f"{path}: no such file")


def is_pipe(source: Source) -> bool:
    """Whether a file can be read only once: standard input and pipes."""
    return str(source) == STDIN or (Path(source).exists() and not Path(source).is_file())


def check_stdin(*sources: Text) -> None:
    """Raise if standard input is named twice: each reader would get only a part.

    Columns of one table count once, because they are read together.

    Raises:
        DataError: Two names mean standard input.
    """
    readers = {
        source.columns if isinstance(source, Column) else number
        for number, source in enumerate(sources)
        if not is_held(source) and str(file_of(source)) in _STDIN_NAMES
    }
    if len(readers) > 1:
        raise DataError("'-' (standard input) is named more than once; give all but one as files")


_STDIN_NAMES = {STDIN, "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}


def read_segments(source: Text, shown: Source | None = None) -> Iterator[str]:
    """Read the segments of a text one by one, in constant memory.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "text"
    ...     _ = path.write_text("a red house\\n\\nthe dog sleeps\\n", encoding="utf-8")
    ...     list(read_segments(path))
    ['a red house', '', 'the dog sleeps']

    A byte order mark is removed; a ``\\r`` before the line end is stripped, with one warning;
    one inside a line stays, with a warning.

    Args:
        source: A file's name (``.gz`` and ``.zst`` are unpacked), ``-`` for standard input, or a
            column of a table.
        shown: What messages call it; by default its name.

    Yields:
        The segment of each line, without its line end, or of each row of a table.

    Raises:
        DataError: The file is missing, a folder, damaged, or not UTF-8 (file, line, byte offset);
            or the table cannot be read, see :meth:`~.tables.TextTable.texts`.
    """
    if isinstance(source, Column):
        yield from (segment for (segment,) in source.columns.texts([source.name]))
        return
    shown = source if shown is None else shown
    number = offset = 0
    warned = False
    for block in _blocks(source, shown):
        try:
            text = block.decode().removesuffix("\n")
        except UnicodeDecodeError as error:
            raise DataError(_invalid_utf8(shown, number, offset, error)) from error
        for segment in (text if offset else text.removeprefix(_BOM)).split("\n"):
            number += 1
            if "\r" in segment:
                is_inside = "\r" in segment[:-1]
                segment = segment.removesuffix("\r")  # noqa: PLW2901
                if not warned:
                    warned = True
                    where = f"{text_name(shown)}: line {number}"
                    said = _CARRIAGE_RETURNS[is_inside]
                    warnings.warn(f"{where} {said}", CorpusWarning, stacklevel=2)
            yield segment
        offset += len(block)


def copy_of_pipe(source: Source, copy: IO[bytes]) -> None:
    """Copy a pipe to a file, which can be read several times.

    Raises:
        DataError: As :func:`read_segments`.
    """
    copy.writelines(_blocks(source, source))
    copy.flush()


def _blocks(source: Source, shown: Source) -> Iterator[bytes]:
    """Read and unpack a file in blocks of whole lines.

    Raises:
        DataError: The file cannot be read or is damaged, or a line is too long.
    """
    check_source(source)
    if str(source) == STDIN:
        yield from _whole_lines(shown, sys.stdin.buffer)
        return
    unpack = _UNPACKERS.get(Path(source).suffix)
    try:
        with Path(source).open("rb") as file:
            yield from _whole_lines(shown, unpack(file) if unpack else file)
    except (gzip.BadGzipFile, EOFError, zlib.error, zstd.ZstdError) as error:
        kind = "gzip" if Path(source).suffix == ".gz" else "zstd"
        raise DataError(f"{shown}: damaged {kind} file ({error})") from error
    except OSError as error:
        raise DataError(f"{shown}: cannot be read: {error.strerror or error}") from error


def _whole_lines(source: Source, file: BinaryIO) -> Iterator[bytes]:
    """Blocks of whole lines; a line that never ends (/dev/zero) takes no more than the limit."""
    before = 0
    while block := file.read(_BLOCK_BYTES):
        if not block.endswith(b"\n"):
            block += file.readline(MAX_LINE_BYTES + 1)
        if len(block) > MAX_LINE_BYTES:
            for number, line in enumerate(io.BytesIO(block), start=before + 1):
                if len(line) > MAX_LINE_BYTES:
                    raise DataError(f"{text_name(source)}: line {number} {too_long()}")
        before += block.count(b"\n")
        yield block


def too_long() -> str:
    """The end of the message on a segment of more than :data:`MAX_LINE_BYTES`."""
    return f"is longer than {MAX_LINE_BYTES:,} bytes, so this is probably no text of segments"


def _invalid_utf8(source: Source, before: int, offset: int, error: UnicodeDecodeError) -> str:
    """The message on invalid bytes in a block, given the lines and bytes before the block."""
    for magic, said in _OTHER_FILES.items():
        if offset == 0 and error.object.startswith(magic):
            return f"{text_name(source)}: {said}"
    line = before + error.object.count(b"\n", 0, error.start) + 1
    return (
        f"{text_name(source)}: line {line}: not valid UTF-8 at byte "
        f"offset {offset + error.start} (byte 0x{error.object[error.start]:02x}); "
        "convert the file to UTF-8 first"
    )


def read_parallel(*sources: Text) -> Iterator[tuple[str, ...]]:
    """Read parallel texts line by line, such as hypothesis and reference.

    Args:
        sources: At least one text; ``-`` at most once. Columns of one table are read in one pass.

    Yields:
        A tuple for each line, with a segment of each text.

    Raises:
        DataError: As :func:`read_segments`; the files have unequal numbers of lines (both names,
            both counts); there is no line at all; ``-`` is named twice.
    """
    check_stdin(*sources)
    check_source(*sources)
    names = [text_name(source) for source in sources]
    rows = zip_lines(names, _streams(sources))
    first = next(rows, None)
    if first is None:
        raise DataError(f"{' and '.join(names)}: no segments: the file is empty")
    yield first
    yield from rows


def _streams(sources: Sequence[Text]) -> list[Iterator[str]]:
    """The segments of each text, from one pass over each table."""
    named: dict[TextColumns, list[str]] = {}
    for source in sources:
        if isinstance(source, Column):
            named.setdefault(source.columns, []).append(source.name)
    rows = {table: iter(tee(table.texts(names), len(names))) for table, names in named.items()}
    return [
        map(itemgetter(named[source.columns].index(source.name)), next(rows[source.columns]))
        if isinstance(source, Column)
        else read_segments(source)
        for source in sources
    ]


def zip_lines(names: Sequence[str], streams: Sequence[Iterable[Any]]) -> Iterator[tuple[Any, ...]]:
    """Zip streams of equal lengths.

    Args:
        names: The name of each stream in messages.
        streams: Items other than None.

    Raises:
        DataError: The streams have unequal lengths; each is counted to its end for the message.
    """
    rows = zip_longest(*streams)
    for count, row in enumerate(rows):
        if None in row:
            counts = [count] * len(names)
            for rest in chain([row], rows):
                counts = [n + (item is not None) for n, item in zip(counts, rest, strict=True)]
            parts = [f"{name} has {n}" for name, n in zip(names, counts, strict=True)]
            raise UnequalLinesError(
                f"unequal numbers of lines: {', '.join(parts)}; "
                "line N of one file must belong to line N of the other",
                dict(zip(names, counts, strict=True)),
            )
        yield row


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
