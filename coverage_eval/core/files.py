"""Texts in files and in memory, read segment by segment.

UTF-8, one segment per line; only ``\\n`` ends a line, and an empty line is a segment.
"""

from __future__ import annotations

import os
import sys
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cached_property, partial
from itertools import chain, islice, zip_longest
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, BinaryIO, TypeAlias

from coverage_eval.core.errors import CorpusWarning, DataError, UnequalLinesError
from coverage_eval.core.unsupported_files import identify_file

STDIN = "-"

PathLike: TypeAlias = "str | os.PathLike[str]"
"""The name of a text file: plain, ``.gz``, ``.zst``, or ``-`` for standard input."""


MAX_LINE_BYTES = 1 << 26
"""The longest line that is read, in bytes: a file with a longer line is probably not text."""

MAX_BLANK_LINES = 1 << 20
"""The longest run of blank lines that is read: 300 kB of gzip can hold 300,000,000 of them."""

_BEGINNING = 1 << 16
"""Bytes that tell what a file is."""

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
            DataError: The file is missing or a folder, or a line of a pipe is too long.
        """
        check_file(self.path)
        is_stdin = str(self.path) == STDIN
        if not is_stdin and Path(self.path).is_file():
            return Path(self.path)
        self._copy = NamedTemporaryFile(prefix="coverage-eval-")  # noqa: SIM115 (it lasts as long)
        with nullcontext(sys.stdin.buffer) if is_stdin else Path(self.path).open("rb") as pipe:
            self._copy.writelines(line for _, line in self._undecoded(pipe))
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
                names file and line.
        """
        has_warned, blank = quietly, 0
        with self._unpacked() as file:
            if other := identify_file(file.peek(_BEGINNING)[:_BEGINNING], self.path):
                raise DataError(f"{self.name}: is {other}")
            for number, data in self._undecoded(file):
                try:
                    segment = data.decode().removesuffix("\n")
                except UnicodeDecodeError as error:
                    raise DataError(
                        f"{self.name}: line {number}: not valid UTF-8 (byte "
                        f"0x{data[error.start]:02x}); convert the file to UTF-8 first"
                    ) from None
                if number == 1:
                    segment = segment.removeprefix("\ufeff")  # byte order mark
                if "\r" in segment:
                    if not has_warned:
                        has_warned = True
                        message = _CARRIAGE_RETURNS["\r" in segment[:-1]]
                        where = f"{self.name}: line {number}"
                        warnings.warn(f"{where} {message}", CorpusWarning, stacklevel=2)
                    segment = segment.removesuffix("\r")
                blank = 0 if segment else blank + 1
                if blank > MAX_BLANK_LINES:
                    raise DataError(
                        f"{self.name}: line {number} is the last of {blank:,} blank lines, so this "
                        "is probably no text of segments"
                    )
                yield segment

    def _undecoded(self, file: Any) -> Iterator[tuple[int, bytes]]:
        """The number and the bytes of each line; a pipe may give one without end."""
        read_line = partial(file.readline, MAX_LINE_BYTES + 1)
        for number, data in enumerate(iter(read_line, b""), start=1):
            if len(data) > MAX_LINE_BYTES:
                raise DataError(
                    f"{self.name}: line {number} is longer than {MAX_LINE_BYTES:,} bytes, so this "
                    "is probably no text of segments"
                )
            yield number, data

    @contextmanager
    def _unpacked(self) -> Iterator[Any]:
        """The bytes of the file; what goes wrong while they are read becomes one line.

        Raises:
            DataError: The file cannot be read or is damaged.
        """
        unpack: Callable[[BinaryIO], Any] | None = None
        damages: tuple[type[Exception], ...] = ()
        if (suffix := Path(self.path).suffix) in {".gz", ".zst"}:
            from coverage_eval.core.packed import DAMAGES, UNPACKERS  # slow to import

            unpack, damages = UNPACKERS[suffix], DAMAGES
        try:
            with self.regular_file.open("rb", buffering=_BEGINNING) as file:
                yield unpack(file) if unpack else file
        except damages as error:
            kind = "gzip" if suffix == ".gz" else "zstd"
            raise DataError(f"{self.name}: damaged {kind} file ({error})") from error
        except OSError as error:
            reason = error.strerror or error
            raise DataError(f"{self.name}: cannot be read: {reason}") from error


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
            cause = explain(counts) if explain else ""
            raise UnequalLinesError(list(zip(names, counts, strict=True)), cause)
        yield row
    if count < 0 and empty:
        raise DataError(empty)
