"""Attention maps as in Figure 2 of Malaviya et al. (2018): source down, hypothesis across."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap
from numpy.typing import ArrayLike, NDArray

from coverage_eval.attention_maps import AttentionMap, merge_subwords
from coverage_eval.attention_maps.maps import checked_array, warn_of_row_sums, without_padding
from coverage_eval.core.errors import DataError
from coverage_eval.plotting import Scale, canvas
from coverage_eval.plotting.cells import (
    Colours,
    cell_aspect,
    colours_of,
    draw_cells,
    draw_scale,
    known_scale,
)
from coverage_eval.plotting.heads import draw_heads
from coverage_eval.plotting.word_marks import fitting_size, mark_words

_CELL = 0.25  # inches
_LARGEST, _WIDEST = 8.4, 12.6  # inches, of a map and of two; up to these they grow with the words
_ABOVE, _AXIS_NAME = 0.7, 0.2  # inches for title and legend, and for the name of an axis
_ROUNDING = 1e-3  # half-precision attention may exceed 1 by this much


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
    fertility: ArrayLike | None = None,
    margin: bool | None = None,
    title: str | None = None,
    cmap: str | Colormap = "Blues",
    colorbar: bool = True,
    width: float | None = None,
) -> Axes:
    """Draw one sentence's attention: source words down, hypothesis words across.

    A weight of exactly zero is white, and any other is visibly tinted: sparse maps look sparse,
    as in Figure 2 of Malaviya et al. (2018). In a long sentence only some words have a label, and
    the axis gives their number; the map itself is always complete. Marked words have a coloured
    label, and are outlined across the map in short sentences, at its edge in long ones.

    Several heads, or layers of heads, are a grid of small maps with one scale and without marks:
    a row of it is a layer, and words are named at its edges only.

    Fonts are as large as ``rcParams["font.size"]`` says, and those for other scripts are the
    installed ones that have their letters. ``ax.figure.savefig`` writes PDF with TrueType fonts
    (type 42), as publishers ask, if the figure is a new one.

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
        title: set above the map; by default "attention".
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
        UserWarning: ``width`` is so small that cells cannot be told apart.
    """
    weights, source, hypothesis = _with_words(attention, source, hypothesis, most_dimensions=4)
    warn_of_row_sums("attention", _as_maps(attention, weights))
    title = "attention" if title is None else title
    scale = known_scale(scale, len(source), len(hypothesis))
    colours = colours_of([weights], scale, cmap)
    if weights.ndim > 2:
        if any(each is not None for each in (ax, repeated, dropped, fertility, margin)):
            raise TypeError("a grid of heads has no marks or margins, and a figure of its own")
        return draw_heads(weights, source, hypothesis, colours, scale if colorbar else None,
                          title=title, width=width)  # fmt: skip
    margin = fertility is not None if margin is None else margin
    if ax is None:
        beside = 1.2 * margin + (1.0 if colorbar else 0.1)
        (ax,) = _new_grids(source, [hypothesis], beside=beside, width=width)
    draw_cells(ax, weights, colours)
    lines = mark_words(ax, weights, source, hypothesis, repeated, dropped)
    beside = _draw_margin(ax, weights.sum(axis=0), fertility) if margin else 1.0
    if colorbar:
        _draw_scale(ax, colours, beside, scale)
    _set_title(ax, title, lines)
    return ax


def attention_heatmaps_side_by_side(
    attentions: tuple[ArrayLike | WordedMap, ArrayLike | WordedMap],
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
    """Draw two systems' attention for one source sentence, on one scale, rows aligned.

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
        The two Axes, left and right.

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
    margin = fertility is not None if margin is None else margin
    scale = known_scale(scale, len(source), len(first), len(second))
    colours = colours_of([weights for weights, _, _ in maps], scale, cmap)
    if axes is None:
        beside = 2.4 * margin + (1.4 if colorbar else 0.4)
        left, right = _new_grids(source, [first, second], beside=beside, width=width)
        axes = left, right
    lines, margins = [], []
    for ax, (weights, _, hypothesis) in zip(axes, maps, strict=True):
        draw_cells(ax, weights, colours)
        lines.append(mark_words(ax, weights, source, hypothesis, None, None))
        margins.append(_draw_margin(ax, weights.sum(axis=0), fertility) if margin else 1.0)
    for ax, system in zip(axes, systems, strict=True):
        _set_title(ax, system, max(lines))
    if margin:
        limit = max(ax.child_axes[0].get_xlim()[1] for ax in axes)
        for ax in axes:
            ax.child_axes[0].set_xlim(0, limit)
    if colorbar:
        _draw_scale(axes[1], colours, margins[1], scale)
    return axes


def _with_equal_sources(
    first: ArrayLike | WordedMap, second: ArrayLike | WordedMap
) -> tuple[ArrayLike | WordedMap, ArrayLike | WordedMap]:
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
    attention: ArrayLike | WordedMap,
    source: Sequence[str] | None,
    hypothesis: Sequence[str] | None,
    most_dimensions: int = 2,
) -> tuple[NDArray[np.float64], Sequence[str], Sequence[str]]:
    """Weights ``[…, target, source]`` in [0, 1], and the words of both sides.

    Raises:
        DataError: the shape differs from the texts' lengths, or an entry is not a weight.
        TypeError: there are no words, or a text is a string, whose letters would be drawn as words.
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
    if not np.isfinite(weights).all():
        raise DataError("attention has entries that are not finite numbers")
    if weights.size and (weights.min() < 0 or weights.max() > 1 + _ROUNDING):
        raise DataError(
            f"attention has entries from {weights.min():.4g} to {weights.max():.4g}, "
            "but weights must lie between 0 and 1: pass attention after softmax, not before"
        )
    return weights, source, hypothesis


def _as_maps(attention: ArrayLike | WordedMap, weights: NDArray[np.float64]) -> list[AttentionMap]:
    """What is drawn, as maps: itself, or each head."""
    if isinstance(attention, AttentionMap):
        return [attention]
    heads = weights.reshape(-1, *weights.shape[-2:]) if weights.size else ()
    return [AttentionMap(head) for head in heads]


def _new_grids(
    rows: Sequence[str], blocks: Sequence[Sequence[str]], *, beside: float, width: float | None
) -> list[Axes]:
    """Return Axes in a row, for grids with common rows, in a new figure of fitting size.

    Args:
        rows: the words that label the rows of each grid.
        blocks: for each grid, the words that label its columns.
        beside: inches to keep free on the right, for a margin or a scale.
        width: of the figure, in inches; by default it grows with cells and labels up to a limit.
    """
    counts = [max(len(block), 1) for block in blocks]
    words = [word for block in blocks for word in block]
    across = min(_CELL, _LARGEST / max(counts), _WIDEST / sum(counts))
    down = min(_CELL, _LARGEST / max(len(rows), 1))
    is_square = all(cell_aspect(len(rows), count) == "equal" for count in counts)
    if is_square:
        across = down = min(across, down)
    left = canvas.longest_label(rows, fitting_size(down)) + _AXIS_NAME
    if width is not None:
        beside *= canvas.points(10) / 10
        left = canvas.longest_label(rows, canvas.points(6)) + 2 * _AXIS_NAME
        across = max((width - left * len(blocks) - beside) / sum(counts), 1e-3)
        down = across if is_square else down
        canvas.warn_of_small_cells(across, width)
    below = canvas.longest_label(words, fitting_size(across)) + _AXIS_NAME
    needed = max(across * sum(counts) + left * len(blocks) + beside, 3.2 * len(blocks))
    width = needed if width is None else width
    height = max(down * len(rows) + below + _ABOVE, 2.2)
    # The layout engine has the last word; labels are fitted to these places.
    margins = {
        "left": left / width,
        "right": 1 - (beside + left * (len(blocks) - 1)) / width,
        "bottom": below / height,
        "top": 1 - _ABOVE / height,
    }
    figure = canvas.new_figure(width, height, compressed=True)
    grids = figure.subplots(
        1, len(blocks), squeeze=False, gridspec_kw={"width_ratios": counts, **margins}
    )
    return list(grids[0])


def _draw_margin(ax: Axes, coverage: NDArray[np.float64], fertility: ArrayLike | None) -> float:
    """Draw bars in new Axes to the right of a map; the excess over fertilities has its own colour.

    Args:
        ax: the map, rows at 0, 1, ….
        coverage: ``[source]`` cumulative attention.
        fertility: ``[source]`` upper bounds, None for none.

    Returns:
        Where the margin ends, in widths of the map.

    Raises:
        DataError: Not a fertility for each source word.
    """
    left, width = 1.0 + _axes_fraction(ax, 0.1), _axes_fraction(ax, 1.1)
    side = ax.inset_axes((left, 0.0, width, 1.0))
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
    side.set_xlabel("cumulative\nattention", fontsize=canvas.points(8))
    side.tick_params(labelsize=canvas.points(8))
    side.spines[["top", "right"]].set_visible(False)
    return left + width


def _axes_fraction(ax: Axes, inches: float) -> float:
    """Return a length in inches as a fraction of the present width of the Axes."""
    return inches / max(canvas.axis_length(ax, "x"), 1.0)


def _set_title(ax: Axes, title: str, lines: int) -> None:
    """Set the title above a legend with this number of lines."""
    ax.set_title(
        title, loc="left", fontsize=canvas.points(11), pad=6 + 12 * lines, **canvas.plain_text()
    )


def _draw_scale(ax: Axes, colours: Colours, beside: float, scale: Scale) -> None:
    if ax.images:  # a map without words has no scale
        place = (beside + _axes_fraction(ax, 0.12), 0.0, _axes_fraction(ax, 0.1), 1.0)
        height = canvas.axis_length(ax, "y")
        draw_scale(ax.figure.figure, colours, scale, height, cax=ax.inset_axes(place))
