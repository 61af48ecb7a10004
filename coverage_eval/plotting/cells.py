"""Cells of attention maps: colours, which are common to all maps of a picture, and their bar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Colormap, LinearSegmentedColormap, Normalize, PowerNorm
from numpy.typing import NDArray

from coverage_eval.core.errors import DataError
from coverage_eval.plotting import Scale, canvas
from coverage_eval.plotting.word_marks import MAX_SHORT

_MAX_SHARP = 700  # words on a side up to which a pixel of a long map shows one cell
_FLOOR = 0.02
"""On the scale of long sentences, smaller weights are grey: those of a softmax would else tint all
of its map."""
_GREY, _DOT = "#EAEAEA", "#A0A0A0"


@dataclass(frozen=True)
class Colours:
    """What colour a weight has, and the scale of the colour bar; None for no bar."""

    norm: Normalize
    cmap: Colormap
    scale: Scale | None


def colours_of(
    maps: Sequence[NDArray[np.float64]], scale: Scale, cmap: str | Colormap, colorbar: bool
) -> Colours:
    """The colours of all maps of a picture: a weight has the same one in each.

    Raises:
        DataError: an unknown colour map.
    """
    if scale == "auto":
        longest = max(length for weights in maps for length in weights.shape[-2:])
        scale = "sqrt" if longest > MAX_SHORT else "fixed"
    largest = max(float(weights.max(initial=0.0)) for weights in maps)
    norm = Normalize(0.0, largest if scale == "max" and largest > 0 else 1.0)
    if scale == "sqrt":
        norm = PowerNorm(0.5, vmin=_FLOOR, vmax=1.0)
    return Colours(norm, attention_colormap(cmap), scale if colorbar else None)


def attention_colormap(cmap: str | Colormap = "Blues") -> Colormap:
    """Tints of a colour map that begin well off white; masked cells (weight zero) are white.

    The smallest positive weight is visibly tinted, so that a sparse map differs from one that is
    merely small, as in Figure 2 of Malaviya et al. (2018): "white means zero attention".

    Raises:
        DataError: an unknown colour map, or one that has white for some weights.
    """
    try:
        tints = mpl.colormaps.get_cmap(cmap)(np.linspace(0.18, 1.0, 256))
    except ValueError as error:
        raise DataError(str(error)) from error
    name = cmap if isinstance(cmap, str) else cmap.name
    if (tints[:, :3].min(axis=1) > 0.95).any():
        raise DataError(
            f"the colour map {name} has white for some weights, but white means exactly zero: "
            "choose one such as Blues, Greys or viridis"
        )
    colormap = LinearSegmentedColormap.from_list("coverage_eval_attention", tints)
    return colormap.with_extremes(bad="white", under=_GREY)


def draw_cells(
    ax: Axes, weights: NDArray[np.float64], colours: Colours, *, dotted: bool = False
) -> None:
    """Draw ``[target, source]`` weights, source down; a map without words is a note.

    Cells of short sentences are ruled off, or those of zeros ``dotted``.
    """
    rows, columns = weights.shape[1], weights.shape[0]
    ax.tick_params(which="both", length=0)
    ax.grid(visible=False)
    if weights.size == 0:
        ax.set(xlim=(-0.5, max(columns, 1) - 0.5), ylim=(max(rows, 1) - 0.5, -0.5))
        text, rotation = ("empty hypothesis", 90) if rows else ("empty source", 0)
        ax.text(
            0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center", rotation=rotation,
        )  # fmt: skip
        return
    longest = max(rows, columns)
    # Square cells would be tiny in a very oblong map; a figure of ours has cells that fit.
    aspect: Literal["equal", "auto"] = "equal" if longest <= 4 * min(rows, columns) else "auto"
    ax.imshow(
        np.ma.masked_equal(weights.T, 0.0),
        cmap=colours.cmap,
        norm=colours.norm,
        origin="upper",
        aspect=aspect,
        # Sharp cells if there are enough pixels; else averaged colours, so that no cell vanishes.
        interpolation="nearest" if longest <= _MAX_SHARP else "antialiased",
        interpolation_stage="rgba",
    )
    if dotted and longest <= MAX_SHORT:
        ax.plot(*np.nonzero(weights == 0), ".", color=_DOT, markersize=1.5, gid="zeros")
    elif longest <= MAX_SHORT:
        style: dict[str, Any] = {"colors": canvas.GRID, "linewidth": 0.5, "zorder": 2}
        ax.hlines(np.arange(rows + 1) - 0.5, -0.5, columns - 0.5, **style)
        ax.vlines(np.arange(columns + 1) - 0.5, -0.5, rows - 0.5, **style)


def scale_width(scale: Scale | None) -> float:
    """Inches that a colour bar needs, with two lines of text beside it; None for none."""
    return 0.1 if scale is None else 0.3 + canvas.font_size("axes.labelsize") / 16


def draw_scale(ax: Axes, colours: Colours, start: float) -> None:
    """Draw the colour bar, ``start`` inches on the right of a map."""
    scale = colours.scale
    if scale is None or not ax.images:  # a map without words has no scale
        return
    height = canvas.axis_length(ax, "y")
    ticks = {"fixed": [0, 0.25, 0.5, 0.75, 1], "sqrt": [_FLOOR, 0.05, 0.1, 0.25, 0.5, 1]}
    if height < 2.0:
        ticks = {"fixed": [0, 0.5, 1], "sqrt": [_FLOOR, 0.1, 0.25, 0.5, 1]}
    if height < 1.0:
        ticks = {"fixed": [0, 1], "sqrt": [_FLOOR, 1]}
    # Zero itself is white: the lowest tint is that of the smallest positive weight.
    bar = ax.figure.figure.colorbar(
        ScalarMappable(colours.norm, colours.cmap),
        ticks=ticks.get(scale),
        extend="min" if scale == "sqrt" else "neither",
        format=lambda weight, _: f"{weight:g}" if weight else ">0",
        cax=canvas.beside(ax, start + 0.12, 0.1),
    )
    kind = {"fixed": "", "max": "up to the largest, ",
            "sqrt": f"square-root scale, grey: below {_FLOOR:g}, "}[scale]  # fmt: skip
    label = f"attention ({kind}white: 0)"
    bar.set_label(canvas.wrapped(label, height, "axes.labelsize"))
    bar.outline.set_visible(False)
