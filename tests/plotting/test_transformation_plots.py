"""Figure 1 of Malaviya et al. (2018) as printed in the paper, and curves of two words."""

import numpy as np
import pytest

from coverage_eval.attention import (
    attend_with_credit,
    constrained_sparsemax,
)
from coverage_eval.core.errors import DataError
from coverage_eval.plotting import colours, simplex_figure1, transformation_curves
from coverage_eval.plotting.transformation_plots import regularizer_curves

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


def by_gid(ax, prefix):
    return [a for a in ax.get_children() if str(a.get_gid()).startswith(prefix)]


@pytest.mark.parametrize("column", range(4))
def test_attention_is_what_the_paper_prints(axes, column):
    drawn = [[t.get_text() for t in ax.texts if t.get_gid() == "point"] for ax in axes[:3, column]]
    assert drawn == [[text] for text in list(PRINTED.values())[column]]


def test_only_the_constrained_columns_have_bounds(axes):
    counts = [[len(by_gid(ax, "bound")) for ax in row] for row in axes[:3]]
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
        said = {t.xy: float(t.get_text()) for t in axes[3, column].texts}
        assert said == {(k + 1, 0): pytest.approx(top, abs=0.005) for k, top in enumerate(tops)}
        lines = by_gid(axes[3, column], "fertility")
        assert [list(line.get_ydata()) for line in lines] == [[1.0, 1.0]] * 3
        assert {line.get_color() for line in lines} == {colours.BOUND}


def test_only_unconstrained_columns_exceed_the_fertilities(axes):
    excess = [
        [bar.get_height() > 1e-9 for bar in ax.patches if bar.get_gid() == "excess"]
        for ax in axes[3]
    ]
    assert excess == [[True, True, False], [True, True, False], [False] * 3, [False] * 3]


class TestTransformationCurves:
    @pytest.fixture(scope="class")
    @staticmethod
    def curves():
        ax = transformation_curves(bound=0.7)
        return {
            line.get_label(): line.get_xydata() for line in ax.lines if len(line.get_xdata()) > 2
        }

    def test_softmax_is_the_logistic_function(self, curves):
        t, share = curves["softmax"].T
        assert np.allclose(share, 1 / (1 + np.exp(-t)))

    def test_sparsemax_is_linear_between_minus_one_and_one(self, curves):
        t, share = curves["sparsemax"].T
        assert np.allclose(share, np.clip((t + 1) / 2, 0, 1))

    def test_constrained_curves_are_cut_off_at_the_bound(self, curves):
        for name in ("softmax", "sparsemax"):
            assert np.allclose(curves[f"c{name}"][:, 1], np.minimum(curves[name][:, 1], 0.7))
        t, share = curves["csparsemax"].T
        assert share[-1] == constrained_sparsemax([t[-1], 0.0], [0.7, 1.0])[0]


def test_regularizer_curves_have_intervals_and_a_logarithmic_axis():
    means = {"softmax": [0.3, 0.2, 0.1], "sparsemax": [0.4, 0.1, 0.2]}
    halves = {"softmax": [0.1, 0.05, 0.02], "sparsemax": [0.0, 0.1, 0.1]}
    ax = regularizer_curves([0.1, 1, 10], means, halves, title="Iris")
    assert (ax.get_xscale(), ax.get_title()) == ("log", "Iris")
    assert tuple(ax.figure.get_size_inches()) == (5.0, 3.5)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(means)
    for curve, mean, half in zip(ax.containers, means.values(), halves.values(), strict=True):
        line, _, (bars,) = curve
        assert np.allclose(line.get_xydata(), np.c_[[0.1, 1, 10], mean])
        ends = np.array([segment[:, 1] for segment in bars.get_segments()])
        assert np.allclose(ends, np.c_[np.subtract(mean, half), np.add(mean, half)])
    with pytest.raises(DataError, match="the array of softmax has shape"):
        regularizer_curves([0.1, 1], means, halves)
    with pytest.raises(DataError, match="the array of penalties has entries that are not numbers"):
        regularizer_curves([0.1, 1, np.nan], means, halves)
