"""Attention maps as in Figure 2 of Malaviya et al. (2018): source down, hypothesis across."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Literal, Protocol, get_args, runtime_checkable

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, LinearSegmentedColormap, Normalize, PowerNorm
from matplotlib.image import AxesImage
from numpy.typing import ArrayLike, NDArray

from coverage_eval.core.errors import DataError
from coverage_eval.plotting import Scale, canvas
from coverage_eval.plotting.word_marks import MAX_SHORT, mark_words

_CELL, _NARROW_CELL = 0.25, 0.21  # inches, for short and for long sentences
_MAX_LABELLED = 250  # words on a side up to which a figure grows with them
_MAX_SIZE, _OVERVIEW = 16.0, 10.0  # inches, of figures up to and beyond that
_MAX_SHARP = 700  # words on a side up to which a pixel of an overview shows one cell
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
) -> Axes:
    """Draw one sentence's attention: source words down, hypothesis words across.

    A weight of exactly zero is white, and any other is visibly tinted: sparse maps look sparse,
    as in Figure 2 of Malaviya et al. (2018). In a long sentence only some words have a label, and
    the axis gives their number; the map itself is always complete. Marked words have a coloured
    label, and are outlined across the map in short sentences, at its edge in long ones.

    Args:
        attention: ``[target, source]`` weights in [0, 1]; or a
            :class:`~coverage_eval.attention_maps.AttentionMap`, which has its own words.
        source: the source words, special tokens such as ``<SINK>`` included if attended.
        hypothesis: the words of the hypothesis.
        ax: where to draw; a new figure of fitting size if None.
        scale: ``fixed`` gives a weight the same colour in every map, so that systems compare.
            ``max`` ends at the map's largest weight, and ``sqrt`` spreads small weights by their
            square roots. ``auto`` is ``sqrt`` if a sentence has more than 30 words, over which a
            softmax spreads its weights thinly, otherwise ``fixed``.
        repeated: positions (from 0) of hypothesis words to mark; by default the repeated ones
            (:func:`~.word_marks.repeated_positions`); ``()`` for none.
        dropped: positions of source words to mark, ``()`` for none; by default those whose
            cumulative attention is below 0.2, special tokens aside.
        fertility: ``[source]`` upper bounds to show in the margin; infinite ones have no line.
        margin: draw the cumulative attention beside each row; by default if there are fertilities.
        title: set above the map; by default "attention".

    Returns:
        The Axes with the map. Its child axes are the margin and the scale. Saving or showing it
        warns once (:class:`UserWarning`) if no installed font has some of the characters.

    Raises:
        DataError: shapes and texts disagree, an entry is no weight, or the scale is unknown.
        TypeError: weights without words.
    """
    weights, source, hypothesis = _with_words(attention, source, hypothesis)
    margin = fertility is not None if margin is None else margin
    if ax is None:
        (ax,) = _new_grids(source, [hypothesis], beside=2.2 if margin else 1.0)
    scale = _known_scale(scale, *weights.shape)
    image = _draw_cells(ax, weights, scale)
    lines = mark_words(ax, weights, source, hypothesis, repeated, dropped)
    beside = _draw_margin(ax, weights.sum(axis=0), fertility) if margin else 1.0
    if image is not None:
        _draw_scale(ax, image, beside, scale)
    _set_title(ax, "attention" if title is None else title, lines)
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
        fertility: as in :func:`attention_heatmap`, common to both.
        margin: as in :func:`attention_heatmap`.

    Returns:
        The two Axes, left and right.

    Raises:
        DataError: as :func:`attention_heatmap`, or the maps have different source words.
        TypeError: weights without words.
    """
    maps = [
        _with_words(attention, source, hypothesis)
        for attention, hypothesis in zip(attentions, hypotheses or (None, None), strict=True)
    ]
    (_, source, first), (_, other, second) = maps
    if list(source) != list(other):
        raise DataError("the two maps have different source words; are they of one segment?")
    margin = fertility is not None if margin is None else margin
    scale = _known_scale(scale, len(source), len(first), len(second))
    if axes is None:
        left, right = _new_grids(source, [first, second], beside=3.8 if margin else 1.4)
        axes = left, right
    images, lines, margins = [], [], []
    for ax, (weights, _, hypothesis) in zip(axes, maps, strict=True):
        images.append(_draw_cells(ax, weights, scale))
        lines.append(mark_words(ax, weights, source, hypothesis, None, None))
        margins.append(_draw_margin(ax, weights.sum(axis=0), fertility) if margin else 1.0)
    for ax, system in zip(axes, systems, strict=True):
        _set_title(ax, system, max(lines))
    pictures = [image for image in images if image is not None]
    for image in pictures:
        image.set_clim(0.0, max(float(image.get_clim()[1] or 0) for image in pictures))
    if margin:
        limit = max(ax.child_axes[0].get_xlim()[1] for ax in axes)
        for ax in axes:
            ax.child_axes[0].set_xlim(0, limit)
    if images[1] is not None:
        _draw_scale(axes[1], images[1], margins[1], scale)
    return axes


def _with_words(
    attention: ArrayLike | WordedMap,
    source: Sequence[str] | None,
    hypothesis: Sequence[str] | None,
) -> tuple[NDArray[np.float64], Sequence[str], Sequence[str]]:
    """Weights ``[target, source]`` in [0, 1], and the words of both sides.

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
    weights = np.asarray(attention, dtype=np.float64)
    expected = (len(hypothesis), len(source))
    if weights.size == 0 and 0 in expected:
        weights = np.zeros(expected)
    if weights.shape != expected:
        hint = ": transpose it" if weights.shape == expected[::-1] else ""
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


def _known_scale(scale: Scale, *lengths: int) -> Scale:
    """The scale of ``auto`` for sentences of these lengths.

    Raises:
        DataError: an unknown scale.
    """
    if scale not in get_args(Scale):
        raise DataError(f"unknown scale {scale!r}: choose from {', '.join(get_args(Scale))}")
    if scale == "auto":
        return "sqrt" if max(lengths) > MAX_SHORT else "fixed"
    return scale


def _new_grids(
    rows: Sequence[str], blocks: Sequence[Sequence[str]], *, beside: float
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
    left = canvas.longest_label(rows) + _AXIS_NAME
    below = canvas.longest_label([word for block in blocks for word in block]) + _AXIS_NAME
    room_across = largest * len(blocks) - left * len(blocks) - beside
    room_down = largest - below - _ABOVE
    cell = _CELL if longest <= MAX_SHORT else _NARROW_CELL
    across, down = min(cell, room_across / sum(counts)), min(cell, room_down / max(len(rows), 1))
    if all(_cell_aspect(len(rows), count) == "equal" for count in counts):
        across = down = min(across, down)
    width = max(across * sum(counts) + left * len(blocks) + beside, 3.2 * len(blocks))
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


def _cell_aspect(rows: int, columns: int) -> Literal["equal", "auto"]:
    """Return ``equal`` for square cells; in a very oblong grid they would be tiny."""
    return "equal" if max(rows, columns) <= 4 * min(rows, columns) else "auto"


def attention_colormap() -> Colormap:
    """Blue tints that begin well off white; masked cells (weight zero) are exactly white.

    The smallest positive weight is visibly tinted, so that a sparse map differs from one that is
    merely small, as in Figure 2 of Malaviya et al. (2018): "white means zero attention".
    """
    tints = mpl.colormaps["Blues"](np.linspace(0.18, 1.0, 256))
    colormap = LinearSegmentedColormap.from_list("coverage_eval_attention", tints)
    return colormap.with_extremes(bad="white")


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
        cmap=attention_colormap(),
        norm=norm,
        origin="upper",
        aspect=_cell_aspect(rows, columns),
        # Sharp cells if there are enough pixels; else averaged colours, so that no cell vanishes.
        interpolation="nearest" if max(rows, columns) <= _MAX_SHARP else "antialiased",
        interpolation_stage="rgba",
    )
    if max(rows, columns) <= MAX_SHORT:
        style: dict[str, Any] = {"colors": canvas.GRID, "linewidth": 0.5, "zorder": 2}
        ax.hlines(np.arange(rows + 1) - 0.5, -0.5, columns - 0.5, **style)
        ax.vlines(np.arange(columns + 1) - 0.5, -0.5, rows - 0.5, **style)
    return image


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
    side.set_xlabel("cumulative\nattention", fontsize=8)
    side.tick_params(labelsize=8)
    side.spines[["top", "right"]].set_visible(False)
    return left + width


def _axes_fraction(ax: Axes, inches: float) -> float:
    """Return a length in inches as a fraction of the present width of the Axes."""
    return inches / max(canvas.axis_length(ax, "x"), 1.0)


def _set_title(ax: Axes, title: str, lines: int) -> None:
    """Set the title above a legend with this number of lines."""
    ax.set_title(title, loc="left", fontsize=11, pad=6 + 12 * lines, **canvas.plain_text())


def _draw_scale(ax: Axes, image: AxesImage, beside: float, scale: Scale) -> None:
    cax = ax.inset_axes((beside + _axes_fraction(ax, 0.12), 0.0, _axes_fraction(ax, 0.1), 1.0))
    ticks = {"fixed": [0, 0.25, 0.5, 0.75, 1], "sqrt": [0, 0.01, 0.05, 0.1, 0.25, 0.5, 1]}
    if canvas.axis_length(ax, "y") < 1.0:
        ticks = {kind: [0, 1] for kind in ticks}
    # Zero itself is white: the lowest tint is that of the smallest positive weight.
    bar = ax.figure.figure.colorbar(
        image,
        cax=cax,
        ticks=ticks.get(scale),
        format=lambda weight, _: f"{weight:g}" if weight else ">0",
    )
    bar.ax.tick_params(labelsize=8)
    kind = {"fixed": "", "max": "up to the largest, ", "sqrt": "square-root scale, "}[scale]
    bar.set_label(f"attention ({kind}white: exactly 0)", fontsize=8)
    bar.outline.set_visible(False)
