"""Grids of words, a row for each source word and a column for each target word.

The parts of attention heatmaps: size, ruling, words as tick labels, and outlines around marked
words.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle
from numpy.typing import ArrayLike

from coverage_eval.plotting import colours
from coverage_eval.plotting.canvas import figure_of, new_figure

_CELL, _NARROW_CELL = 0.25, 0.21  # inches, for short and for long sentences
_SHORT = 30  # words
_MAX_LABELLED = 250  # words on a side up to which a figure grows with them
_MAX_SIZE, _OVERVIEW = 16.0, 10.0  # inches, of figures up to and beyond that
_ABOVE = 0.7  # inches for title and legend

_MAX_FONT, _SMALLEST_FONT = 9.0, 6.0  # points
_LINE_HEIGHT = 1.25 / 72  # inches that a label needs across its direction, for each point
_MAX_LABEL = 28  # characters of a label

# Line styles differ as well, for readers and printers without colour.
_OUTLINES: dict[str, dict[str, Any]] = {
    "repeated": {"edgecolor": colours.REPEATED, "linestyle": "-"},
    "dropped": {"edgecolor": colours.DROPPED, "linestyle": (0, (4, 1.5))},
}


def grid_axes(
    rows: Sequence[str],
    blocks: Sequence[Sequence[str]],
    *,
    beside: float,
) -> list[Axes]:
    """Return Axes in a row, for grids with common rows, in a new figure of fitting size.

    The figure grows with cells and labels up to a limit.

    Args:
        rows: the words that label the rows of each grid.
        blocks: for each grid, the words that label its columns.
        beside: inches to keep free on the right, for a margin or a scale.
    """
    counts = [max(len(block), 1) for block in blocks]
    longest = max(len(rows), *counts)
    largest = _MAX_SIZE if longest <= _MAX_LABELLED else _OVERVIEW
    left, below = longest_label(rows), longest_label([word for block in blocks for word in block])
    room_across = largest * len(blocks) - left * len(blocks) - beside
    room_down = largest - below - _ABOVE
    cell = _CELL if longest <= _SHORT else _NARROW_CELL
    across, down = min(cell, room_across / sum(counts)), min(cell, room_down / max(len(rows), 1))
    if all(cell_aspect(len(rows), count) == "equal" for count in counts):
        across = down = min(across, down)
    width = max(across * sum(counts) + left * len(blocks) + beside, 3.2 * len(blocks))
    height = max(down * len(rows) + below + _ABOVE, 2.2)
    # The layout engine has the last word; labels are fitted to these places.
    place = {
        "left": left / width,
        "right": 1 - (beside + left * (len(blocks) - 1)) / width,
        "bottom": below / height,
        "top": 1 - _ABOVE / height,
    }
    figure = new_figure(width, height, compressed=True)
    grids = figure.subplots(
        1, len(blocks), squeeze=False, gridspec_kw={"width_ratios": counts, **place}
    )
    return list(grids[0])


def cell_aspect(rows: int, columns: int) -> Literal["equal", "auto"]:
    """Return ``equal`` for square cells; in a very oblong grid they would be tiny."""
    return "equal" if max(rows, columns) <= 4 * min(rows, columns) else "auto"


def rule_off(ax: Axes, rows: int, first: int, last: int) -> None:
    """Draw faint lines around the cells of columns ``first`` to ``last`` (excluded)."""
    style: dict[str, Any] = {"colors": colours.GRID, "linewidth": 0.5, "zorder": 2, "gid": "ruling"}
    ax.hlines(np.arange(rows + 1) - 0.5, first - 0.5, last - 0.5, **style)
    ax.vlines(np.arange(first, last + 1) - 0.5, -0.5, rows - 0.5, **style)


def axis_length(ax: Axes, axis: Literal["x", "y"]) -> float:
    """Return the present length of an axis in inches; cells of equal sides shorten it."""
    ax.apply_aspect()
    box = ax.get_position()
    width, height = figure_of(ax).get_size_inches()
    return max(float(box.width * width if axis == "x" else box.height * height), 1e-6)


def shorten(word: str) -> str:
    """Return the word, its middle elided if it is too long for a label (a URL, say)."""
    if len(word) <= _MAX_LABEL:
        return word
    return f"{word[: _MAX_LABEL - 9]}…{word[-8:]}"


def longest_label(words: Sequence[str]) -> float:
    """Return the approximate length in inches of the longest word's label."""
    ems = (
        sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in shorten(w)) for w in words
    )
    return 0.085 * max(ems, default=0)


def word_ticks(
    ax: Axes,
    axis: Literal["x", "y"],
    words: Sequence[str],
    families: list[str],
    *,
    keep: Collection[int] = (),
) -> None:
    r"""Label positions 0, 1, … of an axis with words.

    Labels never overlap. Where words are close, labels are smaller; where even small ones do not
    fit, only about every k-th word is labelled, marked words first, and the axis gives their
    number. Words are drawn verbatim: a ``$`` or ``\`` starts no formula, whatever the user's
    settings.

    Args:
        ax: the Axes, with their final limits and aspect, at about their final place.
        axis: which axis.
        words: the words of the sentence.
        families: the font families they need (:func:`~coverage_eval.plotting.fonts.font_families`).
        keep: positions of marked words, which lose their label only to another marked one.
    """
    room = axis_length(ax, axis) / max(len(words), 1)
    size = min(max(room / _LINE_HEIGHT, _SMALLEST_FONT), _MAX_FONT)
    # A small tolerance, so that a size that just fits leaves out no label.
    positions = labelled_positions(len(words), math.ceil(size * _LINE_HEIGHT / room - 1e-6), keep)
    texts = [_text_and_rotation(shorten(words[i]), axis) for i in positions]
    axis_object = ax.xaxis if axis == "x" else ax.yaxis
    axis_object.set_ticks(positions, labels=[text for text, _ in texts])
    axis_object.set_tick_params(length=0, labelsize=size)
    for label, (_, rotation) in zip(axis_object.get_ticklabels(), texts, strict=True):
        label.set(rotation=rotation, parse_math=False, usetex=False, fontfamily=families)
    if len(positions) < len(words):
        shown, all_words = len([text for text, _ in texts if text]), len([w for w in words if w])
        axis_object.set_label_text(f"{shown} of {all_words} words are labelled")
        axis_object.label.set(fontsize=8, fontstyle="italic")


def _text_and_rotation(word: str, axis: Literal["x", "y"]) -> tuple[str, float]:
    """Across, words run upwards, but Han and kana are stacked upright."""
    if axis == "y":
        return word, 0.0
    # The sound mark is a bar along the writing direction; stacked upright it would read as "one".
    if word and all(unicodedata.east_asian_width(c) == "W" and c != "ー" for c in word):
        return "\n".join(word), 0.0
    return word, 90.0


def labelled_positions(count: int, step: int, keep: Collection[int]) -> list[int]:
    """Return positions at least ``step`` apart: those to keep first, then every ``step``-th."""
    free = np.ones(count, dtype=np.bool_)
    chosen: list[int] = []
    for position in (*sorted(keep), *range(0, count, step)):
        if free[position]:
            chosen.append(position)
            free[max(position - step + 1, 0) : position + step] = False
    return sorted(chosen)


def write(ax: Axes, text: str, place: ArrayLike, offset: tuple[float, float], **style: Any) -> None:
    """Write a text verbatim, ``offset`` points from a place; ``style`` is for Matplotlib's Text."""
    x, y = np.asarray(place, dtype=np.float64).tolist()
    style = {"fontsize": 8, "ha": "center", "parse_math": False, "usetex": False, **style}
    ax.annotate(text, (x, y), offset, textcoords="offset points", **style)


def outline(
    ax: Axes, axis: Literal["x", "y"], positions: Sequence[int], length: float, kind: str
) -> None:
    """Outline columns (axis x) or rows (axis y), a run of neighbours as one, and their labels.

    Args:
        ax: the Axes, with one unit for each word and with their labels.
        axis: the axis of the positions.
        positions: of the words, from 0, ascending.
        length: the number of words that the columns or rows pass.
        kind: ``repeated`` or ``dropped``; also the patches' gid.
    """
    ordered = np.array(positions, dtype=np.int64)
    for run in np.split(ordered, np.flatnonzero(np.diff(ordered) > 1) + 1):
        if len(run):
            start = (run[0] - 0.5, -0.5) if axis == "x" else (-0.5, run[0] - 0.5)
            width, height = (len(run), length) if axis == "x" else (length, len(run))
            style = _outline_style(kind)
            ax.add_patch(Rectangle(start, width, height, clip_on=False, zorder=3, **style))
    axis_object = ax.xaxis if axis == "x" else ax.yaxis
    labels = axis_object.get_ticklabels()
    for position, label in zip(axis_object.get_ticklocs(), labels, strict=True):
        if round(float(position)) in positions:
            label.set(color=_OUTLINES[kind]["edgecolor"], fontweight="bold")


def explain_outlines(ax: Axes, meanings: Mapping[str, str], *, pad: float = 0.0) -> None:
    """Put a legend above the Axes, a line for each kind of outline.

    Args:
        ax: the Axes.
        meanings: the explanation of each kind.
        pad: distance from the Axes, in font sizes.
    """
    handles = [Patch(label=meaning, **_outline_style(kind)) for kind, meaning in meanings.items()]
    if handles:
        ax.legend(
            handles=handles, loc="lower left", bbox_to_anchor=(0.0, 1.0), frameon=False,
            fontsize=8, borderaxespad=0.2 + pad, borderpad=0.1, labelspacing=0.2, handlelength=1.2,
        )  # fmt: skip


def _outline_style(kind: str) -> dict[str, Any]:
    return {"fill": False, "linewidth": 1.3, "gid": kind, **_OUTLINES[kind]}
