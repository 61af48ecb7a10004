"""Gold links, sure and possible: one pair per line, ``1-2`` for sure links and ``3p4`` otherwise.

A sure link is a possible one, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from coverage_eval.align.links import read_links
from coverage_eval.core.errors import DataError
from coverage_eval.core.files import Source, check_stdin, source_name, zip_lines
from coverage_eval.core.text import read_segments
from fast_align_wrapper.links import Link, Links
from fast_align_wrapper.text import tokenize

_LINK = re.compile(r"([0-9]{1,9})([-p])([0-9]{1,9})")


class Gold(NamedTuple):
    """The gold links of a pair.

    Attributes:
        sure: Links that a good aligner must find.
        possible: Links that it may find, including the sure ones.
    """

    sure: Links
    possible: Links


def read_gold(source: Source) -> Iterator[Gold]:
    """Read gold links, one pair after the other.

    Args:
        source: A file's name (``.gz`` and ``.zst`` are unpacked) or ``-`` for standard input.

    Raises:
        DataError: As :func:`~coverage_eval.core.text.read_segments`; a malformed line
            (file, line).
    """
    for number, line in enumerate(read_segments(source), start=1):
        where = f"{source_name(source)}: line {number}"
        sure: set[Link] = set()
        possible: set[Link] = set()
        for token in tokenize(line):
            found = _LINK.fullmatch(token)
            if found is None:
                raise DataError(f"{where}: '{token}' is not a link (i-j, or ipj if it is possible)")
            (sure if found[2] == "-" else possible).add((int(found[1]), int(found[3])))
        yield Gold(tuple(sorted(sure)), tuple(sorted(sure | possible)))


def read_with_gold(links: Source, gold: Source) -> Iterator[tuple[Links, Gold]]:
    """Read links and the gold links of the same pairs.

    Args:
        links: A file of Pharaoh lines.
        gold: A file of gold links, as in :func:`read_gold`.

    Raises:
        DataError: As :func:`read_gold`; unequal numbers of lines (names, counts), or
            standard input twice.
    """
    check_stdin(links, gold)
    return zip_lines([source_name(links), source_name(gold)], [read_links(links), read_gold(gold)])
