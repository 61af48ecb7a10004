"""Strips of values: one line for each figure of a text, so that many figures fit one picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from numpy.typing import ArrayLike, NDArray

from coverage_eval.errors import DataError
from coverage_eval.plotting import colours
from coverage_eval.plotting.canvas import new_axes
from coverage_eval.plotting.grid import longest_label, write

BINS = 60
"""Steps of a strip from its smallest value to its largest."""

_THICKNESS = 0.56
_FAINTEST = 0.12  # a single segment must be visible


def value_strips(
    strips: Mapping[str, ArrayLike],
    *,
    means: Mapping[str, float] | None = None,
    limits: Mapping[str, Sequence[float]] | None = None,
    unit: str = "segments",
    ax: Axes | None = None,
) -> Axes:
    """Draw how the values of each figure are distributed: a strip that is darker where many lie.

    Each strip has its own scale, whose ends stand at its sides. A strip of one value is a single
    step. The share of zeros stands beside the strip, because most segments have no error.

    Args:
        strips: values of each strip, by its label; NaN where a segment has none.
        means: the figure of the whole text for some of the strips: a black line with its number.
        limits: thresholds of some of the strips: dashed red lines with their numbers.
        unit: what is counted.
        ax: where to draw; a new figure of fitting size if None.

    Returns:
        The Axes.

    Raises:
        DataError: no strip, or one without a value.
    """
    if not strips:
        raise DataError("no strips of values")
    names = list(strips)
    if ax is None:
        ax = new_axes(5.6 + longest_label(names), 0.42 * len(names) + 0.8)
    for row, (label, values) in enumerate(strips.items()):
        numbers = np.asarray(values, dtype=np.float64).ravel()
        numbers = numbers[np.isfinite(numbers)]
        if not numbers.size:
            raise DataError(f"{label} has no values")
        bounds = [*(limits or {}).get(label, ())]
        mean = [] if means is None or label not in means else [means[label]]
        low, high = (float(end([*numbers, *bounds, *mean])) for end in (min, max))
        _draw_strip(ax, row, numbers, low, high)
        for value in mean:
            _draw_value(ax, row, value, low, high, is_limit=False)
        for value in bounds:
            _draw_value(ax, row, value, low, high, is_limit=True)
        beside = {"va": "center", "fontsize": 7}
        write(ax, _short(low), (0, row), (-3, 0), ha="right", **beside)
        write(ax, _short(high), (1, row), (3, 0), ha="left", **beside)
        if zeros := 100 * float(np.mean(numbers == 0)):
            write(ax, f"{zeros:.0f}% are 0", (1, row), (36, 0), ha="left", **beside)
    ax.set_yticks(range(len(names)), labels=names)
    for tick in ax.get_yticklabels():
        tick.set(parse_math=False)
    ax.tick_params(axis="y", length=0, pad=34)
    ax.set_xticks([])
    ax.set(xlim=(0, 1.2), ylim=(len(names) - 0.4, -0.7))
    said = [f"darker: more {unit}", "black line: whole text" if means else ""]
    said += ["red dashes: limit" if limits and any(limits.values()) else ""]
    ax.set_title("; ".join(filter(None, said)), fontsize=8, loc="left")
    ax.spines[:].set_visible(False)
    return ax


def _short(value: float) -> str:
    return f"{value:.0f}" if value == round(value) else f"{value:.2f}"


def _draw_strip(ax: Axes, row: int, numbers: NDArray[np.float64], low: float, high: float) -> None:
    """The strip as steps from 0 to 1; the fullest is opaque, and roots keep the others visible."""
    if high == low:
        counts, edges = np.array([numbers.size]), np.array([0.0, 1 / BINS])
    else:
        counts, edges = np.histogram((numbers - low) / (high - low), BINS, (0.0, 1.0))
    shades = np.where(counts, _FAINTEST + (1 - _FAINTEST) * np.sqrt(counts / counts.max()), 0.0)
    ax.barh(
        np.full(len(counts), row), np.diff(edges), _THICKNESS, edges[:-1], align="center",
        color=[to_rgba(colours.WEIGHT, shade) for shade in shades.tolist()], linewidth=0,
    )  # fmt: skip
    ax.plot([0, 1], [row + _THICKNESS / 2] * 2, color=colours.REFERENCE, linewidth=0.6, zorder=0.5)


def _draw_value(
    ax: Axes, row: int, value: float, low: float, high: float, *, is_limit: bool
) -> None:
    place = (value - low) / (high - low) if high > low else 0.0
    colour = colours.EXCESS if is_limit else colours.INK
    ax.plot(
        [place, place], [row - _THICKNESS / 2 - 0.06, row + _THICKNESS / 2 + 0.06],
        color=colour, linestyle="--" if is_limit else "-", linewidth=1.3,
        gid="limit" if is_limit else "whole",
    )  # fmt: skip
    write(
        ax, f"{value:g}" if is_limit else f"{value:.2f}", (place, row), (0, 8.5),
        ha="center", va="bottom", fontsize=7, color=colour,
    )  # fmt: skip
