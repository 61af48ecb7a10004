"""Fonts for Chinese, Japanese and Korean, by Matplotlib's fallback, and its warnings."""

from __future__ import annotations

import contextlib
import logging
import warnings
from collections.abc import Iterator
from functools import cache

import matplotlib as mpl
from matplotlib.font_manager import fontManager

_WIDE = ("CJK JP", "Sans JP", "IPAex", "Hiragino", "Yu Gothic", "CJK SC", "Sans SC", "PingFang",
         "YaHei", "WenQuanYi", "CJK KR", "Malgun", "Apple SD", "Nanum")  # fmt: skip
"""Parts of the names of fonts for these languages."""


def font_families() -> list[str]:
    """The user's families (``rcParams["font.family"]``), and installed ones for wide characters.

    Matplotlib draws each character with the first family that has it.
    """
    return [*mpl.rcParams["font.family"], *_wide_families()]


@cache
def _wide_families() -> tuple[str, ...]:
    names = sorted({entry.name for entry in fontManager.ttflist})
    return tuple(name for part in _WIDE for name in names if part in name)


@contextlib.contextmanager
def one_glyph_warning() -> Iterator[None]:
    """Say once, not for each character, that no installed font has some of them."""
    logger = logging.getLogger("matplotlib.font_manager")
    logger.addFilter(_is_no_search)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
    finally:
        logger.removeFilter(_is_no_search)
    missing = [str(one.message) for one in caught if "missing from" in str(one.message)]
    for one in caught:
        if "missing from" not in str(one.message):
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    if missing:
        said = f"{missing[0]} (and {len(missing) - 1} more)" if len(missing) > 1 else missing[0]
        warnings.warn(f"{said}; install one that has them, such as Noto Sans CJK", stacklevel=3)


def _is_no_search(record: logging.LogRecord) -> bool:
    """Whether a log message is not about a family or weight that was not found."""
    return not record.getMessage().startswith("findfont:")
