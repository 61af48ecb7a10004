"""Cumulative attention: what its histogram and its animation show."""

import numpy as np
import pytest
from matplotlib.animation import FuncAnimation
from PIL import Image

from coverage_eval.errors import DataError
from coverage_eval.plotting import coverage_animation, coverage_histogram
from coverage_eval.plotting.coverage import _caption


def by_gid(ax, gid):
    return [artist for artist in ax.get_children() if artist.get_gid() == gid]


class TestCoverageHistogram:
    def test_shares_add_up_and_the_last_bin_holds_the_rest(self):
        ax = coverage_histogram([0.0, 0.05, 1.0, 1.02, 3.0, 17.0, np.inf, 2.99])
        heights, edges, _ = ax.patches[0].get_data()
        assert heights.sum() == pytest.approx(100.0)
        assert heights[0] == pytest.approx(25.0)
        assert heights[-1] == pytest.approx(37.5), "3, 17 and infinity"
        assert edges[-2] == pytest.approx(3.0)
        assert [label.get_text() for label in ax.get_xticklabels()] == ["0", "1", "2", "≥3"]
        assert ax.get_xticks() == pytest.approx([0, 1, 2, 3.05]), "the last in its bin's middle"

    def test_several_systems_are_outlines_with_a_legend(self):
        ax = coverage_histogram({"softmax": [0.1, 2.0], "csparsemax": [0.9, 1.0]})
        assert [patch.get_fill() for patch in ax.patches] == [False, False]
        legend = [text.get_text() for text in ax.get_legend().get_texts()]
        assert legend == ["softmax", "csparsemax"]

    @pytest.mark.parametrize(
        ("values", "message"), [([], "no values"), ([-0.1], "negative"), ([np.nan], "NaN")]
    )
    def test_values_that_are_not_coverages_are_refused(self, values, message):
        with pytest.raises(DataError, match=message):
            coverage_histogram({"softmax": values})


class TestCoverageAnimation:
    WEIGHTS = np.array([[0.8, 0.2, 0.0], [0.7, 0.0, 0.3]])

    def frame(self, step):
        animation = coverage_animation(
            self.WEIGHTS, ["a", "b", "c"], ["x", "y"], fertility=[1.0, 1.0, np.inf]
        )
        animation._draw_was_started = True  # it is drawn by hand here
        animation._func(step)
        ax = animation._fig.axes[0]
        return ax, {
            gid: np.array([path.get_extents().x1 for path in by_gid(ax, gid)[0].get_paths()])
            for gid in ("before", "now", "excess")
        }

    def test_bars_grow_step_by_step(self):
        assert np.allclose(self.frame(0)[1]["excess"], 0)
        assert np.allclose(self.frame(1)[1]["now"], [0.8, 0.2, 0.0])
        ax, last = self.frame(2)
        assert np.allclose(last["before"], [0.8, 0.2, 0.0])
        assert np.allclose(last["now"], [1.0, 0.2, 0.3])
        assert np.allclose(last["excess"], self.WEIGHTS.sum(axis=0))
        assert ax.get_title("left") == "step 2 of 2: x [y]"
        assert _caption(4, "abcdef") == "step 4 of 6: a b c [d]"
        assert _caption(5, "abcdef") == "step 5 of 6: … b c d [e]"

    def test_the_gif_has_one_frame_more_than_words(self, tmp_path):
        animation = coverage_animation(self.WEIGHTS, ["a", "b", "c"], ["x", "y"])
        assert isinstance(animation, FuncAnimation)
        animation.save(tmp_path / "coverage.gif", writer="pillow", dpi=40)
        with Image.open(tmp_path / "coverage.gif") as gif:
            assert gif.n_frames == 3

    def test_an_empty_hypothesis_is_one_frame(self, tmp_path):
        animation = coverage_animation(np.zeros((0, 2)), ["a", "b"], [])
        animation.save(tmp_path / "coverage.gif", writer="pillow", dpi=40)
        with Image.open(tmp_path / "coverage.gif") as gif:
            assert gif.n_frames == 1
