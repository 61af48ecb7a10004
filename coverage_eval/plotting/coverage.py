"""Histograms of coverage: how much attention, or how many links, the source words received."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from coverage_eval.errors import DataError
from coverage_eval.plotting import colours
from coverage_eval.plotting.canvas import new_axes


def coverage_histogram(
    coverage: ArrayLike | Mapping[str, ArrayLike],
    *,
    upper: float = 3.0,
    width: float = 0.1,
    ax: Axes | None = None,
) -> Axes:
    """Draw the distribution of cov_j = Σ_t α_tj over source words, as shares of all words.

    A well covered source piles up near 1 (dashed green); dropped words pile up at 0 and
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
        shares = _shares(values, edges, name)
        colour = colours.SYSTEMS[k % len(colours.SYSTEMS)]
        style = ("-", "--", ":", "-.")[k % 4]  # apart without colour too
        ax.stairs(
            shares, edges, fill=not several, color=colour, linestyle=style, linewidth=1.6,
            label=name or None,
        )  # fmt: skip
    ax.axvline(1.0, color=colours.BOUND, linestyle="--", linewidth=1.2, zorder=0.5, gid="one")
    ticks = np.arange(0, np.floor(upper) + 1)
    ticks = ticks[ticks < upper]
    ax.set_xticks(
        [*ticks, edges[-2] + width / 2], labels=[*(f"{t:g}" for t in ticks), f"≥{upper:g}"]
    )
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
