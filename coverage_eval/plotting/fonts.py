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
from matplotlib.font_manager import FontEntry, FontProperties, fontManager, get_font

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

_WEIGHTS = {"ultralight": 100, "light": 200, "medium": 500, "bold": 700, "heavy": 800, "black": 900}


class MissingGlyphWarning(UserWarning):
    """No installed font has some characters of a picture's texts."""


class ShapingWarning(UserWarning):
    """This Matplotlib draws joined or right-to-left letters one by one, left to right."""


def font_families(*groups: Iterable[str]) -> list[list[str]]:
    """Return, for each group of texts, the family list with which Matplotlib can draw them.

    Args:
        groups: the texts of one picture, one group for each language: so Japanese and Chinese
            forms of the same character stay apart.

    Returns:
        For each group ``rcParams["font.family"]``, followed by as few installed families as
        cover what it lacks.

    Warns:
        MissingGlyphWarning: once, naming the characters of all groups that no installed font has.
        ShapingWarning: if a text needs shaping and this Matplotlib does none.
    """
    families: list[list[str]] = []
    missing: set[str] = set()
    characters: set[str] = set()
    for group in groups:
        needed = {c for text in group for c in text if not c.isspace() and _is_drawn(c)}
        chosen, lacking = _choose(needed)
        families.append(chosen)
        missing |= lacking
        characters |= needed
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


def _choose(characters: set[str]) -> tuple[list[str], set[str]]:
    """Return the families for these characters, and the characters that none has."""
    families = list(mpl.rcParams["font.family"])
    own = [fontManager.findfont(FontProperties(family=[family])) for family in families]
    missing = {c for c in characters if not any(_has_glyph(str(path), c) for path in own)}
    for family, path in _candidates(characters) if missing else ():
        found = {c for c in missing if _has_glyph(path, c)}
        if found:
            families.append(family)
            missing -= found
        if not missing:
            break
    return families, missing


def _is_drawn(character: str) -> bool:
    # Format and control characters (joiners, direction marks) have no glyph of their own.
    return unicodedata.category(character) not in {"Cc", "Cf", "Cn", "Cs"}


def _candidates(characters: set[str]) -> list[tuple[str, str]]:
    """Return each installed family and its plainest file, those for the texts' language first."""
    plainest: dict[str, FontEntry] = {}
    for entry in fontManager.ttflist:
        # Fonts of last resort have a placeholder for every character, which is no glyph for it.
        if "Last Resort" in entry.name:
            continue
        known = plainest.get(entry.name)
        if known is None or _plainness(entry) < _plainness(known):
            plainest[entry.name] = entry
    preferred = [f for f in (*_by_language(characters), *_OTHERS) if f in plainest]
    names = preferred + sorted(plainest.keys() - set(preferred))
    return [(name, plainest[name].fname) for name in names]


def _plainness(entry: FontEntry) -> tuple[bool, int, str]:
    weight = _WEIGHTS.get(entry.weight, 400) if isinstance(entry.weight, str) else entry.weight
    return entry.style != "normal", abs(int(weight) - 400), entry.fname


def _by_language(characters: set[str]) -> tuple[str, ...]:
    names = " ".join(unicodedata.name(c, "") for c in characters)
    if "HIRAGANA" in names or "KATAKANA" in names:
        return _JAPANESE + _CHINESE + _KOREAN
    if "HANGUL" in names:
        return _KOREAN + _JAPANESE + _CHINESE
    return _CHINESE + _JAPANESE + _KOREAN


@lru_cache(maxsize=65536)
def _has_glyph(path: str, character: str) -> bool:
    return bool(get_font(path).get_char_index(ord(character)))


def _warn_missing(missing: set[str]) -> None:
    ordered = sorted(missing)
    named = ", ".join(f"{c} (U+{ord(c):04X})" for c in ordered[:12])
    more = f" and {len(ordered) - 12} more" if len(ordered) > 12 else ""
    warnings.warn(
        f"no installed font has the glyphs {named}{more}: install one that does "
        "(Noto Sans CJK for Chinese, Japanese and Korean, Noto Sans for other scripts)",
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
