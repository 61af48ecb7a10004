"""Grids of words, a row for each source word and a column for each target word: size and ruling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes

from coverage_eval.plotting import colours
from coverage_eval.plotting.canvas import new_figure
from coverage_eval.plotting.labels import longest_label

_CELL, _NARROW_CELL = 0.25, 0.21  # inches, for short and for long sentences
_SHORT = 30  # words
_MOST_LABELLED = 250  # words on a side up to which a figure grows with them
_LARGEST, _OVERVIEW = 16.0, 10.0  # inches, of figures up to and beyond that
_ABOVE = 0.7  # inches for title and legend


def grid_axes(
    rows: Sequence[str],
    blocks: Sequence[Sequence[str]],
    *,
    beside: float,
    largest: float = _LARGEST,
) -> list[Axes]:
    """Return Axes in a row, for grids with common rows, in a new figure of fitting size.

    Cells and labels get their room up to a limit; a larger page serves no one.

    Args:
        rows: the words that label the rows of each grid.
        blocks: for each grid, the words that label its columns.
        beside: inches to keep free on the right, for a margin or a scale.
        largest: inches that the figure may measure for each grid.
    """
    counts = [max(len(block), 1) for block in blocks]
    longest = max(len(rows), *counts)
    largest = largest if longest <= _MOST_LABELLED else _OVERVIEW
    left, below = longest_label(rows), longest_label([word for block in blocks for word in block])
    room_across = largest * len(blocks) - left * len(blocks) - beside
    room_down = largest - below - _ABOVE
    cell = _CELL if longest <= _SHORT else _NARROW_CELL
    across, down = min(cell, room_across / sum(counts)), min(cell, room_down / max(len(rows), 1))
    if all(cell_aspect(len(rows), count) == "equal" for count in counts):
        across = down = min(across, down)
    width = max(across * sum(counts) + left * len(blocks) + beside, 3.2 * len(blocks))
    height = max(down * len(rows) + below + _ABOVE, 2.2)
    # The layout engine has the last word; labels are fitted to the sizes that these places give.
    place = {
        "left": left / width,
        "right": 1 - (beside + left * (len(blocks) - 1)) / width,
        "bottom": below / height,
        "top": 1 - _ABOVE / height,
    }
    figure = new_figure(width, height, compressed=True)
    grids = figure.subplots(
        1, len(blocks), squeeze=False, gridspec_kw={"width_ratios": counts, **place}
    )
    return list(grids[0])


def cell_aspect(rows: int, columns: int) -> Literal["equal", "auto"]:
    """Return ``equal`` where a grid's cells are squares; in an oblong grid they would be tiny."""
    return "equal" if max(rows, columns) <= 4 * min(rows, columns) else "auto"


def rule_off(ax: Axes, rows: int, first: int, last: int) -> None:
    """Draw faint lines around the cells of columns ``first`` to ``last`` (excluded)."""
    style: dict[str, Any] = {"colors": colours.GRID, "linewidth": 0.5, "zorder": 2, "gid": "ruling"}
    ax.hlines(np.arange(rows + 1) - 0.5, first - 0.5, last - 0.5, **style)
    ax.vlines(np.arange(first, last + 1) - 0.5, -0.5, rows - 0.5, **style)
