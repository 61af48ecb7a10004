"""Scores of systems, with intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from coverage_eval.core.errors import DataError
from coverage_eval.plotting import colours
from coverage_eval.plotting.canvas import checked_table, new_figure
from coverage_eval.plotting.fonts import font_families
from coverage_eval.plotting.grid import longest_label, write

_ACROSS = 4  # panels beside one another, at most


def plot_comparison(
    names: Sequence[str],
    scores: ArrayLike,
    lows: ArrayLike | None = None,
    highs: ArrayLike | None = None,
    *,
    labels: Sequence[str],
    baseline: str | None = None,
    significant: ArrayLike | None = None,
    axes: Sequence[Axes] | None = None,
) -> list[Axes]:
    """Draw systems by several metrics, as in Table 1: a panel of bars for each metric.

    Args:
        names: the systems, first on top in each panel.
        scores: ``[metrics, systems]``; NaN where a score is undefined.
        lows: ``[metrics, systems]`` lower limits of confidence intervals; NaN for none.
        highs: ``[metrics, systems]`` upper limits.
        labels: for each metric, the label of its panel, such as "REP (lower is better)".
        baseline: the system that the others are compared with; hatched, and labelled so.
        significant: ``[metrics, systems]``, whether a score differs from the baseline's; it then
            gets a star, which the last panel explains.
        axes: where to draw, one for each metric; a new figure if None.

    Returns:
        The Axes, one for each metric.

    Raises:
        DataError: shapes disagree, a limit lies on the wrong side of its score, or the baseline
            is not among the systems.
    """
    shape = (len(labels), len(names))
    axes = _panels(labels, names, axes)
    if baseline is not None and baseline not in names:
        raise DataError(f"baseline {baseline!r} is not one of the systems {', '.join(names)}")
    table = checked_table(scores, shape, "scores")
    nothing = np.full(shape, np.nan)
    low = nothing if lows is None else checked_table(lows, shape, "limits")
    high = nothing if highs is None else checked_table(highs, shape, "limits")
    stars = np.zeros(shape)
    if significant is not None:
        stars = checked_table(significant, shape, "significant")
    for k, (ax, label) in enumerate(zip(axes, labels, strict=True)):
        _draw_bars(ax, names, table[k], np.stack([low[k], high[k]]), stars[k], baseline)
        ax.set_xlabel(label)
    if (stars > 0).any():
        _explain_star(axes[-1], baseline or "the baseline", 34)
    return axes


def _explain_star(ax: Axes, baseline: str, below: float) -> None:
    """Say what a star means, some points below an axis."""
    said = f"* differs significantly from {baseline}"
    families = font_families()
    style = {"xycoords": "axes fraction", "ha": "right", "va": "top", "fontfamily": families}
    write(ax, said, (1, 0), (0, -below), **style)


def _draw_bars(
    ax: Axes,
    systems: Sequence[str],
    scores: NDArray[np.float64],
    limits: NDArray[np.float64],
    stars: NDArray[np.float64],
    baseline: str | None,
) -> None:
    """Draw one metric's scores, the first system on top, with their limits ``[2, systems]``."""
    errors = np.stack([scores - limits[0], limits[1] - scores])
    if (wrong := (errors < 0).any(axis=0)).any():
        row = int(np.argmax(wrong))
        raise DataError(
            f"interval {limits[0, row]:g} to {limits[1, row]:g} does not contain its score "
            f"{scores[row]:g}: pass lower and upper limits, not distances"
        )
    rows = np.arange(len(systems))
    palette = [colours.SYSTEMS[row % len(colours.SYSTEMS)] for row in rows.tolist()]
    bars = ax.barh(rows, np.nan_to_num(scores), height=0.68, color=palette, alpha=0.85)
    # Hatching and name differ, for readers and printers without colour.
    for bar, system in zip(bars, systems, strict=True):
        bar.set(hatch="////" if system == baseline else "", edgecolor="white", linewidth=0)
    if np.isfinite(errors).any():
        ax.errorbar(
            scores, rows, xerr=errors, fmt="none", ecolor=colours.INK, elinewidth=1.1, capsize=3
        )
    ends = scores + np.nan_to_num(errors[1])
    for row, (score, end, star) in enumerate(zip(scores, ends, stars, strict=True)):
        text = "undefined" if np.isnan(score) else f"{score:.2f}{'*' if star > 0 else ''}"
        write(ax, text, (max(np.nan_to_num(end), 0), row), (5, 0), ha="left", va="center")
    names = [f"{name} (baseline)" if name == baseline else name for name in systems]
    families = font_families()
    ax.set_yticks(rows, labels=names)
    for label in ax.get_yticklabels():
        label.set(fontfamily=families, parse_math=False, usetex=False)
    ax.tick_params(axis="y", length=0)
    ax.set(ylim=(len(rows) - 0.5, -0.5))
    ax.margins(x=0.14)
    ax.spines[["top", "right"]].set_visible(False)


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

    Args:
        names: the systems, in the order of their colours; the baseline among them is left out.
        differences: ``[metrics, systems]`` scores minus the baseline's.
        lows: ``[metrics, systems]`` lower limits of the differences' intervals; NaN for none.
        highs: ``[metrics, systems]`` upper limits.
        labels: for each metric, the label of its panel, such as "REP (lower is better)".
        baseline: the system at zero.
        significant: ``[metrics, systems]``, which differences are significant; they have a full dot
            and a star, which the last panel explains; all others have a ring.
        axes: where to draw, one for each metric; a new figure if None.

    Returns:
        The Axes, one for each metric.

    Raises:
        DataError: shapes disagree, or the baseline is not among the systems or is the only one.
    """
    shape = (len(labels), len(names))
    if baseline not in names or len(names) < 2:
        raise DataError(f"baseline {baseline!r} and another system are needed")
    table = checked_table(differences, shape, "differences")
    nothing = np.full(shape, np.nan)
    low = nothing if lows is None else checked_table(lows, shape, "limits")
    high = nothing if highs is None else checked_table(highs, shape, "limits")
    stars = np.zeros(shape) if significant is None else checked_table(significant, shape, "stars")
    others = [number for number, name in enumerate(names) if name != baseline]
    shown = [names[number] for number in others]
    axes = _panels(labels, shown, axes)
    families = font_families()
    for k, (ax, label) in enumerate(zip(axes, labels, strict=True)):
        ax.axvline(0, color=colours.INK, linewidth=0.8, zorder=0.5, gid="baseline")
        for row, number in enumerate(others):
            colour = colours.SYSTEMS[number % len(colours.SYSTEMS)]
            is_full = bool(stars[k, number] > 0)
            ax.plot([low[k, number], high[k, number]], [row, row], color=colour, linewidth=2.4)
            ax.plot(
                table[k, number], row, "o", color=colour, markersize=6,
                markerfacecolor=colour if is_full else "white",
            )  # fmt: skip
            text = f"{table[k, number]:+.2f}{'*' if is_full else ''}".replace("-", "−")
            write(ax, text, (table[k, number], row), (0, 6))
        ax.set_yticks(range(len(others)), labels=shown)
        for tick in ax.get_yticklabels():
            tick.set(fontfamily=families, parse_math=False, usetex=False)
        ax.tick_params(axis="y", length=0)
        ax.set(ylim=(len(others) - 0.5, -0.7), xlabel=f"{label}:\ndifference from {baseline}")
        ax.xaxis.label.set(parse_math=False)
        ax.margins(x=0.18)
        ax.spines[["top", "right", "left"]].set_visible(False)
    if stars.any():
        _explain_star(axes[-1], baseline, 48)
    return list(axes)


def _panels(labels: Sequence[str], names: Sequence[str], axes: Sequence[Axes] | None) -> list[Axes]:
    """Return the Axes, or those of a new figure that is high enough for a bar for each name."""
    count = len(labels)
    if count == 0 or (axes is not None and len(axes) != count):
        raise DataError(f"{0 if axes is None else len(axes)} Axes for {count} metrics")
    if axes is not None:
        return list(axes)
    columns = _columns(count)
    lines = -(-count // columns)
    width = 5.0 if count == 1 else 2.4 * columns + longest_label(names)
    figure = new_figure(width, (0.34 * len(names) + 0.9) * lines)
    made = [figure.add_subplot(lines, columns, k + 1) for k in range(count)]
    for k, ax in enumerate(made):
        ax.tick_params(labelleft=k % columns == 0)
    return made


def _columns(count: int) -> int:
    """Return how many panels stand beside one another: lines are full, or nearly so."""
    lines = -(-count // _ACROSS)
    return -(-count // lines)
