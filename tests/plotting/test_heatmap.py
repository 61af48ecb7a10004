"""Attention heatmaps: what the Axes contain, and which pixels are white."""

from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from coverage_eval.attention_maps import AttentionMap
from coverage_eval.core.errors import DataError
from coverage_eval.plotting import attention_heatmap, attention_heatmaps_side_by_side, canvas

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
    assert ax.get_xticklabels()[8].get_color() == canvas.REPEATED
    assert ax.get_xticklabels()[7].get_color() != canvas.REPEATED


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
    assert ax.get_xlabel() == f"hypothesis ({len(shown)} of 500 words are labelled)"
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
        (np.full((9, 10), np.nan), "not finite"),
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
    assert len(grid.axes) == 7, "one colour bar"
    row = attention_heatmap(heads, SOURCE, SOFTMAX, scale="max", colorbar=False).figure
    assert [ax.get_ylabel() for ax in row.axes] == ["", ""]
    assert {ax.images[0].get_clim() for ax in row.axes} == {(0, 1)}
    image = pixels(row)
    assert cell_colour(row.axes[1], 7, 2, image) == (255, 255, 255)
    with pytest.raises(TypeError, match="a grid of heads has no marks"):
        attention_heatmap(heads, SOURCE, SOFTMAX, repeated=())
    with pytest.raises(DataError, match=r"shape \(1, 1, 2, 10, 10\)"):
        attention_heatmap(heads[None, None], SOURCE, SOFTMAX)


def test_a_column_of_a_paper_is_as_wide_as_it_says_and_too_many_words_are_said():
    ax = attention_heatmap(sparse_map(SOFTMAX), SOURCE, SOFTMAX, width=3.25, colorbar=False)
    assert ax.figure.get_size_inches()[0] == 3.25
    assert not ax.child_axes
    words = [f"w{i}" for i in range(150)]
    with pytest.warns(UserWarning, match="points wide: a width of 3.25 inches is too little"):
        attention_heatmap(np.eye(150), words, words, width=3.25)


def test_fonts_are_as_large_as_the_setting_says():
    sizes = {}
    for size in (10, 7):
        with mpl.rc_context({"font.size": size}):
            ax = attention_heatmap(sparse_map(SOFTMAX), SOURCE, SOFTMAX)
            texts = (ax.xaxis.label, ax.get_xticklabels()[0], ax.child_axes[0].yaxis.label)
            sizes[size] = [text.get_fontsize() for text in texts]
    assert sizes[7] == pytest.approx([0.7 * size for size in sizes[10]])


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
