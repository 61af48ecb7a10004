"""Attention maps as in Figure 2 of Malaviya et al. (2018): source down, hypothesis across."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Protocol, get_args, runtime_checkable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize, PowerNorm
from matplotlib.image import AxesImage
from numpy.typing import ArrayLike, NDArray

from coverage_eval.core.errors import DataError
from coverage_eval.core.tokenizers import SPECIAL_TOKENS
from coverage_eval.plotting import Scale, colours
from coverage_eval.plotting.canvas import (
    checked_attention,
    checked_positions,
    checked_vector,
    figure_of,
)
from coverage_eval.plotting.coverage import axes_fraction, draw_margin
from coverage_eval.plotting.fonts import font_families
from coverage_eval.plotting.grid import (
    axis_length,
    cell_aspect,
    explain_outlines,
    grid_axes,
    outline,
    rule_off,
    word_ticks,
)

_SHORT = 30  # words on a side up to which weights are read on a scale from 0 to 1
_MAX_RULED = 100  # words on a side up to which cells are ruled off
_MAX_SHARP = 700  # words on a side up to which a pixel of an overview shows one cell


@runtime_checkable
class WordedMap(Protocol):
    """Weights with a label for each column and row; an ``AttentionMap`` is one."""

    @property
    def weights(self) -> NDArray[np.float64]:
        """``[target, source]``."""

    @property
    def source_labels(self) -> Sequence[str]:
        """A label for each column."""

    @property
    def hypothesis_labels(self) -> Sequence[str]:
        """A label for each row."""


def attention_heatmap(
    attention: ArrayLike | WordedMap,
    source: Sequence[str] | None = None,
    hypothesis: Sequence[str] | None = None,
    *,
    ax: Axes | None = None,
    scale: Scale = "auto",
    repeated: Collection[int] | None = None,
    dropped: Collection[int] | None = None,
    coverage_threshold: float = 0.2,
    fertility: ArrayLike | None = None,
    margin: bool | None = None,
    colorbar: bool = True,
    legend: bool = True,
    title: str | None = None,
) -> Axes:
    """Draw one sentence's attention: source words down, hypothesis words across.

    A weight of exactly zero is white, and any other is visibly tinted: sparse maps look sparse,
    as in Figure 2 of Malaviya et al. (2018). In a long sentence only some words have a label, and
    the axis gives their number; the map itself is always complete.

    Args:
        attention: ``[target, source]`` weights in [0, 1]; or a
            :class:`~coverage_eval.attention_maps.AttentionMap`, which has its own words.
        source: the source words, special tokens such as ``<SINK>`` included if attended.
        hypothesis: the words of the hypothesis.
        ax: where to draw; a new figure of fitting size if None.
        scale: ``fixed`` gives a weight the same colour in every map, so that systems compare.
            ``max`` ends at the map's largest weight and ``sqrt`` spreads the small weights by
            their square roots: both show the structure of a map whose weights are all small,
            such as a softmax's. ``auto`` is ``sqrt`` if a sentence has more than 30 words, over
            which a softmax spreads its weights thinly, otherwise ``fixed``.
        repeated: positions (from 0) of hypothesis words to outline; by default the repeated ones
            (:func:`repeated_positions`); ``()`` for none.
        dropped: positions of source words to mark; by default those whose cumulative attention
            is below ``coverage_threshold``, special tokens aside; ``()`` for none.
        coverage_threshold: in units of attention; all attention of one target word is 1.
        fertility: ``[source]`` upper bounds to show in the margin; infinite ones have no line.
        margin: draw each source word's cumulative attention beside its row; by default if there
            are fertilities.
        colorbar: draw the scale of the weights.
        legend: explain the marks above the map, if there are any.
        title: set above the map.

    Returns:
        The Axes with the map. Its child axes are the margin and the scale.

    Raises:
        DataError: shapes and texts disagree, an entry is no weight, or the scale is unknown.
        TypeError: weights without words.

    Warns:
        MissingGlyphWarning: no installed font has some of the characters.
    """
    if isinstance(attention, WordedMap):
        source = attention.source_labels if source is None else source
        hypothesis = attention.hypothesis_labels if hypothesis is None else hypothesis
        attention = attention.weights
    if source is None or hypothesis is None:
        if isinstance(attention, Sequence) and attention and isinstance(attention[0], WordedMap):
            raise TypeError(
                "one map is drawn, not a list of maps: give one of them, such as maps[0]"
            )
        raise TypeError("weights without words: give source and hypothesis, or an AttentionMap")
    weights = checked_attention(attention, source, hypothesis)
    scale = _known_scale(scale, *weights.shape)
    coverage = weights.sum(axis=0)
    meanings = {"repeated": "repeated word", "dropped": "dropped word"}
    if repeated is None:
        repeated = repeated_positions(hypothesis)
    if dropped is None:
        dropped = dropped_positions(coverage, source, coverage_threshold)
        # Attention is no alignment: such a word may well be translated.
        meanings["dropped"] = f"little attention in all (< {coverage_threshold:g})"
    marks = {
        "repeated": checked_positions(repeated, len(hypothesis), "repeated"),
        "dropped": checked_positions(dropped, len(source), "dropped"),
    }
    bounds = None if fertility is None else checked_vector(fertility, len(source), "fertility")
    margin = bounds is not None if margin is None else margin
    if ax is None:
        (ax,) = grid_axes(source, [hypothesis], beside=2.2 if margin else 1.0)
    image = _draw_cells(ax, weights, scale)
    fonts = [font_families()] * 3
    word_ticks(ax, "x", hypothesis, fonts[1], keep=marks["repeated"])
    word_ticks(ax, "y", source, fonts[0], keep=marks["dropped"])
    outline(ax, "x", marks["repeated"], len(source), "repeated")
    outline(ax, "y", marks["dropped"], len(hypothesis), "dropped")
    entries = {kind: meaning for kind, meaning in meanings.items() if legend and marks[kind]}
    explain_outlines(ax, entries)
    if title is not None:
        _set_title(ax, title, len(entries), fonts[2])
    beside = draw_margin(ax, coverage, bounds) if margin else 1.0
    if colorbar and image is not None:
        _draw_scale(ax, image, beside, scale)
    return ax


def attention_heatmaps_side_by_side(
    attentions: tuple[ArrayLike | WordedMap, ArrayLike | WordedMap],
    source: Sequence[str] | None = None,
    hypotheses: tuple[Sequence[str], Sequence[str]] | None = None,
    *,
    systems: tuple[str, str] = ("system A", "system B"),
    axes: tuple[Axes, Axes] | None = None,
    scale: Scale = "auto",
    repeated: tuple[Collection[int] | None, Collection[int] | None] = (None, None),
    dropped: tuple[Collection[int] | None, Collection[int] | None] = (None, None),
    coverage_threshold: float = 0.2,
    fertility: ArrayLike | None = None,
    margin: bool | None = None,
) -> tuple[Axes, Axes]:
    """Draw two systems' attention for one source sentence, on one scale, rows aligned.

    Args:
        attentions: the two maps ``[target, source]``; or two
            :class:`~coverage_eval.attention_maps.AttentionMap`, which have their own words.
        source: the source words, common to both.
        hypotheses: the two hypotheses.
        systems: the titles.
        axes: where to draw; a new figure with two Axes if None.
        scale: as in :func:`attention_heatmap`; ``max`` is the largest weight of both maps.
        repeated: as in :func:`attention_heatmap`, one for each system.
        dropped: as in :func:`attention_heatmap`, one for each system.
        coverage_threshold: as in :func:`attention_heatmap`.
        fertility: as in :func:`attention_heatmap`, common to both.
        margin: as in :func:`attention_heatmap`.

    Returns:
        The two Axes, left and right.

    Raises:
        DataError: as :func:`attention_heatmap`, or the maps have different source words.
        TypeError: weights without words.
    """
    first, second = attentions
    if isinstance(first, WordedMap) and isinstance(second, WordedMap):
        if list(first.source_labels) != list(second.source_labels):
            raise DataError("the two maps have different source words; are they of one segment?")
        source = first.source_labels if source is None else source
        hypotheses = hypotheses or (first.hypothesis_labels, second.hypothesis_labels)
        attentions = first.weights, second.weights
    if source is None or hypotheses is None:
        raise TypeError("weights without words: give source and hypotheses, or two AttentionMaps")
    margin = fertility is not None if margin is None else margin
    scale = _known_scale(scale, len(source), *map(len, hypotheses))
    if axes is None:
        left, right = grid_axes(source, hypotheses, beside=3.8 if margin else 1.4)
        axes = left, right
    for k in range(2):
        attention_heatmap(
            attentions[k],
            source,
            hypotheses[k],
            ax=axes[k],
            scale=scale,
            repeated=repeated[k],
            dropped=dropped[k],
            coverage_threshold=coverage_threshold,
            fertility=fertility,
            margin=margin,
            colorbar=k == 1,
        )
    legends = [ax.get_legend() for ax in axes]
    lines = max(len(legend.get_texts()) if legend else 0 for legend in legends)
    for ax, system, families in zip(axes, systems, [font_families()] * 2, strict=True):
        _set_title(ax, system, lines, families)
    images = [ax.images[0] for ax in axes if ax.images]
    for image in images:
        image.set_clim(0.0, max(float(image.get_clim()[1] or 0) for image in images))
    if margin:
        limit = max(ax.child_axes[0].get_xlim()[1] for ax in axes)
        for ax in axes:
            ax.child_axes[0].set_xlim(0, limit)
    return axes


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


def dropped_positions(
    coverage: NDArray[np.float64], source: Sequence[str], threshold: float
) -> tuple[int, ...]:
    """Return the positions of source words whose cumulative attention is below the threshold.

    Args:
        coverage: ``[source]``, the attention each word has received, summed over target words.
        source: the source words; special tokens such as ``<SINK>`` are never dropped.
        threshold: in units of attention; all attention of one target word is 1.
    """
    below = np.flatnonzero(coverage < threshold)
    return tuple(int(j) for j in below if source[int(j)] not in SPECIAL_TOKENS)


def _known_scale(scale: Scale, *lengths: int) -> Scale:
    """The scale of ``auto`` for sentences of these lengths.

    Raises:
        DataError: an unknown scale.
    """
    if scale not in get_args(Scale):
        raise DataError(f"unknown scale {scale!r}: choose from {', '.join(get_args(Scale))}")
    if scale == "auto":
        return "sqrt" if max(lengths) > _SHORT else "fixed"
    return scale


def _draw_cells(ax: Axes, weights: NDArray[np.float64], scale: Scale) -> AxesImage | None:
    largest = float(weights.max(initial=0.0))
    norm: Normalize = PowerNorm(0.5, vmin=0.0, vmax=1.0)
    if scale != "sqrt":
        norm = Normalize(0.0, largest if scale == "max" and largest > 0 else 1.0)
    rows, columns = weights.shape[1], weights.shape[0]
    ax.tick_params(which="both", length=0)
    ax.grid(visible=False)
    if weights.size == 0:
        ax.set(xlim=(-0.5, max(columns, 1) - 0.5), ylim=(max(rows, 1) - 0.5, -0.5))
        text, rotation = ("empty hypothesis", 90) if rows else ("empty source", 0)
        ax.text(
            0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center", fontsize=8,
            rotation=rotation,
        )  # fmt: skip
        return None
    image = ax.imshow(
        np.ma.masked_equal(weights.T, 0.0),
        cmap=colours.attention_colormap(),
        norm=norm,
        origin="upper",
        aspect=cell_aspect(rows, columns),
        # Sharp cells if there are enough pixels; else averaged colours, so that no cell vanishes.
        interpolation="nearest" if max(rows, columns) <= _MAX_SHARP else "antialiased",
        interpolation_stage="rgba",
    )
    if max(rows, columns) <= _MAX_RULED:
        rule_off(ax, rows, 0, columns)
    return image


def _set_title(ax: Axes, title: str, lines: int, families: list[str]) -> None:
    """Set the title above a legend with this number of lines."""
    label = ax.set_title(title, loc="left", fontsize=11, pad=6 + 11 * lines)
    label.set(fontfamily=families, parse_math=False, usetex=False)


def _draw_scale(ax: Axes, image: AxesImage, beside: float, scale: Scale) -> None:
    cax = ax.inset_axes((beside + axes_fraction(ax, 0.12), 0.0, axes_fraction(ax, 0.1), 1.0))
    ticks = {"fixed": [0, 0.25, 0.5, 0.75, 1], "sqrt": [0, 0.01, 0.05, 0.1, 0.25, 0.5, 1]}
    if axis_length(ax, "y") < 1.0:
        ticks = {kind: [0, 1] for kind in ticks}
    # Zero itself is white: the lowest tint is that of the smallest positive weight.
    bar = figure_of(ax).colorbar(
        image,
        cax=cax,
        ticks=ticks.get(scale),
        format=lambda weight, _: f"{weight:g}" if weight else ">0",
    )
    bar.ax.tick_params(labelsize=8)
    kind = {"fixed": "", "max": "up to the largest, ", "sqrt": "square-root scale, "}[scale]
    bar.set_label(f"attention ({kind}white: exactly 0)", fontsize=8)
    bar.outline.set_visible(False)
