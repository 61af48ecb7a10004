"""Fonts for any script: families that have a text's glyphs, or one warning that names the rest.

Matplotlib draws each character with the first family of a text's family list that has it. The
lists made here start with the caller's own fonts (``rcParams["font.family"]``) and add installed
families for the characters those lack, Japanese, Chinese and Korean forms of Han characters being
kept apart. Since version 3.11 Matplotlib shapes and reorders text itself (libraqm, HarfBuzz), so
Arabic, Hebrew and Indic words need nothing more; older versions draw their letters unjoined and
left to right, which is said once in a :class:`ShapingWarning`.
"""

from __future__ import annotations

import contextlib
import unicodedata
import warnings
from collections.abc import Iterable, Iterator
from functools import lru_cache

import matplotlib as mpl
from matplotlib import ft2font
from matplotlib.font_manager import FontProperties, fontManager, get_font

__all__ = ["MissingGlyphWarning", "ShapingWarning", "font_families", "quiet_missing_glyphs"]

_JAPANESE = (
    "Noto Sans CJK JP",
    "Noto Sans JP",
    "Source Han Sans JP",
    "IPAexGothic",
    "Yu Gothic",
    "Hiragino Sans",
    "Hiragino Kaku Gothic Pro",
    "MS Gothic",
    "VL Gothic",
    "TakaoGothic",
)
_CHINESE = (
    "Noto Sans CJK SC",
    "Noto Sans SC",
    "Source Han Sans SC",
    "PingFang SC",
    "Microsoft YaHei",
    "SimHei",
    "WenQuanYi Zen Hei",
    "WenQuanYi Micro Hei",
    "Noto Sans CJK TC",
    "PingFang TC",
    "Microsoft JhengHei",
    "Heiti TC",
)
_KOREAN = (
    "Noto Sans CJK KR",
    "Noto Sans KR",
    "Malgun Gothic",
    "Apple SD Gothic Neo",
    "NanumGothic",
    "UnDotum",
)
_OTHERS = (
    "Noto Sans",
    "Noto Sans Arabic",
    "Noto Naskh Arabic",
    "Amiri",
    "Geeza Pro",
    "Noto Sans Hebrew",
    "Noto Sans Devanagari",
    "Noto Sans Thai",
    "Arial Unicode MS",
    "Segoe UI",
    "Tahoma",
    "FreeSans",
    "Unifont",
)


class MissingGlyphWarning(UserWarning):
    """No installed font has some characters of a picture's texts."""


class ShapingWarning(UserWarning):
    """This Matplotlib draws joined or right-to-left letters one by one, left to right."""


def font_families(texts: Iterable[str]) -> list[str]:
    """Return the family list with which Matplotlib can draw these texts.

    Args:
        texts: the labels of one picture, or of one side of it (one language per call keeps
            Japanese and Chinese forms of the same character apart).

    Returns:
        ``rcParams["font.family"]`` followed by as few installed families as cover the rest.

    Warns:
        MissingGlyphWarning: once, naming the characters that no installed font has.
        ShapingWarning: if a text needs shaping and this Matplotlib does none.
    """
    characters = {c for text in texts for c in text if not c.isspace() and _is_drawn(c)}
    families = list(mpl.rcParams["font.family"])
    paths = _paths(tuple(families), _font_count())
    missing = {c for c in characters if not any(_has_glyph(path, c) for path in paths)}
    for family in _candidates(characters) if missing else ():
        path = _path(family, _font_count())
        found = {c for c in missing if path is not None and _has_glyph(path, c)}
        if found:
            families.append(family)
            missing -= found
        if not missing:
            break
    if missing:
        _warn_missing(missing)
    _warn_unshaped(characters)
    return families


@contextlib.contextmanager
def quiet_missing_glyphs() -> Iterator[None]:
    """Silence Matplotlib's own line per missing glyph while a picture is drawn or saved.

    :func:`font_families` has named them all in one warning already.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", message=r"Glyph \d+ .* missing from", category=UserWarning
        )
        yield


def _is_drawn(character: str) -> bool:
    # Format and control characters (joiners, direction marks) have no glyph of their own.
    return unicodedata.category(character) not in {"Cc", "Cf", "Cn", "Cs"}


def _candidates(characters: set[str]) -> list[str]:
    """Return every installed family, those drawn for the texts' language first."""
    installed = {entry.name for entry in fontManager.ttflist}
    preferred = [f for f in (*_by_language(characters), *_OTHERS) if f in installed]
    # Fonts of last resort have a placeholder for every character, which is no glyph for it.
    rest = sorted(f for f in installed - set(preferred) if "Last Resort" not in f)
    return preferred + rest


def _by_language(characters: set[str]) -> tuple[str, ...]:
    names = " ".join(unicodedata.name(c, "") for c in characters)
    if "HIRAGANA" in names or "KATAKANA" in names:
        return _JAPANESE + _CHINESE + _KOREAN
    if "HANGUL" in names:
        return _KOREAN + _JAPANESE + _CHINESE
    return _CHINESE + _JAPANESE + _KOREAN


def _font_count() -> int:
    """Return the number of known font files: part of the caches' keys, as users may add fonts."""
    return len(fontManager.ttflist)


@lru_cache(maxsize=1024)
def _path(family: str, font_count: int) -> str | None:  # noqa: ARG001 (key of the cache)
    """Return the file Matplotlib uses for the family, None if it has none."""
    try:
        return str(fontManager.findfont(FontProperties(family=[family]), fallback_to_default=False))
    except ValueError:
        return None


def _paths(families: tuple[str, ...], font_count: int) -> list[str]:
    paths = [_path(family, font_count) for family in families]
    return [path for path in paths if path is not None]


@lru_cache(maxsize=65536)
def _has_glyph(path: str, character: str) -> bool:
    return bool(get_font(path).get_char_index(ord(character)))


def _warn_missing(missing: set[str]) -> None:
    ordered = sorted(missing)
    named = ", ".join(f"{c} (U+{ord(c):04X})" for c in ordered[:12])
    more = f" and {len(ordered) - 12} more" if len(ordered) > 12 else ""
    warnings.warn(
        f"no installed font has the glyphs {named}{more}: install a font that does "
        "(for Japanese, Chinese and Korean, Noto Sans CJK), or name one in "
        'matplotlib.rcParams["font.family"]',
        MissingGlyphWarning,
        stacklevel=4,
    )


def _warn_unshaped(characters: set[str]) -> None:
    if hasattr(ft2font, "__libraqm_version__"):
        return
    if any(
        unicodedata.bidirectional(c) in {"R", "AL"} or unicodedata.category(c) == "Mc"
        for c in characters
    ):
        warnings.warn(
            "this Matplotlib draws right-to-left and joined letters one by one, left to right: "
            "install Matplotlib 3.11 or newer, which shapes them",
            ShapingWarning,
            stacklevel=4,
        )
