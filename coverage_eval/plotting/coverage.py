"""Cumulative attention of source words: beside a map, or as a histogram."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from numpy.typing import ArrayLike, NDArray

from coverage_eval.errors import DataError
from coverage_eval.plotting import colours
from coverage_eval.plotting.canvas import new_axes
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


def coverage_histogram(
    coverage: ArrayLike | Mapping[str, ArrayLike],
    *,
    upper: float = 3.0,
    width: float = 0.1,
    ax: Axes | None = None,
) -> Axes:
    """Draw the distribution of cov_j = Σ_t α_tj over source words, as shares of all words.

    The words of a well covered source lie near 1 (dashed green), dropped words near 0, and
    over-attended ones in the last bin, which holds everything from ``upper`` on.

    Args:
        coverage: cumulative attention of source words, any number of them; or one such array for
            each system by name, drawn as outlines over one another.
        upper: where the last bin begins, in units of attention.
        width: of the bins.
        ax: where to draw; a new figure if None.

    Returns:
        The Axes.

    Raises:
        DataError: no values, or one that is negative or not a number.
    """
    several = isinstance(coverage, Mapping)
    systems: Mapping[str, ArrayLike] = coverage if isinstance(coverage, Mapping) else {"": coverage}
    ax = new_axes(4.6, 3.0) if ax is None else ax
    # The bin below the last edge is the overflow: one width past ``upper``.
    edges = np.linspace(0.0, upper + width, round(upper / width) + 2)
    for k, (name, values) in enumerate(systems.items()):
        colour = colours.SYSTEMS[k % len(colours.SYSTEMS)]
        style = ("-", "--", ":", "-.")[k % 4]  # differs without colour too
        ax.stairs(
            _shares(values, edges, name), edges, fill=not several, color=colour, linestyle=style,
            linewidth=1.6, label=name or None,
        )  # fmt: skip
    ax.axvline(1.0, color=colours.BOUND, linestyle="--", linewidth=1.2, zorder=0.5, gid="one")
    ticks = range(math.ceil(upper))
    ax.set_xticks([*ticks, edges[-2] + width / 2], labels=[*map(str, ticks), f"≥{upper:g}"])
    ax.set(xlim=(0, edges[-1]), xlabel="cumulative attention of a source word")
    ax.set_ylabel("source words (%)")
    ax.set_ylim(bottom=0)
    ax.spines[["top", "right"]].set_visible(False)
    if several:
        ax.legend(frameon=False, fontsize=8)
    return ax


def _shares(values: ArrayLike, edges: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    words = np.asarray(values, dtype=np.float64).ravel()
    what = f"coverage of {name}" if name else "coverage"
    if words.size == 0:
        raise DataError(f"{what} has no values")
    if not (words >= 0).all():
        raise DataError(f"{what} has negative values or NaN")
    middle = (edges[-2] + edges[-1]) / 2
    counts, _ = np.histogram(np.where(words >= edges[-2], middle, words), edges)
    return np.asarray(100.0 * counts / words.size, dtype=np.float64)
