"""Word alignment links: Pharaoh lines and symmetrisation.

A link joins a source position and a target position, both counted from 0. The links of a pair are
a sorted tuple without repetitions, so equal sets of links are equal values.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from heapq import heapify, heappop, heappush
from typing import TypeAlias

from coverage_eval.errors import DataError
from coverage_eval.text.corpus import tokenize

__all__ = [
    "SYMMETRIZATIONS",
    "Link",
    "Links",
    "format_links",
    "parse_links",
    "symmetrize",
]

Link: TypeAlias = tuple[int, int]
"""Source position and target position, both counted from 0."""

Links: TypeAlias = tuple[Link, ...]
"""The links of one pair, sorted by source, then target position, without repetitions."""

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

# More digits than any segment needs would only cost time.
_LINK = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")
_PLAIN_LINE = re.compile(r"[0-9]{1,9}-[0-9]{1,9}(?: [0-9]{1,9}-[0-9]{1,9})*")
_FIELD_BREAK = re.compile(r"(?:^|(?<=[ \t]))\|\|\|(?=[ \t]|$)|\t")
_SCORE = re.compile(r"[ ]*[-+]?(?:[0-9]+\.?[0-9]*(?:[eE][-+]?[0-9]+)?|inf|nan)[ ]*")


def parse_links(line: str) -> Links:
    """Read the links of a pair from a line of an aligner's output.

    Besides Pharaoh lines (``0-0 1-2``) these are fast_align's, where the pair's text may stand
    before the links and scores after them, separated by ``|||`` or a tab.

    >>> parse_links("0-0 2-1 1-1")
    ((0, 0), (1, 1), (2, 1))
    >>> parse_links("ein haus ||| a house ||| 0-0 1-1 ||| -3.5")
    ((0, 0), (1, 1))

    Raises:
        DataError: Something in the line is not a link; the message names it, but no file.
    """
    if not _PLAIN_LINE.fullmatch(line):
        tokens = tokenize(_links_field(line))
        for token in tokens:
            if not _LINK.fullmatch(token):
                raise DataError(f"'{token}' is not a link 'source-target', such as 0-0")
        line = " ".join(tokens)
        if not line:
            return ()
    numbers = list(map(int, line.replace("-", " ").split(" ")))
    return tuple(sorted(set(zip(numbers[::2], numbers[1::2], strict=True))))


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
    """Join the links of the two directions of a pair, as atools of fast_align does.

    ``forward`` and ``reverse`` give one direction unchanged. ``grow-diag`` starts from the
    intersection and passes again and again over the sorted other links of the union: one is added
    if one of its eight neighbours is in and a side of it is still without link, until a whole pass
    adds none. ``-final`` then adds, first from forward, then from reverse, links with at least one
    side still without link, ``-final-and`` those with both sides without. (Och and Ney 2003;
    Koehn et al. 2005.)

    Args:
        forward: Source-target links of the forward direction.
        reverse: Source-target links of the reverse direction.
        method: One of :data:`SYMMETRIZATIONS`.

    Raises:
        ValueError: No method has that name.
    """
    one, two = set(forward), set(reverse)
    if method == "forward":
        return tuple(sorted(one))
    if method == "reverse":
        return tuple(sorted(two))
    if method == "intersect":
        return tuple(sorted(one & two))
    if method == "union":
        return tuple(sorted(one | two))
    if method not in SYMMETRIZATIONS:
        raise ValueError(f"unknown symmetrization {method!r}; one of {', '.join(SYMMETRIZATIONS)}")
    growing = _Growing(one & two)
    growing.grow(one | two)
    if method != "grow-diag":
        for direction in (one, two):
            growing.finish(direction, both_free=method == "grow-diag-final-and")
    return tuple(sorted(growing.links))


def _around(link: Link) -> tuple[Link, ...]:
    """The eight neighbours of a link."""
    i, j = link
    return (
        (i - 1, j - 1), (i - 1, j), (i - 1, j + 1), (i, j - 1),
        (i, j + 1), (i + 1, j - 1), (i + 1, j), (i + 1, j + 1),
    )  # fmt: skip


class _Growing:
    """A growing set of links that knows which positions have one."""

    def __init__(self, links: set[Link]) -> None:
        self.links = set(links)
        self._sources = {source for source, _ in links}
        self._targets = {target for _, target in links}

    def _add(self, link: Link) -> None:
        self.links.add(link)
        self._sources.add(link[0])
        self._targets.add(link[1])

    def _is_free(self, link: Link) -> bool:
        """Whether a side of the link is still without link."""
        return link[0] not in self._sources or link[1] not in self._targets

    def grow(self, union: set[Link]) -> None:
        """Pass over the rest of the union until a pass adds none.

        Only links beside one that is in are looked at. One that an addition brings near is due
        later in the same pass if it sorts after the addition, else in the next pass: the order of
        full passes, without their cost, which is quadratic in long segments.
        """
        remaining = {link for link in union - self.links if self._is_free(link)}
        due = {link for link in remaining if not self.links.isdisjoint(_around(link))}
        while due:
            this_pass = list(due)
            heapify(this_pass)
            next_pass: set[Link] = set()
            while this_pass:
                link = heappop(this_pass)
                remaining.discard(link)
                if not self._is_free(link):
                    continue
                self._add(link)
                for near in _around(link):
                    if near not in remaining or near in due:
                        continue
                    if near > link:
                        due.add(near)
                        heappush(this_pass, near)
                    else:
                        next_pass.add(near)
            due = next_pass

    def finish(self, direction: set[Link], *, both_free: bool) -> None:
        for link in sorted(direction):
            used = (link[0] in self._sources) + (link[1] in self._targets)
            if used == 0 or (used == 1 and not both_free):
                self._add(link)
