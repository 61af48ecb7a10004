"""Words as tick labels: verbatim, in a font that has them, and none unsaid that has no room."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Collection, Sequence
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from coverage_eval.plotting.canvas import figure_of

_LARGEST, _SMALLEST = 9.0, 6.0  # points
_LINE_HEIGHT = 1.25 / 72  # inches that a label needs across its direction, for each point
_LONGEST = 28  # characters


def shorten(word: str) -> str:
    """Return the word, its middle elided if it is too long for a label (a URL, say)."""
    if len(word) <= _LONGEST:
        return word
    return f"{word[: _LONGEST - 9]}…{word[-8:]}"


def longest_label(words: Sequence[str]) -> float:
    """Return about how many inches the longest word's label takes along its direction."""
    ems = (
        sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in shorten(w)) for w in words
    )
    return 0.085 * max(ems, default=0)


def axis_length(ax: Axes, axis: Literal["x", "y"]) -> float:
    """Return how many inches long an axis is now, cells of equal sides considered."""
    ax.apply_aspect()
    box = ax.get_position()
    width, height = figure_of(ax).get_size_inches()
    return max(float(box.width * width if axis == "x" else box.height * height), 1e-6)


def word_ticks(
    ax: Axes,
    axis: Literal["x", "y"],
    words: Sequence[str],
    families: list[str],
    *,
    keep: Collection[int] = (),
) -> None:
    r"""Label positions 0, 1, … of an axis with words.

    Labels never overlap. Where words are close they are set smaller; where even small ones have
    no room, only about every k-th word is labelled, marked words first, and the axis says how
    many are. Words are drawn as they are: a ``$`` or ``\`` starts no formula, whatever the user's
    settings.

    Args:
        ax: the Axes, with their final limits and aspect, at about their final place.
        axis: which axis.
        words: the words of the sentence.
        families: the font families they need (:func:`~coverage_eval.plotting.fonts.font_families`).
        keep: positions of marked words, which lose their label only to another marked one.
    """
    room = axis_length(ax, axis) / max(len(words), 1)
    size = min(max(room / _LINE_HEIGHT, _SMALLEST), _LARGEST)
    # A hair's tolerance, so that a size that just fits thins nothing out.
    positions = labelled_positions(len(words), math.ceil(size * _LINE_HEIGHT / room - 1e-6), keep)
    texts = [_layout(shorten(words[i]), axis) for i in positions]
    axis_object = ax.xaxis if axis == "x" else ax.yaxis
    axis_object.set_ticks(positions, labels=[text for text, _ in texts])
    axis_object.set_tick_params(length=0, labelsize=size)
    for label, (_, rotation) in zip(axis_object.get_ticklabels(), texts, strict=True):
        label.set(rotation=rotation, parse_math=False, usetex=False, fontfamily=families)
    if len(positions) < len(words):
        shown, all_words = len([text for text, _ in texts if text]), len([w for w in words if w])
        axis_object.set_label_text(f"{shown} of {all_words} words are labelled")
        axis_object.label.set(fontsize=8, fontstyle="italic")


def labelled_positions(count: int, step: int, keep: Collection[int]) -> list[int]:
    """Return positions at least ``step`` apart: those to keep first, then every ``step``-th."""
    free = np.ones(count, dtype=np.bool_)
    chosen: list[int] = []
    for position in (*sorted(keep), *range(0, count, step)):
        if free[position]:
            chosen.append(position)
            free[max(position - step + 1, 0) : position + step] = False
    return sorted(chosen)


def emphasise(ax: Axes, axis: Literal["x", "y"], positions: Collection[int], colour: str) -> None:
    """Set the labels of the words at these positions bold and coloured."""
    axis_object = ax.xaxis if axis == "x" else ax.yaxis
    labels = axis_object.get_ticklabels()
    for position, label in zip(axis_object.get_ticklocs(), labels, strict=True):
        if round(float(position)) in positions:
            label.set(color=colour, fontweight="bold")


def write(ax: Axes, text: str, place: ArrayLike, offset: tuple[float, float], **style: Any) -> None:
    """Write a text, verbatim, so many points beside a place; ``style`` is of Matplotlib's Text."""
    x, y = np.asarray(place, dtype=np.float64).tolist()
    style = {"fontsize": 8, "ha": "center", "parse_math": False, "usetex": False, **style}
    ax.annotate(text, (x, y), offset, textcoords="offset points", **style)


def _layout(word: str, axis: Literal["x", "y"]) -> tuple[str, float]:
    """Return text and rotation: across, words run upwards, but Han and kana stack upright."""
    if axis == "y":
        return word, 0.0
    # The sound mark is a bar along the writing direction; stacked upright it would read as "one".
    if word and all(unicodedata.east_asian_width(c) == "W" and c != "ー" for c in word):
        return "\n".join(word), 0.0
    return word, 90.0
