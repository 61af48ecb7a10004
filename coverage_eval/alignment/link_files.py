"""Files of links in Pharaoh's form, read in step and checked against the texts they belong to."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

from coverage_eval.data.files import (
    STDIN,
    Source,
    check_source,
    read_segments,
    source_name,
    zip_lines,
)
from coverage_eval.errors import DataError
from fast_align_wrapper.errors import AlignerDataError
from fast_align_wrapper.links import Link, Links, format_links, parse_links

LinkSource: TypeAlias = "Source | Sequence[Collection[Link]]"
"""Links of a text: a file of Pharaoh lines, or the links of each segment."""


class LinkColumn:
    """The links of source and one text, one line for each segment, from a file or from memory.

    Iterating gives each line's number, counted from 1, and its links.
    """

    def __init__(self, links: LinkSource, name: str) -> None:
        self._file: Source | None = None
        if isinstance(links, (str, os.PathLike)):
            name, self._file = source_name(links), links
            check_source(links)
            # A pipe can be read only once, and it is hashed before it is used.
            is_pipe = str(links) == STDIN or not Path(links).is_file()
            self._lines = list(read_segments(links)) if is_pipe else None
        else:
            self._lines = [
                _link_line(segment, name, number) for number, segment in enumerate(links, start=1)
            ]
        self.name = name

    def _texts(self) -> Iterable[str]:
        if self._lines is not None:
            return self._lines
        assert self._file is not None
        return read_segments(self._file)

    def __iter__(self) -> Iterator[tuple[int, Links]]:
        for number, line in enumerate(self._texts(), start=1):
            yield number, parse_line(line, self.name, number)

    def script_lines(self) -> Iterator[tuple[int, Links]]:
        """The lines that the paper's published script reads (audits, row 3)."""
        for number, line in enumerate(self._texts(), start=1):
            if not line.startswith("<"):
                yield number, parse_line(line, self.name, number)

    @property
    def is_blank(self) -> bool:
        """Whether every line is empty."""
        return not any(map(str.strip, self._texts()))

    @cached_property
    def digest(self) -> str:
        """The first 8 hexadecimal digits of the hash of the lines, which signatures name."""
        found = sha256()
        for line in self._texts():
            found.update(line.encode() + b"\n")
        return found.hexdigest()[:8]


def _link_line(links: Any, name: str, number: int) -> str:
    """The links of a segment in memory as a line of a file."""
    try:
        return format_links(sorted({(source, target) for source, target in links}))
    except (TypeError, ValueError):
        raise DataError(
            f"{name}: segment {number}: {links!r:.60} are not links, pairs of positions such as "
            "[(0, 0), (1, 2)]"
        ) from None


def link_columns(
    links: LinkSource | Sequence[LinkSource] | Mapping[str, LinkSource], name: str
) -> list[LinkColumn]:
    """The columns of one or several link sources.

    Args:
        links: A file, the links of each segment, or several of these.
        name: What links in memory are called in messages.

    Raises:
        DataError: An unreadable file, or links in memory that are not pairs of positions.
        TypeError: Neither files nor lists of links.
    """
    if isinstance(links, (str, os.PathLike)):
        return [LinkColumn(links, name)]
    if not isinstance(links, Iterable):
        raise TypeError(f"{name}: a file or a list with the links of each segment, not {links!r}")
    several: list[Any] = [
        list(item) if isinstance(item, Iterator) else item  # it can be looked at only once
        for item in (links.values() if isinstance(links, Mapping) else links)
    ]
    if not several:
        return []
    files = isinstance(several[0], (str, os.PathLike))
    if files or isinstance(links, Mapping) or not _is_links(several):
        return [LinkColumn(one, name) for one in several]
    return [LinkColumn(several, name)]


def _is_links(value: Sequence[Any]) -> bool:
    """Whether this is a list of segments with their links, not a list of such lists."""
    if _depth(value) != 3:
        return _depth(value) < 3
    # Without positions, empty segments take the place of links.
    return all(len(link) > 0 for segment in value for link in segment if not _is_position(link))


def _depth(value: Any) -> int:
    """How deep positions are nested."""
    return 0 if _is_position(value) else 1 + max(map(_depth, value), default=0)


def _is_position(value: Any) -> bool:
    """Whether a value is meant as a position, whatever its type."""
    return isinstance(value, str) or not isinstance(value, Iterable)


def parse_line(line: str, name: str, number: int) -> Links:
    """Read the links of a pair from a line of a file, as :func:`parse_links`.

    Args:
        line: The line.
        name: The file's name, for the message.
        number: The line's number, counted from 1.

    Raises:
        DataError: A malformed link (file, line).
    """
    try:
        return parse_links(line)
    except AlignerDataError as error:
        raise DataError(f"{name}: line {number}: {error}") from None


def read_links(source: Source) -> Iterator[Links]:
    """Read one pair's links a line, as :func:`parse_links`; an empty line is a pair without links.

    Args:
        source: A file's name (``.gz`` and ``.zst`` are unpacked) or ``-`` for standard input.

    Raises:
        DataError: As :func:`~coverage_eval.data.files.read_segments`; a malformed link
            (file, line).
    """
    for number, line in enumerate(read_segments(source), start=1):
        yield parse_line(line, source_name(source), number)


def read_link_pairs(first: Source, second: Source) -> Iterator[tuple[Links, Links]]:
    """Read two files of links that belong together line by line.

    Raises:
        DataError: As :func:`read_links`; the files have unequal numbers of lines (names, counts).
    """
    names = [source_name(first), source_name(second)]
    return zip_lines(names, [read_links(first), read_links(second)])


def check_links(
    links: Iterable[Link],
    source_length: int | None,
    target_length: int | None,
    *,
    name: str,
    line: int,
) -> None:
    """Check that links point to existing tokens.

    Args:
        links: The links of one pair.
        source_length: Number of source tokens; None if it is not known.
        target_length: Number of target tokens; None if it is not known.
        name: The links' file, for the message.
        line: The pair's line in it, counted from 1.

    Raises:
        DataError: A link is out of range: file, line, link and both lengths.
    """
    for source, target in links:
        ends = {"source": (source, source_length), "target": (target, target_length)}
        known = {side: length for side, (_, length) in ends.items() if length is not None}
        if any(length is not None and position >= length for position, length in ends.values()):
            counts = ", ".join(f"the {side} has {length} tokens" for side, length in known.items())
            raise DataError(
                f"{name}: line {line}: link {source}-{target} is out of range: {counts}, counted "
                "from 0; are these the links of this text, in this tokenisation?"
            )
