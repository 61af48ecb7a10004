"""Dumps: files with attention, what they say before orientation and EOS are settled, formats."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Literal, TypeAlias

from coverage_eval.attention_maps.heads import Head
from coverage_eval.attention_maps.maps import Level, Weights
from coverage_eval.data.files import STDIN, check_source, read_segments, source_name
from coverage_eval.errors import DataError

Orientation: TypeAlias = Literal["target-source", "source-target"]
ORIENTATIONS: tuple[Orientation, ...] = ("target-source", "source-target")

_HEAD = 4096
_PROBED_LINES = 5000  # a log may have some thousand lines before its first attention
_SAMPLED_LINES = 50


@dataclass(frozen=True)
class RawMap:
    """One segment as a producer's file has it: a matrix, or links without sizes.

    Attributes:
        where: File and place, for messages.
        matrix: Weights in the orientation of the file; None if the file has links.
        links: Pairs (source, target) from 0; None if the file has a matrix.
        source: Source tokens of the file, with or without EOS; None if it has none.
        hypothesis: Target tokens of the file, likewise.
        links_to_eos: Links at a sentence's length mean EOS and are dropped, not refused.
        tgt_eos: What the file itself says about its last row, None if nothing.
        src_eos: What the file itself says about its last column, None if nothing.
        level: What the file itself says about its tokens, None if nothing.
        hard: The matrix has links, 0 or 1.
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


@dataclass(frozen=True)
class Layout:
    """How a producer lays out its matrices, as far as it is known without the texts.

    Attributes:
        orientations: Those that its versions or its documentation allow.
        tgt_eos: Whether the last target entry is EOS; None where only the texts can tell.
        src_eos: Likewise for the source.
        src_end: What stands in a further source column: ``</s>``, or ``<SINK>``.
        count_hint: What explains that there are more or fewer maps than segments.
        whole_rows: Whether rows sum to 1, as those of attention do.
    """

    orientations: tuple[Orientation, ...] = ("target-source",)
    tgt_eos: bool | None = None
    src_eos: bool | None = None
    src_end: str = "</s>"
    count_hint: str = ""
    whole_rows: bool = True


@dataclass(frozen=True)
class ReadOptions:
    """What the user may have to say about a file.

    Attributes:
        side: Which maps of an OpenNMT-py pickle: of its output or of the given translation.
        right_to_left: The (Marian) model wrote right to left: rows are in reverse order.
        layer: Which layer of arrays ``[layers, heads, T, S]``, from 0, or −1 for the last.
        head: Which head of arrays with several, likewise, or "mean".
    """

    side: Literal["pred", "gold"] = "pred"
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
        """The first bytes; none of standard input, which is read as text only."""
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
        """The lines of a text file (``.gz`` and ``.zst`` are unpacked), read anew each time.

        Raises:
            DataError: Missing, damaged, not UTF-8.
        """
        return read_segments(self.path)

    @property
    def places(self) -> Iterator[tuple[str, str]]:
        """Each line after its place, which messages name."""
        return ((self.where(number), line) for number, line in enumerate(self.lines, start=1))

    @cached_property
    def probe(self) -> list[str]:
        """The lines by which a format is recognised: the first ones, blank ones left out."""
        return [line for line in islice(self.lines, _PROBED_LINES) if line.strip()]

    @property
    def sample(self) -> list[str]:
        """The first of these lines, enough to tell a format of which every line is."""
        return self.probe[:_SAMPLED_LINES]

    def where(self, line: int) -> str:
        """File and line, for messages."""
        return f"{self.name}: line {line}"


@dataclass(frozen=True)
class DumpFormat:
    """A file format: its name, how it is recognised and read, how its matrices lie.

    Attributes:
        name: As ``--input-format`` takes it.
        title: What people call it: the toolkit, and the option by which it writes this.
        recognise: Whether a file is of this format; may raise DataError for "no".
        read: The segments in order.
        layout: Orientation and EOS.
        binary: Recognised by its first bytes; standard input and lines are not looked at.
        several_heads: It can hold layers and heads, of which the user chooses.
    """

    name: str
    title: str
    recognise: Callable[[Dump], bool]
    read: Callable[[Dump, ReadOptions], Iterable[RawMap]]
    layout: Layout = field(default_factory=Layout)
    binary: bool = False
    several_heads: bool = False
