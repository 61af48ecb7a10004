"""Attention files as toolkits write them, and helpers that the readers of formats share.

A reader yields raw maps: what the file says, before orientation and EOS are known. The text formats
share the parsing of numbers, links and tokens, and its error messages.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np

from coverage_eval.attention_maps.maps import Head, Level, Weights
from coverage_eval.core.errors import DataError
from coverage_eval.core.files import STDIN, check_source, read_segments, source_name
from fast_align_wrapper import links
from fast_align_wrapper.errors import AlignerDataError
from fast_align_wrapper.links import Link
from fast_align_wrapper.text import tokenize

Orientation: TypeAlias = Literal["target-source", "source-target"]
ORIENTATIONS: tuple[Orientation, ...] = ("target-source", "source-target")

_HEAD = 4096
_PROBED_LINES = 5000  # a log may have thousands of lines before its first attention
_SAMPLED_LINES = 50

LINKS = re.compile(r"(?:\d+-\d+(?: \d+-\d+)*)?", re.ASCII)
"""Links ``i-j`` separated by single spaces, or an empty string, as toolkits print them."""
_FIELDS = re.compile(r"(?:^| )\|\|\|(?: |$)")


@dataclass(frozen=True)
class RawMap:
    """One segment of a toolkit's file: a matrix, or links without sizes.

    Attributes:
        where: File and place, for messages.
        matrix: Weights in the orientation of the file; None if the file has links.
        links: Pairs (source, target) from 0; None if the file has a matrix.
        source: Source tokens of the file, with or without EOS; None if it has none.
        hypothesis: Target tokens of the file, likewise.
        links_to_eos: Whether a link just past the last word means EOS, to be dropped, rather than
            an error.
        tgt_eos: Whether the file says that its last row is EOS; None if it does not say.
        src_eos: Likewise for its last column.
        level: What the file says about its tokens; None if nothing.
        hard: Whether the matrix holds links, 0 or 1.
        chosen: The layer and head that it was chosen from, as in :class:`~.maps.AttentionMap`.
    """

    where: str
    matrix: Weights | None = None
    links: list[tuple[int, int]] | None = None
    source: tuple[str, ...] | None = None
    hypothesis: tuple[str, ...] | None = None
    links_to_eos: bool = False
    tgt_eos: bool | None = None
    src_eos: bool | None = None
    level: Level | None = None
    hard: bool = False
    chosen: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Layout:
    """What is known about a toolkit's matrices without the texts.

    Attributes:
        orientations: Those that its versions or its documentation allow.
        tgt_eos: Whether the last target entry is EOS; None if only the texts can tell.
        src_eos: Likewise for the source.
        src_end: The token of an extra source column: ``</s>`` or ``<SINK>``.
        count_hint: Why there may be more or fewer maps than segments.
        whole_rows: Whether rows sum to 1.
    """

    orientations: tuple[Orientation, ...] = ("target-source",)
    tgt_eos: bool | None = None
    src_eos: bool | None = None
    src_end: str = "</s>"
    count_hint: str = ""
    whole_rows: bool = True


@dataclass(frozen=True)
class ReadOptions:
    """What only the user can know about a file.

    Attributes:
        right_to_left: Whether the (Marian) model wrote right to left, so rows are reversed.
        layer: Which layer of arrays ``[layers, heads, T, S]``, from 0, or −1 for the last.
        head: Which head of arrays with several, likewise, or "mean".
    """

    right_to_left: bool = False
    layer: int | None = None
    head: Head | None = None


class Dump:
    """A file with attention, its first bytes and its lines."""

    def __init__(self, path: str | Path) -> None:
        self.path = path
        self.name = source_name(path)

    @cached_property
    def head(self) -> bytes:
        """The first bytes; empty for standard input, which is only read as text."""
        if str(self.path) == STDIN:
            return b""
        check_source(self.path)
        try:
            with Path(self.path).open("rb") as file:
                return file.read(_HEAD)
        except OSError as error:
            raise DataError(f"{self.path}: cannot be read: {error.strerror or error}") from error

    @property
    def lines(self) -> Iterator[str]:
        """The lines of a text file (``.gz`` and ``.zst`` are unpacked), read again on each use.

        Raises:
            DataError: Missing, damaged, not UTF-8.
        """
        return read_segments(self.path)

    @property
    def places(self) -> Iterator[tuple[str, str]]:
        """Each line with its place, for messages."""
        return ((self.where(number), line) for number, line in enumerate(self.lines, start=1))

    @cached_property
    def probe(self) -> list[str]:
        """The first lines that are not blank, used to recognise the format."""
        return [line for line in islice(self.lines, _PROBED_LINES) if line.strip()]

    @property
    def sample(self) -> list[str]:
        """The first few of these lines, enough for formats where all lines are alike."""
        return self.probe[:_SAMPLED_LINES]

    def where(self, line: int) -> str:
        """File and line, for messages."""
        return f"{self.name}: line {line}"


@dataclass(frozen=True)
class DumpFormat:
    """A file format: its name, how to recognise and read it, and its layout.

    Attributes:
        name: As ``--input-format`` takes it.
        title: What people call it: the toolkit and the option that writes it.
        recognise: Whether a file has this format; may raise DataError for "no".
        read: The segments in order.
        layout: Orientation and EOS.
        binary: Whether it is recognised by its first bytes, never from standard input or lines.
        several_heads: Whether it can hold several layers and heads, so the user must choose.
    """

    name: str
    title: str
    recognise: Callable[[Dump], bool]
    read: Callable[[Dump, ReadOptions], Iterable[RawMap]]
    layout: Layout = field(default_factory=Layout)
    binary: bool = False
    several_heads: bool = False


def shown(text: str, limit: int = 60) -> str:
    """Quote text from a file for a message: on one line, escaped and shortened."""
    return repr(text if len(text) <= limit else text[:limit] + "…")


def split_fields(line: str) -> list[str]:
    """The fields of a line between triple pipes; a field may be empty.

    >>> split_fields("a b ||| 0-0 ||| ")
    ['a b', '0-0', '']
    """
    return _FIELDS.split(line)


def tokens_of(text: str) -> tuple[str, ...]:
    """The tokens of a text, split at spaces and tabs."""
    return tuple(tokenize(text))


def parse_integer(text: str, where: str) -> int:
    """A count or index of at most nine digits.

    Raises:
        DataError: Anything else.
    """
    if not (text.isascii() and text.isdecimal() and len(text) <= 9):
        raise DataError(f"{where}: {shown(text)} is not a number from 0 upwards")
    return int(text)


def parse_rows(rows: Sequence[Sequence[str]], where: str) -> Weights:
    """Parse rows of numbers into a matrix.

    Raises:
        DataError: A cell is not a number, or rows differ in length.
    """
    width = len(rows[0]) if rows else 0
    array = np.empty((len(rows), width))
    for index, row in enumerate(rows):
        if len(row) != width:
            raise DataError(
                f"{where}: row {index + 1} has {len(row)} weights, the first row has {width}"
            )
        cells = " ".join(row)
        try:
            if "_" in cells or not cells.isascii():  # Python would read them
                raise ValueError("not numbers")
            array[index] = [float(cell) for cell in row]
        except ValueError as error:
            raise DataError(f"{where}: row {index + 1}: {error}".replace("\n", " ")) from error
    return array


def parse_links(text: str, where: str) -> list[Link]:
    """Parse links ``i-j`` separated by spaces into pairs (source, target) from 0.

    Raises:
        DataError: The text has another form.
    """
    try:
        return list(links.parse_links(text))
    except AlignerDataError as error:
        raise DataError(f"{where}: {shown(text)} is not a list of links such as 0-0 1-2") from error


def are_links(texts: Iterable[str | None]) -> bool:
    """Whether every text is present and holds only links, if anything, and some have links."""
    found = [None if text is None else text.strip() for text in texts]
    return any(found) and all(text is not None and LINKS.fullmatch(text) for text in found)


def as_tokens(value: object, where: str) -> tuple[str, ...] | None:
    """Check that a value is a list of tokens or None.

    Raises:
        DataError: It is something else.
    """
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(token, str) for token in value):
        raise DataError(f"{where}: tokens are not a list of strings")
    try:
        "".join(value).encode()
    except UnicodeEncodeError as error:
        raise DataError(f"{where}: a token has half a character (a lone surrogate)") from error
    return tuple(map(sys.intern, value))  # the same words recur in every segment
