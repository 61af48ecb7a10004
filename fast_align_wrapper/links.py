"""Word alignment links: Pharaoh lines and symmetrisation.

A link joins a source position and a target position, both counted from 0. The links of a pair are
a sorted tuple without duplicates, so equal sets of links compare equal.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import lru_cache
from heapq import heappop, heappush
from typing import TypeAlias

from fast_align_wrapper import AlignerDataError

Link: TypeAlias = tuple[int, int]
"""Source position and target position, both counted from 0."""

Links: TypeAlias = tuple[Link, ...]
"""The links of one pair, sorted by source, then target position, without duplicates."""

SYMMETRIZATIONS = (
    "forward",
    "reverse",
    "intersect",
    "union",
    "grow-diag",
    "grow-diag-final",
    "grow-diag-final-and",
)
"""The methods of :func:`symmetrize`."""

DEFAULT_SYMMETRIZATION = "grow-diag-final-and"
"""The usual method; the papers' published scripts use it, too."""

# How many words of a link must be unlinked for it to be added at the end; 3 adds none.
_FREE_SIDES = {"grow-diag": 3, "grow-diag-final": 1, "grow-diag-final-and": 2}

# No segment needs more than nine digits, and long numbers take long to convert.
_LINK = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")
_FIELD_BREAK = re.compile(r"(?:^|(?<=[ \t]))\|\|\|(?=[ \t]|$)|\t")
_SCORE = re.compile(r"[ ]*[-+]?(?:[0-9]+\.?[0-9]*(?:[eE][-+]?[0-9]+)?|inf|nan)[ ]*")


def parse_links(line: str) -> Links:
    """Read the links of a pair from a line of an aligner's output.

    This is a Pharaoh line (``0-0 1-2``) or a line of fast_align, which may have the text of the
    pair before the links and scores after them, separated by ``|||`` or a tab.

    >>> parse_links("0-0 2-1 1-1")
    ((0, 0), (1, 1), (2, 1))
    >>> parse_links("ein haus ||| a house ||| 0-0 1-1 ||| -3.5")
    ((0, 0), (1, 1))

    Raises:
        AlignerDataError: A token is not a link; the message names the token, but no file.
    """
    is_plain = "|" not in line and "\t" not in line
    links = (line if is_plain else _links_field(line)).split()
    return tuple(sorted(set(map(_parse_link, links))))


@lru_cache(maxsize=1 << 16)  # 3 times as fast, because most lines have the same few links
def _parse_link(token: str) -> Link:
    match = _LINK.fullmatch(token)
    if match is None:
        raise AlignerDataError(f"'{token}' is not a link 'source-target', such as 0-0")
    return int(match[1]), int(match[2])


def _links_field(line: str) -> str:
    """The part of a line with the links: the last one that is not a score."""
    fields = _FIELD_BREAK.split(line)
    while len(fields) > 1 and _SCORE.fullmatch(fields[-1]):
        fields.pop()
    return fields[-1] if "|||" in line else " ".join(fields)


def format_links(links: Iterable[Link]) -> str:
    """Write links as a Pharaoh line, without a line end.

    >>> format_links([(0, 0), (1, 2)])
    '0-0 1-2'
    """
    return " ".join([f"{source}-{target}" for source, target in links])


def symmetrize(forward: Collection[Link], reverse: Collection[Link], method: str) -> Links:
    """Join the links of the two directions of a pair, as fast_align's atools does.

    ``forward`` and ``reverse`` return one direction unchanged. ``grow-diag`` starts with the
    intersection and passes over the other links of the union, in order, until a pass adds none: it
    adds a link if one of its eight neighbours is in and one of its words is still unlinked.
    ``-final`` then adds links with at least one unlinked word, ``-final-and`` only those with two,
    first from forward, then from reverse. (Och and Ney 2003; Koehn et al. 2005.)

    Args:
        forward: Source-target links of the forward direction.
        reverse: Source-target links of the reverse direction.
        method: One of :data:`SYMMETRIZATIONS`.

    Raises:
        ValueError: An unknown method.
    """
    check_symmetrization(method)
    first, second = set(forward), set(reverse)
    if method == "forward":
        joined = first
    elif method == "reverse":
        joined = second
    elif method == "intersect":
        joined = first & second
    elif method == "union":
        joined = first | second
    else:
        joined = _grow(first, second, _FREE_SIDES[method])
    return tuple(sorted(joined))


def _grow(first: set[Link], second: set[Link], free_sides: int) -> set[Link]:
    """The intersection, grown, and then the links with at least ``free_sides`` unlinked words."""
    joined = first & second
    sources, targets = {i for i, _ in joined}, {j for _, j in joined}
    # Links whose words are both linked can never be added.
    rest = {(i, j) for i, j in first ^ second if i not in sources or j not in targets}
    # Neighbours of links that are in, in the order of full passes but without their cost, which is
    # quadratic in long segments. A neighbour of an added link is due in the same pass if it sorts
    # after the added link, else in the next pass.
    due = sorted(link for link in rest if not joined.isdisjoint(_around(link)))
    while due:
        next_pass = set()
        while due:
            link = i, j = heappop(due)
            rest.discard(link)
            if i in sources and j in targets:
                continue
            joined.add(link)
            sources.add(i)
            targets.add(j)
            for near in rest & _around(link):
                if near > link:
                    heappush(due, near)
                else:
                    next_pass.add(near)
        due = sorted(next_pass)
    for direction in (first, second):
        for i, j in sorted(rest & direction):
            if (i not in sources) + (j not in targets) >= free_sides:
                joined.add((i, j))
                sources.add(i)
                targets.add(j)
    return joined


def check_symmetrization(method: str) -> None:
    """Raise ValueError for an unknown method of :func:`symmetrize`."""
    if method not in SYMMETRIZATIONS:
        raise ValueError(f"unknown symmetrization {method!r}; one of {', '.join(SYMMETRIZATIONS)}")


@lru_cache(maxsize=1 << 16)
def _around(link: Link) -> frozenset[Link]:
    """The eight neighbours of a link."""
    i, j = link
    return frozenset((i + di, j + dj) for di in (-1, 0, 1) for dj in (-1, 0, 1)) - {link}
