"""Scores: systems with intervals, segments of two systems, and the detection of errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike, NDArray

from coverage_eval.errors import DataError
from coverage_eval.plotting import colours
from coverage_eval.plotting.canvas import checked_table, checked_vector, new_axes, new_figure
from coverage_eval.plotting.fonts import font_families
from coverage_eval.plotting.grid import longest_label, write

Curves = Mapping[str, tuple[ArrayLike, ArrayLike]]
"""Name → values across and values upwards, both 0 to 1."""

_DASHES = ("-", "--", ":")

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
    (families,) = font_families([said])
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
    (families,) = font_families(names)
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
    (families,) = font_families(shown)
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


def segment_scatter(
    first: ArrayLike,
    second: ArrayLike,
    *,
    systems: tuple[str, str] = ("system A", "system B"),
    metric: str = "score",
    ax: Axes | None = None,
) -> Axes:
    """Draw two systems' scores of the same segments against each other.

    Segments with equal scores share one dot, whose size shows their number: many segments have no
    error at all.

    Args:
        first: ``[segments]`` scores of the first system (across).
        second: ``[segments]`` scores of the second system (upwards).
        systems: the names.
        metric: what the scores are.
        ax: where to draw; a new figure if None.

    Returns:
        The Axes; its title counts the segments on each side of the diagonal.

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


def score_histograms(
    panels: Mapping[str, ArrayLike],
    *,
    means: Mapping[str, float] | None = None,
    unit: str = "segments",
    axes: Sequence[Axes] | None = None,
) -> list[Axes]:
    """Draw how the scores of segments, or the values of words, are distributed.

    Args:
        panels: values of each panel, by its label; NaN where a segment has none.
        means: the figure of the whole text for some of the panels, a dashed line.
        unit: what is counted.
        axes: where to draw, one for each panel; a new figure if None.

    Returns:
        The Axes, one for each panel.

    Raises:
        DataError: no panel, or one without a value.
    """
    if not panels or (axes is not None and len(axes) != len(panels)):
        raise DataError(f"{0 if axes is None else len(axes)} Axes for {len(panels)} panels")
    if axes is None:
        columns = _columns(len(panels))
        lines = -(-len(panels) // columns)
        figure = new_figure(max(2.6 * columns, 4.0), 2.2 * lines)
        axes = [figure.add_subplot(lines, columns, k + 1) for k in range(len(panels))]
    for ax, (label, values) in zip(axes, panels.items(), strict=True):
        numbers = np.asarray(values, dtype=np.float64).ravel()
        numbers = numbers[np.isfinite(numbers)]
        if not numbers.size:
            raise DataError(f"{label} has no values")
        distinct = np.unique(numbers)
        bins: Any = 30
        if np.ptp(distinct) <= 20 and np.array_equal(distinct, np.round(distinct)):
            bins = np.arange(distinct[0] - 0.5, distinct[-1] + 1.5)  # a bar for each number
            ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        counts, edges = np.histogram(numbers, bins)
        width = np.diff(edges)
        bars = ax.bar(edges[:-1] + width / 2, counts, 0.9 * width, color=colours.WEIGHT)
        if len(counts) < 10:  # room for the counts; a small one has no visible bar
            ax.bar_label(bars, fontsize=7)
        if means is not None and label in means:
            mean = means[label]
            ax.axvline(mean, color=colours.INK, linestyle="--", linewidth=1, gid="whole")
            ax.set_title(f"whole text: {mean:.2f}", fontsize=8, loc="right")
        ax.set(xlabel=label, ylabel=unit)
        ax.xaxis.label.set(parse_math=False)
        ax.spines[["top", "right"]].set_visible(False)
    return list(axes)


def roc_curves(
    curves: Curves, *, areas: Mapping[str, float] | None = None, ax: Axes | None = None
) -> Axes:
    """Draw ROC curves; the diagonal is chance.

    Args:
        curves: false positive rates and true positive rates of each score, by its name.
        areas: the area below each curve, AUROC, which the legend then shows.
        ax: where to draw; a new figure if None.

    Returns:
        The Axes; its lines are labelled with the names.

    Raises:
        DataError: lengths disagree, or a rate lies outside 0 and 1.
    """
    ax = _draw(curves, "false positive rate", "true positive rate", ax, ("AUROC", areas))
    ax.axline((0, 0), slope=1, color=colours.REFERENCE, linewidth=0.8, zorder=0.5, gid="chance")
    return ax


def precision_recall_curves(
    curves: Curves,
    *,
    share: float | None = None,
    areas: Mapping[str, float] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw precision against recall.

    Args:
        curves: recalls and precisions of each score, by its name.
        share: the share of segments with an error, which is the precision of chance.
        areas: the average precision of each score, AP, which the legend then shows.
        ax: where to draw; a new figure if None.

    Returns:
        The Axes; its lines are labelled with the names.

    Raises:
        DataError: lengths disagree, or a figure lies outside 0 and 1.
    """
    # Average precision is the area below these steps; straight lines would enclose more.
    ax = _draw(curves, "recall", "precision", ax, ("AP", areas), drawstyle="steps-pre")
    if share is not None:
        ax.axhline(share, color=colours.REFERENCE, linewidth=0.8, zorder=0.5, gid="chance")
    return ax


def reliability_diagram(
    curves: Curves, *, counts: Mapping[str, ArrayLike] | None = None, ax: Axes | None = None
) -> Axes:
    """Draw shares of errors against predicted probabilities; equal ones lie on the diagonal.

    Args:
        curves: for each score, by its name, the mean probability of each bin and the share of its
            segments that have an error.
        counts: the number of segments in each bin, which sets the size of its dot.
        ax: where to draw; a new figure if None.

    Returns:
        The Axes; its lines are labelled with the names.

    Raises:
        DataError: lengths disagree, or a figure lies outside 0 and 1.
    """
    ax = _draw(curves, "probability", "share with an error", ax)
    for (name, (x, y)), line in zip(curves.items(), list(ax.get_lines()), strict=True):
        numbers = np.ones(len(np.ravel(x)))
        if counts is not None:
            numbers = checked_vector(counts[name], len(numbers), f"counts of {name}")
        areas = 8 + 60 * numbers / max([1.0, *numbers])
        ax.scatter(x, y, s=areas, color=line.get_color())
    ax.axline((0, 0), slope=1, color=colours.REFERENCE, linewidth=0.8, zorder=0.5, gid="right")
    return ax


def _draw(
    curves: Curves,
    across: str,
    upwards: str,
    ax: Axes | None,
    areas: tuple[str, Mapping[str, float] | None] = ("", None),
    **line: Any,
) -> Axes:
    """Draw lines from 0 to 1 that differ in colour, and in dashes if there are many."""
    ax = new_axes(3.6, 3.6) if ax is None else ax
    palette = colours.SYSTEMS
    for number, (name, (x, y)) in enumerate(curves.items()):
        first = np.asarray(x, dtype=np.float64).ravel()
        second = checked_vector(y, len(first), f"{upwards} of {name}")
        if any(v.size and (v.min() < 0 or v.max() > 1) for v in (first, second)):
            raise DataError(f"{name}: {across} and {upwards} lie between 0 and 1")
        style = _DASHES[number // len(palette) % len(_DASHES)]
        color = palette[number % len(palette)]
        area = (areas[1] or {}).get(name)
        label = name if area is None else f"{name} ({areas[0]} {area:.3f})"
        ax.plot(first, second, color=color, linestyle=style, linewidth=1.4, label=label, **line)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel=across, ylabel=upwards, aspect="equal")
    ax.spines[["top", "right"]].set_visible(False)
    if curves:
        (families,) = font_families(list(curves))
        legend = ax.legend(frameon=False, fontsize=7)
        for text in legend.get_texts():
            text.set(fontfamily=families, parse_math=False)
    return ax
