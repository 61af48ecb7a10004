"""Attention of several heads, or layers of heads, as a grid of maps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from coverage_eval.plotting import Scale, canvas
from coverage_eval.plotting.cells import Colours, draw_cells, draw_scale
from coverage_eval.plotting.word_marks import label_words

_CELL, _WIDEST = 0.2, 14.0  # inches
_GAP, _AROUND, _BESIDE = 0.12, 0.75, 0.9  # inches between maps; for names; for the scale


def draw_heads(
    attention: NDArray[np.float64],
    source: Sequence[str],
    hypothesis: Sequence[str],
    colours: Colours,
    scale: Scale | None,
    *,
    title: str,
    width: float | None,
) -> Axes:
    """Draw a row of maps for each layer, in a new figure; words are named at its edges only.

    Args:
        attention: ``[heads, target, source]`` or ``[layers, heads, target, source]``.
        source: the source words.
        hypothesis: the words of the hypothesis.
        colours: of all maps.
        scale: how to label the colour bar; None for none.
        title: of the figure.
        width: of the figure, in inches; by default what the words need, up to a limit.

    Returns:
        The Axes of the first head of the first layer.
    """
    layers = attention if attention.ndim == 4 else attention[np.newaxis]
    (rows, columns), (high, wide) = layers.shape[:2], (max(len(source), 1), max(len(hypothesis), 1))
    beside = 0.1 if scale is None else _BESIDE
    left = canvas.longest_label(source, canvas.points(7)) + _AROUND
    below = canvas.longest_label(hypothesis, canvas.points(7)) + 0.3
    free = (width or _WIDEST) - left - beside
    cell = max((free / columns - _GAP) / wide, 1e-3)
    cell = cell if width else min(cell, _CELL)
    if width:
        canvas.warn_of_small_cells(cell, width)
    size = (
        width or left + beside + columns * (cell * wide + _GAP),
        _AROUND + below + rows * (cell * high + _GAP),
    )
    figure = canvas.new_figure(*size, compressed=True)
    places = {
        "left": left / size[0], "right": 1 - beside / size[0],
        "bottom": below / size[1], "top": 1 - _AROUND / size[1],
        "wspace": _GAP / (cell * wide), "hspace": _GAP / (cell * high),
    }  # fmt: skip
    grid = figure.subplots(rows, columns, squeeze=False, gridspec_kw=places)
    for (layer, head), ax in np.ndenumerate(grid):
        draw_cells(ax, layers[layer, head], colours)
        ax.set(xticks=[], yticks=[])
        if layer == 0:
            ax.set_title(f"head {head + 1}", fontsize=canvas.points(9))
        if layer == rows - 1:
            label_words(ax, "x", hypothesis)
        if head == 0:
            label_words(ax, "y", source)
    _name_axes_once(figure, grid, size[1])
    for layer, ax in enumerate(grid[:, 0], start=1):
        ax.set_ylabel(f"layer {layer}" if attention.ndim == 4 else "", fontsize=canvas.points(9))
    figure.suptitle(title, fontsize=canvas.points(11), **canvas.plain_text(title))
    if scale is not None and attention.size:
        draw_scale(figure, colours, scale, size[1] - _AROUND - below, ax=grid)
    first: Axes = grid[0, 0]
    return first


def _name_axes_once(figure: Figure, grid: NDArray[Any], height: float) -> None:
    """Write the names of the axes beside the grid, not at each map; the height is in inches."""
    small = canvas.points(8)
    figure.supxlabel(grid[-1, 0].get_xlabel().replace("\n", " "), fontsize=small)
    name = grid[0, 0].get_ylabel().replace("\n", " ")
    figure.supylabel(canvas.wrapped(name, height, small), fontsize=small)
    for ax in grid.flat:
        ax.set(xlabel="", ylabel="")
