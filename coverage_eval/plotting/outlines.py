"""Outlines around the rows and columns of words that are marked, and their legend."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal

from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle

from coverage_eval.plotting import colours
from coverage_eval.plotting.labels import emphasise
from coverage_eval.plotting.marks import runs

# Apart by line style too, for readers and printers without colour.
_STYLES: dict[str, dict[str, Any]] = {
    "repeated": {"edgecolor": colours.REPEATED, "linestyle": "-"},
    "dropped": {"edgecolor": colours.DROPPED, "linestyle": (0, (4, 1.5))},
}


def outline(
    ax: Axes, axis: Literal["x", "y"], positions: Collection[int], length: float, kind: str
) -> None:
    """Outline columns (axis x) or rows (axis y), a run of neighbours as one, and their labels.

    Args:
        ax: the Axes, with one unit for each word.
        axis: on which axis the positions lie.
        positions: of the words, from 0.
        length: how many words the columns or rows pass.
        kind: ``repeated`` or ``dropped``; also the patches' gid.
    """
    for first, count in runs(positions):
        start = (first - 0.5, -0.5) if axis == "x" else (-0.5, first - 0.5)
        width, height = (count, length) if axis == "x" else (length, count)
        ax.add_patch(Rectangle(start, width, height, clip_on=False, zorder=3, **_style(kind)))
    emphasise(ax, axis, positions, _STYLES[kind]["edgecolor"])


def explain_outlines(ax: Axes, meanings: Mapping[str, str], *, pad: float = 0.0) -> int:
    """Put a legend above the Axes, a line for each kind of outline; return how many lines.

    Args:
        ax: the Axes.
        meanings: what to say of each kind.
        pad: how far above them, in font sizes.
    """
    handles = [Patch(label=meaning, **_style(kind)) for kind, meaning in meanings.items()]
    if handles:
        ax.legend(
            handles=handles, loc="lower left", bbox_to_anchor=(0.0, 1.0), frameon=False,
            fontsize=8, borderaxespad=0.2 + pad, borderpad=0.1, labelspacing=0.2, handlelength=1.2,
        )  # fmt: skip
    return len(handles)


def _style(kind: str) -> dict[str, Any]:
    return {"fill": False, "linewidth": 1.3, "gid": kind, **_STYLES[kind]}
