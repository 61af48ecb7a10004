"""Texts in files and in memory, read segment by segment.

UTF-8, one segment per line; only ``\\n`` ends a line, and an empty line is a segment.
"""

from __future__ import annotations

import io
import os
import sys
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import chain, islice, zip_longest
from pathlib import Path
from tempfile import NamedTemporaryFile
from textwrap import shorten
from typing import Any, BinaryIO, TypeAlias

from coverage_eval.core.errors import CorpusWarning, DataError, UnequalLinesError
from coverage_eval.core.unsupported_files import identify_file

STDIN = "-"

PathLike: TypeAlias = "str | os.PathLike[str]"
"""The name of a text file: plain, ``.gz``, ``.zst``, or ``-`` for standard input."""


MAX_LINE_BYTES = 1 << 26
"""The longest line that is read, in bytes: a file with a longer line is probably not text."""

_BLOCK_BYTES = 1 << 16
_BOM = "\ufeff"
_CARRIAGE_RETURNS = (
    "ends in a carriage return, which was stripped, as on all further lines of the file",
    "has carriage returns inside; if they end lines, replace them: tr '\\r' '\\n'",
)


class Text(ABC):
    """A text: iterating gives one segment after another, as often as needed.

    Attributes:
        name: What messages call it.
        path: The file that holds it; None if it is in memory.
    """

    name: str
    path: PathLike | None = None

    @abstractmethod
    def __iter__(self) -> Iterator[Any]:
        """The segments: strings, or lists of tokens where a user gave such lists."""

    def read(self, *, optional: bool) -> Iterator[Any]:  # noqa: ARG002 (lines lack no values)
        """The segments; an ``optional`` text may lack values, which are blank segments."""
        return iter(self)

    def __str__(self) -> str:
        """The text as a user names it on the command line."""
        return self.name


class ListText(Text):
    """A text in memory.

    Args:
        name: What messages call it.
        segments: Its segments, strings or lists of tokens.
    """

    def __init__(self, name: str, segments: Sequence[Any]) -> None:
        self.name = name
        self.segments = segments

    def __iter__(self) -> Iterator[Any]:
        return iter(self.segments)

    def __len__(self) -> int:
        return len(self.segments)


def check_file(path: PathLike) -> None:
    """Raise if a file cannot be read.

    Raises:
        DataError: The file does not exist or is a folder.
    """
    if str(path) == STDIN:
        return
    if Path(path).is_dir():
        raise DataError(f"{path}: is a folder; name a text file")
    if not Path(path).exists():
        raise DataError(f"{path}: no such file")


def file_name(path: PathLike) -> str:
    """The name of a file in messages."""
    return "standard input" if str(path) == STDIN else str(path)


class FileText(Text):
    """The lines of a file or a pipe, read in constant memory.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "text"
    ...     _ = path.write_text("a red house\\n\\nthe dog sleeps\\n", encoding="utf-8")
    ...     list(FileText(path))
    ['a red house', '', 'the dog sleeps']

    A byte order mark is removed; a ``\\r`` before the line end is stripped, with one warning;
    one inside a line stays, with a warning. A pipe is copied to disk when it is first read, so that
    it can be read again; the copy is removed with this object.

    Args:
        path: The file's name (``.gz`` and ``.zst`` are unpacked), or ``-`` for standard input.
    """

    def __init__(self, path: PathLike) -> None:
        self.path: PathLike = path
        self.name = file_name(path)

    def __str__(self) -> str:
        return str(self.path)

    @cached_property
    def regular_file(self) -> Path:
        """The file itself, or the copy of a pipe.

        Raises:
            DataError: The file is missing or a folder.
        """
        check_file(self.path)
        if str(self.path) != STDIN and Path(self.path).is_file():
            return Path(self.path)
        self._copy = NamedTemporaryFile(prefix="coverage-eval-")  # noqa: SIM115
        with _unpacked(self.path, self.name) as pipe:
            self._copy.writelines(_whole_lines(pipe, self.name))
        self._copy.flush()
        return Path(self._copy.name)

    @cached_property
    def first_lines(self) -> Sequence[str]:
        """At most 100 lines, which tell what the file is.

        Raises:
            DataError: As :meth:`lines`.
        """
        return [*islice(self.lines(quietly=True), 100)]

    def __iter__(self) -> Iterator[str]:
        return self.lines()

    def lines(self, *, quietly: bool = False) -> Iterator[str]:
        """Yield each line, without its line end.

        Args:
            quietly: Whether to say nothing of carriage returns, since this is a look ahead.

        Raises:
            DataError: The file is missing, a folder, damaged, no text, or not UTF-8; the message
                names file, line and byte offset.
        """
        lines_before = offset = 0
        has_warned = quietly
        with _unpacked(self.regular_file, self.name) as file:
            for block in _whole_lines(file, self.name):
                if not offset and (other := identify_file(block, self.path)):
                    raise DataError(f"{self.name}: is {other}")
                try:
                    text = block.decode().removesuffix("\n")
                except UnicodeDecodeError as error:
                    raise DataError(
                        _invalid_utf8(self.name, lines_before, offset, error)
                    ) from error
                segments = (text if offset else text.removeprefix(_BOM)).split("\n")
                for number, segment in enumerate(segments, start=lines_before + 1):
                    if "\r" not in segment:
                        yield segment
                        continue
                    if not has_warned:
                        has_warned = True
                        where = f"{self.name}: line {number}"
                        message = _CARRIAGE_RETURNS["\r" in segment[:-1]]
                        warnings.warn(f"{where} {message}", CorpusWarning, stacklevel=2)
                    yield segment.removesuffix("\r")
                lines_before += len(segments)
                offset += len(block)


@contextmanager
def _unpacked(path: PathLike, name: str) -> Iterator[BinaryIO]:
    """Open a file, packed or not; what goes wrong while it is read becomes one line.

    Raises:
        DataError: The file cannot be read or is damaged.
    """
    if str(path) == STDIN:
        yield sys.stdin.buffer
        return
    unpack: Callable[[BinaryIO], Any] | None = None
    damages: tuple[type[Exception], ...] = ()
    if (suffix := Path(path).suffix) in {".gz", ".zst"}:
        from coverage_eval.core.packed import DAMAGES, UNPACKERS  # slow to import

        unpack, damages = UNPACKERS[suffix], DAMAGES
    try:
        with Path(path).open("rb") as file:
            yield unpack(file) if unpack else file
    except damages as error:
        kind = "gzip" if suffix == ".gz" else "zstd"
        raise DataError(f"{name}: damaged {kind} file ({error})") from error
    except OSError as error:
        raise DataError(f"{name}: cannot be read: {error.strerror or error}") from error


def _whole_lines(file: BinaryIO, name: str) -> Iterator[bytes]:
    """Yield blocks of whole lines; a line without end (/dev/zero) takes no more than the limit.

    Raises:
        DataError: A line is too long.
    """
    lines_before = 0
    while block := file.read(_BLOCK_BYTES):
        if not block.endswith(b"\n"):
            block += file.readline(MAX_LINE_BYTES + 1)
        if len(block) > MAX_LINE_BYTES:
            for number, line in enumerate(io.BytesIO(block), start=lines_before + 1):
                if len(line) > MAX_LINE_BYTES:
                    raise DataError(f"{name}: line {number} {too_long()}")
        lines_before += block.count(b"\n")
        yield block


def too_long() -> str:
    """The end of the message on a segment of more than :data:`MAX_LINE_BYTES`."""
    return f"is longer than {MAX_LINE_BYTES:,} bytes, so this is probably no text of segments"


def _invalid_utf8(name: str, lines_before: int, offset: int, error: UnicodeDecodeError) -> str:
    """The message on invalid bytes in a block, given the lines and bytes before the block."""
    line = lines_before + error.object.count(b"\n", 0, error.start) + 1
    return (
        f"{name}: line {line}: not valid UTF-8 at byte "
        f"offset {offset + error.start} (byte 0x{error.object[error.start]:02x}); "
        "convert the file to UTF-8 first"
    )


def zip_lines(
    names: Sequence[str],
    streams: Sequence[Iterable[Any]],
    *,
    empty: str = "",
    explain: Callable[[Sequence[int]], str] | None = None,
) -> Iterator[tuple[Any, ...]]:
    """Zip streams of equal lengths.

    Args:
        names: The name of each stream in messages.
        streams: Items other than None.
        empty: The message if there is no item at all; by default, no items are no error.
        explain: Says, from the lengths, why they are unequal and what to do; empty if it cannot.

    Raises:
        DataError: The streams have unequal lengths; each is counted to its end for the message.
    """
    rows = zip_longest(*streams)
    count = -1
    for count, row in enumerate(rows):
        if None in row:
            counts = [count] * len(names)
            for rest in chain([row], rows):
                counts = [n + (item is not None) for n, item in zip(counts, rest, strict=True)]
            advice = explain(counts) if explain else ""
            raise UnequalLinesError(
                list(zip(names, counts, strict=True)),
                advice or "line N of one file must belong to line N of the other",
            )
        yield row
    if count < 0 and empty:
        raise DataError(empty)


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
        problem = f"no column {', '.join(missing)}" if missing else f"two columns {twice[0]}"
        listed = shorten(", ".join(names), 300, placeholder=" …")
        raise DataError(f"{where}: {problem}; there are: {listed}")
