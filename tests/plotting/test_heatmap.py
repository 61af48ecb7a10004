"""Attention heatmaps: what the Axes contain, and which pixels are white."""

import re
import warnings
from contextlib import suppress
from importlib.resources import files
from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager

from coverage_eval.attention_maps import AttentionMap
from coverage_eval.core.errors import DataError
from coverage_eval.core.web_page import page_style
from coverage_eval.plotting import (
    MARK_COLOURS,
    attention_heatmap,
    attention_heatmaps_side_by_side,
    canvas,
)
from tests.plotting.pictures import by_gid, overlaps

SOURCE = ["und", "wir", "benutzen", "dieses", "wort", "mit", "solcher", "verachtung", ".", "<SINK>"]
SOFTMAX = ["and", "we", "use", "this", "word", "with", "such", "contempt", "contempt", "."]
CSPARSEMAX = ["and", "we", "use", "this", "word", "with", "such", "contempt", "."]


def sparse_map(hypothesis):
    """A diagonal map whose neighbours share some weight; everything else is zero."""
    weights = np.zeros((len(hypothesis), len(SOURCE)))
    for t in range(len(hypothesis)):
        j = min(t, 8)
        weights[t, j] += 0.8
        weights[t, max(j - 1, 0)] += 0.2
    return weights


def patches(ax, kind):
    return [patch for patch in ax.patches if patch.get_gid() == kind]


def labels(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def pixels(figure):
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba())


def cell_colour(ax, row, column, image):
    # Off the cell's centre line, away from rulings and outlines.
    x, y = ax.transData.transform((column + 0.1, row + 0.1))
    return tuple(int(v) for v in image[image.shape[0] - 1 - int(y), int(x), :3])


def test_source_runs_down_and_hypothesis_across():
    ax = attention_heatmap(sparse_map(SOFTMAX), SOURCE, SOFTMAX)
    assert labels(ax.yaxis) == SOURCE
    assert labels(ax.xaxis) == SOFTMAX
    assert all(axis.get_tick_params()["length"] == 0 for axis in (ax.xaxis, ax.yaxis))
    assert ax.images[0].get_array().shape == (len(SOURCE), len(SOFTMAX))
    assert ax.get_ylim()[0] > ax.get_ylim()[1], "the first source word is at the top"
    assert np.allclose(ax.images[0].get_array().filled(0).T, sparse_map(SOFTMAX))


@pytest.mark.parametrize("scale", ["fixed", "max", "sqrt"])
def test_zero_is_exactly_white_and_the_smallest_weight_is_not(scale):
    weights = sparse_map(SOFTMAX)
    smallest = {5: 1e-3, 6: 1e-12, 7: 1e-16, 8: np.nextafter(0, 1)}
    for row, weight in smallest.items():
        weights[0, row] = weight
    weights[0, 9] = -0.0
    ax = attention_heatmap(weights, SOURCE, SOFTMAX, repeated=(), dropped=(), scale=scale)
    ax.figure.set_dpi(200)
    image = pixels(ax.figure)
    assert cell_colour(ax, 7, 2, image) == (255, 255, 255)
    assert cell_colour(ax, 9, 0, image) == (255, 255, 255), "minus zero is zero"
    for row in smallest:
        assert max(np.subtract(255, cell_colour(ax, row, 0, image))) > 20
    assert sum(cell_colour(ax, 2, 2, image)) < sum(cell_colour(ax, 5, 0, image))


def test_repeated_words_are_outlined_and_their_labels_coloured():
    ax = attention_heatmap(sparse_map(SOFTMAX), SOURCE, SOFTMAX)
    (outline,) = patches(ax, "repeated")
    assert outline.get_xy() == (7.5, -0.5), "the second 'contempt' only"
    assert outline.get_width() == 1
    assert outline.get_height() == len(SOURCE)
    bold = [t.get_text() for t in ax.get_xticklabels() if t.get_fontweight() == "bold"]
    assert bold == ["contempt"]
    assert ax.get_xticklabels()[8].get_color() == MARK_COLOURS["repeated"]
    assert ax.get_xticklabels()[7].get_color() != MARK_COLOURS["repeated"]


def test_dropped_words_are_those_below_the_threshold_but_never_the_sink():
    weights = sparse_map(CSPARSEMAX)
    weights[:, 4] *= 0.1
    ax = attention_heatmap(weights, SOURCE, CSPARSEMAX)
    (outline,) = patches(ax, "dropped")
    assert (*outline.get_xy(), outline.get_height()) == (-0.5, 3.5, 1.0)
    assert outline.get_width() == len(CSPARSEMAX)
    bold = [t.get_text() for t in ax.get_yticklabels() if t.get_fontweight() == "bold"]
    assert bold == ["wort"]
    assert "0.2" in ax.get_legend().get_texts()[0].get_text()


def test_margin_shows_cumulative_attention_against_fertility():
    weights = sparse_map(SOFTMAX)
    fertility = [1.0] * 9 + [np.inf]
    ax = attention_heatmap(weights, SOURCE, SOFTMAX, fertility=fertility)
    margin = ax.child_axes[0]
    within, excess = (
        [bar.get_width() for bar in margin.patches if bar.get_gid() == kind]
        for kind in ("coverage", "excess")
    )
    assert np.allclose(within, np.minimum(weights.sum(axis=0), fertility))
    assert np.allclose(np.add(within, excess), weights.sum(axis=0))
    assert to_rgb(canvas.EXCESS) == margin.patches[-1].get_facecolor()[:3]
    assert len(margin.collections[0].get_segments()) == 9, "an infinite fertility has no line"
    assert margin.get_ylim() == ax.get_ylim()


def test_side_by_side_shares_rows_and_scale():
    left, right = attention_heatmaps_side_by_side(
        (sparse_map(SOFTMAX), sparse_map(CSPARSEMAX)),
        SOURCE,
        (SOFTMAX, CSPARSEMAX),
        systems=("softmax", "csparsemax"),
    )
    assert left.figure is right.figure
    assert left.get_title("left") == "softmax"
    assert right.get_title("left") == "csparsemax"
    assert len(patches(left, "repeated")) == 1
    assert not patches(right, "repeated")
    assert left.get_ylim() == right.get_ylim()
    assert left.images[0].get_clim() == right.images[0].get_clim()


def test_marks_of_long_sentences_are_lines_on_the_edge():
    words = [f"w{i % 35}" for i in range(40)]
    ax = attention_heatmap(np.eye(40), words, words, dropped=[3])
    (columns,), (row,) = patches(ax, "repeated"), patches(ax, "dropped")
    assert (columns.get_xy(), columns.get_width(), columns.get_height()) == ((34.5, 39.5), 5, 0)
    assert (row.get_xy(), row.get_width(), row.get_height()) == ((-0.5, 2.5), 0, 1)
    assert not ax.collections, "no ruling"


@pytest.mark.slow
def test_long_sentences_keep_readable_labels():
    words = [f"word{i}" for i in range(500)]
    ax = attention_heatmap(np.full((500, 500), 0.002), words, words, fertility=np.ones(500))
    assert max(ax.figure.get_size_inches()) <= 16, "it fits a page"
    assert len(ax.figure.findobj()) < 5000, "artists do not grow with the cells"
    assert ax.images[0].get_array().size == 250_000, "every cell is there"
    shown = labels(ax.xaxis)
    assert 20 < len(shown) < 250
    assert ax.get_xlabel() == "hypothesis"
    assert shown[1] == words[int(ax.get_xticks()[1])]
    pixels(ax.figure)
    boxes = [t.get_window_extent() for t in ax.get_xticklabels()]
    assert all(a.x1 <= b.x0 + 0.5 for a, b in pairwise(boxes))


@pytest.mark.parametrize(("target", "source"), [(0, 3), (3, 0), (0, 0)])
def test_empty_segments_are_drawn_with_a_note(target, source):
    ax = attention_heatmap(
        np.zeros((target, source)), ["s"] * source, [f"t{i}" for i in range(target)]
    )
    assert not ax.images
    assert ax.texts[0].get_text() == ("empty source" if source == 0 else "empty hypothesis")
    assert ax.texts[0].get_position() == (0.5, 0.5)
    pixels(ax.figure)
    with pytest.raises(DataError, match=r"attention has shape \(2, 2\)"):
        attention_heatmap(np.ones((2, 2)), ["s"] * source, ["t"] * target)


def test_a_dollar_starts_no_formula():
    words = ["$", "x_1^", "$\\frac", "50%", "{}"]
    ax = attention_heatmap(np.eye(5), words, words)
    pixels(ax.figure)
    assert labels(ax.xaxis) == words
    assert not any(label.get_parse_math() for label in ax.get_xticklabels())


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.zeros((10, 9)), "transpose it"),
        (np.zeros((3, 3)), "target × source"),
        (np.full((9, 10), np.nan), "from nan to nan"),
        (np.full((9, 10), -0.1), "between 0 and 1"),
        (np.full((9, 10), 1.01), "from 1.01 to 1.01, .* after softmax"),
    ],
)
def test_arrays_that_are_not_attention_are_refused(weights, message):
    with pytest.raises(DataError, match=message):
        attention_heatmap(weights, SOURCE, CSPARSEMAX)


def test_heads_and_layers_are_one_grid_with_one_scale_and_words_at_its_edges():
    heads = np.stack([sparse_map(SOFTMAX), 0.5 * sparse_map(SOFTMAX)])
    grid = attention_heatmap(np.stack([heads, heads, heads]), SOURCE, SOFTMAX).figure
    maps = [ax for ax in grid.axes if ax.images]
    assert [ax.get_title() for ax in maps] == ["head 1", "head 2"] + [""] * 4
    assert [ax.get_ylabel() for ax in maps[::2]] == ["layer 1", "layer 2", "layer 3"]
    assert [labels(ax.yaxis) == SOURCE for ax in maps] == [True, False] * 3
    assert [labels(ax.xaxis) == SOFTMAX for ax in maps] == [False] * 4 + [True] * 2
    assert len({ax.images[0].get_clim() for ax in maps}) == 1
    assert [len(ax.child_axes) for ax in maps] == [0, 1, 0, 0, 0, 0], "one colour bar"
    assert grid.get_dpi() == 200
    (zeros,) = by_gid(maps[0], "zeros")
    assert set(map(tuple, zeros.get_xydata())) == set(zip(*np.nonzero(heads[0] == 0), strict=True))
    assert not maps[0].collections, "dots in place of rulings"
    row = attention_heatmap(heads, SOURCE, SOFTMAX, scale="max", colorbar=False).figure
    assert [ax.get_ylabel() for ax in row.axes] == ["", ""]
    assert {ax.images[0].get_clim() for ax in row.axes} == {(0, 1)}
    image = pixels(row)
    assert cell_colour(row.axes[1], 7, 2, image) == (255, 255, 255)
    with pytest.raises(TypeError, match="a grid of heads has no marks"):
        attention_heatmap(heads, SOURCE, SOFTMAX, repeated=())
    with pytest.raises(DataError, match=r"shape \(1, 1, 2, 10, 10\)"):
        attention_heatmap(heads[None, None], SOURCE, SOFTMAX)


GERMAN = ["Donau@@", "dampf@@", "schifffahrts@@", "gesellschafts@@", "kapitän", "überlassen", "sie",
          "das", "Grundstücksverkehrs@@", "genehmigungs@@", "zuständigkeit", "."]  # fmt: skip
JAPANESE = ["彼女", "は", "図書館", "で", "新しい", "本", "を", "読ん", "で", "いる", "。"]
HAS_JAPANESE = any(
    not canvas._missing(entry.fname, set("".join(JAPANESE)))
    for entry in fontManager.ttflist
    if "Last Resort" not in entry.name
)
needs_font = pytest.mark.skipif(not HAS_JAPANESE, reason="no font for Japanese is installed")


def blurred(hypothesis, source):
    """Attention near the diagonal, and zeros elsewhere."""
    distance = np.abs(np.subtract.outer(np.arange(len(hypothesis)), np.arange(len(source))))
    weights = np.maximum(2.0 - distance, 0) + (distance == distance.min(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def draw_panels(panels, source, hypothesis, width):
    """Two systems, or so many heads."""
    weights = blurred(hypothesis, source)
    if panels == 2:
        texts = (hypothesis, hypothesis[:-1])
        pair = (weights, weights[:-1])
        return attention_heatmaps_side_by_side(pair, source, texts, width=width)[0].figure
    return attention_heatmap(np.stack([weights] * panels), source, hypothesis, width=width).figure


@pytest.mark.parametrize("size", [pytest.param(7, marks=pytest.mark.slow), 10])
@pytest.mark.parametrize("width", [3.25, 6.75])
@pytest.mark.parametrize("panels", [2, 3, 8])
@pytest.mark.parametrize(
    ("source", "hypothesis"), [(GERMAN, SOFTMAX), pytest.param(SOFTMAX, JAPANESE, marks=needs_font)]
)
def test_a_figure_gets_higher_or_says_how_wide_it_must_be(panels, width, size, source, hypothesis):
    """If it says so, it fits in that width, with a label for every word."""
    with mpl.rc_context({"font.size": size}):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            figure = None
            with suppress(ValueError):  # there is no room for any cell
                figure = draw_panels(panels, source, hypothesis, width)
        messages = [str(warning.message) for warning in caught]
        assert figure or messages
        if messages:
            (message,) = messages
            width, wanted = float(re.search(r"give width=([\d.]+)", message)[1]), width
            assert wanted < width < 11
            with warnings.catch_warnings():
                warnings.simplefilter("error", UserWarning)
                figure = draw_panels(panels, source, hypothesis, width)
        assert figure.get_size_inches()[0] == width
        pixels(figure)
        assert overlaps(figure) == []
    maps = [ax for ax in figure.axes if ax.images]
    assert len(maps) == panels
    assert figure.get_size_inches()[1] < 12
    assert labels(maps[0].yaxis) == source
    last = hypothesis[-1 if panels > 2 else -2]
    assert labels(maps[-1].xaxis)[-1].replace("\n", "") == last
    assert {len(labels(ax.xaxis)) for ax in maps} <= {0, len(hypothesis), len(hypothesis) - 1}


def test_names_of_axes_are_given_once_and_a_margin_widens_no_cell():
    pair = (sparse_map(SOFTMAX), sparse_map(CSPARSEMAX))
    left, right = attention_heatmaps_side_by_side(pair, SOURCE, (SOFTMAX, CSPARSEMAX))
    assert (left.get_ylabel(), right.get_ylabel()) == ("source", "")
    upper, lower = attention_heatmaps_side_by_side(
        pair, SOURCE, (SOFTMAX, CSPARSEMAX), width=4, margin=True
    )
    assert upper.get_position().y0 > lower.get_position().y1
    assert (upper.get_ylabel(), lower.get_ylabel()) == ("source", "source")


def test_a_column_of_a_paper_is_as_wide_as_it_says_and_too_many_words_are_said():
    ax = attention_heatmap(sparse_map(SOFTMAX), SOURCE, SOFTMAX, width=3.25, colorbar=False)
    assert ax.figure.get_size_inches()[0] == 3.25
    assert not ax.child_axes
    words = [f"w{i}" for i in range(150)]
    with pytest.warns(
        UserWarning, match=r"not all words .* in 3.25 inches: give width=\d\.\d, or"
    ) as caught:
        attention_heatmap(np.eye(150), words, words, width=3.25)
    assert caught[0].filename == __file__
    with (
        pytest.raises(ValueError, match="figure size must be positive"),
        pytest.warns(UserWarning, match="in 1 inches: give width="),
    ):
        attention_heatmap(np.eye(3), words[:3], words[:3], width=1)
    small = Figure(figsize=(2, 2)).subplots()
    with pytest.warns(UserWarning, match=r"Axes \d\.\d inches wide must be 1.8") as caught:
        attention_heatmap(sparse_map(SOFTMAX), SOURCE, SOFTMAX, ax=small)
    assert {warning.filename for warning in caught} == {__file__}


def test_colour_maps_have_no_white_but_for_zero():
    ax = attention_heatmap(sparse_map(SOFTMAX), SOURCE, SOFTMAX, cmap="viridis")
    assert cell_colour(ax, 7, 2, pixels(ax.figure)) == (255, 255, 255)
    for cmap in ("Greys_r", "RdBu"):
        with pytest.raises(DataError, match=f"{cmap} has white for some weights"):
            attention_heatmap(sparse_map(SOFTMAX), SOURCE, SOFTMAX, cmap=cmap)
    with pytest.raises(DataError, match="'no such map' is not a"):
        attention_heatmap(sparse_map(SOFTMAX), SOURCE, SOFTMAX, cmap="no such map")


def test_thin_weights_of_long_sentences_are_grey_and_every_fifth_word_has_a_label():
    words = [f"w{i}" for i in range(61)]
    weights = np.full((61, 61), 0.25 / 60)
    np.fill_diagonal(weights, 0.75)
    weights[0, 60] = 0
    ax = attention_heatmap(weights, words, words)
    image = pixels(ax.figure)
    red, green, blue = cell_colour(ax, 3, 40, image)
    assert red == green == blue < 255
    assert cell_colour(ax, 60, 0, image) == (255, 255, 255)
    assert labels(ax.xaxis) == words[::5]
    assert max(ax.figure.get_size_inches()) < 11
    assert "grey: below 0.02" in ax.child_axes[0].get_ylabel()


def test_sources_in_other_subwords_are_merged_to_words():
    first = AttentionMap([[0.5, 0.3, 0.2]], ("Haus@@", "tür", "auf"), ("open",))
    second = AttentionMap([[0.6, 0.4]], ("▁Haustür", "▁auf"), ("▁open",))
    left, right = attention_heatmaps_side_by_side((first, second))
    assert labels(left.yaxis) == labels(right.yaxis) == ["Haustür", "auf"]
    assert np.allclose(left.images[0].get_array(), [[0.8], [0.2]])
    other = AttentionMap([[0.6, 0.4]], ("▁Tür", "▁auf"), ("▁open",))
    with pytest.raises(DataError, match="different source words"):
        attention_heatmaps_side_by_side((first, other))


def test_han_and_kana_are_stacked_upright_as_drawn():
    words = ["彼女", "ビール", "beer"]
    ax = attention_heatmap(np.eye(3), words, words)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # fonts may lack them
        pixels(ax.figure)
    shown = [(label.get_text(), label.get_rotation()) for label in ax.get_xticklabels()]
    assert shown == [("彼\n女", 0), ("ビール", 90), ("beer", 90)]
    assert labels(ax.yaxis) == words


def test_marks_have_the_colours_of_reports():
    variables = dict(re.findall(r"--(\w+): light-dark\((#\w+)", page_style()))
    assert MARK_COLOURS["repeated"].lower() == variables["more"]
    assert MARK_COLOURS["dropped"].lower() == variables["gone"]
    css = (files("coverage_eval.comparison.report") / "assets/report.css").read_text("utf-8")
    assert re.search(r"\.run\.repeated \{ --mark: var\(--more\)", css)
    assert re.search(r"\.run\.dropped[^{]*\{ --mark: var\(--gone\)", css)


def test_a_grid_of_many_layers_and_heads_has_an_end():
    weights = np.full((2, 16, 20, 20), 0.05)
    words = [f"w{i}" for i in range(20)]
    with pytest.warns(UserWarning, match="not all words have a label in 24 inches: give width="):
        figure = attention_heatmap(weights, words, words).figure
    width, height = figure.get_size_inches()
    assert 20 < width < 24.5
    assert height < 12
