"""The probability simplex of three words: points, upper bounds, regions of equal support.

The triangle is drawn to scale: distances on paper are proportional to Euclidean distances between
distributions, so a projection (sparsemax, Martins and Astudillo 2016) is seen as one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from coverage_eval.errors import DataError
from coverage_eval.plotting import colours
from coverage_eval.plotting.arrays import checked_vector
from coverage_eval.plotting.canvas import new_axes
from coverage_eval.plotting.fonts import font_families
from coverage_eval.plotting.labels import write
from coverage_eval.plotting.polytope import feasible_corners, in_plane, on_paper, support_regions

_TOLERANCE = 1e-6


def simplex(
    points: ArrayLike | None = None,
    *,
    bounds: ArrayLike | None = None,
    scores: ArrayLike | None = None,
    regions: bool = False,
    words: Sequence[str] = ("1", "2", "3"),
    texts: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw distributions over three words on the triangle, with upper bounds on each word.

    Args:
        points: ``[n, 3]`` (or ``[3]``) distributions; each row sums to 1. None for none.
        bounds: ``[3]`` upper bounds; each one below 1 is a green dashed line where a word's
            probability equals it, and the distributions within all bounds are tinted.
        scores: ``[n, 3]`` (or ``[3]``) scores the points came from. Each is drawn where it lies in
            the plane of the triangle (a constant added to all three changes no transformation)
            and joined to its point.
        regions: colour the plane by the support of (constrained) sparsemax: every score in one
            region gets its probability on the same words.
        words: the corners' labels: left, right, top.
        texts: what to write at the points; their coordinates to two digits if None, nothing if
            empty.
        ax: where to draw; a new figure if None.

    Returns:
        The Axes.

    Raises:
        DataError: a shape is wrong, a point is no distribution, or regions are asked for with
            bounds that no distribution satisfies.
    """
    places = _checked_points(points)
    limits = np.ones(3) if bounds is None else checked_vector(bounds, 3, "bounds")
    origins = None if scores is None else _rows_of_three(scores, "scores")
    if origins is not None and len(origins) != len(places):
        raise DataError(f"{len(origins)} rows of scores for {len(places)} points")
    ax = new_axes(*((4.4, 4.2) if regions else (3.0, 2.8))) if ax is None else ax
    if regions:
        _draw_regions(ax, limits, words)
    _draw_triangle(ax, words)
    if bounds is not None:
        _draw_bounds(ax, limits, tinted=not regions)
    if origins is not None:
        _draw_scores(ax, origins, places)
    _draw_points(ax, places, texts)
    _frame(ax, places, origins, wide=regions)
    return ax


def format_point(point: Sequence[float] | NDArray[np.float64]) -> str:
    """Return coordinates as in Figure 1 of Malaviya et al. (2018): ``(0.36, 0.44, 0.2)``."""
    return "(" + ", ".join(f"{round(float(value), 2) + 0.0:g}" for value in point) + ")"


def _rows_of_three(values: ArrayLike, what: str) -> NDArray[np.float64]:
    rows = np.atleast_2d(np.asarray(values, dtype=np.float64))
    if rows.ndim != 2 or rows.shape[1] != 3 or not np.isfinite(rows).all():
        raise DataError(f"{what} must be finite with three columns, not of shape {rows.shape}")
    return rows


def _checked_points(points: ArrayLike | None) -> NDArray[np.float64]:
    if points is None or np.size(points) == 0:
        return np.zeros((0, 3))
    rows = _rows_of_three(points, "points")
    wrong = (rows < -_TOLERANCE).any(axis=1) | (np.abs(rows.sum(axis=1) - 1) > _TOLERANCE)
    if wrong.any():
        raise DataError(f"point {format_point(rows[wrong][0])} is no distribution: sum it to 1")
    return rows


def _draw_triangle(ax: Axes, words: Sequence[str]) -> None:
    corners = on_paper(np.eye(3))
    ax.fill(*corners.T, fill=False, edgecolor=colours.INK, linewidth=1.0, gid="simplex")
    (families,) = font_families(words)
    style: dict[str, Any] = {"fontsize": 9, "fontfamily": families, "gid": "word"}
    write(ax, words[0], corners[0], (-4, -3), ha="right", va="top", **style)
    write(ax, words[1], corners[1], (4, -3), ha="left", va="top", **style)
    write(ax, words[2], corners[2], (0, 4), va="bottom", **style)


def _draw_bounds(ax: Axes, bounds: NDArray[np.float64], *, tinted: bool) -> None:
    corners = feasible_corners(bounds)
    if tinted and len(corners) > 2 and bounds.min() < 1:
        ax.fill(*on_paper(corners).T, color=colours.WITHIN_BOUNDS, zorder=0, gid="feasible")
    style: dict[str, Any] = {"color": colours.BOUND, "linestyle": "--", "linewidth": 1.4}
    for word in np.flatnonzero((bounds >= 0) & (bounds < 1)):
        ends = np.zeros((2, 3))
        ends[:, word] = bounds[word]
        ends[0, word - 1] = ends[1, word - 2] = 1 - bounds[word]
        gid = f"bound {word + 1}"
        ax.plot(*on_paper(ends).T, zorder=3, clip_on=False, gid=gid, **style)


def _draw_scores(ax: Axes, scores: NDArray[np.float64], points: NDArray[np.float64]) -> None:
    starts = on_paper(in_plane(scores))
    for start, end in zip(starts, on_paper(points), strict=True):
        ax.plot(*np.stack([start, end]).T, color=colours.INK, linewidth=0.8, zorder=3, gid="path")
    style: dict[str, Any] = {"markerfacecolor": "white", "markeredgecolor": colours.INK}
    ax.plot(*starts.T, "o", markersize=5, zorder=4, gid="scores", **style)


def _draw_points(ax: Axes, points: NDArray[np.float64], texts: Sequence[str] | None) -> None:
    places = on_paper(points)
    texts = [format_point(point) for point in points] if texts is None else texts
    texts = texts or [""] * len(points)
    if len(texts) != len(points):
        raise DataError(f"{len(texts)} texts for {len(points)} points")
    style: dict[str, Any] = {"color": colours.EXCESS, "markeredgecolor": "white", "markersize": 7}
    ax.plot(*places.T, "o", zorder=5, clip_on=False, gid="points", **style)
    box = {"boxstyle": "square,pad=0.1", "facecolor": "white", "alpha": 0.8, "linewidth": 0}
    for text, place, point in zip(texts, places, points, strict=True):
        offset, ha, va = _beside(point)
        write(ax, text, place, offset, ha=ha, va=va, zorder=6, gid="point", bbox=box)


def _beside(point: NDArray[np.float64]) -> tuple[tuple[float, float], str, str]:
    """Return offset and alignment of a point's text: out of the triangle where that is near."""
    if point[2] < 0.04:
        return (0, -15), "center", "top"  # below the labels of the corners
    if point[2] > 0.6:
        return (8, 0), "left", "top" if point[2] > 0.9 else "center"
    return (0, 7), "center", "bottom"


def _draw_regions(ax: Axes, bounds: NDArray[np.float64], words: Sequence[str]) -> None:
    (families,) = font_families(words)
    style: dict[str, Any] = {"va": "center", "color": "#4A4A4A", "fontfamily": families}
    named: set[tuple[int, ...]] = set()
    for region in support_regions(bounds):
        support = tuple(word for word in range(3) if region.support[word])
        gid = "region " + "".join(str(word + 1) for word in support)
        ax.fill(*region.outline.T, color=_support_colour(support), zorder=0, gid=gid)
        if support in named:
            continue
        named.add(support)
        name = "all" if len(support) == 3 else "{" + ", ".join(words[w] for w in support) + "}"
        write(ax, name, region.label_at, (0, 0), zorder=2, clip_on=True, gid="support", **style)


def _support_colour(support: tuple[int, ...]) -> tuple[float, float, float]:
    """Return a pastel: one word's own hue, or the mean of those of several words."""
    hues = np.array([(0.62, 0.79, 0.91), (0.99, 0.75, 0.55), (0.68, 0.86, 0.65)])
    red, green, blue = hues[list(support)].mean(axis=0) if len(support) < 3 else (0.93,) * 3
    return float(red), float(green), float(blue)


def _frame(
    ax: Axes, points: NDArray[np.float64], scores: NDArray[np.float64] | None, *, wide: bool
) -> None:
    seen = on_paper(np.vstack([np.eye(3), points, *([] if scores is None else [in_plane(scores)])]))
    (left, bottom), (right, top) = seen.min(axis=0), seen.max(axis=0)
    room = 0.5 if wide else 0.07
    ax.set(xlim=(left - room, right + room), ylim=(bottom - room, top + room))
    ax.set(xticks=[], yticks=[], aspect="equal")
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)
