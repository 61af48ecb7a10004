"""Attention files as toolkits write them.

A reader of a format yields raw maps: what the file says, before orientation and EOS are known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Literal, TypeAlias

from coverage_eval.attention_maps.maps import Head, Level, Weights
from coverage_eval.core.files import STDIN, check_source, read_segments, source_name
from fast_align_wrapper.links import Link

Orientation: TypeAlias = Literal["target-source", "source-target"]
ORIENTATIONS: tuple[Orientation, ...] = ("target-source", "source-target")

_PROBED_LINES = 5000  # a log may have thousands of lines before its first attention


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
        tgt_eos: Whether the last row is EOS; None if only the text can tell.
        src_eos: Whether the last column is EOS; None if only the text can tell.
        level: What the file says about its tokens; None if nothing.
        hard: Whether the matrix holds links, 0 or 1.
        chosen: The layer and head that it was chosen from, as in :class:`~.maps.AttentionMap`.
    """

    where: str
    matrix: Weights | None = None
    links: Sequence[Link] = ()
    source: Sequence[str] | None = None
    hypothesis: Sequence[str] | None = None
    links_to_eos: bool = False
    tgt_eos: bool | None = None
    src_eos: bool | None = None
    level: Level | None = None
    hard: bool = False
    chosen: tuple[tuple[str, str], ...] = ()


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
        check_source(self.path)
        if str(self.path) == STDIN:
            return b""
        with Path(self.path).open("rb") as file:
            return file.read(8)

    @property
    def places(self) -> Iterator[tuple[str, str]]:
        """Each line with its place, for messages; ``.gz`` and ``.zst`` are unpacked.

        Raises:
            DataError: Missing, damaged, not UTF-8.
        """
        lines = enumerate(read_segments(self.path), start=1)
        return ((f"{self.name}: line {number}", line) for number, line in lines)

    @cached_property
    def probe(self) -> list[str]:
        """The first lines that are not blank, used to recognise the format."""
        return [line for _, line in islice(self.places, _PROBED_LINES) if line.strip()]


@dataclass(frozen=True)
class DumpFormat:
    """A file format: its name, how to recognise and read it, and what it leaves open.

    Attributes:
        name: As ``--input-format`` takes it.
        title: What people call it: the toolkit and the option that writes it.
        recognise: Whether a file has this format; may raise DataError for "no".
        read: The segments in order.
        bare: Whether only the user knows if rows are target or source words.
        several_heads: Whether it can hold several layers and heads, so the user must choose.
        count_hint: Why there may be more or fewer maps than segments.
    """

    name: str
    title: str
    recognise: Callable[[Dump], bool]
    read: Callable[[Dump, ReadOptions], Iterable[RawMap]]
    bare: bool = False
    several_heads: bool = False
    count_hint: str = ""


def shown(text: str, limit: int = 60) -> str:
    """Quote text from a file for a message: on one line, escaped and shortened."""
    return repr(text if len(text) <= limit else text[:limit] + "…")
