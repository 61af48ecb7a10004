"""Axes to draw on when the caller gives none, made without pyplot, so nothing global changes."""

from __future__ import annotations

import io

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure


class Picture(Figure):
    """A figure that notebooks show by itself, whatever their backend, without pyplot."""

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png")
        return buffer.getvalue()


def new_figure(width: float, height: float, *, compressed: bool = False) -> Picture:
    """Return an empty figure of that many inches, with an Agg canvas: it needs no display.

    Its layout makes room for labels; ``compressed`` also closes the gaps around Axes of fixed
    aspect. pyplot never hears of it, so it is freed like any other object; a notebook shows it
    when a cell ends in ``ax.figure``.
    """
    figure = Picture(figsize=(width, height))
    figure.set_layout_engine("compressed" if compressed else "constrained")
    FigureCanvasAgg(figure)
    return figure


def new_axes(width: float, height: float) -> Axes:
    """Return the only Axes of a new figure of that many inches."""
    return new_figure(width, height).add_subplot()


def figure_of(ax: Axes) -> Figure:
    """Return the figure an Axes belongs to, also when it lies in a subfigure."""
    return ax.figure.figure
