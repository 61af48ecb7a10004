"""Attention maps as in Figure 2 of Malaviya et al. (2018): source down, hypothesis across."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.image import AxesImage
from numpy.typing import ArrayLike, NDArray

from coverage_eval.plotting import colours
from coverage_eval.plotting.arrays import checked_attention, checked_positions, checked_vector
from coverage_eval.plotting.canvas import figure_of, new_axes, new_figure
from coverage_eval.plotting.fonts import font_families
from coverage_eval.plotting.labels import longest_label, word_ticks
from coverage_eval.plotting.margin import axes_fraction, draw_margin
from coverage_eval.plotting.marks import dropped_positions, repeated_positions
from coverage_eval.plotting.outlines import explain_outlines, outline, rule_off

__all__ = ["attention_heatmap", "attention_heatmaps_side_by_side"]

_CELL, _NARROW_CELL = 0.25, 0.21  # inches, for short and for long sentences
_SHORT = 30  # words
_LARGEST = 16.0  # inches
_OVERVIEW = 10.0  # inches
_MOST_LABELLED = 200  # words on a side up to which a figure grows with them
_MOST_RULED = 100  # words on a side up to which cells are ruled off
_MOST_SHARP = 700  # words on a side up to which a pixel of an overview shows one cell


def attention_heatmap(
    attention: ArrayLike,
    source: Sequence[str],
    hypothesis: Sequence[str],
    *,
    ax: Axes | None = None,
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

    A weight of exactly zero is white, and any other is visibly tinted, on a scale fixed at 0–1:
    sparse maps look sparse, and maps of different systems compare (Figure 2 of Malaviya et al.
    2018). Long sentences keep every k-th label; the map itself is always complete.

    Args:
        attention: ``[target, source]`` weights in [0, 1].
        source: the source words, special tokens such as ``<SINK>`` included if attended.
        hypothesis: the words of the hypothesis.
        ax: where to draw; a new figure of fitting size if None.
        repeated: positions (from 0) of hypothesis words to outline; by default those said again
            (:func:`~coverage_eval.plotting.marks.repeated_positions`); ``()`` for none.
        dropped: positions of source words to mark; by default those whose cumulative attention
            is below ``coverage_threshold``, special tokens aside; ``()`` for none.
        coverage_threshold: in units of attention, 1 being the whole of one target word's.
        fertility: ``[source]`` upper bounds to show in the margin; infinite ones are left open.
        margin: draw each source word's cumulative attention beside its row; by default if there
            are fertilities.
        colorbar: draw the scale of the weights.
        legend: explain the marks above the map, where there are any.
        title: set above the map.

    Returns:
        The Axes with the map. Its child axes are the margin and the scale.

    Raises:
        DataError: shapes and texts disagree, or an entry is no weight.

    Warns:
        MissingGlyphWarning: no installed font has some of the characters.
    """
    weights = checked_attention(attention, source, hypothesis)
    coverage = weights.sum(axis=0)
    threshold = coverage_threshold if dropped is None else None
    if repeated is None:
        repeated = repeated_positions(hypothesis)
    if dropped is None:
        dropped = dropped_positions(coverage, source, coverage_threshold)
    repeated = checked_positions(repeated, len(hypothesis), "repeated")
    dropped = checked_positions(dropped, len(source), "dropped")
    bounds = None if fertility is None else checked_vector(fertility, len(source), "fertility")
    margin = bounds is not None if margin is None else margin
    if ax is None:
        ax = new_axes(*_figure_size(source, hypothesis, margin=margin), compressed=True)
    image = _draw_cells(ax, weights)
    source_fonts, hypothesis_fonts = font_families(source, hypothesis)
    word_ticks(ax, "x", hypothesis, hypothesis_fonts, keep=repeated)
    word_ticks(ax, "y", source, source_fonts, keep=dropped)
    outline(ax, "x", repeated, len(source), "repeated")
    outline(ax, "y", dropped, len(hypothesis), "dropped")
    entries = explain_outlines(ax, _legend(repeated, dropped, threshold)) if legend else 0
    if title is not None:
        _set_title(ax, title, entries)
    beside = 1.0
    if margin:
        beside = draw_margin(ax, coverage, bounds)
    if colorbar and image is not None:
        _draw_scale(ax, image, beside)
    return ax


def attention_heatmaps_side_by_side(
    attentions: tuple[ArrayLike, ArrayLike],
    source: Sequence[str],
    hypotheses: tuple[Sequence[str], Sequence[str]],
    *,
    systems: tuple[str, str] = ("system A", "system B"),
    axes: tuple[Axes, Axes] | None = None,
    repeated: tuple[Collection[int] | None, Collection[int] | None] = (None, None),
    dropped: tuple[Collection[int] | None, Collection[int] | None] = (None, None),
    coverage_threshold: float = 0.2,
    fertility: ArrayLike | None = None,
    margin: bool | None = None,
) -> tuple[Axes, Axes]:
    """Draw two systems' attention for one source sentence, on one scale, rows aligned.

    Args:
        attentions: the two maps ``[target, source]``.
        source: the source words, common to both.
        hypotheses: the two hypotheses.
        systems: the titles.
        axes: where to draw; a new figure with two Axes if None.
        repeated: as in :func:`attention_heatmap`, one for each system.
        dropped: as in :func:`attention_heatmap`, one for each system.
        coverage_threshold: as in :func:`attention_heatmap`.
        fertility: as in :func:`attention_heatmap`, common to both.
        margin: as in :func:`attention_heatmap`.

    Returns:
        The two Axes, left and right.

    Raises:
        DataError: as :func:`attention_heatmap`.
    """
    margin = fertility is not None if margin is None else margin
    if axes is None:
        axes = _two_axes(source, hypotheses, margin=margin)
    for k in range(2):
        attention_heatmap(
            attentions[k],
            source,
            hypotheses[k],
            ax=axes[k],
            repeated=repeated[k],
            dropped=dropped[k],
            coverage_threshold=coverage_threshold,
            fertility=fertility,
            margin=margin,
            colorbar=k == 1,
        )
    legends = [ax.get_legend() for ax in axes]
    lines = max(len(legend.get_texts()) if legend else 0 for legend in legends)
    for ax, system in zip(axes, systems, strict=True):
        _set_title(ax, system, lines)
    if margin:
        limit = max(ax.child_axes[0].get_xlim()[1] for ax in axes)
        for ax in axes:
            ax.child_axes[0].set_xlim(0, limit)
    return axes


def _two_axes(
    source: Sequence[str], hypotheses: tuple[Sequence[str], Sequence[str]], *, margin: bool
) -> tuple[Axes, Axes]:
    sizes = [_figure_size(source, words, margin=margin) for words in hypotheses]
    width = sizes[0][0] + sizes[1][0] - 0.6  # the left map has no scale
    figure = new_figure(width, max(height for _, height in sizes), compressed=True)
    ratios = [max(len(hypothesis), 1) for hypothesis in hypotheses]
    left, right = figure.subplots(1, 2, width_ratios=ratios)
    return left, right


def _figure_size(
    source: Sequence[str], hypothesis: Sequence[str], *, margin: bool
) -> tuple[float, float]:
    """Return inches that give each cell its room, up to a limit, and the labels theirs."""
    longest = max(len(source), len(hypothesis))
    cell = _CELL if longest <= _SHORT else _NARROW_CELL
    width = len(hypothesis) * cell + longest_label(source) + (2.2 if margin else 1.0)
    height = len(source) * cell + longest_label(hypothesis) + 0.7
    # Beyond some length only every k-th word can be labelled, and a large page serves no one.
    largest = _LARGEST if longest <= _MOST_LABELLED else _OVERVIEW
    return min(max(width, 3.2), largest), min(max(height, 2.2), largest)


def _draw_cells(ax: Axes, weights: NDArray[np.float64]) -> AxesImage | None:
    rows, columns = weights.shape[1], weights.shape[0]
    ax.tick_params(which="both", length=0)
    ax.grid(visible=False)
    if weights.size == 0:
        ax.set(xlim=(-0.5, max(columns, 1) - 0.5), ylim=(max(rows, 1) - 0.5, -0.5))
        empty = "source" if rows == 0 else "hypothesis"
        ax.text(0.5, 0.5, f"empty {empty}", transform=ax.transAxes, ha="center", va="center")
        return None
    image = ax.imshow(
        np.ma.masked_equal(weights.T, 0.0),
        cmap=colours.attention_colormap(),
        vmin=0.0,
        vmax=1.0,
        origin="upper",
        aspect="equal" if max(rows, columns) <= 4 * min(rows, columns) else "auto",
        # Sharp cells where there are pixels enough; else averaged colours, so that none vanishes.
        interpolation="nearest" if max(rows, columns) <= _MOST_SHARP else "antialiased",
        interpolation_stage="rgba",
    )
    if max(rows, columns) <= _MOST_RULED:
        rule_off(ax, rows, 0, columns)
    return image


def _set_title(ax: Axes, title: str, lines: int) -> None:
    """Set the title above a legend of so many lines."""
    (families,) = font_families([title])
    label = ax.set_title(title, loc="left", fontsize=11, pad=6 + 11 * lines)
    label.set(fontfamily=families, parse_math=False, usetex=False)


def _legend(
    repeated: Collection[int], dropped: Collection[int], threshold: float | None
) -> dict[str, str]:
    """Return what to say of each kind of mark that the map has."""
    below = "" if threshold is None else f" (attention < {threshold:g} in all)"
    said = {"repeated": "repeated word", "dropped": f"dropped word{below}"}
    return {
        kind: said[kind] for kind, marked in zip(said, (repeated, dropped), strict=True) if marked
    }


def _draw_scale(ax: Axes, image: AxesImage, beside: float) -> None:
    cax = ax.inset_axes((beside + axes_fraction(ax, 0.12), 0.0, axes_fraction(ax, 0.1), 1.0))
    scale = figure_of(ax).colorbar(image, cax=cax, ticks=[0, 0.25, 0.5, 0.75, 1])
    scale.ax.tick_params(labelsize=8)
    scale.set_label("attention (white: exactly 0)", fontsize=8)
    scale.outline.set_visible(False)
