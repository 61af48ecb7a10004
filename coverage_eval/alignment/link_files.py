"""Files of links in Pharaoh's form, read in step and checked against the texts they belong to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest

from coverage_eval.errors import DataError
from coverage_eval.text.corpus import Source, read_segments, source_name
from fast_align_wrapper.errors import AlignerDataError
from fast_align_wrapper.links import Link, Links, parse_links

__all__ = ["check_links", "parse_line", "read_link_pairs", "read_links"]


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
        source: A file's name (``.gz`` is unpacked) or ``-`` for standard input.

    Raises:
        DataError: As :func:`~coverage_eval.text.corpus.read_segments`; a malformed link
            (file, line).
    """
    for number, line in enumerate(read_segments(source), start=1):
        yield parse_line(line, source_name(source), number)


def read_link_pairs(first: Source, second: Source) -> Iterator[tuple[Links, Links]]:
    """Read two files of links that belong together line by line.

    Raises:
        DataError: As :func:`read_links`; the files have unequal numbers of lines (names, counts).
    """
    counts = [0, 0]
    for row in zip_longest(read_links(first), read_links(second)):
        counts = [count + (links is not None) for count, links in zip(counts, row, strict=True)]
        one, two = row
        if counts[0] == counts[1] and one is not None and two is not None:
            yield one, two
    if counts[0] != counts[1]:
        raise DataError(
            f"unequal numbers of lines: {source_name(first)} has {counts[0]}, "
            f"{source_name(second)} has {counts[1]}; "
            "line N of one file must belong to line N of the other"
        )


def check_links(
    links: Iterable[Link], source_length: int | None, target_length: int, *, name: str, line: int
) -> None:
    """Check that links point at tokens that exist.

    Args:
        links: The links of one pair.
        source_length: Number of source tokens; None if it is not known.
        target_length: Number of target tokens.
        name: The links' file, for the message.
        line: The pair's line in it, counted from 1.

    Raises:
        DataError: A link is out of range: file, line, link and both lengths.
    """
    for source, target in links:
        outside = source_length is not None and source >= source_length
        if outside or target >= target_length:
            known = "" if source_length is None else f"the source has {source_length} tokens, "
            raise DataError(
                f"{name}: line {line}: link {source}-{target} is out of range: {known}"
                f"the target {target_length}, counted from 0; "
                "are these the links of this text, in this tokenisation?"
            )
