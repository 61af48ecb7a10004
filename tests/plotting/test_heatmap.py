"""Attention heatmaps: what the Axes contain, and which pixels are white."""

import warnings
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import Normalize, PowerNorm, to_rgb
from matplotlib.figure import Figure

from coverage_eval.attention_maps import AttentionMap
from coverage_eval.errors import DataError
from coverage_eval.plotting import (
    attention_heatmap,
    attention_heatmaps_side_by_side,
    colours,
)
from coverage_eval.plotting.grid import labelled_positions

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


def test_a_map_may_have_its_own_words():
    own = SimpleNamespace(weights=np.eye(2), source_labels=["a", "b"], hypothesis_labels=["c", "d"])
    for words, expected in (
        ((), "abcd"),
        ((["x", "y"],), "xycd"),
        ((["x", "y"], ["u", "v"]), "xyuv"),
    ):
        ax = attention_heatmap(own, *words)
        assert "".join(labels(ax.yaxis) + labels(ax.xaxis)) == expected
    for wrong, message in ((np.eye(2), "weights without words"), ([own], "not a list of maps")):
        with pytest.raises(TypeError, match=message):
            attention_heatmap(wrong)


def test_scale_is_fixed_at_zero_to_one_even_for_small_weights():
    ax = attention_heatmap(np.full((2, 2), 0.01), ["a", "b"], ["c", "d"])
    assert ax.images[0].get_clim() == (0.0, 1.0)


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


@pytest.mark.parametrize("side", [3, 900])
def test_tiny_weights_are_tinted_in_maps_of_any_size(side):
    weights = np.zeros((side, side))
    weights[: side // 3] = 1e-16
    words = [str(k) for k in range(side)]
    ax = attention_heatmap(weights, words, words, repeated=(), dropped=())
    image = pixels(ax.figure)
    assert max(np.subtract(255, cell_colour(ax, side // 2, side // 6, image))) > 20
    assert cell_colour(ax, side // 2, side // 2, image) == (255, 255, 255)


def test_other_scales_spread_small_weights_and_are_labelled():
    weights = np.full((4, 4), 0.25)
    weights[1, 2] = 0.04
    words = list("abcd")
    maps = {s: attention_heatmap(weights, words, words, scale=s) for s in ("fixed", "max", "sqrt")}
    limits = {s: ax.images[0].get_clim() for s, ax in maps.items()}
    assert limits == {"fixed": (0.0, 1.0), "max": (0.0, 0.25), "sqrt": (0.0, 1.0)}
    shades = {s: float(ax.images[0].norm(0.04)) for s, ax in maps.items()}
    assert shades == pytest.approx({"fixed": 0.04, "max": 0.16, "sqrt": 0.2})
    said = {s: ax.child_axes[-1].get_ylabel() for s, ax in maps.items()}
    assert said["fixed"] == "attention (white: exactly 0)"
    assert "up to the largest" in said["max"]
    assert "square-root" in said["sqrt"]
    maps["low"] = attention_heatmap(weights[:, :1], words[:1], words, scale="fixed")
    for ax in maps.values():
        ax.figure.canvas.draw()
    ticks = {s: labels(ax.child_axes[-1].yaxis) for s, ax in maps.items()}
    assert ticks["fixed"] == [">0", "0.25", "0.5", "0.75", "1"], "zero itself has no tint"
    assert ticks["sqrt"] == [">0", "0.01", "0.05", "0.1", "0.25", "0.5", "1"]
    assert ticks["low"] == [">0", "1"]
    assert ticks["max"][0] == ">0"


def test_two_maps_share_a_scale_up_to_their_largest_weight():
    words = list("abc")
    left, right = attention_heatmaps_side_by_side(
        (np.eye(3) * 0.2, np.eye(3) * 0.5), words, (words, words), scale="max"
    )
    assert left.images[0].get_clim() == right.images[0].get_clim() == (0.0, 0.5)


def test_a_map_of_zeros_has_the_full_scale():
    ax = attention_heatmap(np.zeros((2, 2)), ["a", "b"], ["c", "d"], scale="max")
    assert ax.images[0].get_clim() == (0.0, 1.0)


def test_a_long_sentence_is_drawn_by_square_roots_unless_told_otherwise():
    long, short = (["w"] * n for n in (60, 30))
    for words, kind, norm in ((long, "auto", PowerNorm), (short, "auto", Normalize),
                              (long, "fixed", Normalize)):  # fmt: skip
        weights = np.full((len(words), len(words)), 1 / len(words))
        ax = attention_heatmap(weights, words, words, scale=kind, repeated=())
        assert type(ax.images[0].norm) is norm


def test_an_unknown_scale_is_refused():
    with pytest.raises(DataError, match="unknown scale 'log': choose from auto, fixed, max, sqrt"):
        attention_heatmap(np.eye(2), ["a", "b"], ["c", "d"], scale="log")


def test_zero_stays_white_in_a_map_of_many_cells():
    weights = np.zeros((400, 500))
    weights[:, :10] = 0.1
    ax = attention_heatmap(weights, ["s"] * 500, ["t"] * 400, repeated=(), dropped=())
    image = pixels(ax.figure)
    assert cell_colour(ax, 300, 200, image) == (255, 255, 255)
    assert cell_colour(ax, 5, 200, image) != (255, 255, 255)


def test_repeated_words_are_outlined_and_their_labels_coloured():
    ax = attention_heatmap(sparse_map(SOFTMAX), SOURCE, SOFTMAX)
    (outline,) = patches(ax, "repeated")
    assert outline.get_xy() == (7.5, -0.5), "the second 'contempt' only"
    assert outline.get_width() == 1
    assert outline.get_height() == len(SOURCE)
    bold = [t.get_text() for t in ax.get_xticklabels() if t.get_fontweight() == "bold"]
    assert bold == ["contempt"]
    assert ax.get_xticklabels()[8].get_color() == colours.REPEATED
    assert ax.get_xticklabels()[7].get_color() != colours.REPEATED


def test_a_run_of_repeated_words_has_one_outline():
    hypothesis = ["so", ",", "you", "know", ",", "you", "know", "."]
    ax = attention_heatmap(np.full((8, 2), 0.5), ["so", "wissen"], hypothesis)
    (outline,) = patches(ax, "repeated")
    assert (outline.get_x(), outline.get_width()) == (3.5, 3.0)


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


def test_given_marks_replace_the_computed_ones():
    ax = attention_heatmap(sparse_map(SOFTMAX), SOURCE, SOFTMAX, repeated=[0, 2], dropped=[9])
    assert [patch.get_x() for patch in patches(ax, "repeated")] == [-0.5, 1.5]
    assert [patch.get_y() for patch in patches(ax, "dropped")] == [8.5]
    assert ax.get_legend().get_texts()[1].get_text() == "dropped word", "no threshold was used"


def test_without_marks_there_is_no_legend():
    ax = attention_heatmap(sparse_map(CSPARSEMAX), SOURCE, CSPARSEMAX, repeated=(), dropped=())
    assert ax.get_legend() is None
    assert not patches(ax, "repeated")
    assert not patches(ax, "dropped")


def test_margin_shows_cumulative_attention_against_fertility():
    weights = sparse_map(SOFTMAX)
    fertility = [1.0] * 9 + [np.inf]
    ax = attention_heatmap(weights, SOURCE, SOFTMAX, fertility=fertility)
    margin = ax.child_axes[0]
    bars = {bar.get_gid(): ends_of(bar) for bar in margin.collections[:2]}
    assert np.allclose(bars["coverage"], np.minimum(weights.sum(axis=0), fertility))
    assert np.allclose(bars["excess"], weights.sum(axis=0))
    assert to_rgb(colours.EXCESS) == tuple(margin.collections[1].get_facecolor()[0, :3])
    assert len(margin.collections[2].get_segments()) == 9, "an infinite fertility has no line"
    assert margin.get_ylim() == ax.get_ylim()


def ends_of(bars):
    return [path.get_extents().x1 for path in bars.get_paths()]


def test_a_title_stands_above_the_explanation_of_the_marks():
    ax = attention_heatmap(sparse_map(SOFTMAX), SOURCE, SOFTMAX, title="softmax")
    ax.figure.canvas.draw()
    (title,) = [text for text in ax.get_children() if getattr(text, "_text", "") == "softmax"]
    assert title.get_window_extent().y0 >= ax.get_legend().get_window_extent().y1


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


def test_maps_with_words_stand_side_by_side_without_texts():
    one, two = (AttentionMap(np.eye(2), ("a", "b"), (name, "y")) for name in "xz")
    left, right = attention_heatmaps_side_by_side((one, two))
    assert [labels(ax.yaxis) for ax in (left, right)] == [["a", "b"]] * 2
    assert [labels(ax.xaxis) for ax in (left, right)] == [["x", "y"], ["z", "y"]]
    renamed, _ = attention_heatmaps_side_by_side((one, two), source=["A", "B"])
    assert labels(renamed.yaxis) == ["A", "B"]
    with pytest.raises(DataError, match="different source words"):
        attention_heatmaps_side_by_side((one, replace(two, source=("a", "c"))))
    with pytest.raises(TypeError, match="weights without words"):
        attention_heatmaps_side_by_side((np.eye(2), np.eye(2)))


def test_margins_side_by_side_have_one_scale():
    axes = attention_heatmaps_side_by_side(
        (sparse_map(SOFTMAX), sparse_map(CSPARSEMAX)),
        SOURCE,
        (SOFTMAX, CSPARSEMAX),
        fertility=np.ones(len(SOURCE)),
    )
    left, right = (ax.child_axes[0].get_xlim() for ax in axes)
    assert left == right


@pytest.mark.parametrize("count", [31, 100])
def test_labels_of_long_sentences_do_not_overlap(count):
    words = [f"Wort{i}" for i in range(count)]
    ax = attention_heatmap(np.eye(count), words, words)
    assert labels(ax.xaxis) == labels(ax.yaxis) == words
    assert ax.get_xlabel() == ax.get_ylabel() == ""
    pixels(ax.figure)
    across = [t.get_window_extent() for t in ax.get_xticklabels()]
    assert all(a.x1 <= b.x0 + 0.5 for a, b in pairwise(across))
    down = [t.get_window_extent() for t in ax.get_yticklabels()]
    assert all(a.y0 >= b.y1 - 0.5 for a, b in pairwise(down))


def test_labels_of_a_flat_map_on_given_axes_do_not_overlap():
    words = [f"word{i}" for i in range(40)]
    ax = attention_heatmap(np.eye(40)[:, :12], words[:12], words, ax=Figure().subplots())
    ax.figure.draw_without_rendering()
    boxes = [t.get_window_extent() for t in ax.get_yticklabels()]
    assert all(a.y0 >= b.y1 - 0.5 for a, b in pairwise(boxes)), "square cells make the rows low"


def test_a_sentence_of_fifty_words_keeps_every_label():
    words = [f"word{i}" for i in range(50)]
    weights = np.eye(50)
    for ax in attention_heatmaps_side_by_side((weights, weights), words, (words, words)):
        assert labels(ax.xaxis) == words
        assert labels(ax.yaxis) == words


def test_long_sentences_keep_readable_labels():
    words = [f"word{i}" for i in range(1000)]
    ax = attention_heatmap(np.full((1000, 1000), 0.001), words, words, fertility=np.ones(1000))
    assert max(ax.figure.get_size_inches()) <= 16, "it fits a page"
    assert len(ax.figure.findobj()) < 5000, "artists do not grow with the cells, nor bars with rows"
    assert ax.images[0].get_array().size == 1_000_000, "every cell is there"
    shown = labels(ax.xaxis)
    assert 20 < len(shown) < 250
    assert ax.get_xlabel() == f"{len(shown)} of 1000 words are labelled"
    assert shown[1] == words[int(ax.get_xticks()[1])]
    pixels(ax.figure)
    boxes = [t.get_window_extent() for t in ax.get_xticklabels()]
    assert all(a.x1 <= b.x0 + 0.5 for a, b in pairwise(boxes))


@pytest.mark.parametrize("shape", [(60, 600), (600, 60)])
def test_oblong_maps_fit_a_page(shape):
    words = ["w"] * 600
    ax = attention_heatmap(np.zeros(shape), words[: shape[1]], words[: shape[0]], repeated=())
    assert max(ax.figure.get_size_inches()) <= 16


def test_a_map_finer_than_the_pixels_loses_no_cell():
    weights = np.zeros((900, 900))
    weights[450, 450] = 1.0
    words = [str(k) for k in range(900)]
    ax = attention_heatmap(weights, words, words, repeated=(), dropped=())
    ax.figure.set_dpi(40)
    image = pixels(ax.figure)
    x, y = (round(float(v)) for v in ax.transData.transform((450, 450)))
    around = image[image.shape[0] - y - 3 : image.shape[0] - y + 3, x - 3 : x + 3, :3]
    assert around.min() < 250, "averaged, not skipped"
    assert cell_colour(ax, 200, 700, image) == (255, 255, 255)


def test_marked_words_of_a_long_sentence_keep_their_labels():
    words = [f"word{i}" for i in range(1000)]
    marked = [3, 500, 501, 777]
    ax = attention_heatmap(np.eye(1000), words, words, repeated=marked, dropped=[998])
    bold = [t.get_text() for t in ax.get_xticklabels() if t.get_fontweight() == "bold"]
    assert bold == ["word3", "word500", "word777"], "501 has no room beside 500"
    assert [t.get_text() for t in ax.get_yticklabels() if t.get_fontweight() == "bold"] == [
        "word998"
    ]


@given(
    st.integers(0, 300).flatmap(
        lambda n: st.tuples(st.just(n), st.sets(st.integers(0, n - 1)) if n else st.just(set()))
    ),
    st.integers(1, 20),
)
def test_labelled_positions_keep_their_distance_and_leave_no_gap(sentence, step):
    count, keep = sentence
    positions = labelled_positions(count, step, keep)
    assert all(b - a >= step for a, b in pairwise(positions))
    assert all(b - a < 3 * step for a, b in pairwise([-step, *positions, count - 1 + step]))
    if step == 1:
        assert positions == list(range(count))
    assert not keep or min(keep) in positions


def test_matplotlib_settings_of_image_origin_change_nothing():
    with mpl.rc_context({"image.origin": "lower", "image.aspect": "auto", "axes.grid": True}):
        ax = attention_heatmap(sparse_map(SOFTMAX), SOURCE, SOFTMAX, repeated=(), dropped=())
        ax.figure.set_dpi(200)
        image = pixels(ax.figure)
        assert cell_colour(ax, 0, 0, image) != (255, 255, 255)
        assert cell_colour(ax, 9, 0, image) == (255, 255, 255)


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


def test_overlong_words_are_elided():
    url = "https://" + "x" * 300 + "/index.html"
    ax = attention_heatmap(np.eye(2), [url, "b"], ["a", "b"])
    assert len(labels(ax.yaxis)[0]) < 40
    assert "…" in labels(ax.yaxis)[0]


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


def test_fertility_of_wrong_length_is_refused():
    with pytest.raises(DataError, match="fertility has shape"):
        attention_heatmap(sparse_map(CSPARSEMAX), SOURCE, CSPARSEMAX, fertility=[1.0])


@pytest.mark.parametrize("marks", [{"repeated": [9]}, {"dropped": [10]}, {"repeated": [-1]}])
def test_marks_outside_the_sentence_are_refused(marks):
    with pytest.raises(DataError, match="is not in 0 to"):
        attention_heatmap(sparse_map(CSPARSEMAX), SOURCE, CSPARSEMAX, **marks)


def test_draws_on_the_given_axes_without_warnings():
    figure = Figure()
    given = figure.subplots()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert attention_heatmap(sparse_map(SOFTMAX), SOURCE, SOFTMAX, ax=given) is given
