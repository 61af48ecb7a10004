"""Systems against one another: scores with intervals, and two systems segment by segment."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from coverage_eval.errors import DataError
from coverage_eval.plotting import colours
from coverage_eval.plotting.arrays import checked_vector
from coverage_eval.plotting.canvas import new_axes
from coverage_eval.plotting.fonts import font_families

__all__ = ["metric_bars", "segment_scatter"]


def metric_bars(
    systems: Sequence[str],
    values: ArrayLike,
    *,
    intervals: ArrayLike | None = None,
    significant: Sequence[bool] | None = None,
    metric: str = "",
    digits: int = 2,
    ax: Axes | None = None,
) -> Axes:
    """Draw one metric's score of each system as a bar, the first system on top.

    Args:
        systems: the names.
        values: ``[systems]`` scores.
        intervals: ``[systems, 2]`` lower and upper limits of confidence intervals.
        significant: which systems differ significantly (from the first, say); they get a star.
        metric: the axis label.
        digits: after the decimal point of the scores written beside the bars.
        ax: where to draw; a new figure of fitting size if None.

    Returns:
        The Axes.

    Raises:
        DataError: lengths disagree, or a limit lies on the wrong side of its score.
    """
    scores = checked_vector(values, len(systems), "values")
    if significant is not None and len(significant) != len(systems):
        raise DataError(f"{len(significant)} marks of significance for {len(systems)} systems")
    rows = np.arange(len(systems))
    errors = None if intervals is None else _errors(scores, intervals)
    ax = new_axes(5.0, 0.34 * len(systems) + 0.9) if ax is None else ax
    colour = [colours.SYSTEMS[k % len(colours.SYSTEMS)] for k in rows]
    ax.barh(rows, scores, height=0.68, color=colour, alpha=0.85)
    if errors is not None:
        ax.errorbar(
            scores, rows, xerr=errors, fmt="none", ecolor=colours.INK, elinewidth=1.1, capsize=3
        )
    stars = [""] * len(rows) if significant is None else ["*" if s else "" for s in significant]
    ends = scores if errors is None else scores + errors[1]
    for row, score, end, star in zip(rows, scores, ends, stars, strict=True):
        ax.annotate(
            f"{score:.{digits}f}{star}", (max(end, 0.0), row), (5, 0),
            textcoords="offset points", va="center", fontsize=8,
        )  # fmt: skip
    (families,) = font_families(systems)
    ax.set_yticks(rows, labels=list(systems))
    for label in ax.get_yticklabels():
        label.set(fontfamily=families, parse_math=False, usetex=False)
    ax.tick_params(axis="y", length=0)
    ax.set(ylim=(len(rows) - 0.5, -0.5), xlabel=metric)
    ax.margins(x=0.14)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def segment_scatter(
    first: ArrayLike,
    second: ArrayLike,
    *,
    systems: tuple[str, str] = ("system A", "system B"),
    metric: str = "score",
    ax: Axes | None = None,
) -> Axes:
    """Draw two systems' scores of the same segments against each other.

    Segments with equal scores share one dot, which grows with their number, so that the many
    segments without any error do not hide behind one point.

    Args:
        first: ``[segments]`` scores of the first system (across).
        second: ``[segments]`` scores of the second system (upwards).
        systems: the names.
        metric: what the scores are.
        ax: where to draw; a new figure if None.

    Returns:
        The Axes; its title says how many segments lie on each side of the diagonal.

    Raises:
        DataError: lengths disagree, or a score is not a number.
    """
    across = np.asarray(first, dtype=np.float64).ravel()
    up = checked_vector(second, len(across), "second system's scores")
    checked_vector(across, len(across), "first system's scores")
    ax = new_axes(3.8, 3.8) if ax is None else ax
    places, counts = np.unique(np.column_stack([across, up]), axis=0, return_counts=True)
    ax.scatter(
        places[:, 0], places[:, 1], s=14.0 * np.sqrt(counts),
        color=colours.WEIGHT, alpha=0.6, linewidths=0,
        rasterized=len(places) > 2000, gid="segments",
    )  # fmt: skip
    ax.axline((0, 0), slope=1, color=colours.INK, linewidth=0.8, zorder=0.5, gid="diagonal")
    low, high = (float(f([*across, *up, 0.0])) for f in (min, max))
    room = 0.05 * max(high - low, 1e-9)
    ax.set(xlim=(low - room, high + room), ylim=(low - room, high + room), aspect="equal")
    above, below = int((up > across).sum()), int((up < across).sum())
    ax.set_title(
        f"{above} above, {below} below, {len(across) - above - below} on the diagonal", fontsize=9
    )
    families = font_families(systems)
    ax.set_xlabel(f"{metric}, {systems[0]}", fontfamily=families[0], parse_math=False)
    ax.set_ylabel(f"{metric}, {systems[1]}", fontfamily=families[0], parse_math=False)
    return ax


def _errors(scores: NDArray[np.float64], intervals: ArrayLike) -> NDArray[np.float64]:
    """Return ``[2, systems]`` distances from the scores down and up to their limits."""
    limits = np.asarray(intervals, dtype=np.float64)
    if limits.shape != (len(scores), 2):
        raise DataError(f"intervals have shape {limits.shape}, but ({len(scores)}, 2) is needed")
    errors = np.stack([scores - limits[:, 0], limits[:, 1] - scores])
    if not (errors >= 0).all():
        row = int(np.flatnonzero(~(errors >= 0).all(axis=0))[0])
        raise DataError(
            f"interval {limits[row, 0]:g} to {limits[row, 1]:g} does not hold its score "
            f"{scores[row]:g}: pass lower and upper limits, not distances"
        )
    return errors
