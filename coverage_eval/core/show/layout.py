"""How wide columns are, and which stand side by side: no name and no number is ever cut."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from coverage_eval.core.show.table import ColumnContent

GAP = 2
"""Spaces between columns."""

MIN_WIDTH = 10
"""No column of text is wrapped to fewer characters, unless its texts are shorter."""

MAX_WORD_SHARE = 0.5
"""A word longer than this share of the width may be broken."""


class Block(NamedTuple):
    """Columns that stand side by side, and the width of each."""

    columns: list[int]
    widths: list[int]


def lay_out(
    header: Sequence[str],
    contents: Sequence[ColumnContent],
    rows: Iterable[Sequence[str]],
    width: int,
    *,
    beside_names: int = 0,
) -> list[Block]:
    """Distribute columns over blocks that are printed one below another.

    Names of columns, names of rows, scores and numbers keep their width; texts are wrapped. The
    columns that name a row begin every block.

    Args:
        header: Names of the columns.
        contents: What the columns contain.
        rows: The cells as they are printed, with ``\\n`` between the lines of a cell.
        width: Characters that a line may have.
        beside_names: Characters that the printer adds to the names of columns.

    Returns:
        One block if all columns fit, else as many as are needed.
    """
    natural, words = _measure(header, rows, beside_names)
    limit = int(width * MAX_WORD_SHARE)
    least = [
        full if content.numbers or content.labels else min(full, max(MIN_WIDTH, min(word, limit)))
        for content, full, word in zip(contents, natural, words, strict=True)
    ]
    # A name that leaves no room for the widest number is broken at last.
    room = width - GAP - max(least[1:], default=-GAP)
    least[0] = min(least[0], max(room, MIN_WIDTH))
    return [
        Block(part, list(_fit([natural[i] for i in part], [least[i] for i in part], width)))
        for part in _side_by_side(least, width, count_keys(header))
    ]


def count_keys(header: Sequence[str]) -> int:
    """Columns that name a row: the first, or those up to the system of a segment."""
    return header.index("system") + 1 if header[0] == "segment" and "system" in header else 1


def _measure(
    header: Sequence[str], rows: Iterable[Sequence[str]], beside_names: int
) -> tuple[Sequence[int], Sequence[int]]:
    """The widest line and the widest word of each column, names included."""
    from wcwidth import wcswidth

    natural = [wcswidth(name) + beside_names for name in header]
    words = list(natural)
    for row in rows:
        for i, cell in enumerate(row):
            for line in cell.split("\n"):
                if (found := wcswidth(line)) > words[i]:
                    natural[i] = max(natural[i], found)
                    words[i] = max(words[i], *map(wcswidth, line.split()))
    return natural, words


def _fit(natural: Sequence[int], least: Sequence[int], width: int) -> Sequence[int]:
    """Widths of columns: wide ones share one limit, and no column is narrower than its least."""
    widths = natural
    for limit in range(max(natural), MIN_WIDTH - 1, -1):
        widths = [min(full, max(limit, low)) for full, low in zip(natural, least, strict=True)]
        if sum(widths) + GAP * (len(widths) - 1) <= width:
            break
    return widths


def _side_by_side(least: Sequence[int], width: int, keys: int) -> Iterator[list[int]]:
    """Groups of columns that fit; those that name a row are in every group, if they leave room."""
    widest = max(least[keys:], default=0)
    if sum(least[:keys]) + GAP * keys + widest > width:
        keys = min(keys, 1)
    part = list(range(keys))
    for i in range(keys, len(least)):
        taken = sum(least[j] + GAP for j in part) + least[i]
        if taken > width and len(part) > keys:
            yield part
            part = list(range(keys))
        part.append(i)
    yield part
