"""Figures of attention maps: as many in a row as their labels allow, as high as they need."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from numpy.typing import NDArray

from coverage_eval.core.errors import DataError
from coverage_eval.plotting import canvas
from coverage_eval.plotting.word_marks import label_room

_CELL, _LARGEST = 0.25, 8.4  # inches of a cell, and of the map of a long sentence
_WIDE, _WIDEST, _TALLEST = 14.0, 24.0, 11.0  # inches up to which maps stand in a row, of figures
_GAP = 0.12  # inches between maps


@dataclass(frozen=True)
class Grid:
    """Axes of maps in a new figure, row by row, each as large as its labels need."""

    axes: list[Axes]
    columns: int
    places: GridSpec
    size: tuple[float, float]
    """Inches of all maps of a row, and of all maps of a column."""
    width: float | None

    @property
    def figure(self) -> Figure:
        """The figure of all Axes."""
        return self.axes[0].figure.figure

    def fit(self) -> None:
        """Make the figure as large as maps and all that was drawn around them.

        Only a layout tells how much room labels take.
        """
        self.places.update(wspace=None, hspace=None)  # the layout's own gaps
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of glyphs, which are said when the figure is saved
            with canvas.single_glyph_warning():
                self.figure.draw_without_rendering()
        boxes = [ax.get_position() for ax in self.axes]
        shares = (
            sum(box.width for box in boxes[: self.columns]),
            sum(box.height for box in boxes[:: self.columns]),
        )
        size = self.figure.get_size_inches()
        width, height = size * np.subtract(1, shares) + self.size
        self.figure.set_size_inches(self.width or width, height)


@dataclass(frozen=True)
class _Room:
    """What maps with these numbers of columns need; pairs are inches across and down."""

    lengths: Sequence[int]
    high: int
    around: NDArray[np.float64]
    """Around all maps."""
    each: NDArray[np.float64]
    """Around each map."""
    least: tuple[float, float]
    """Of a cell, so that all words have a label; in long sentences, every fifth."""

    def rows(self, number: int) -> int:
        return math.ceil(len(self.lengths) / number)

    def maps(self, number: int, cell: Sequence[float]) -> NDArray[np.float64]:
        """Of all maps of a row and of a column, with that many in a row."""
        across = sum(self.lengths) if self.rows(number) == 1 else number * max(self.lengths)
        return np.array([across, self.rows(number) * self.high]) * cell

    def figure(self, number: int, cell: Sequence[float]) -> NDArray[np.float64]:
        """Of a figure with that many maps in a row."""
        return self.around + self.each * (number, self.rows(number)) + self.maps(number, cell)


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

    Raises:
        DataError: the width has no room for maps.

    Warns:
        UserWarning: the width has no room for the labels.
    """
    lengths = [max(len(words), 1) for words in hypotheses]
    high, wide = max(len(source), 1), max(lengths)
    name = canvas.font_size("axes.labelsize") / 40
    heading = canvas.font_size("axes.titlesize") / 36
    left = canvas.longest([*map(canvas.shorten, source)], "ytick.labelsize")
    below = canvas.longest([*map(canvas.shorten, chain(*hypotheses))], "xtick.labelsize")
    words = np.array([left, below + heading]) + _GAP
    narrowest = 0 if shared else 4 * heading  # for a title of two short words, and the legend
    room = _Room(
        lengths, high,
        around=np.array([name + bar, name + heading]) + words * shared,
        each=words * (not shared) + [_GAP + margin, _GAP],
        least=(
            max(min(label_room("x", wide), _LARGEST / wide), narrowest / wide),
            min(label_room("y", high), _LARGEST / high),
        ),
    )  # fmt: skip
    limit = width
    if limit is None:
        needed = min(room.figure(number, room.least)[0] for number in numbers)
        limit = float(np.clip(needed + 0.01, _WIDE, _WIDEST))
    number = _in_a_row(room, numbers, limit)
    free = limit - room.around[0] - number * room.each[0]
    across = free / room.maps(number, (1, 1))[0]
    down = min(_CELL, _LARGEST / high)
    if width is None:
        across = max(min(across, _CELL, _LARGEST / wide), room.least[0])
    if max(high, wide) <= 4 * min(high, wide):  # else square cells would be tiny
        down = max(min(across, down), narrowest / wide, room.least[1])
        across = across if width else max(min(across, down), room.least[0])
    maps = room.maps(number, (across, max(down, room.least[1])))
    size = room.figure(number, (across, max(down, room.least[1])))
    # The layout has the last word; texts are fitted to these places.
    left, bottom = (left + name + _GAP) / size[0], (below + name + _GAP) / size[1]
    figure = canvas.new_figure(*size)
    figure.set_layout_engine("constrained", wspace=0, hspace=0)
    places = figure.add_gridspec(
        room.rows(number), number, left=left, bottom=bottom,
        right=1 - (bar + margin) / size[0], top=1 - heading * (1 + shared) / size[1],
        wspace=number * room.each[0] / maps[0], hspace=room.rows(number) * room.each[1] / maps[1],
        width_ratios=lengths if room.rows(number) == 1 else None,
    )  # fmt: skip
    axes = [figure.add_subplot(places[divmod(k, number)]) for k in range(len(lengths))]
    return Grid(axes, number, places, (float(maps[0]), float(maps[1])), width)


def _in_a_row(room: _Room, numbers: Sequence[int], width: float) -> int:
    """Choose how many maps stand in a row; rows are full, or nearly so.

    Raises:
        DataError: what stands around the maps needs all of the width.
    """
    needed = {number: room.figure(number, room.least) for number in numbers}
    low = [number for number in numbers if needed[number][1] <= _TALLEST] or numbers[-1:]
    fitting = [number for number in low if needed[number][0] <= width]
    if fitting:
        return room.rows(room.rows(fitting[-1])) if len(numbers) > 1 else fitting[-1]
    number = low[0]
    least = math.ceil(10 * needed[number][0]) / 10
    advice = f"give width={least:g}, or set a smaller matplotlib.rcParams['font.size']"
    if room.around[0] + number * room.each[0] >= width:
        raise DataError(f"{width:g} inches are too little for attention maps: {advice}")
    warnings.warn(f"not all words have a label in {width:g} inches: {advice}", stacklevel=6)
    return number
