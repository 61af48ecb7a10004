"""Figures and Axes made without pyplot, and checks of their arrays."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from coverage_eval.core.errors import DataError
from coverage_eval.plotting.fonts import one_glyph_warning

_ROUNDING = 1e-3  # half-precision attention may exceed 1 by this much


class Picture(Figure):
    """A figure that shows itself in a notebook with any backend, without pyplot."""

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        with one_glyph_warning():
            self.savefig(buffer, format="png")
        return buffer.getvalue()


def new_figure(width: float, height: float, *, compressed: bool = False) -> Picture:
    """Return an empty figure of this size in inches; its Agg canvas needs no display.

    Its layout makes room for labels; ``compressed`` also closes the gaps around Axes of fixed
    aspect. pyplot does not keep it, so it is freed like any other object.
    """
    figure = Picture(figsize=(width, height))
    figure.set_layout_engine("compressed" if compressed else "constrained")
    FigureCanvasAgg(figure)
    return figure


def new_axes(width: float, height: float) -> Axes:
    """Return the only Axes of a new figure of this size in inches."""
    return new_figure(width, height).add_subplot()


def figure_of(ax: Axes) -> Figure:
    """Return the figure of an Axes, even if the Axes is in a subfigure."""
    return ax.figure.figure


def check_words(**texts: Sequence[str]) -> None:
    """Raise for strings in place of lists of words: their letters would be drawn as words.

    Raises:
        TypeError: a text is a string.
    """
    for name, words in texts.items():
        if isinstance(words, str):
            raise TypeError(f"the {name} must be a list of words, not a string; split it first")


def checked_attention(
    attention: ArrayLike, source: Sequence[str], hypothesis: Sequence[str]
) -> NDArray[np.float64]:
    """Return the attention as a float array ``[target, source]`` with entries in [0, 1].

    Raises:
        DataError: the shape differs from the texts' lengths, or an entry is not a weight.
        TypeError: a text is a string.
    """
    check_words(source=source, hypothesis=hypothesis)
    weights = np.asarray(attention, dtype=np.float64)
    expected = (len(hypothesis), len(source))
    if weights.size == 0 and 0 in expected:
        return np.zeros(expected)
    if weights.shape != expected:
        hint = ": transpose it" if weights.shape == expected[::-1] else ""
        raise DataError(
            f"attention has shape {weights.shape}, but {expected[0]} hypothesis words and "
            f"{expected[1]} source words need {expected} (target × source){hint}"
        )
    if not np.isfinite(weights).all():
        raise DataError("attention has entries that are not finite numbers")
    if weights.min() < 0 or weights.max() > 1 + _ROUNDING:
        raise DataError(
            f"attention has entries from {weights.min():.4g} to {weights.max():.4g}, "
            "but weights must lie between 0 and 1: pass attention after softmax, not before"
        )
    return weights


def checked_vector(values: ArrayLike, length: int, what: str) -> NDArray[np.float64]:
    """Return the values as a float array of that length without NaN (infinity is allowed).

    Raises:
        DataError: it has another length, or NaN.
    """
    vector = _of_shape(values, (length,), what)
    if np.isnan(vector).any():
        raise DataError(f"{what} has entries that are not numbers")
    return vector


def checked_table(values: ArrayLike, shape: tuple[int, ...], what: str) -> NDArray[np.float64]:
    """Return the values as a float array of that shape; NaN means undefined.

    Raises:
        DataError: it has another shape, or infinite entries.
    """
    table = _of_shape(values, shape, what)
    if np.isinf(table).any():
        raise DataError(f"{what} has infinite entries")
    return table


def checked_positions(positions: Iterable[int], length: int, what: str) -> tuple[int, ...]:
    """Return the positions in order, each once.

    Raises:
        DataError: one lies outside the sentence.
    """
    ordered = tuple(sorted({int(position) for position in positions}))
    outside = [position for position in ordered if not 0 <= position < length]
    if outside:
        raise DataError(f"{what} position {outside[0]} is not in 0 to {length - 1}")
    return ordered


def _of_shape(values: ArrayLike, shape: tuple[int, ...], what: str) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64)
    if array.shape != shape:
        raise DataError(f"{what} has shape {array.shape}, but {shape} is needed")
    return array
