"""Attention of several heads, or layers of heads, as a grid of maps."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from coverage_eval.plotting import canvas
from coverage_eval.plotting.cells import Colours, draw_cells, draw_scale, scale_width
from coverage_eval.plotting.grid import new_grid
from coverage_eval.plotting.word_marks import label_words


def draw_heads(
    attention: NDArray[np.float64],
    source: Sequence[str],
    hypothesis: Sequence[str],
    colours: Colours,
    *,
    title: str,
    width: float | None,
) -> Axes:
    """Draw ``[heads, target, source]`` or ``[layers, heads, target, source]`` in a new figure.

    A layer is a row of maps; the heads of a single one wrap. Return the Axes of the first head.
    """
    maps = attention.reshape(-1, *attention.shape[-2:])
    heads = attention.shape[-3]
    numbers = (heads,) if attention.ndim == 4 else range(1, heads + 1)
    bar = scale_width(colours.scale)
    grid = new_grid(source, [hypothesis] * len(maps), numbers, bar=bar, shared=True, width=width)
    for number, (ax, weights) in enumerate(zip(grid.axes, maps, strict=True)):
        draw_cells(ax, weights, colours, dotted=True)
        ax.set(xticks=[], yticks=[], aspect="auto")
        layer, head = divmod(number, heads)
        if layer == 0:
            ax.set_title(f"head {head + 1}")
        if attention.ndim == 4 and head == 0:
            ax.set_ylabel(f"layer {layer + 1}")
        if number + grid.columns >= len(maps):
            label_words(ax, "x", hypothesis)
        if number % grid.columns == 0:
            label_words(ax, "y", source)
    figure = grid.axes[0].figure.figure
    figure.set(dpi=200)
    figure.suptitle(title, **canvas.plain_text(title))
    figure.supxlabel("hypothesis", fontsize=mpl.rcParams["axes.labelsize"])
    figure.supylabel("source", fontsize=mpl.rcParams["axes.labelsize"])
    draw_scale(grid.axes[grid.columns - 1], colours, 0)
    grid.fit()
    return grid.axes[0]
