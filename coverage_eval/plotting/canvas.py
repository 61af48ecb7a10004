"""What all pictures share: figures made without pyplot, colours, fonts, texts, checked arrays."""

from __future__ import annotations

import contextlib
import io
import logging
import unicodedata
import warnings
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Literal

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager
from numpy.typing import ArrayLike, NDArray

from coverage_eval.core.errors import DataError

# Safe for colour-blind readers.
REPEATED = "#D55E00"
DROPPED = "#A6318A"
EXCESS = "#D55E00"
BOUND = "#00805A"
WITHIN_BOUNDS = "#DFEFE9"
WEIGHT = "#3B7DB8"
INK = "#222222"
GRID = "#E3E3E3"

_MAX_LABEL = 28  # characters

_SCRIPTS = ("CJK JP", "Sans JP", "IPAex", "Hiragino", "Yu Gothic", "CJK SC", "Sans SC", "PingFang",
         "YaHei", "WenQuanYi", "CJK KR", "Malgun", "Apple SD", "Nanum",
         "Devanagari", "Kohinoor", "Lohit", "Mangal", "Emoji", "Symbola")  # fmt: skip
"""Parts of the names of fonts for Chinese, Japanese, Korean, Hindi and emoji."""


class Picture(Figure):
    """A figure that shows itself in a notebook with any backend, without pyplot."""

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        with single_glyph_warning():
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


def axis_length(ax: Axes, axis: Literal["x", "y"]) -> float:
    """Return the present length of an axis in inches; cells of equal sides shorten it."""
    ax.apply_aspect()
    box = ax.get_position()
    width, height = ax.figure.figure.get_size_inches()
    return max(float(box.width * width if axis == "x" else box.height * height), 1e-6)


def plain_text() -> dict[str, Any]:
    r"""Return the style of every text from outside: a ``$`` or ``\`` starts no formula.

    The families are those of ``rcParams["font.family"]``, and then installed ones for Chinese,
    Japanese, Korean, Hindi and emoji: Matplotlib draws each character with the first family that
    has it.
    """
    families = [*mpl.rcParams["font.family"], *_script_families()]
    return {"fontfamily": families, "parse_math": False, "usetex": False}


@cache
def _script_families() -> tuple[str, ...]:
    names = sorted({entry.name for entry in fontManager.ttflist})
    return tuple(name for part in _SCRIPTS for name in names if part in name)


def write(ax: Axes, text: str, point: ArrayLike, offset: tuple[float, float], **style: Any) -> None:
    """Write a text verbatim, ``offset`` points from a point; ``style`` is for Matplotlib's Text."""
    x, y = np.asarray(point, dtype=np.float64).tolist()
    style = {"fontsize": 8, "ha": "center", **plain_text(), **style}
    ax.annotate(text, (x, y), offset, textcoords="offset points", **style)


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


@contextlib.contextmanager
def single_glyph_warning() -> Iterator[None]:
    """Say once, not for each character, that no installed font has some of them."""
    logger = logging.getLogger("matplotlib.font_manager")
    logger.addFilter(_is_no_search)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
    finally:
        logger.removeFilter(_is_no_search)
    missing = [str(warning.message) for warning in caught if "missing from" in str(warning.message)]
    for warning in caught:
        if "missing from" not in str(warning.message):
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
    if missing:
        more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        warnings.warn(
            f"{missing[0]}{more}; install one that has them, such as Noto Sans CJK, Noto Sans "
            "Devanagari or Noto Emoji",
            stacklevel=3,
        )


def _is_no_search(record: logging.LogRecord) -> bool:
    """Whether a log message is not about a family or weight that was not found."""
    return not record.getMessage().startswith("findfont:")


def shaped(values: ArrayLike, shape: tuple[int, ...], what: str) -> NDArray[np.float64]:
    """Return the values as a float array of that shape; NaN means undefined.

    Raises:
        DataError: it has another shape.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.shape != shape:
        raise DataError(f"{what} has shape {array.shape}, but {shape} is needed")
    return array


def checked_bounds(values: ArrayLike, length: int, what: str) -> NDArray[np.float64]:
    """Return upper bounds as a float array of that length (infinity is allowed).

    Raises:
        DataError: it has another length, or NaN.
    """
    bounds = shaped(values, (length,), what)
    if np.isnan(bounds).any():
        raise DataError(f"{what} has entries that are not numbers")
    return bounds
