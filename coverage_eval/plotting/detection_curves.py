"""How well scores detect errors: ROC, precision–recall and reliability curves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from coverage_eval.errors import DataError
from coverage_eval.plotting import colours
from coverage_eval.plotting.arrays import checked_vector
from coverage_eval.plotting.canvas import new_axes
from coverage_eval.plotting.fonts import font_families

Curves = Mapping[str, tuple[ArrayLike, ArrayLike]]
"""Name → what lies across and what lies upwards, both 0 to 1."""

_DASHES = ("-", "--", ":")


def roc_curves(curves: Curves, *, ax: Axes | None = None) -> Axes:
    """Draw ROC curves; the diagonal is what chance gives.

    Args:
        curves: false positive rates and true positive rates of each score, by its name.
        ax: where to draw; a new figure if None.

    Returns:
        The Axes; its lines are labelled with the names.

    Raises:
        DataError: lengths disagree, or a rate lies outside 0 and 1.
    """
    ax = _draw(curves, "false positive rate", "true positive rate", ax)
    ax.axline((0, 0), slope=1, color=colours.REFERENCE, linewidth=0.8, zorder=0.5, gid="chance")
    return ax


def precision_recall_curves(
    curves: Curves, *, share: float | None = None, ax: Axes | None = None
) -> Axes:
    """Draw precision against recall.

    Args:
        curves: recalls and precisions of each score, by its name.
        share: the share of segments with an error, which is the precision that chance gives.
        ax: where to draw; a new figure if None.

    Returns:
        The Axes; its lines are labelled with the names.

    Raises:
        DataError: lengths disagree, or a figure lies outside 0 and 1.
    """
    # Average precision is the area below these steps; a straight line would promise more.
    ax = _draw(curves, "recall", "precision", ax, drawstyle="steps-pre")
    if share is not None:
        ax.axhline(share, color=colours.REFERENCE, linewidth=0.8, zorder=0.5, gid="chance")
    return ax


def reliability_diagram(
    curves: Curves, *, counts: Mapping[str, ArrayLike] | None = None, ax: Axes | None = None
) -> Axes:
    """Draw shares of errors against the probabilities that promised them; right is the diagonal.

    Args:
        curves: mean probability of each bin, and the share of its segments that have an error, by
            the name of the score.
        counts: how many segments each bin has, which sets the size of its dot.
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
        areas = 8 + 60 * numbers / max(1, numbers.max(initial=0))
        ax.scatter(x, y, s=areas, color=line.get_color())
    ax.axline((0, 0), slope=1, color=colours.REFERENCE, linewidth=0.8, zorder=0.5, gid="right")
    return ax


def _draw(curves: Curves, across: str, upwards: str, ax: Axes | None, **line: Any) -> Axes:
    """Lines from 0 to 1, told apart by colour and, where colours run out, by dashes."""
    ax = new_axes(3.6, 3.6) if ax is None else ax
    palette = colours.SYSTEMS
    for number, (name, (x, y)) in enumerate(curves.items()):
        first = np.asarray(x, dtype=np.float64).ravel()
        second = checked_vector(y, len(first), f"{upwards} of {name}")
        if any(v.size and (v.min() < 0 or v.max() > 1) for v in (first, second)):
            raise DataError(f"{name}: {across} and {upwards} lie between 0 and 1")
        style = _DASHES[number // len(palette) % len(_DASHES)]
        color = palette[number % len(palette)]
        ax.plot(first, second, color=color, linestyle=style, linewidth=1.4, label=name, **line)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel=across, ylabel=upwards, aspect="equal")
    ax.spines[["top", "right"]].set_visible(False)
    if curves:
        (families,) = font_families(list(curves))
        legend = ax.legend(frameon=False, fontsize=7)
        for text in legend.get_texts():
            text.set(fontfamily=families, parse_math=False)
    return ax
