"""The pictures themselves, against baselines (``pytest --mpl``; ``--mpl-generate-path`` renews).

Figures have fixed places, no layout engine, no text and no legend, because versions of Matplotlib
and FreeType draw text differently; texts are tested as artists. The tolerance is for antialiasing
(fine grids differ more): a missing or misplaced mark makes a larger difference.
"""

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Text

from coverage_eval.plotting import SYSTEM_COLOURS
from tests.plotting.pictures import PICTURES


def compared(tolerance=2):
    return pytest.mark.mpl_image_compare(
        baseline_dir="baseline", style="default", savefig_kwargs={"dpi": 60}, tolerance=tolerance
    )


def without_text(picture):
    for artist in picture.findobj(lambda artist: isinstance(artist, (Text, Legend))):
        artist.set_visible(False)
    return picture


def figure(width, height, **margins):
    picture = Figure(figsize=(width, height))
    FigureCanvasAgg(picture)
    picture.subplots_adjust(**margins)
    return picture


@compared()
def test_figure_1():
    picture = figure(9, 7.5, left=0.16, right=0.97, bottom=0.05, top=0.93, hspace=0.3)
    axes = PICTURES["simplex_figure1"](axes=picture.subplots(4, 4))
    assert axes[2, 3].texts[-1].get_text() == "(0, 0, 1)"
    return without_text(picture)


@compared(7)
def test_heatmap_with_margin():
    picture = figure(6.5, 4.2, left=0.18, right=0.72, bottom=0.2, top=0.84)
    ax = PICTURES["attention_heatmap"](ax=picture.subplots())
    assert len(ax.child_axes) == 2
    return without_text(picture)


@compared(7)
def test_two_systems():
    picture = figure(9, 4, left=0.12, right=0.9, bottom=0.2, top=0.82, wspace=0.5)
    left, right = PICTURES["attention_heatmaps_side_by_side"](axes=tuple(picture.subplots(1, 2)))
    assert left.get_ylim() == right.get_ylim()
    return without_text(picture)


@compared()
def test_regions_of_sparsemax():
    picture = figure(3.6, 3.6, left=0.02, right=0.98, bottom=0.02, top=0.98)
    ax = PICTURES["simplex"](ax=picture.subplots())
    assert len(ax.patches) == 8
    return without_text(picture)


@compared()
def test_differences():
    picture = figure(6.4, 1.8, left=0.02, right=0.9, bottom=0.25, top=0.95)
    axes = PICTURES["plot_differences"](axes=picture.subplots(1, 2))
    explanation = "line: 95% interval; dot and *: differs significantly from softmax; ring: not"
    assert [" ".join(text.get_text().split()) for text in axes[1].texts] == [
        "−0.70*",
        "+0.10",
        explanation,
    ]
    return without_text(picture)


@compared()
def test_transformation_curves():
    picture = figure(4, 2.4, left=0.1, right=0.97, bottom=0.1, top=0.95)
    ax = PICTURES["transformation_curves"](ax=picture.subplots())
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["softmax", "sparsemax", "csoftmax", "csparsemax", "bound 0.7"]
    colours = [line.get_color() for line in ax.lines[:4]]
    assert colours == [*SYSTEM_COLOURS[:2]] * 2, "a bound changes no colour"
    return without_text(picture)
