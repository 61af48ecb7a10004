"""The simplex: where points, bounds and regions are drawn; Figure 1 as the paper prints it."""

import re

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.colors import to_hex
from matplotlib.path import Path

from coverage_eval.attention import attend_with_credit, constrained_sparsemax, sparsemax
from coverage_eval.core.errors import DataError
from coverage_eval.plotting import canvas, simplex, simplex_figure1, transformation_curves
from coverage_eval.plotting.triangle import (
    on_paper,
    support_regions,
)
from tests.plotting.pictures import by_gid, overlaps

HEIGHT = 3**0.5 / 2
coordinates = st.floats(-2, 2).map(lambda value: round(value, 3))


def regions_containing(bounds, scores):
    """Supports of the regions that hold the scores, by Matplotlib's own point-in-polygon test."""
    point = on_paper(scores - (scores.sum() - 1) / 3)
    return {
        region.support
        for region in support_regions(bounds)
        if Path(region.outline).contains_point(point, radius=1e-9)
        or Path(region.outline).contains_point(point, radius=-1e-9)
    }


def test_corners_are_one_apart_and_the_third_word_is_on_top():
    corners = on_paper(np.eye(3))
    assert np.allclose(corners, [[0, 0], [1, 0], [0.5, HEIGHT]])
    ax = simplex(words="abc")
    words = by_gid(ax, "word")
    assert [text.get_text() for text in words] == [*"abc"]
    assert np.allclose([text.xy for text in words], corners)


def test_points_lie_at_their_barycentric_places():
    ax = simplex([[0.2, 0.3, 0.5], [0, 0, 1]])
    (points,) = by_gid(ax, "points")
    assert np.allclose(points.get_xydata(), [[0.55, 0.5 * HEIGHT], [0.5, HEIGHT]])
    (written,) = by_gid(simplex([0.2, 0.3, 0.5]), "point")
    assert (written.get_text(), written.get_va()) == ("(0.2, 0.3, 0.5)", "top")
    assert written.xy == (0.5, 0), "below the triangle"


@pytest.mark.parametrize("word", [0, 1, 2])
def test_a_bound_is_a_green_dashed_line_at_equal_probability(word):
    bounds = [1.0, 1.0, 1.0]
    bounds[word] = 0.4
    ax = simplex(bounds=bounds)
    lines = [a for a in ax.lines if str(a.get_gid()).startswith("bound")]
    assert [line.get_gid() for line in lines] == [f"bound {word + 1}"], "bounds of 1 have no line"
    ends = lines[0].get_xydata()
    corners = np.vstack([on_paper(np.eye(3)).T, np.ones(3)])
    barycentric = np.linalg.solve(corners, np.column_stack([ends, np.ones(2)]).T).T
    assert np.allclose(barycentric[:, word], 0.4)
    assert np.allclose(np.sort(barycentric, axis=1), [[0, 0.4, 0.6]] * 2), "edge to edge"
    assert lines[0].get_linestyle() == "--"
    red, green, blue = lines[0].get_color()[1:3], lines[0].get_color()[3:5], "00"
    assert int(green, 16) > max(int(red, 16), int(blue, 16))


def test_scores_are_joined_to_their_points():
    scores = np.array([[1.2, 0.8, -0.2], [0.7, 0.9, 0.1]])
    points = sparsemax(scores)
    ax = simplex(points, scores=scores)
    ends = [line.get_xydata() for line in by_gid(ax, "path")]
    assert np.allclose([end[1] for end in ends], on_paper(points))
    # A projection: the path meets the triangle's lower edge at a right angle.
    assert np.allclose([end[0][0] for end in ends], [end[1][0] for end in ends])


def test_sparsemax_has_seven_regions():
    ax = simplex(regions=True)
    gids = {str(patch.get_gid()) for patch in ax.patches} - {"simplex"}
    assert gids == {f"region {support}" for support in ("1", "2", "3", "12", "13", "23", "123")}
    assert len({t.get_text() for t in by_gid(ax, "support")}) == 7
    for region in support_regions(np.ones(3)):
        assert Path(region.outline).contains_point(region.label_at)


@settings(max_examples=100, deadline=None)
@given(
    st.tuples(coordinates, coordinates, coordinates),
    st.tuples(*[st.sampled_from([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])] * 3).filter(
        lambda bounds: sum(bounds) > 1.0 + 1e-9  # at 1, the feasible set is a point without regions
    ),
)
def test_regions_of_constrained_sparsemax_hold_the_scores_with_that_support(scores, bounds):
    scores, bounds = np.array(scores), np.array(bounds)
    support = tuple(bool(p > 1e-9) for p in constrained_sparsemax(scores, bounds))
    assert support in regions_containing(bounds, scores)


def test_bounds_that_nothing_satisfies_have_lines_but_no_regions():
    ax = simplex(bounds=[0.2, 0.2, 0.2])
    assert len([a for a in ax.lines if str(a.get_gid()).startswith("bound")]) == 3
    assert not by_gid(ax, "feasible")
    with pytest.raises(DataError, match=r"bounds sum to 0\.6"):
        simplex(bounds=[0.2, 0.2, 0.2], regions=True)


# The coordinates printed in the figure; its caption gives the scores. A list for each
# transformation, an entry for each step.
PRINTED = {
    "softmax": ["(0.52, 0.35, 0.13)", "(0.36, 0.44, 0.2)", "(0.18, 0.27, 0.55)"],
    "sparsemax": ["(0.7, 0.3, 0)", "(0.4, 0.6, 0)", "(0, 0.15, 0.85)"],
    "csoftmax": ["(0.52, 0.35, 0.13)", "(0.36, 0.44, 0.2)", "(0.12, 0.21, 0.67)"],
    "csparsemax": ["(0.7, 0.3, 0)", "(0.3, 0.7, 0)", "(0, 0, 1)"],
}


@pytest.fixture(scope="module")
def axes():
    return simplex_figure1()


@pytest.mark.parametrize("column", range(4))
def test_attention_is_what_the_paper_prints(axes, column):
    points = [[t.get_text() for t in ax.texts if t.get_gid() == "point"] for ax in axes[:3, column]]
    assert points == [[text] for text in list(PRINTED.values())[column]]


def test_only_the_constrained_columns_have_bounds(axes):
    counts = [
        [sum(str(line.get_gid()).startswith("bound") for line in ax.lines) for ax in row]
        for row in axes[:3]
    ]
    # Unit fertilities bind nothing in the first step; then all three words of csoftmax have
    # received attention, but the third word of csparsemax has not.
    assert counts == [[0, 0, 0, 0], [0, 0, 3, 2], [0, 0, 3, 2]]


def test_cumulative_attention_is_drawn_against_fertilities(axes):
    for column, name in enumerate(PRINTED):
        weights, _ = attend_with_credit(
            [[1.2, 0.8, -0.2], [0.7, 0.9, 0.1], [-0.2, 0.2, 0.9]], [1, 1, 1], name
        )
        tops = np.zeros(3)
        for bar in axes[3, column].patches:
            word = round(bar.get_x() + bar.get_width() / 2) - 1
            tops[word] = max(tops[word], bar.get_y() + bar.get_height())
        assert np.allclose(tops, weights.sum(axis=0))
        labels = [label.get_text() for label in axes[3, column].get_xticklabels()]
        assert labels == [f"{k + 1}\n({round(top, 2):g})" for k, top in enumerate(tops)]
        (lines,) = by_gid(axes[3, column], "fertility")
        assert [list(segment[:, 1]) for segment in lines.get_segments()] == [[1.0, 1.0]] * 3
        assert to_hex(lines.get_color()[0]) == canvas.BOUND.lower()


def test_curves_of_transformations():
    """Softmax is the logistic function, sparsemax linear from −1 to 1, and bounds cut both off."""
    ax = transformation_curves()
    curves = {line.get_label(): line.get_xydata() for line in ax.lines if len(line.get_xdata()) > 2}
    t, share = curves["softmax"].T
    assert np.allclose(share, 1 / (1 + np.exp(-t)))
    t, share = curves["sparsemax"].T
    assert np.allclose(share, np.clip((t + 1) / 2, 0, 1))
    for name in ("softmax", "sparsemax"):
        assert np.allclose(curves[f"c{name}"][:, 1], np.minimum(curves[name][:, 1], 0.7))
    t, share = curves["csparsemax"].T
    assert share[-1] == constrained_sparsemax([t[-1], 0.0], [0.7, 1.0])[0]


@pytest.mark.parametrize("size", [7, 10, 14])
def test_figure_1_has_a_width_and_says_which_its_texts_need(size):
    with mpl.rc_context({"font.size": size}):
        with pytest.warns(UserWarning, match="texts overlap in 3.25 inches") as caught:
            simplex_figure1(width=3.25)
        assert caught[0].filename == __file__
        width = float(re.search(r"give width=([\d.]+)", str(caught[0].message))[1])
        figure = simplex_figure1(width=width)[0, 0].figure
        figure.canvas.draw()
        assert figure.get_size_inches()[0] == width
        assert overlaps(figure) == []
    assert 0.55 < width / size < 0.95
