"""Fonts: families are found for any script, and one warning names the missing glyphs."""

import warnings

import matplotlib as mpl
import numpy as np
import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from matplotlib import ft2font
from matplotlib.font_manager import fontManager

from coverage_eval.plotting import attention_heatmap, fonts, quiet_missing_glyphs
from coverage_eval.plotting.fonts import MissingGlyphWarning, ShapingWarning, font_families

# Characters of a private-use plane: no installed font has them.
NOWHERE = "\U000f1234\U000f1235"
JAPANESE = ["私", "は", "サーバー"]
CHINESE = ["我们", "关键"]


def square_font(path, family, characters):
    """Write a font in which each of the characters is a square."""
    builder = FontBuilder(1000, isTTF=True)
    names = {ord(c): f"u{ord(c):X}" for c in characters}
    pen = TTGlyphPen(None)
    for k, point in enumerate([(0, 0), (0, 700), (700, 700), (700, 0)]):
        (pen.lineTo if k else pen.moveTo)(point)
    pen.closePath()
    glyph = pen.glyph()
    order = [".notdef", *names.values()]
    builder.setupGlyphOrder(order)
    builder.setupCharacterMap(names)
    builder.setupGlyf(dict.fromkeys(order, glyph))
    builder.setupHorizontalMetrics(dict.fromkeys(order, (800, 0)))
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupOS2(sTypoAscender=800, usWinAscent=800, usWinDescent=200)
    builder.setupNameTable({"familyName": family, "styleName": "Regular"})
    builder.setupPost()
    builder.save(path)
    return path


@pytest.fixture
def only_dejavu(monkeypatch):
    """A machine without any other font."""
    monkeypatch.setattr(
        fontManager, "ttflist", [e for e in fontManager.ttflist if e.name.startswith("DejaVu")]
    )
    monkeypatch.setattr(fonts, "findSystemFonts", list)
    fonts.add_new_fonts.cache_clear()
    yield
    fonts.add_new_fonts.cache_clear()


@pytest.fixture
def install(monkeypatch, tmp_path, only_dejavu):
    """Install a font for one test."""

    def add(family, characters):
        monkeypatch.setattr(fontManager, "ttflist", list(fontManager.ttflist))
        fontManager.addfont(square_font(tmp_path / f"{family}.ttf", family, characters))

    return add


def missing(caught):
    return [w for w in caught if issubclass(w.category, MissingGlyphWarning)]


def test_texts_that_the_default_font_covers_need_no_other_font():
    assert font_families(["größer", "naïve"]) == [list(mpl.rcParams["font.family"])]


def test_a_family_with_the_glyphs_is_found(install):
    install("Test Squares", "".join(JAPANESE))
    assert font_families(JAPANESE) == [[*mpl.rcParams["font.family"], "Test Squares"]]


def test_a_font_that_was_installed_after_matplotlibs_list_is_found(
    monkeypatch, tmp_path, only_dejavu
):
    new = square_font(tmp_path / "new.ttf", "Test New", "".join(JAPANESE))
    (tmp_path / "broken.ttf").write_bytes(b"no font")
    paths = [str(new), str(tmp_path / "broken.ttf")]
    monkeypatch.setattr(fonts, "findSystemFonts", lambda: paths)
    assert font_families(["abc"]) == [list(mpl.rcParams["font.family"])]
    assert not any(entry.name == "Test New" for entry in fontManager.ttflist)
    assert font_families(JAPANESE) == [[*mpl.rcParams["font.family"], "Test New"]]


def test_matplotlibs_font_search_prints_nothing(monkeypatch, caplog, tmp_path):
    monkeypatch.setitem(mpl.rcParams, "font.family", ["No Such Family", "sans-serif"])
    ax = attention_heatmap(np.eye(2), ["a", "b"], ["c", "c"])
    with quiet_missing_glyphs():
        ax.figure.savefig(tmp_path / "picture.png")
    assert ax.figure._repr_png_()
    assert "findfont" not in caplog.text


def test_several_families_cover_a_text_together(install):
    install("Test One", "私は")
    install("Test Two", "サー")
    (families,) = font_families(["私は", "サー"])
    assert set(families[-2:]) == {"Test One", "Test Two"}


def test_each_language_gets_fonts_made_for_it(install):
    groups = {"JP": JAPANESE, "SC": CHINESE, "KR": ["한국어"], "kana": ["私は"], "": ["サ"]}
    everything = "".join(word for words in groups.values() for word in words)
    install("Last Resort", everything)
    for family in ("JP", "KR", "SC"):
        install(f"Noto Sans CJK {family}", everything)
    found = [families[-1].split()[-1] for families in font_families(*groups.values())]
    assert found == ["JP", "SC", "KR", "JP", "JP"]


def test_missing_glyphs_are_named_in_one_warning(only_dejavu):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        attention_heatmap(np.eye(2), ["a", NOWHERE], ["私", "b"])
    (warning,) = missing(caught)
    message = str(warning.message)
    assert "私 (U+79C1)" in message
    assert "U+F1234" in message
    assert "U+F1235" in message
    assert "install" in message
    assert warning.filename == __file__, "it points at the caller's line"


def test_a_long_list_of_missing_glyphs_is_cut(only_dejavu):
    with pytest.warns(MissingGlyphWarning, match="and 8 more"):
        font_families([chr(0x4E00 + k) for k in range(20)])


def test_labels_are_set_in_the_fonts_found(install):
    install("Test Squares", "".join(JAPANESE))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ax = attention_heatmap(np.eye(3), JAPANESE, ["we", "the", "server"])
        ax.figure.canvas.draw()
    assert all(label.get_fontfamily()[-1] == "Test Squares" for label in ax.get_yticklabels())


def test_matplotlibs_own_warnings_can_be_silenced(only_dejavu):
    with pytest.warns(MissingGlyphWarning):
        loud, quiet = (attention_heatmap(np.eye(1), [NOWHERE], ["a"]) for _ in range(2))
    with pytest.warns(UserWarning, match="missing from"):
        loud.figure.canvas.draw()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with quiet_missing_glyphs():
            quiet.figure.canvas.draw()


def test_format_characters_need_no_glyph():
    with warnings.catch_warnings():
        warnings.simplefilter("error", MissingGlyphWarning)
        assert font_families(["\u200b\u200d\ufeff"]) == font_families(["a"])


def test_right_to_left_words_are_shaped_or_warned_about():
    arabic = ["نحن", "نرى"]
    if hasattr(ft2font, "__libraqm_version__"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            font_families(arabic)
    else:
        with pytest.warns(ShapingWarning, match=r"3\.11"):
            font_families(arabic)


def test_without_a_shaper_right_to_left_words_are_warned_about(monkeypatch):
    monkeypatch.delattr(ft2font, "__libraqm_version__", raising=False)
    with pytest.warns(ShapingWarning):
        font_families(["نحن"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        font_families(["left to right"])


def test_han_words_stack_upright_across_and_lie_flat_beside(only_dejavu):
    with pytest.warns(MissingGlyphWarning):
        ax = attention_heatmap(np.eye(3), ["私", "我们", "a"], ["关键", "サーバー", "ab"])
    assert [t.get_text() for t in ax.get_xticklabels()] == ["关\n键", "サーバー", "ab"]
    assert [t.get_rotation() for t in ax.get_xticklabels()] == [0.0, 90.0, 90.0]
    assert [t.get_text() for t in ax.get_yticklabels()] == ["私", "我们", "a"]
