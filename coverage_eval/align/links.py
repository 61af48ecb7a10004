"""Files of links in Pharaoh's form, read in step and checked against the texts they belong to."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from typing import Any, TypeAlias

from coverage_eval.core.errors import DataError
from coverage_eval.core.files import FileText, PathLike, Text, check_file, file_name, zip_lines
from coverage_eval.core.texts import depth, open_text
from fast_align_wrapper import AlignerDataError
from fast_align_wrapper.links import Link, Links, format_links, parse_links

LinkSource: TypeAlias = "PathLike | Text | Sequence[Collection[Link]]"
"""Links of a text: a text of Pharaoh lines or its name, or the links of each segment."""

_TEXT = (str, os.PathLike, Text)


class LinkText:
    """Links of the source and one text, one line for each segment, from a file or from memory.

    Iterating gives each line's number, counted from 1, and its links.
    """

    def __init__(self, links: LinkSource, name: str) -> None:
        self._lines: list[str] | Text
        if isinstance(links, _TEXT):
            text = links if isinstance(links, Text) else open_text(links)
            name, self._lines = text.name, text
            if text.path is not None:
                check_file(text.path)
        else:
            # As text, so that links in memory are checked and signed like those of a file.
            self._lines = [
                _write(segment, f"{name}: segment {number}")
                for number, segment in enumerate(links, start=1)
            ]
        self.name = name

    @classmethod
    def several(cls, links: Any, name: str) -> list[LinkText]:
        """The links of one text, of several in a list, or of several by name.

        Args:
            links: A file, the links of each segment, or several of these.
            name: What links in memory are called in messages.

        Raises:
            DataError: An unreadable file, or links in memory that are none.
            TypeError: Neither files nor lists.
        """
        if isinstance(links, _TEXT):
            return [cls(links, name)]
        if not isinstance(links, Iterable):
            raise TypeError(f"{name}: a file or a list with one item per segment, not {links!r}")
        listed = [
            list(item) if isinstance(item, Iterator) else item  # it can be read only once
            for item in (links.values() if isinstance(links, Mapping) else links)
        ]
        if not listed:
            return []
        may_be_segments = not isinstance(links, Mapping) and not isinstance(listed[0], _TEXT)
        if may_be_segments and _are_segments(listed):
            return [cls(listed, name)]
        return [cls(item, name) for item in listed]

    def lines(self) -> Iterable[str]:
        """The lines as they are."""
        # Links are no segments: the texts of a pair may stand before them.
        return self._lines.lines() if isinstance(self._lines, FileText) else self._lines

    def __iter__(self) -> Iterator[tuple[int, Links]]:
        return self.parsed()

    def parsed(self, skipped: str | tuple[str, ...] = ()) -> Iterator[tuple[int, Links]]:
        """Each line's number and links, without lines that start with ``skipped``."""
        for number, line in enumerate(self.lines(), start=1):
            if not line.startswith(skipped):
                yield number, _parse(line, f"{self.name}: line {number}")

    @cached_property
    def digest(self) -> str:
        """The first 8 hexadecimal digits of a hash of the lines, for signatures."""
        digest = sha256()
        for line in self.lines():
            digest.update(line.encode() + b"\n")
        return digest.hexdigest()[:8]


def _write(segment: Any, where: str) -> str:
    """The links of a segment in memory, as a Pharaoh line."""
    try:
        return format_links(sorted({(source, target) for source, target in segment}))
    except (TypeError, ValueError):
        raise DataError(
            f"{where}: {segment!r:.60} are not links, pairs of positions such as [(0, 0), (1, 2)]"
        ) from None


def _parse(line: str, where: str) -> Links:
    """The links of a Pharaoh line; ``where`` names the line in errors."""
    try:
        return parse_links(line)
    except AlignerDataError as error:
        raise DataError(f"{where}: {error}") from None


def _are_segments(listed: Sequence[Any]) -> bool:
    """Whether links are those of one text's segments, and not of several texts, by their depth."""
    if depth(listed) != 3:
        return depth(listed) < 3
    # Without positions, empty segments look like links.
    return all(len(link) > 0 for segment in listed for link in segment if depth(link))


def read_links(source: PathLike) -> Iterator[Links]:
    """Read the links of one pair per line; an empty line is a pair without links.

    Args:
        source: A file's name (``.gz`` and ``.zst`` are unpacked) or ``-`` for standard input.

    Raises:
        DataError: As :func:`~coverage_eval.core.texts.read_segments`; a malformed link
            (file, line).
    """
    return (links for _, links in LinkText(source, file_name(source)))


def read_link_pairs(first: PathLike, second: PathLike) -> Iterator[tuple[Links, Links]]:
    """Read two files of links that belong together line by line.

    Raises:
        DataError: As :func:`read_links`; the files have unequal numbers of lines (names, counts).
    """
    names = [file_name(first), file_name(second)]
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
        source_length: Number of source tokens; None if unknown.
        target_length: Number of target tokens; None if unknown.
        name: The file of the links, for the message.
        line: The line of the pair in it, counted from 1.

    Raises:
        DataError: A link is out of range: file, line, link and the known lengths.
    """
    lengths = {"source": source_length, "target": target_length}
    counts = [f"the {side} has {size} tokens" for side, size in lengths.items() if size is not None]
    for source, target in links:
        is_inside = source_length is None or source < source_length
        if not is_inside or (target_length is not None and target >= target_length):
            raise DataError(
                f"{name}: line {line}: link {source}-{target} is out of range: "
                f"{', '.join(counts)}, counted from 0; are these the links of this text, in this "
                "tokenisation?"
            )
