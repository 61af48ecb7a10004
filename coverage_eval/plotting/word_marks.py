"""Words beside an attention map: labels that never overlap; marks of repeated and lost words."""

from __future__ import annotations

import math
import unicodedata
import warnings
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle
from numpy.typing import NDArray

from coverage_eval.core.errors import DataError
from coverage_eval.core.tokenizers import EOS_TOKENS
from coverage_eval.plotting import MARK_COLOURS, canvas

MAX_SHORT = 30
"""Words on a side up to which cells are ruled off, marks cross the map and the scale is 0 to 1."""

_SPECIAL_TOKENS = EOS_TOKENS | {"<s>", "<BOS>", "<pad>"}
"""Tokens that are not words of a text; no words are lost by ignoring them."""

_THRESHOLD = 0.2
"""A source word with less attention in all is marked; that of one target word in all is 1."""

_MAX_LABELLED, _FEW = 60, 5  # words up to which all may be labelled; of more, every fifth is
_LINE_HEIGHT = 1.25 / 72  # inches that a label needs across its direction, for each point

# Line styles differ as well, for readers and printers without colour.
_MARKS: dict[str, dict[str, Any]] = {
    kind: {"fill": False, "linewidth": 1.3, "gid": kind, "edgecolor": colour, "linestyle": line}
    for (kind, colour), line in zip(MARK_COLOURS.items(), ("-", (0, (4, 1.5))), strict=True)
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
        meanings["dropped"] = f"attention < {_THRESHOLD:g} in all"
    ax.set(xlabel="hypothesis", ylabel="source")
    handles = []
    sides = (("repeated", "x", hypothesis, repeated), ("dropped", "y", source, dropped))
    for kind, axis, words, marked in sides:
        positions = sorted({int(position) for position in marked})
        outside = [position for position in positions if not 0 <= position < len(words)]
        if outside:
            raise DataError(f"{kind} position {outside[0]} is not in 0 to {len(words) - 1}")
        label_words(ax, axis, words, positions, MARK_COLOURS[kind])
        _outline(ax, kind, positions, len(source), len(hypothesis))
        if positions:
            handles.append(Patch(label=meanings[kind], **_MARKS[kind]))
    if handles:
        legend = ax.legend(
            handles=handles, loc="lower left", bbox_to_anchor=(0.0, 1.0), frameon=False,
            borderaxespad=0.5, borderpad=0.1, labelspacing=0.2, handlelength=1.2,
        )  # fmt: skip
        legend.set_in_layout(False)  # a small map need not be as wide; the title leaves the height
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
    ax: Axes, axis: str, words: Sequence[str], marked: Sequence[int] = (), colour: str = canvas.INK
) -> None:
    """Label positions 0, 1, … of an axis, with its final limits and aspect, with words.

    Labels never overlap. Where words are close, only about every k-th word is labelled, marked
    words first.
    """
    room = canvas.axis_length(ax, axis) / max(len(words), 1)
    # A small tolerance, so that a size that just fits leaves out no label.
    step = math.ceil(_line_height(axis) / room - 1e-6)
    if len(words) > _MAX_LABELLED:
        step = max(step, _FEW)
    positions = labelled_positions(len(words), step, marked)
    axis_object = ax.xaxis if axis == "x" else ax.yaxis
    labels = [canvas.shorten(words[i]) for i in positions]
    upright = [axis == "x" and _is_upright(label) for label in labels]
    axis_object.set_ticks(
        positions,
        labels=["\n".join(word) if up else word for word, up in zip(labels, upright, strict=True)],
        **canvas.plain_text(*words),
    )
    axis_object.set_tick_params(length=0)
    for position, label, up in zip(positions, axis_object.get_ticklabels(), upright, strict=True):
        label.set_rotation(90 if axis == "x" and not up else 0)
        if position in marked:
            label.set(color=colour, fontweight="bold")


def label_room(axis: str, count: int) -> float:
    """Inches of a word with which all are labelled, or every fifth of a long sentence."""
    return _line_height(axis) / (1 if count <= MAX_SHORT else _FEW)


def warn_of_few_labels(ax: Axes, rows: int, columns: int) -> None:
    """Say how large given Axes must be, in inches, if not all words of a map have a label."""
    for axis, side, count in (("x", "wide", columns), ("y", "high", rows)):
        length = canvas.axis_length(ax, axis)
        needed = count * label_room(axis, count)
        if needed > length + 0.01:
            warnings.warn(
                f"not all words have a label: Axes {length:.1f} inches {side} must be "
                f"{math.ceil(10 * needed) / 10:g}, or matplotlib.rcParams['{axis}tick.labelsize'] "
                "smaller",
                stacklevel=5,
            )


def _line_height(axis: str) -> float:
    """Inches that a label needs across its direction."""
    return _LINE_HEIGHT * canvas.font_size(f"{axis}tick.labelsize")


def _is_upright(word: str) -> bool:
    """Whether a word below the map is Han and kana, which are stacked; others run upwards."""
    # The sound mark is a bar along the writing direction; stacked upright it would read as "one".
    return bool(word) and all(unicodedata.east_asian_width(c) == "W" and c != "ー" for c in word)


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
        style = _MARKS[kind] | ({} if across else {"linewidth": 3.5})
        ax.add_patch(Rectangle(start, width, height, clip_on=False, zorder=3, **style))
