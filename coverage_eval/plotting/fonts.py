"""Fonts for any script: family lists for Matplotlib's font fallback, and warnings.

Matplotlib draws each character with the first family of a text's family list that has it. The
lists made here start with the user's own fonts (``rcParams["font.family"]``) and continue with
installed families for the missing characters; Han characters keep their Japanese, Chinese or
Korean form. Since version 3.11 Matplotlib also joins and reorders letters, so Arabic, Hebrew
and Indic words need nothing more; older versions draw their letters unjoined and left to right,
and one :class:`ShapingWarning` tells the user.
"""

from __future__ import annotations

import contextlib
import logging
import unicodedata
import warnings
from collections.abc import Iterable, Iterator
from functools import cache

import matplotlib as mpl
from matplotlib import ft2font
from matplotlib.font_manager import FontProperties, findSystemFonts, fontManager, get_font

# Parts of the names of font families made for a language, the best first.
_JAPANESE = ("CJK JP", "Sans JP", "IPAex", "Yu Gothic", "Hiragino", "MS Gothic", "VL Gothic")
_KOREAN = ("CJK KR", "Sans KR", "Malgun", "Apple SD", "Nanum", "UnDotum")
_CHINESE = ("CJK SC", "Sans SC", "PingFang", "YaHei", "SimHei", "WenQuanYi", "CJK TC", "JhengHei")


class MissingGlyphWarning(UserWarning):
    """Some characters of a picture's texts are in no installed font."""


class ShapingWarning(UserWarning):
    """This Matplotlib draws joined or right-to-left letters one by one, left to right."""


def font_families(*groups: Iterable[str]) -> list[list[str]]:
    """Return, for each group of texts, the family list with which Matplotlib can draw them.

    Args:
        groups: the texts of one picture, one group for each language, so that Japanese and
            Chinese forms of the same character stay apart.

    Returns:
        For each group ``rcParams["font.family"]``, followed by installed families that have its
        missing characters.

    Warns:
        MissingGlyphWarning: once, naming the characters of all groups that no installed font has.
        ShapingWarning: if a text needs shaping and this Matplotlib does none.
    """
    families: list[list[str]] = []
    characters: set[str] = set()
    missing: set[str] = set()
    for group in groups:
        # Format and control characters (joiners, direction marks) have no glyph of their own.
        needed = {
            c
            for text in group
            for c in text
            if unicodedata.category(c) not in {"Cc", "Cf", "Cn", "Cs"} and not c.isspace()
        }
        chosen = list(mpl.rcParams["font.family"])
        lacking = needed.intersection(*(_lacking(family, needed) for family in chosen))
        lacking = _add_families(chosen, needed, lacking)
        if lacking and add_new_fonts():
            lacking = _add_families(chosen, needed, lacking)
        families.append(chosen)
        characters |= needed
        missing |= lacking
    if missing:
        named = ", ".join(f"{c} (U+{ord(c):04X})" for c in sorted(missing)[:12])
        more = f" and {len(missing) - 12} more" if len(missing) > 12 else ""
        message = (
            f"no installed font has the glyphs {named}{more}: install one that does "
            "(Noto Sans CJK for Chinese, Japanese and Korean, Noto Sans for other scripts)"
        )
        warnings.warn(message, MissingGlyphWarning, stacklevel=3)
    needs_shaping = any(
        unicodedata.bidirectional(c) in {"R", "AL"} or unicodedata.category(c) == "Mc"
        for c in characters
    )
    if needs_shaping and not hasattr(ft2font, "__libraqm_version__"):
        message = (
            "this Matplotlib draws right-to-left and joined letters one by one, left to right: "
            "install Matplotlib 3.11 or newer, which shapes them"
        )
        warnings.warn(message, ShapingWarning, stacklevel=3)
    return families


def _add_families(chosen: list[str], needed: set[str], lacking: set[str]) -> set[str]:
    """Add installed families that have missing characters; return what is still missing."""
    for family in _installed(needed) if lacking else ():
        still_lacking = _lacking(family, lacking)
        if still_lacking != lacking:
            chosen.append(family)
        lacking = still_lacking
    return lacking


@cache
def add_new_fonts() -> bool:
    """Add installed fonts that Matplotlib's stored list lacks; return whether there are any.

    This runs once in a process, and only if characters are missing: asking the system is slow.
    """
    known = {entry.fname for entry in fontManager.ttflist}
    found = [path for path in findSystemFonts() if path not in known]
    for path in found:
        with contextlib.suppress(OSError, RuntimeError, ValueError):  # not a font
            fontManager.addfont(path)
    return bool(found)


@contextlib.contextmanager
def quiet_missing_glyphs() -> Iterator[None]:
    """Silence Matplotlib's messages about glyphs and fonts while a picture is drawn or saved.

    :func:`font_families` names all missing characters in one warning.
    """
    logger = logging.getLogger("matplotlib.font_manager")
    logger.addFilter(_is_no_search)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings(
                "ignore", message=r"Glyph \d+ .* missing from", category=UserWarning
            )
            yield
    finally:
        logger.removeFilter(_is_no_search)


def _is_no_search(record: logging.LogRecord) -> bool:
    """Whether a log message is not about a family or weight that was not found."""
    return not record.getMessage().startswith("findfont:")


def _lacking(family: str, characters: set[str]) -> set[str]:
    """Return the characters that are missing from a family's regular font."""
    if not characters:
        return characters
    with quiet_missing_glyphs():
        font = get_font(fontManager.findfont(FontProperties(family=[family])))
    return {c for c in characters if not font.get_char_index(ord(c))}


def _installed(characters: set[str]) -> list[str]:
    """Return the installed families, first those made for the language of the characters."""
    scripts = " ".join(unicodedata.name(c, "") for c in characters)
    wanted = [*(_KOREAN if "HANGUL" in scripts else _CHINESE), "Noto Sans"]
    if "HIRAGANA" in scripts or "KATAKANA" in scripts:
        wanted = [*_JAPANESE, *wanted]

    def rank(name: str) -> tuple[int, str]:
        return next((k for k, part in enumerate(wanted) if part in name), len(wanted)), name

    # Fonts of last resort have a placeholder, not a glyph, for every character.
    names = {entry.name for entry in fontManager.ttflist if "Last Resort" not in entry.name}
    return sorted(names, key=rank)
