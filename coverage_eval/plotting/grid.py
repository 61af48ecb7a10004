"""Figures of attention maps: as many in a row as their labels allow, as high as they need."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from coverage_eval.plotting import canvas
from coverage_eval.plotting.word_marks import label_room

_CELL, _LARGEST = 0.25, 8.4  # inches of a cell, and of the map of a long sentence
_WIDE, _WIDEST, _TALLEST = 14.0, 24.0, 11.0  # inches up to which maps stand in a row, of figures
_GAP = 0.12  # inches between maps


@dataclass(frozen=True)
class Grid:
    """Axes of maps in a new figure, row by row; pairs are inches across and down.

    Attributes:
        axes: as large as they will be.
        columns: how many stand in a row.
        maps: all of a row, and all of a column.
        size: about that of the figure, with all that will stand around the maps.
        width: that of the figure, if it was given.
    """

    axes: list[Axes]
    columns: int
    maps: NDArray[np.float64]
    size: NDArray[np.float64]
    width: float | None

    def fit(self) -> None:
        """Make the figure as large as what was drawn: only a layout tells how large labels are."""
        figure = self.axes[0].figure.figure
        figure.set_size_inches(*self.size)
        figure.set_layout_engine("constrained", wspace=0, hspace=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of glyphs, which are said when the figure is saved
            with canvas.single_glyph_warning():
                figure.draw_without_rendering()
        across = sum(ax.get_position().width for ax in self.axes[: self.columns])
        down = sum(ax.get_position().height for ax in self.axes[:: self.columns])
        width, height = self.size * (1 - across, 1 - down) + self.maps
        figure.set_size_inches(self.width or width, height)


@dataclass(frozen=True)
class _Room:
    """What maps with these numbers of columns, and so many rows, need."""

    lengths: Sequence[int]
    high: int
    around: NDArray[np.float64]  # all maps
    each: NDArray[np.float64]  # around each
    cell: tuple[float, float]  # with which all words have a label; in long sentences, every fifth

    def rows(self, number: int) -> int:
        return math.ceil(len(self.lengths) / number)

    def cells(self, number: int) -> NDArray[np.int64]:
        """Cells of a row and of a column of maps, with that many in a row."""
        across = sum(self.lengths) if self.rows(number) == 1 else number * max(self.lengths)
        return np.array([across, self.rows(number) * self.high])

    def figure(self, number: int, cell: Sequence[float] | None = None) -> NDArray[np.float64]:
        """Inches of a figure with that many in a row."""
        shape = number, self.rows(number)
        return self.around + self.each * shape + self.cells(number) * (cell or self.cell)


def new_grid(
    source: Sequence[str],
    hypotheses: Sequence[Sequence[str]],
    numbers: Sequence[int],
    *,
    margin: float = 0.0,
    bar: float,
    shared: bool = False,
    width: float | None,
) -> Grid:
    """Return Axes for maps of one source sentence, in a new figure.

    Args:
        source: the words that label the rows of each map.
        hypotheses: for each map, the words that label its columns.
        numbers: how many maps may stand in a row, in ascending order. The largest is taken with
            which all labels fit; if there is none, a warning says how wide the figure must be.
        margin: inches to keep free on the right of each map.
        bar: inches to keep free on the right of all maps.
        shared: whether words are at the edges of the grid only, not at each map.
        width: of the figure, in inches; by default what the words need, up to a limit.
    """
    lengths = [max(len(words), 1) for words in hypotheses]
    high, wide = max(len(source), 1), max(lengths)
    name, heading = (canvas.font_size(f"axes.{size}size") / 36 for size in ("label", "title"))
    left = canvas.longest([*map(canvas.shorten, source)], "ytick.labelsize")
    below = canvas.longest([*map(canvas.shorten, chain(*hypotheses))], "xtick.labelsize")
    words = np.array([left, below + heading]) + _GAP
    narrowest = 0 if shared else 4 * heading / wide  # for a title of two words, and the legend
    room = _Room(
        lengths, high,
        around=np.array([name + bar, name + heading]) + words * shared,
        each=words * (not shared) + [_GAP + margin, _GAP],
        cell=(
            max(min(label_room("x", wide), _LARGEST / wide), narrowest),
            min(label_room("y", high), _LARGEST / high),
        ),
    )  # fmt: skip
    needed = min(room.figure(number)[0] for number in numbers)
    limit = width or float(np.clip(needed + 0.01, _WIDE, _WIDEST))
    number = _in_a_row(room, numbers, limit)
    free = limit - room.around[0] - number * room.each[0]
    across, down = free / room.cells(number)[0], min(_CELL, _LARGEST / high)
    if width is None:
        across = min(across, max(_CELL, room.cell[0]), max(_LARGEST / wide, room.cell[0]))
    if max(high, wide) <= 4 * min(high, wide):  # else square cells would be tiny
        down = max(min(across, down), narrowest)
        across = across if width else min(across, max(down, room.cell[0]))
    cell = across, max(down, min(room.cell[1], _WIDEST / room.cells(number)[1]))
    # Texts are fitted to Axes that fill a figure of their size; then it grows.
    maps = room.cells(number) * cell
    figure = canvas.new_figure(*maps)
    figure.set_layout_engine(None)
    figure.subplots_adjust(left=0, right=1, bottom=0, top=1, wspace=0, hspace=0)
    ratios = lengths if room.rows(number) == 1 else None
    places = figure.add_gridspec(room.rows(number), number, width_ratios=ratios)
    axes = [figure.add_subplot(places[divmod(k, number)]) for k in range(len(lengths))]
    return Grid(axes, number, maps, room.figure(number, cell), width)


def _in_a_row(room: _Room, numbers: Sequence[int], width: float) -> int:
    """Choose how many maps stand in a row; rows are full, or nearly so."""
    low = [number for number in numbers if room.figure(number)[1] <= _TALLEST] or numbers[-1:]
    fitting = [number for number in low if room.figure(number)[0] <= width]
    if fitting:
        return room.rows(room.rows(fitting[-1])) if len(numbers) > 1 else fitting[-1]
    needed = math.ceil(10 * room.figure(low[0])[0]) / 10
    warnings.warn(
        f"not all words have a label in {width:g} inches: give width={needed:g}, or set a smaller "
        "matplotlib.rcParams['font.size']",
        stacklevel=6,
    )
    return low[0]
