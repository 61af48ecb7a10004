"""Letters of other scripts: fonts that have them are found, or named once; PDF has TrueType."""

import warnings
from pathlib import Path

import matplotlib as mpl
import pytest
from matplotlib import font_manager
from matplotlib.font_manager import fontManager

from coverage_eval import plotting
from coverage_eval.plotting import canvas


def drawn(words, path):
    """The warnings of saving a map with these words."""
    weights = [[float(i == j) for i in range(len(words))] for j in range(len(words))]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        plotting.attention_heatmap(weights, words, words).figure.savefig(path)
    return [str(warning.message) for warning in caught if warning.category is UserWarning]


@pytest.fixture
def no_other_fonts(monkeypatch):
    """Only Matplotlib's own fonts are listed, and no others are installed."""
    own = [entry for entry in fontManager.ttflist if entry.name.startswith("DejaVu")]
    monkeypatch.setattr(fontManager, "ttflist", own)
    monkeypatch.setattr(canvas, "findSystemFonts", list)
    for cached in (canvas._families_with, canvas._add_new_fonts):
        cached.cache_clear()
    yield
    for cached in (canvas._families_with, canvas._add_new_fonts):
        cached.cache_clear()


def test_fonts_for_letters_that_no_font_has_are_named_once(no_other_fonts, tmp_path):
    (said,) = drawn(["घर", "家", "ひと", "ไทย"], tmp_path / "map.png")
    assert said.endswith("install fonts that have them: Noto has some for every script")
    assert drawn(["البيت", "dom"], tmp_path / "map.png") == [], "DejaVu Sans has Arabic letters"


def test_fonts_installed_after_matplotlib_listed_them_are_found(no_other_fonts, monkeypatch):
    """A list without a font that is installed, as a stale cache has it."""
    installed = str(Path(mpl.get_data_path(), "fonts/ttf/STIXGeneral.ttf"))
    monkeypatch.setattr(canvas, "findSystemFonts", lambda: [installed])
    letters = {chr(code) for code in font_manager.get_font(installed).get_charmap()}
    for entry in fontManager.ttflist:
        letters = canvas._missing(entry.fname, letters)
    assert canvas.plain_text(*letters)["fontfamily"][-1] == "STIXGeneral"


def test_pdf_has_truetype_fonts(tmp_path):
    assert drawn(["ein", "Haus"], tmp_path / "map.pdf") == []
    assert b"/Type3" not in (tmp_path / "map.pdf").read_bytes()
    assert b"/CIDFontType2" in (tmp_path / "map.pdf").read_bytes()
