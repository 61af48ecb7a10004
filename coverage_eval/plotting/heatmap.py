"""Attention maps as in Figure 2 of Malaviya et al. (2018): source down, hypothesis across."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap
from numpy.typing import ArrayLike, NDArray

from coverage_eval.attention_maps import AttentionMap, merge_subwords
from coverage_eval.attention_maps.maps import checked_array, warn_of_row_sums, without_padding
from coverage_eval.core.errors import DataError
from coverage_eval.plotting import Scale, canvas, drawing
from coverage_eval.plotting.cells import (
    Colours,
    colours_of,
    draw_cells,
    draw_scale,
    scale_width,
)
from coverage_eval.plotting.grid import new_grid
from coverage_eval.plotting.heads import draw_heads
from coverage_eval.plotting.word_marks import mark_words, warn_of_few_labels

_MARGIN = 1.2  # inches beside a map, for the cumulative attention
_ROUNDING = 1e-3  # half-precision attention may exceed 1 by this much


@drawing
def attention_heatmap(
    attention: ArrayLike | AttentionMap,
    source: Sequence[str] | None = None,
    hypothesis: Sequence[str] | None = None,
    *,
    ax: Axes | None = None,
    scale: Scale = "auto",
    repeated: Collection[int] | None = None,
    dropped: Collection[int] | None = None,
    fertility: ArrayLike | None = None,
    margin: bool | None = None,
    title: str = "attention",
    cmap: str | Colormap = "Blues",
    colorbar: bool = True,
    width: float | None = None,
) -> Axes:
    """Draw one sentence's attention: source words down, hypothesis words across.

    A weight of exactly zero is white, and any other is visibly tinted: sparse maps look sparse,
    as in Figure 2 of Malaviya et al. (2018). In a sentence of more than 30 words only some
    may have a label; the map itself is always complete. Marked words have a coloured label, and
    are outlined across the map in short sentences, at its edge in long ones.

    Several heads, or layers of heads, are a grid of small maps with one scale and without marks:
    a row of it is a layer, heads of one layer wrap, words are named at its edges only, and zeros
    have dots.

    Fonts are as large as ``rcParams`` says (``font.size``, ``xtick.labelsize``, …), and those for
    other scripts are the installed ones that have their letters. A new figure is as high as they
    need. It writes PDF with TrueType fonts (type 42), as publishers ask; a figure of your own does
    after ``matplotlib.rcParams["pdf.fonttype"] = 42``.

    Args:
        attention: ``[target, source]`` weights in [0, 1]; ``[heads, target, source]`` or
            ``[layers, heads, target, source]`` for a grid; or a
            :class:`~coverage_eval.attention_maps.AttentionMap`, which has its own words.
        source: the source words, special tokens such as ``<SINK>`` included if attended;
            ``<pad>`` and its weights are left out.
        hypothesis: the words of the hypothesis.
        ax: where to draw; a new figure of fitting size if None.
        scale: ``fixed`` gives a weight the same colour in every map, so that systems compare.
            ``max`` ends at the map's largest weight, and ``sqrt`` spreads small weights by their
            square roots, with grey for those below 0.02. ``auto`` is ``sqrt`` if a sentence has
            more than 30 words, over which a softmax spreads its weights thinly, otherwise
            ``fixed``.
        repeated: positions (from 0) of hypothesis words to mark; by default the repeated ones
            (:func:`~.word_marks.repeated_positions`); ``()`` for none.
        dropped: positions of source words to mark, ``()`` for none; by default those whose
            cumulative attention is below 0.2, special tokens aside.
        fertility: ``[source]`` upper bounds to show in the margin; infinite ones have no line.
        margin: draw the cumulative attention beside each row; by default if there are fertilities.
        title: set above the map.
        cmap: a colour map of Matplotlib, or its name, without white.
        colorbar: whether to draw the scale.
        width: of a new figure, in inches, such as 3.25 for a column of a paper; by default what
            the words need.

    Returns:
        The Axes with the map. Its child axes are the margin and the scale. Of a grid, the Axes of
        the first map. Saving or showing it warns once (:class:`UserWarning`) if no installed font
        has some of the characters.

    Raises:
        DataError: shapes and texts disagree, an entry is no weight, or the scale or the colour map
            does not exist or has white for some weights.
        TypeError: weights without words; Axes, marks or a margin for a grid.

    Warns:
        CorpusWarning: rows of the weights, those of hypothesis words, do not sum to 1.
        UserWarning: words have no label for want of room; the message says how wide the figure, or
            how large the given Axes, must be. (:class:`ValueError` if no cell has room.)
    """
    weights, source, hypothesis = _with_words(attention, source, hypothesis, most_dimensions=4)
    if isinstance(attention, AttentionMap):
        warn_of_row_sums("attention", [attention], stacklevel=4)
    elif weights.size:
        heads = weights.reshape(-1, *weights.shape[-2:])
        warn_of_row_sums("attention", map(AttentionMap, heads), stacklevel=4)
    colours = colours_of([weights], scale, cmap, colorbar)
    if weights.ndim > 2:
        if any(each is not None for each in (ax, repeated, dropped, fertility, margin)):
            raise TypeError(
                "a grid of heads has no marks or margins, and a figure of its own: draw one head, "
                "such as attention[0], for these"
            )
        return draw_heads(weights, source, hypothesis, colours, title=title, width=width)
    (ax,) = _draw_maps(
        [weights], source, [hypothesis], None if ax is None else [ax], [title], colours,
        repeated, dropped, fertility=fertility, margin=margin, width=width,
    )  # fmt: skip
    return ax


@drawing
def attention_heatmaps_side_by_side(
    attentions: tuple[ArrayLike | AttentionMap, ArrayLike | AttentionMap],
    source: Sequence[str] | None = None,
    hypotheses: tuple[Sequence[str], Sequence[str]] | None = None,
    *,
    systems: tuple[str, str] = ("system A", "system B"),
    axes: tuple[Axes, Axes] | None = None,
    scale: Scale = "auto",
    fertility: ArrayLike | None = None,
    margin: bool | None = None,
    cmap: str | Colormap = "Blues",
    colorbar: bool = True,
    width: float | None = None,
) -> tuple[Axes, Axes]:
    """Draw two systems' attention for one source sentence, on one scale.

    The maps stand side by side, rows aligned; in a figure too narrow for that, one below the other.
    If two ``AttentionMap`` have the source in different subwords, both are merged to words.

    Args:
        attentions: the two maps ``[target, source]``; or two
            :class:`~coverage_eval.attention_maps.AttentionMap`, which have their own words.
        source: the source words, common to both.
        hypotheses: the two hypotheses.
        systems: the titles.
        axes: where to draw; a new figure with two Axes if None.
        scale: as in :func:`attention_heatmap`; ``max`` is the largest weight of both maps.
        fertility: as in :func:`attention_heatmap`, common to both.
        margin: as in :func:`attention_heatmap`.
        cmap: as in :func:`attention_heatmap`.
        colorbar: as in :func:`attention_heatmap`.
        width: as in :func:`attention_heatmap`.

    Returns:
        The two Axes, left and right, or upper and lower.

    Raises:
        DataError: as :func:`attention_heatmap`, or the maps have different source words.
        TypeError: weights without words.

    Warns:
        UserWarning: as :func:`attention_heatmap`.
    """
    maps = [
        _with_words(attention, source, hypothesis)
        for attention, hypothesis in zip(
            _with_equal_sources(*attentions), hypotheses or (None, None), strict=True
        )
    ]
    (_, source, first), (_, other, second) = maps
    if list(source) != list(other):
        raise DataError("the two maps have different source words; are they of one segment?")
    weights = [each for each, _, _ in maps]
    left, right = _draw_maps(
        weights, source, [first, second], axes, systems,
        colours_of(weights, scale, cmap, colorbar),
        fertility=fertility, margin=margin, width=width,
    )  # fmt: skip
    if left.get_position().y0 == right.get_position().y0:
        right.set_ylabel("")
    return left, right


def _draw_maps(
    maps: Sequence[NDArray[np.float64]],
    source: Sequence[str],
    hypotheses: Sequence[Sequence[str]],
    given: Sequence[Axes] | None,
    titles: Sequence[str],
    colours: Colours,
    repeated: Collection[int] | None = None,
    dropped: Collection[int] | None = None,
    *,
    fertility: ArrayLike | None,
    margin: bool | None,
    width: float | None,
) -> Sequence[Axes]:
    """Draw maps of one source sentence on given Axes, or on those of a new figure that fits."""
    margin = fertility is not None if margin is None else margin
    grid, axes = None, given
    if axes is None:
        grid = new_grid(
            source, hypotheses, range(1, len(maps) + 1),
            margin=_MARGIN * margin, bar=scale_width(colours.scale), width=width,
        )  # fmt: skip
        axes = grid.axes
    lines = []
    for ax, weights, hypothesis in zip(axes, maps, hypotheses, strict=True):
        draw_cells(ax, weights, colours)
        if grid is None:
            warn_of_few_labels(ax, len(source), len(hypothesis))
        else:
            ax.set_aspect("auto")
        lines.append(mark_words(ax, weights, source, hypothesis, repeated, dropped))
    if margin:
        sides = [
            _draw_margin(ax, weights.sum(axis=0), fertility)
            for ax, weights in zip(axes, maps, strict=True)
        ]
        limit = max(side.get_xlim()[1] for side in sides)
        for side in sides:
            side.set_xlim(0, limit)
    draw_scale(axes[-1], colours, _MARGIN * margin)
    above = 1.5 * canvas.font_size("legend.fontsize") * max(lines)
    style: dict[str, Any] = {"loc": "left", "pad": mpl.rcParams["axes.titlepad"] + above}
    for ax, title in zip(axes, titles, strict=True):
        lines_of_title = canvas.wrapped(title, canvas.axis_length(ax, "x"), "axes.titlesize")
        ax.set_title(lines_of_title, **style, **canvas.plain_text(title))
    if grid is not None:
        grid.fit()
    return axes


def _with_equal_sources(
    first: ArrayLike | AttentionMap, second: ArrayLike | AttentionMap
) -> tuple[ArrayLike | AttentionMap, ArrayLike | AttentionMap]:
    """The two maps, merged to words if both have a source and it is segmented differently."""
    if (
        isinstance(first, AttentionMap)
        and isinstance(second, AttentionMap)
        and first.source_labels != second.source_labels
        and None not in (first.source, second.source, first.hypothesis, second.hypothesis)
    ):
        return merge_subwords([first])[0], merge_subwords([second])[0]
    return first, second


def _with_words(
    attention: ArrayLike | AttentionMap,
    source: Sequence[str] | None,
    hypothesis: Sequence[str] | None,
    most_dimensions: int = 2,
) -> tuple[NDArray[np.float64], Sequence[str], Sequence[str]]:
    """Weights ``[…, target, source]`` in [0, 1], and the words of both sides.

    Raises:
        DataError: the shape differs from the texts' lengths, or an entry is not a weight.
        TypeError: there are no words, or a text is a string, whose letters would be drawn as words.
    """
    if isinstance(attention, AttentionMap):
        source = attention.source_labels if source is None else source
        hypothesis = attention.hypothesis_labels if hypothesis is None else hypothesis
        attention = attention.weights
    if source is None or hypothesis is None:
        if isinstance(attention, Sequence) and attention and isinstance(attention[0], AttentionMap):
            raise TypeError(
                "one map is drawn, not a list of maps: give one of them, such as maps[0]"
            )
        raise TypeError("weights without words: give source and hypothesis, or an AttentionMap")
    for name, words in (("source", source), ("hypothesis", hypothesis)):
        if isinstance(words, str):
            raise TypeError(f"the {name} must be a list of words, not a string; split it first")
    weights: NDArray[np.float64] = checked_array(attention, "attention", np.float64)
    if weights.ndim > 1:
        weights, hypothesis = without_padding(weights, hypothesis, -2)
        weights, source = without_padding(weights, source, -1)
    expected = (len(hypothesis), len(source))
    if weights.size == 0 and 0 in expected:
        weights = np.zeros(expected)
    if weights.shape[-2:] != expected or weights.ndim > most_dimensions:
        hint = ": transpose it" if weights.shape[-2:] == expected[::-1] else ""
        raise DataError(
            f"attention has shape {weights.shape}, but {expected[0]} hypothesis words and "
            f"{expected[1]} source words need {expected} (target × source){hint}"
        )
    if not ((weights >= 0) & (weights <= 1 + _ROUNDING)).all():
        raise DataError(
            f"attention has entries from {weights.min():.4g} to {weights.max():.4g}, "
            "but weights must lie between 0 and 1: pass attention after softmax, not before"
        )
    return weights, source, hypothesis


def _draw_margin(ax: Axes, coverage: NDArray[np.float64], fertility: ArrayLike | None) -> Axes:
    """Draw ``[source]`` cumulative attention as bars in new Axes to the right of a map.

    The excess over ``[source]`` fertilities, if there are any, has a colour of its own.

    Raises:
        DataError: Not a fertility for each source word.
    """
    side = canvas.beside(ax, 0.1, _MARGIN - 0.1)
    bounds = np.full(len(coverage), np.inf)
    if fertility is not None:
        bounds = canvas.checked_bounds(fertility, len(coverage), "fertility")
    within = np.minimum(coverage, bounds)
    rows = np.arange(len(coverage))
    side.barh(rows, within, 0.7, color=canvas.WEIGHT, gid="coverage")
    side.barh(rows, coverage - within, 0.7, within, color=canvas.EXCESS, gid="excess")
    rows = rows[np.isfinite(bounds)]  # infinite fertilities have no line
    style: dict[str, Any] = {"colors": canvas.BOUND, "linestyles": (0, (2, 1)), "linewidth": 1.6}
    side.vlines(bounds[rows], rows - 0.45, rows + 0.45, gid="fertility", **style)
    side.grid(visible=False)
    furthest = max([1.0, *coverage, *bounds[np.isfinite(bounds)]])
    side.set(xlim=(0, 1.08 * furthest), ylim=ax.get_ylim(), yticks=[])
    side.set_xlabel("cumulative\nattention")
    side.spines[["top", "right"]].set_visible(False)
    return side
