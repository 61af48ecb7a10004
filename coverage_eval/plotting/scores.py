"""Differences of systems' scores, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from coverage_eval.core.errors import DataError
from coverage_eval.core.report import digits_apart
from coverage_eval.plotting import SYSTEM_COLOURS, canvas, drawing

_ACROSS = 4  # panels beside one another, at most


@drawing
def plot_differences(
    names: Sequence[str],
    differences: ArrayLike,
    lows: ArrayLike | None = None,
    highs: ArrayLike | None = None,
    *,
    labels: Sequence[str],
    baseline: str,
    significant: ArrayLike | None = None,
    axes: Sequence[Axes] | None = None,
) -> list[Axes]:
    """Draw differences from a baseline: a panel for each metric, with intervals as lines.

    Rows are sorted by the differences of the first metric, the largest on top.

    Args:
        names: the systems, in the order of their colours; the baseline among them is left out.
        differences: ``[metrics, systems]`` scores minus the baseline's.
        lows: ``[metrics, systems]`` lower limits of the differences' 95% intervals; NaN for none.
        highs: ``[metrics, systems]`` upper limits.
        labels: for each metric, the title of its panel, such as "REP (lower is better)".
        baseline: the system at zero.
        significant: ``[metrics, systems]``, which differences are significant; they have a full dot
            and a star, which the last panel explains; all others have a ring.
        axes: where to draw, one for each metric; a new figure if None.

    Returns:
        The Axes, one for each metric.

    Raises:
        DataError: shapes disagree, or the baseline is not among the systems or is the only one.
    """
    if baseline not in names or len(names) < 2:
        raise DataError(f"baseline {baseline!r} and another system are needed")
    shape = (len(labels), len(names))
    given = {"differences": differences, "lows": lows, "highs": highs, "significant": significant}
    tables = [
        np.full(shape, np.nan) if values is None else canvas.shaped(values, shape, what)
        for what, values in given.items()
    ]
    others = [number for number, name in enumerate(names) if name != baseline]
    others.sort(key=lambda number: -np.nan_to_num(tables[0][0, number]))
    is_new = axes is None
    axes = _panels(
        labels, [names[number] for number in others], axes, f"difference from {baseline}"
    )
    colours = [SYSTEM_COLOURS[number % len(SYSTEM_COLOURS)] for number in others]
    values, low, high, stars = (table[:, others] for table in tables)
    for k, ax in enumerate(axes):
        _draw_panel(ax, colours, values[k], low[k], high[k], stars[k] > 0)
    figure, ax = axes[0].figure.figure, axes[-1]
    room = float(ax.get_position().x1 * figure.get_size_inches()[0])
    text = canvas.wrapped(_explanation(stars, baseline), room, "font.size")
    if is_new:
        style = {"fontsize": mpl.rcParams["font.size"], **canvas.plain_text(text)}
        figure.supxlabel(text, x=0.99, ha="right", **style)
    else:
        below = -2.4 * canvas.font_size("font.size") - 11
        place: dict[str, Any] = {"xycoords": "axes fraction", "ha": "right", "va": "top"}
        canvas.write(ax, text, (1, 0), (0, below), in_layout=False, **place)
    return axes


def _draw_panel(
    ax: Axes,
    colours: Sequence[str],
    values: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    is_significant: NDArray[np.bool_],
) -> None:
    """Draw the differences of a metric, ``[systems]``, one in each row."""
    ax.axvline(0, color=canvas.INK, linewidth=0.8, zorder=0.5, gid="baseline")
    texts = []
    for row, colour in enumerate(colours):
        fill = colour if is_significant[row] else "white"
        ax.plot([low[row], high[row]], [row, row], color=colour, linewidth=2.4)
        ax.plot(values[row], row, "o", color=colour, markersize=6, markerfacecolor=fill)
        star = "*" * bool(is_significant[row])
        digits = digits_apart(values[row], [0.0]) if star else 2  # no 0.00*
        texts.append(f"{values[row]:+.{digits}f}{star}".replace("-", "−"))
    # In a column at the right, where neither zero nor an interval is.
    _make_room(ax, np.maximum(np.nan_to_num(np.fmax(values, high)), 0), texts)
    for row, text in enumerate(texts):
        style = {"xycoords": ("axes fraction", "data"), "ha": "right", "va": "center"}
        canvas.write(ax, text, (1, row), (0, 0), **style)
    ax.set_ylim(len(colours) - 0.5, -0.5)
    ax.spines["left"].set_visible(False)


def _panels(
    labels: Sequence[str], names: Sequence[str], axes: Sequence[Axes] | None, unit: str
) -> list[Axes]:
    """Return titled Axes with a row for each name, of a new figure if there are none."""
    if axes is None:
        count = len(labels)
        lines = -(-count // _ACROSS)
        columns = -(-count // lines)  # lines of panels are full, or nearly so
        em = canvas.font_size("font.size") / 72
        panel = max(18 * em, canvas.longest(labels, "axes.titlesize") + em)
        width = max(36 * em, panel * columns + canvas.longest(names, "ytick.labelsize"))
        figure = canvas.new_figure(width, ((2.5 * len(names) + 8) * lines + 3) * em)
        axes = [figure.add_subplot(lines, columns, k + 1) for k in range(count)]
        for k, ax in enumerate(axes):
            ax.tick_params(labelleft=k % columns == 0)
    for ax, label in zip(axes, labels, strict=True):
        ax.set_title(label, **canvas.plain_text())
        ax.set_xlabel(unit, **canvas.plain_text())
        ax.set_yticks(range(len(names)), labels=names, **canvas.plain_text())
        ax.tick_params(axis="y", length=0)
        ax.locator_params(axis="x", nbins=4)  # more labels would touch those of other panels
        ax.spines[["top", "right"]].set_visible(False)
    return list(axes)


def _make_room(ax: Axes, ends: NDArray[np.float64], texts: Sequence[str]) -> None:
    """Widen an axis so that a text right of each end, in data units, stays within."""
    room = canvas.longest(texts, "font.size") + 0.12
    share = min(room / canvas.axis_length(ax, "x"), 0.7)
    left, right = ax.get_xlim()
    furthest = float(ends.max(initial=0.0))
    ax.set_xlim(left, max(right, left + (furthest - left) / (1 - share)))


def _explanation(stars: NDArray[np.float64], baseline: str) -> str:
    """What lines and rings are, and stars if there is one."""
    if (stars > 0).any():
        return f"line: 95% interval; dot and *: differs significantly from {baseline}; ring: not"
    return f"line: 95% interval; ring: no significant difference from {baseline}"
