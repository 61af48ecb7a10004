"""Words beside an attention map: labels that never overlap; marks of repeated and lost words."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle
from numpy.typing import NDArray

from coverage_eval.core.errors import DataError
from coverage_eval.core.tokenizers import EOS_TOKENS
from coverage_eval.plotting import canvas

MAX_SHORT = 30
"""Words on a side up to which cells are ruled off, marks cross the map and the scale is 0 to 1."""

_SPECIAL_TOKENS = EOS_TOKENS | {"<s>", "<BOS>", "<pad>"}
"""Tokens that are not words of a text; no words are lost by ignoring them."""

_THRESHOLD = 0.2
"""A source word with less attention in all is marked; that of one target word in all is 1."""

_MAX_FONT, _MIN_FONT = 9.0, 6.0  # points of words, if rcParams["font.size"] is 10
_MAX_LABELLED, _FEW = 60, 5  # words up to which all may be labelled; of more, every fifth is
_LINE_HEIGHT = 1.25 / 72  # inches that a label needs across its direction, for each point

# Line styles differ as well, for readers and printers without colour.
_MARKS: dict[str, dict[str, Any]] = {
    "repeated": {"edgecolor": canvas.REPEATED, "linestyle": "-"},
    "dropped": {"edgecolor": canvas.DROPPED, "linestyle": (0, (4, 1.5))},
}


def mark_words(
    ax: Axes,
    weights: NDArray[np.float64],
    source: Sequence[str],
    hypothesis: Sequence[str],
    repeated: Collection[int] | None,
    dropped: Collection[int] | None,
) -> int:
    """Label both axes with words, mark some of them, and return the lines of the legend above.

    Raises:
        DataError: A position lies outside the sentence.
    """
    meanings = {"repeated": "repeated word", "dropped": "dropped word"}
    if repeated is None:
        repeated = repeated_positions(hypothesis)
    if dropped is None:
        dropped = dropped_positions(weights.sum(axis=0), source)
        # Attention is no alignment: such a word may well be translated.
        meanings["dropped"] = f"little attention in all (< {_THRESHOLD:g})"
    handles = []
    sides = (("repeated", "x", hypothesis, repeated), ("dropped", "y", source, dropped))
    for kind, axis, words, marked in sides:
        positions = sorted({int(position) for position in marked})
        outside = [position for position in positions if not 0 <= position < len(words)]
        if outside:
            raise DataError(f"{kind} position {outside[0]} is not in 0 to {len(words) - 1}")
        label_words(ax, "x" if axis == "x" else "y", words, positions, _MARKS[kind]["edgecolor"])
        _outline(ax, kind, positions, len(source), len(hypothesis))
        if positions:
            handles.append(Patch(label=meanings[kind], **_mark_style(kind)))
    if handles:
        ax.legend(
            handles=handles, loc="lower left", bbox_to_anchor=(0.0, 1.0), frameon=False,
            fontsize=canvas.points(8), borderaxespad=0.5, borderpad=0.1, labelspacing=0.2,
            handlelength=1.2,
        )  # fmt: skip
    return len(handles)


def repeated_positions(hypothesis: Sequence[str]) -> tuple[int, ...]:
    """Return the positions of repeated words, first occurrences left out.

    A word is repeated if it equals the word before it, or if it is in a bigram that occurred
    before: the two kinds of repetition in REP-score (Malaviya et al. 2018, section 5), here without
    a reference that would allow them. A lone frequent word ("the … the") is not marked.
    """
    seen: set[tuple[str, str]] = set()
    repeated: set[int] = set()
    for position, bigram in enumerate(pairwise(hypothesis), start=1):
        if bigram[0] == bigram[1]:
            repeated.add(position)
        elif bigram in seen:
            repeated.update((position - 1, position))
        seen.add(bigram)
    return tuple(sorted(repeated))


def dropped_positions(coverage: NDArray[np.float64], source: Sequence[str]) -> tuple[int, ...]:
    """Return the positions of source words whose cumulative attention is below 0.2.

    Args:
        coverage: ``[source]``, the attention each word has received, summed over target words.
        source: the source words; special tokens such as ``<SINK>`` are never dropped.
    """
    below = np.flatnonzero(coverage < _THRESHOLD)
    return tuple(int(j) for j in below if source[int(j)] not in _SPECIAL_TOKENS)


def label_words(
    ax: Axes,
    axis: Literal["x", "y"],
    words: Sequence[str],
    marked: Sequence[int] = (),
    colour: str = canvas.INK,
) -> None:
    """Label positions 0, 1, … of an axis, with its final limits and aspect, with words.

    Labels never overlap. Where words are close, labels are smaller; where even small ones do not
    fit, only about every k-th word is labelled, marked words first, and the axis gives their
    number.
    """
    room = canvas.axis_length(ax, axis) / max(len(words), 1)
    size = fitting_size(room)
    # A small tolerance, so that a size that just fits leaves out no label.
    step = math.ceil(size * _LINE_HEIGHT / room - 1e-6)
    if len(words) > _MAX_LABELLED:
        step = max(step, _FEW)
    positions = labelled_positions(len(words), step, marked)
    axis_object = ax.xaxis if axis == "x" else ax.yaxis
    axis_object.set_ticks(
        positions,
        labels=[canvas.shorten(words[i]) for i in positions],
        **canvas.plain_text(*words),
    )
    axis_object.set_tick_params(length=0, labelsize=size)
    for position, label in zip(positions, axis_object.get_ticklabels(), strict=True):
        if axis == "x":
            _turn(label)
        if position in marked:
            label.set(color=colour, fontweight="bold")
    name = "hypothesis" if axis == "x" else "source"
    if len(positions) < len(words):
        shown, filled = (len(list(filter(None, some))) for some in
                         ([words[i] for i in positions], words))  # fmt: skip
        name += f" ({shown} of {filled} words are labelled)"
    size = canvas.points(8)
    name = canvas.wrapped(name, canvas.axis_length(ax, axis), size)
    axis_object.set_label_text(name, fontsize=size)


def fitting_size(room: float) -> float:
    """The size in points of labels that have this many inches each; a legible one at least."""
    return min(max(room / _LINE_HEIGHT, canvas.points(_MIN_FONT)), canvas.points(_MAX_FONT))


def _turn(label: Any) -> None:
    """Let a word below the map run upwards, but stack Han and kana upright."""
    word = label.get_text()
    # The sound mark is a bar along the writing direction; stacked upright it would read as "one".
    if word and all(unicodedata.east_asian_width(c) == "W" and c != "ー" for c in word):
        label.set_text("\n".join(word))
    else:
        label.set_rotation(90)


def labelled_positions(count: int, step: int, keep: Collection[int]) -> list[int]:
    """Return positions at least ``step`` apart: those to keep first, then every ``step``-th."""
    free = np.ones(count, dtype=np.bool_)
    chosen: list[int] = []
    for position in (*sorted(keep), *range(0, count, step)):
        if free[position]:
            chosen.append(position)
            free[max(position - step + 1, 0) : position + step] = False
    return sorted(chosen)


def _outline(ax: Axes, kind: str, positions: Sequence[int], rows: int, columns: int) -> None:
    """Outline columns of repeated words or rows of dropped ones, a run of neighbours as one.

    In a long sentence a mark is a line on the map's edge, beside the words' labels: boxes across
    the map would hide it.
    """
    across = max(rows, columns) <= MAX_SHORT
    runs = np.split(np.array(positions), np.flatnonzero(np.diff(positions) > 1) + 1)
    for run in runs if positions else ():
        if kind == "repeated":
            start = (run[0] - 0.5, -0.5 if across else rows - 0.5)
            width, height = len(run), rows if across else 0
        else:
            start = (-0.5, run[0] - 0.5)
            width, height = columns if across else 0, len(run)
        style = _mark_style(kind) | ({} if across else {"linewidth": 3.5})
        ax.add_patch(Rectangle(start, width, height, clip_on=False, zorder=3, **style))


def _mark_style(kind: str) -> dict[str, Any]:
    return {"fill": False, "linewidth": 1.3, "gid": kind, **_MARKS[kind]}
