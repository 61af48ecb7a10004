"""Cumulative attention of source words, beside a map."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from numpy.typing import NDArray

from coverage_eval.plotting import colours
from coverage_eval.plotting.grid import axis_length


def draw_margin(
    ax: Axes, coverage: NDArray[np.float64], fertility: NDArray[np.float64] | None
) -> float:
    """Draw bars in new Axes to the right of a map; the excess over fertilities has its own colour.

    Args:
        ax: the map, rows at 0, 1, ….
        coverage: ``[source]`` cumulative attention.
        fertility: ``[source]`` upper bounds, None for none.

    Returns:
        Where the margin ends, in widths of the map.
    """
    left, width = 1.0 + axes_fraction(ax, 0.1), axes_fraction(ax, 1.1)
    side = ax.inset_axes((left, 0.0, width, 1.0))
    bounds = np.full(len(coverage), np.inf) if fertility is None else fertility
    within = np.minimum(coverage, bounds)
    side.add_collection(_row_bars(np.zeros_like(within), within, colours.WEIGHT, "coverage"))
    side.add_collection(_row_bars(within, coverage, colours.EXCESS, "excess"))
    rows = np.flatnonzero(np.isfinite(bounds))  # infinite fertilities have no line
    style: dict[str, Any] = {"colors": colours.BOUND, "linestyles": (0, (2, 1)), "linewidth": 1.6}
    side.vlines(bounds[rows], rows - 0.45, rows + 0.45, gid="fertility", **style)
    side.grid(visible=False)
    furthest = max([1.0, *coverage, *bounds[np.isfinite(bounds)]])
    side.set(xlim=(0, 1.08 * furthest), ylim=ax.get_ylim(), yticks=[])
    side.set_xlabel("cumulative\nattention", fontsize=8)
    side.tick_params(labelsize=8)
    side.spines[["top", "right"]].set_visible(False)
    return left + width


def axes_fraction(ax: Axes, inches: float) -> float:
    """Return a length in inches as a fraction of the present width of the Axes."""
    return inches / max(axis_length(ax, "x"), 1.0)


def _row_bars(
    starts: NDArray[np.float64], ends: NDArray[np.float64], colour: str, gid: str
) -> PolyCollection:
    """Return horizontal bars at rows 0, 1, … as one artist, which is fast for a thousand rows."""
    rows = np.arange(len(starts))
    low, high = rows - 0.35, rows + 0.35
    xs = np.stack([starts, ends, ends, starts], axis=1)
    ys = np.stack([low, low, high, high], axis=1)
    corners = list(np.stack([xs, ys], axis=2))
    return PolyCollection(corners, facecolors=colour, linewidths=0, gid=gid)
