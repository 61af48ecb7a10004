"""The probability simplex of three words, Figure 1 of Malaviya et al. (2018), and curves of two.

The triangle is drawn to scale: distances on paper are proportional to Euclidean distances between
distributions, so a projection (sparsemax, Martins and Astudillo 2016) looks like one.

The set {α in the simplex, α ≤ u} is a convex polygon. Projecting onto it (constrained sparsemax,
Malaviya et al. 2018, Eq. 6; sparsemax if no bound binds) sends everything in an edge's outward
strip to that edge and everything in a corner's outward cone to that corner, which gives the exact
regions of scores whose projections have the same support.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import ArrayLike, NDArray

from coverage_eval.attention import TRANSFORMATIONS, attend_with_credit
from coverage_eval.core.errors import DataError
from coverage_eval.plotting import SYSTEM_COLOURS, canvas, drawing
from coverage_eval.plotting.canvas import checked_bounds, new_axes, new_figure, write

#: The scores of the figure's caption, one row for each step.
FIGURE1_SCORES = ((1.2, 0.8, -0.2), (0.7, 0.9, 0.1), (-0.2, 0.2, 0.9))

_TOLERANCE = 1e-6  # of a distribution's sum
_CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 3**0.5 / 2]])
_FAR = 20.0  # triangle sides: beyond any frame
_ROUNDING = 1e-9  # of a corner's coordinates


@drawing
def simplex(
    points: ArrayLike | None = None,
    *,
    bounds: ArrayLike | None = None,
    scores: ArrayLike | None = None,
    regions: bool = False,
    words: Sequence[str] = ("1", "2", "3"),
    ax: Axes | None = None,
) -> Axes:
    """Draw distributions over three words on the triangle, with upper bounds on each word.

    The coordinates of a single point are written below the triangle.

    Args:
        points: ``[n, 3]`` (or ``[3]``) distributions; each row sums to 1. None for none.
        bounds: ``[3]`` upper bounds; each one below 1 is a green dashed line where the
            word's probability equals it; the distributions within all bounds are tinted.
        scores: ``[n, 3]`` (or ``[3]``) scores the points came from. Each is drawn where it lies in
            the plane of the triangle (a constant added to all three changes no transformation)
            and joined to its point.
        regions: colour the plane by the support of (constrained) sparsemax: every score in one
            region gets its probability on the same words.
        words: the corners' labels: left, right, top.
        ax: where to draw; a new figure with a title if None.

    Returns:
        The Axes.

    Raises:
        DataError: a shape is wrong, a point is not a distribution, or regions are asked for with
            bounds that no distribution satisfies.
    """
    shares = _distributions(points)
    limits = np.ones(3) if bounds is None else checked_bounds(bounds, 3, "bounds")
    origins = np.zeros((0, 3)) if scores is None else _rows_of_three(scores, "scores")
    if ax is None:
        ax = new_axes(*((4.4, 4.5) if regions else (3.0, 3.1)))
        title = "words that get attention, by scores" if regions else "attention to three words"
        ax.set_title(title)
    if regions:
        _draw_regions(ax, limits, words)
    corners = on_paper(np.eye(3))
    _draw_triangle(ax, corners, words)
    if bounds is not None:
        _draw_bounds(ax, limits, tinted=not regions)
    ends, starts = on_paper(shares), on_paper(in_plane(origins))
    if scores is not None:
        for path in np.stack([starts, ends], axis=1):
            ax.plot(*path.T, color=canvas.INK, linewidth=0.8, zorder=3, gid="path")
        style: dict[str, Any] = {"markerfacecolor": "white", "markeredgecolor": canvas.INK}
        ax.plot(*starts.T, "o", markersize=5, zorder=4, gid="scores", **style)
    style = {"color": canvas.EXCESS, "markeredgecolor": "white", "clip_on": False}
    ax.plot(*ends.T, "o", markersize=7, zorder=5, gid="points", **style)
    if len(shares) == 1 and not regions:
        write(ax, format_point(shares[0]), (0.5, 0), (0, -7), va="top", gid="point")
    _fit_frame(ax, np.vstack([corners, ends, starts]), room=0.5 if regions else 0.07)
    return ax


def _distributions(points: ArrayLike | None) -> NDArray[np.float64]:
    """Points as ``[n, 3]`` distributions.

    Raises:
        DataError: One is not a distribution.
    """
    if points is None or not np.size(points):
        return np.zeros((0, 3))
    shares = _rows_of_three(points, "points")
    wrong = (shares < -_TOLERANCE).any(axis=1) | (np.abs(shares.sum(axis=1) - 1) > _TOLERANCE)
    if wrong.any():
        point = format_point(shares[wrong][0])
        raise DataError(f"point {point} is not a distribution: it must sum to 1")
    return shares


def _draw_triangle(ax: Axes, corners: NDArray[np.float64], words: Sequence[str]) -> None:
    """Draw the outline of the simplex, with a word at each corner."""
    ax.fill(*corners.T, fill=False, edgecolor=canvas.INK, linewidth=1.0, gid="simplex")
    write(ax, words[0], corners[0], (-5, -4), ha="right", va="top", gid="word")
    write(ax, words[1], corners[1], (5, -4), ha="left", va="top", gid="word")
    write(ax, words[2], corners[2], (0, 7), va="bottom", gid="word")


def _fit_frame(ax: Axes, points: NDArray[np.float64], *, room: float) -> None:
    """Show all points with some room around them, to scale and without axes."""
    (left, bottom), (right, top) = points.min(axis=0) - room, points.max(axis=0) + room
    ax.set(xlim=(left, right), ylim=(bottom, top), xticks=[], yticks=[], aspect="equal")
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)


@drawing
def simplex_figure1(
    scores: ArrayLike = FIGURE1_SCORES,
    fertilities: ArrayLike = (1.0, 1.0, 1.0),
    *,
    axes: NDArray[np.object_] | None = None,
    width: float | None = None,
) -> NDArray[np.object_]:
    """Draw Figure 1 of Malaviya et al. (2018), or the same for other scores and fertilities.

    Columns are the registered transformations: softmax, sparsemax, constrained softmax and
    constrained sparsemax. Each row is a step, with the attention on the simplex and, for the
    constrained ones, the upper bounds (green dashed lines); the last row has the cumulative
    attention of the words, their fertilities (green dashed), and the excess in another colour.

    Args:
        scores: ``[steps, 3]``; those of the caption by default.
        fertilities: ``[3]``; unit fertilities by default.
        axes: ``[steps + 1, transformations]`` Axes to draw on; a new figure if None.
        width: of a new figure, in inches; by default what the texts need.

    Returns:
        The ``[steps + 1, transformations]`` Axes; ``axes[0, 0].figure`` is the figure.

    Raises:
        DataError: shapes are wrong, or the fertilities are too small for that many steps.

    Warns:
        UserWarning: ``width`` is too small for texts in the size of ``rcParams["font.size"]``.
    """
    rows = _rows_of_three(scores, "scores")
    total = checked_bounds(fertilities, 3, "fertilities")
    labels = [
        f"step {t}\nz = {format_point(row).replace('-', '−')}"
        for t, row in enumerate(rows, start=1)
    ]
    labels.append("cumulative\nattention")
    axes = _figure1_axes(labels, width) if axes is None else axes
    for column, transformation in enumerate(TRANSFORMATIONS.values()):
        weights, credit = attend_with_credit(rows, total, transformation.name)
        pad = 7 + canvas.font_size("font.size")  # above the third word
        axes[0, column].set_title(transformation.label, pad=pad)
        for t in range(len(rows)):
            bounds = credit[t] if transformation.bounded else None
            simplex(weights[t], bounds=bounds, ax=axes[t, column])
        _draw_cumulative(axes[-1, column], weights.sum(axis=0), total)
    for ax, label in zip(axes[:, 0], labels, strict=True):
        ax.set_ylabel(label, rotation=0, ha="right", va="center")
    highest = max([1.0, *total[np.isfinite(total)]])
    for ax in axes[-1]:
        ax.set_ylim(0, max(1.25 * highest, *(axis.get_ylim()[1] for axis in axes[-1])))
    return axes


def _figure1_axes(labels: Sequence[str], width: float | None) -> NDArray[np.object_]:
    """The Axes of a new figure with a legend: a row for each label, a column a transformation."""
    rows, columns, size = len(labels), len(TRANSFORMATIONS), canvas.font_size("font.size") / 72
    left = canvas.longest("\n".join(labels).split("\n"), "axes.labelsize")
    point = canvas.longest([format_point((0.52, 0.35, 0.13))], "font.size")
    needed = left + columns * (point + 4 * size)
    if width is not None and width < needed:
        warnings.warn(
            f"texts overlap in {width:g} inches: give width={math.ceil(10 * needed) / 10:g}, or "
            "set a smaller matplotlib.rcParams['font.size']",
            stacklevel=4,
        )
    width = max(17 * columns * size, needed) if width is None else width
    side = max(width - left, 1) / columns
    figure = new_figure(width, side * (rows - 0.28) + 7.5 * size)
    figure.suptitle("attention to three words, step by step")
    heights = [1.0] * (rows - 1) + [0.72]
    axes = figure.subplots(rows, columns, squeeze=False, height_ratios=heights)
    handles = [
        Line2D([], [], color=canvas.BOUND, ls="--", label="upper bound (fertility left)"),
        Patch(color=canvas.WITHIN_BOUNDS, label="within all bounds"),
        Patch(color=canvas.EXCESS, label="attention above the fertility"),
    ]
    across = 3 if width > 60 * size else 1
    figure.legend(handles=handles, loc="outside lower center", ncols=across, frameon=False)
    return axes


def _draw_cumulative(
    ax: Axes, cumulative: NDArray[np.float64], fertilities: NDArray[np.float64]
) -> None:
    """Draw a bar for each word, with its fertility; its label has its number and its attention."""
    words = np.arange(1, len(cumulative) + 1)
    within = np.minimum(cumulative, fertilities)
    ax.bar(words, within, width=0.55, color=canvas.WEIGHT, gid="cumulative")
    ax.bar(words, cumulative - within, bottom=within, width=0.55, color=canvas.EXCESS, gid="excess")
    style: dict[str, Any] = {"colors": canvas.BOUND, "linestyles": "--", "linewidth": 1.6}
    finite = np.isfinite(fertilities)  # infinite fertilities have no line
    bounds = fertilities[finite], words[finite] - 0.42, words[finite] + 0.42
    ax.hlines(*bounds, gid="fertility", **style)
    labels = [
        f"{word}\n({round(float(value), 2):g})"
        for word, value in zip(words, cumulative, strict=True)
    ]
    ax.set_xticks(words, labels=labels)
    ax.set(yticks=[0, 1], xlim=(0.4, len(words) + 0.6))
    ax.spines[["top", "right"]].set_visible(False)


@drawing
def transformation_curves(*, ax: Axes | None = None) -> Axes:
    """Draw α₁ of all transformations of the scores (t, 0), for t from −3 to 3.

    Softmax never reaches 0 or 1; sparsemax is linear and does, at t = −1 and 1 (Martins and
    Astudillo 2016, Figure 1). With the bounds u = (0.7, 1), the two constrained transformations
    give the same curves cut off at the bound, because the other word takes the rest.

    Args:
        ax: where to draw; a new figure if None.

    Returns:
        The Axes; its lines are labelled with the transformations' names.
    """
    ax = new_axes(5.6, 3.0) if ax is None else ax
    bound = 0.7
    t = np.linspace(-3, 3, 1201)
    scores = np.column_stack([t, np.zeros_like(t)])
    bounds = np.array([bound, 1.0])
    curves = {False: 0, True: 0}
    for transformation in TRANSFORMATIONS.values():
        weights = transformation(scores, bounds)
        # Up to the bound, a constrained curve lies on the unconstrained one of the same colour, so
        # it is wider and paler.
        wide = transformation.bounded
        ax.plot(
            t, weights[:, 0], color=SYSTEM_COLOURS[curves[wide] % len(SYSTEM_COLOURS)],
            linestyle=(0, (4, 2)) if wide else "-", linewidth=4.0 if wide else 1.6,
            alpha=0.45 if wide else 1.0, label=transformation.label, zorder=2 if wide else 2.5,
        )  # fmt: skip
        curves[wide] += 1
    style: dict[str, Any] = {"color": canvas.BOUND, "linestyle": "--", "linewidth": 1.2}
    ax.axhline(bound, label=f"bound {bound:g}", zorder=1, gid="bound", **style)
    ax.set(xlim=(-3, 3), ylim=(-0.03, 1.03))
    ax.set(xlabel="score t of the first word; the second has 0", ylabel="attention to the first")
    ax.set_title("attention transformations of two words")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.02, 0.5))
    return ax


def format_point(point: Sequence[float] | NDArray[np.float64]) -> str:
    """Return coordinates as in Figure 1 of Malaviya et al. (2018): ``(0.36, 0.44, 0.2)``."""
    return "(" + ", ".join(f"{round(float(value), 2) + 0.0:g}" for value in point) + ")"


def _rows_of_three(values: ArrayLike, what: str) -> NDArray[np.float64]:
    rows = np.atleast_2d(np.asarray(values, dtype=np.float64))
    if rows.ndim != 2 or rows.shape[1] != 3 or not np.isfinite(rows).all():
        raise DataError(f"{what} must be finite with three columns, not of shape {rows.shape}")
    return rows


def _draw_bounds(ax: Axes, bounds: NDArray[np.float64], *, tinted: bool) -> None:
    corners = feasible_corners(bounds)
    if tinted and len(corners) > 2 and bounds.min() < 1:
        ax.fill(*on_paper(corners).T, color=canvas.WITHIN_BOUNDS, zorder=0, gid="feasible")
    style: dict[str, Any] = {"color": canvas.BOUND, "linestyle": "--", "linewidth": 1.4}
    for word in np.flatnonzero((bounds >= 0) & (bounds < 1)):
        ends = np.zeros((2, 3))
        ends[:, word] = bounds[word]
        ends[0, word - 1] = ends[1, word - 2] = 1 - bounds[word]
        gid = f"bound {word + 1}"
        ax.plot(*on_paper(ends).T, zorder=3, clip_on=False, gid=gid, **style)


def _draw_regions(ax: Axes, bounds: NDArray[np.float64], words: Sequence[str]) -> None:
    """Fill each region with a pastel: one word's own hue, or the mean of those of several words."""
    hues = np.array([(0.62, 0.79, 0.91), (0.99, 0.75, 0.55), (0.68, 0.86, 0.65)])
    style: dict[str, Any] = {"va": "center", "color": "#4A4A4A", "gid": "support", "zorder": 2}
    named = set()
    for region in support_regions(bounds):
        support = [word for word in range(3) if region.support[word]]
        red, green, blue = hues[support].mean(axis=0) if len(support) < 3 else (0.93,) * 3
        gid = "region " + "".join(str(word + 1) for word in support)
        ax.fill(*region.outline.T, color=(red, green, blue), zorder=0, gid=gid)
        if region.support not in named:
            named.add(region.support)
            text = "all" if len(support) == 3 else "{" + ", ".join(words[w] for w in support) + "}"
            write(ax, text, region.label_at, (0, 0), clip_on=True, **style)


@dataclass(frozen=True)
class Region:
    """Scores in the plane whose projections lie on one face of the polygon.

    Attributes:
        support: which of the three words have positive probability there.
        outline: ``[k, 2]`` corners on paper; unbounded regions end far outside any frame.
        label_at: ``[2]`` a point inside, near the triangle.
    """

    support: tuple[bool, ...]
    outline: NDArray[np.float64]
    label_at: NDArray[np.float64]


def on_paper(distributions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``[n, 2]`` coordinates of ``[n, 3]`` points of the plane α₁ + α₂ + α₃ = 1.

    Word 1 is the left corner, word 2 the right one and word 3 the top; sides have length 1.
    """
    return np.asarray(distributions @ _CORNERS, dtype=np.float64)


def in_plane(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the ``[n, 3]`` scores, each row shifted by a constant into the plane α₁ + α₂ + α₃ = 1.

    No transformation changes its result by such a shift.
    """
    return np.asarray(scores - (scores.sum(axis=1, keepdims=True) - 1) / 3, dtype=np.float64)


def feasible_corners(bounds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the ``[m, 3]`` corners of {α in the simplex, α ≤ u}, anticlockwise on paper.

    There are up to six; two if the set is a line, one if it is a point, none if it is empty.
    """
    corners: list[NDArray[np.float64]] = []
    limits = np.minimum(bounds, 1.0)
    for first, second in ((0, 1), (1, 2), (2, 0)):
        third = 3 - first - second
        for a, b in product((0.0, limits[first]), (0.0, limits[second])):
            corner = np.zeros(3)
            corner[[first, second, third]] = a, b, 1 - a - b
            inside = -_ROUNDING <= corner[third] <= limits[third] + _ROUNDING
            if inside and not any(np.allclose(corner, known, atol=_ROUNDING) for known in corners):
                corners.append(np.clip(corner, 0.0, 1.0))
    if not corners:
        return np.zeros((0, 3))
    spokes = on_paper(np.array(corners)) - on_paper(np.mean(corners, axis=0))
    return np.array(corners)[np.argsort(np.arctan2(spokes[:, 1], spokes[:, 0]))]


def support_regions(bounds: NDArray[np.float64]) -> list[Region]:
    """Return the regions of the plane whose scores project onto the same face of the polygon.

    Without binding bounds these are the seven of sparsemax: each word alone, each pair, all three.

    Raises:
        DataError: the bounds sum to less than 1, so there is nothing to project onto.
    """
    corners = feasible_corners(bounds)
    if len(corners) == 0:
        raise DataError(f"bounds sum to {bounds.sum():.4g}: no distribution satisfies them")
    points = on_paper(corners)
    if len(corners) == 1:
        return [_cone(corners[0], 0.0, 2 * np.pi)]
    regions = []
    if len(corners) > 2:
        middle = corners.mean(axis=0)
        regions.append(Region(_support(middle), points, on_paper(middle)))
    # The strip of each edge, and the cone of each corner.
    edges = np.roll(points, -1, axis=0) - points
    angles = np.arctan2(edges[:, 1], edges[:, 0]) - np.pi / 2  # outwards, corners anticlockwise
    for k in range(len(corners)):
        outwards = np.array([np.cos(angles[k]), np.sin(angles[k])])
        following = (k + 1) % len(corners)
        ends = points[[k, following]]
        strip = np.vstack([ends, ends[::-1] + _FAR * outwards])
        middle = (corners[k] + corners[following]) / 2
        regions.append(Region(_support(middle), strip, on_paper(middle) + 0.3 * outwards))
        regions.append(_cone(corners[k], angles[k - 1], (angles[k] - angles[k - 1]) % (2 * np.pi)))
    return regions


def _cone(corner: NDArray[np.float64], start: float, width: float) -> Region:
    directions = start + np.linspace(0.0, width, 9)
    rays = np.column_stack([np.cos(directions), np.sin(directions)])
    point = on_paper(corner)
    label = point + (0.34 * rays[4] if width < 2 * np.pi else 0.1)
    return Region(_support(corner), np.vstack([point, point + _FAR * rays]), label)


def _support(point: NDArray[np.float64]) -> tuple[bool, ...]:
    return tuple(bool(value > _ROUNDING) for value in point)
