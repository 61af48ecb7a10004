"""What all pictures share: figures made without pyplot, colours, fonts, texts, checked arrays."""

from __future__ import annotations

import contextlib
import io
import logging
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, cast

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, findSystemFonts, fontManager, get_font
from matplotlib.textpath import text_to_path
from matplotlib.transforms import Affine2DBase, ScaledTranslation, blended_transform_factory
from numpy.typing import ArrayLike, NDArray

from coverage_eval.core.errors import DataError

# Safe for colour-blind readers.
EXCESS = "#D55E00"
BOUND = "#00805A"
WITHIN_BOUNDS = "#DFEFE9"
WEIGHT = "#3B7DB8"
INK = "#222222"
GRID = "#E3E3E3"

_MAX_LABEL = 28  # characters

_PREFERRED = ("CJK JP", "Sans JP", "IPAex", "Hiragino", "Yu Gothic", "CJK SC",
              "Sans SC", "PingFang", "YaHei", "WenQuanYi", "CJK KR", "Malgun", "Apple SD",
              "Nanum")  # fmt: skip
"""Parts of the names of fonts for Chinese, Japanese and Korean, the first choice first."""


class Picture(Figure):
    """A figure that shows itself in a notebook with any backend, without pyplot."""

    def savefig(self, fname: Any, **options: Any) -> None:
        """Write the figure; PDF has TrueType fonts, as publishers ask, in place of type 3."""
        with single_glyph_warning(), mpl.rc_context({"pdf.fonttype": 42, "ps.fonttype": 42}):
            super().savefig(fname, **options)

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png")
        return buffer.getvalue()


def new_figure(width: float, height: float) -> Picture:
    """Return an empty figure of this size in inches; its Agg canvas needs no display.

    Its layout makes room for labels. pyplot does not keep it, so it is freed like any other object.
    """
    figure = Picture(figsize=(width, height))
    figure.set_layout_engine("constrained")
    FigureCanvasAgg(figure)
    return figure


def new_axes(width: float, height: float) -> Axes:
    """Return the only Axes of a new figure; its size in inches is for a ``font.size`` of 10."""
    scale = font_size("font.size") / 10
    return new_figure(width * scale, height * scale).add_subplot()


def axis_length(ax: Axes, axis: str) -> float:
    """Return the present length of axis ``x`` or ``y`` in inches; square cells shorten it."""
    ax.apply_aspect()
    box = ax.get_position()
    width, height = ax.figure.figure.get_size_inches()
    return max(float(box.width * width if axis == "x" else box.height * height), 1e-6)


def font_size(setting: str) -> float:
    """Return the font size in points of a setting, such as ``xtick.labelsize``."""
    return float(FontProperties(size=cast(Any, mpl.rcParams)[setting]).get_size_in_points())


def beside(ax: Axes, start: float, width: float) -> Axes:
    """Return new Axes as high as these, from ``start`` inches on their right, ``width`` wide."""
    right = ScaledTranslation(1, 0, cast(Affine2DBase, ax.transAxes))
    inches = ax.figure.dpi_scale_trans + right
    place = blended_transform_factory(inches, ax.transAxes)
    return ax.inset_axes((start, 0, width, 1), transform=place)


def plain_text(*texts: str) -> dict[str, Any]:
    r"""Return the style of texts from outside: a ``$`` or ``\`` starts no formula.

    The families are those of ``rcParams["font.family"]``, and then installed ones that have the
    other characters: Matplotlib draws each character with the first family that has it.
    """
    families = [*mpl.rcParams["font.family"]]
    missing = {c for text in texts for c in text if not c.isspace()}
    for family in families:
        missing = _missing(findfont(FontProperties(family=[family])), missing)
    families += _families_with("".join(sorted(missing)))
    return {"fontfamily": families, "parse_math": False, "usetex": False}


def _missing(font: Any, characters: set[str]) -> set[str]:
    """Those of the characters that a font lacks."""
    face = get_font(font)
    return {c for c in characters if not face.get_char_index(ord(c))}


@cache
def _families_with(characters: str) -> tuple[str, ...]:
    """Installed families that have these characters, as far as there are some.

    Fonts that were installed after Matplotlib listed them are added when a character is missing.
    """
    missing = set(characters)
    found: list[str] = []
    if missing:
        _add_new_fonts()
    for entry in sorted(fontManager.ttflist, key=_preference):
        left = _missing(entry.fname, missing) if missing else missing
        if left != missing and "Last Resort" not in entry.name:
            found.append(entry.name)
            missing = left
    return tuple(found)


def _preference(entry: Any) -> tuple[int, bool, str]:
    ranks = (rank for rank, part in enumerate(_PREFERRED) if part in entry.name)
    return next(ranks, len(_PREFERRED)), "Sans" not in entry.name, entry.name


@cache
def _add_new_fonts() -> None:
    known = {entry.fname for entry in fontManager.ttflist}
    for path in findSystemFonts():
        if path not in known:
            with contextlib.suppress(Exception):  # kinds of fonts that Matplotlib cannot read
                fontManager.addfont(path)


def write(ax: Axes, text: str, point: ArrayLike, offset: tuple[float, float], **style: Any) -> None:
    """Write a text verbatim, ``offset`` points from a point; ``style`` is for Matplotlib's Text."""
    x, y = np.asarray(point, dtype=np.float64).tolist()
    style = {"ha": "center", **plain_text(text), **style}
    ax.annotate(text, (x, y), offset, textcoords="offset points", **style)


def shorten(word: str) -> str:
    """Return the word, its middle elided if it is too long for a label (a URL, say)."""
    if len(word) <= _MAX_LABEL:
        return word
    return f"{word[: _MAX_LABEL - 9]}…{word[-8:]}"


def longest(words: Sequence[str], setting: str) -> float:
    """Return the length in inches of the longest text in one line, in the size of a setting."""
    font = FontProperties(family=plain_text(*words)["fontfamily"], size=font_size(setting))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of glyphs, which are said when the figure is saved
        measure = text_to_path.get_text_width_height_descent
        return max((measure(word, font, False)[0] for word in words), default=0) / 72


def wrapped(text: str, inches: float, setting: str) -> str:
    """Break a text in the size of a setting into lines of about that length."""
    letters = inches * len(text) / max(longest([text], setting), 0.01)
    return "\n".join(textwrap.wrap(text, max(int(letters), 12)))


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
    missing = []
    for warning in caught:
        if "missing from" in str(warning.message):
            missing.append(str(warning.message))
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
    if missing:
        more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        warnings.warn(
            f"{missing[0]}{more}; install fonts that have them: Noto has some for every script",
            stacklevel=4,
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
