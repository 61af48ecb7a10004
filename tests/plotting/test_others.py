"""Alignment grid, histogram, comparisons, curves and animation: what is on their Axes."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from matplotlib.animation import FuncAnimation
from PIL import Image

from coverage_eval.attention import constrained_sparsemax
from coverage_eval.errors import DataError
from coverage_eval.plotting import (
    alignment_grid,
    coverage_animation,
    coverage_histogram,
    metric_bars,
    plot_comparison,
    segment_scatter,
    transformation_curves,
)

SOURCE = ["überlassen", "sie", "das", "ruhig", "uns", "."]
REFERENCE = ["leave", "that", "up", "to", "us", "."]
HYPOTHESIS = ["give", "us", "a", "silence", "."]
TO_REFERENCE = [(0, 0), (2, 1), (3, 2), (4, 4), (5, 5)]
TO_HYPOTHESIS = [(3, 3), (4, 1), (5, 4)]


def by_gid(ax, gid):
    return [artist for artist in ax.get_children() if artist.get_gid() == gid]


class TestAlignmentGrid:
    def test_links_of_both_sides_are_filled_cells(self):
        ax = alignment_grid(SOURCE, REFERENCE, HYPOTHESIS, TO_REFERENCE, TO_HYPOTHESIS)
        cells = np.asarray(ax.images[0].get_array())
        assert {(i, j) for i, j in np.argwhere(cells == 1)} == set(TO_REFERENCE)
        shift = len(REFERENCE) + 1
        assert {(i, j - shift) for i, j in np.argwhere(cells == 2)} == set(TO_HYPOTHESIS)
        assert [t.get_text() for t in ax.get_xticklabels()] == [*REFERENCE, "", *HYPOTHESIS]

    def test_dropped_rows_are_those_linked_to_the_reference_only(self):
        ax = alignment_grid(SOURCE, REFERENCE, HYPOTHESIS, TO_REFERENCE, TO_HYPOTHESIS)
        assert [patch.get_y() for patch in by_gid(ax, "dropped")] == [-0.5, 1.5]
        bold = [t.get_text() for t in ax.get_yticklabels() if t.get_fontweight() == "bold"]
        assert bold == ["überlassen", "das"]

    def test_without_dropped_words_nothing_is_marked(self):
        ax = alignment_grid(["a"], ["b"], ["c"], [(0, 0)], [(0, 0)])
        assert not by_gid(ax, "dropped")
        assert ax.get_legend() is None

    def test_empty_sides_are_drawn(self):
        ax = alignment_grid(SOURCE, REFERENCE, [], TO_REFERENCE, [])
        runs = [(patch.get_y(), patch.get_height()) for patch in by_gid(ax, "dropped")]
        assert runs == [(-0.5, 1), (1.5, 4)], "'sie' has no link to the reference either"

    @pytest.mark.parametrize("count", [60, 100])
    def test_every_word_of_long_sentences_has_a_label_with_room(self, count):
        words = [f"Wort{i}" for i in range(count)]
        ax = alignment_grid(words, words, words, [], [])
        assert [t.get_text() for t in ax.get_xticklabels()] == [*words, "", *words]
        assert ax.get_xlabel() == ""
        ax.figure.canvas.draw()
        boxes = [t.get_window_extent() for t in ax.get_xticklabels() if t.get_text()]
        assert all(a.x1 <= b.x0 + 0.5 for a, b in pairwise(boxes))

    def test_the_words_without_a_label_are_counted(self):
        words = [f"Wort{i}" for i in range(200)]
        ax = alignment_grid(words, words, words, [], [])
        shown = [t.get_text() for t in ax.get_xticklabels() if t.get_text()]
        assert ax.get_xlabel() == f"{len(shown)} of 400 words are labelled"

    @pytest.mark.parametrize("link", [(6, 0), (0, 5), (-1, 0)])
    def test_links_out_of_range_are_refused(self, link):
        with pytest.raises(DataError, match="of the hypothesis is out of range"):
            alignment_grid(SOURCE, REFERENCE, HYPOTHESIS, TO_REFERENCE, [link])


class TestCoverageHistogram:
    def test_shares_add_up_and_the_last_bin_holds_the_rest(self):
        ax = coverage_histogram([0.0, 0.05, 1.0, 1.02, 3.0, 17.0, np.inf, 2.99])
        heights, edges, _ = ax.patches[0].get_data()
        assert heights.sum() == pytest.approx(100.0)
        assert heights[0] == pytest.approx(25.0)
        assert heights[-1] == pytest.approx(37.5), "3, 17 and infinity"
        assert edges[-2] == pytest.approx(3.0)
        assert ax.get_xticklabels()[-1].get_text() == "≥3"

    def test_several_systems_are_outlines_with_a_legend(self):
        ax = coverage_histogram({"softmax": [0.1, 2.0], "csparsemax": [0.9, 1.0]})
        assert [patch.get_fill() for patch in ax.patches] == [False, False]
        legend = [text.get_text() for text in ax.get_legend().get_texts()]
        assert legend == ["softmax", "csparsemax"]

    @pytest.mark.parametrize(
        ("values", "message"), [([], "no values"), ([-0.1], "negative"), ([np.nan], "NaN")]
    )
    def test_what_is_no_coverage_is_refused(self, values, message):
        with pytest.raises(DataError, match=message):
            coverage_histogram({"softmax": values})


class TestMetricBars:
    SYSTEMS = ("softmax", "csparsemax")

    def test_bars_intervals_and_stars(self):
        ax = metric_bars(
            self.SYSTEMS,
            [29.51, 29.85],
            intervals=[[29.0, 30.1], [29.3, 30.4]],
            significant=[False, True],
            metric="BLEU",
        )
        bars = [patch for patch in ax.patches if patch.get_width() > 0]
        assert [bar.get_width() for bar in bars] == [29.51, 29.85]
        assert [t.get_text() for t in ax.texts] == ["29.51", "29.85*"]
        segments = ax.containers[1].lines[2][0].get_segments()
        assert np.allclose([s[:, 0] for s in segments], [[29.0, 30.1], [29.3, 30.4]])
        assert [t.get_text() for t in ax.get_yticklabels()] == list(self.SYSTEMS)
        assert ax.get_ylim()[0] > ax.get_ylim()[1], "the first system is on top"

    def test_the_baseline_differs_by_hatching_and_name_not_by_colour(self):
        ax = metric_bars(self.SYSTEMS, [29.51, 29.85], baseline="csparsemax")
        assert len({bar.get_facecolor() for bar in ax.patches}) == 1
        assert [bool(bar.get_hatch()) for bar in ax.patches] == [False, True]
        assert [t.get_text() for t in ax.get_yticklabels()] == ["softmax", "csparsemax (baseline)"]

    def test_an_undefined_score_is_said_to_be_so(self):
        limits = [[29.0, 30.0], [np.nan, np.nan]]
        ax = metric_bars(self.SYSTEMS, [29.51, np.nan], intervals=limits)
        assert [t.get_text() for t in ax.texts] == ["29.51", "undefined"]
        ax.figure.canvas.draw()

    @pytest.mark.parametrize(
        ("values", "options", "message"),
        [
            ([1.0], {}, "values has shape"),
            ([1.0, 2.0], {"intervals": [[0.5, 1.5]]}, "intervals have shape"),
            ([1.0, 2.0], {"intervals": [[0.5, 1.5], [0.2, 0.3]]}, "does not hold its score 2"),
            ([1.0, 2.0], {"significant": [True]}, "1 marks of significance for 2 systems"),
            ([1.0, 2.0], {"baseline": "Moses"}, "'Moses' is none of the systems softmax, csp"),
            ([1.0, np.inf], {}, "infinite"),
        ],
    )
    def test_what_does_not_fit_is_refused(self, values, options, message):
        with pytest.raises(DataError, match=message):
            metric_bars(self.SYSTEMS, values, **options)


class TestPlotComparison:
    SYSTEMS = ("softmax", "sparsemax", "csparsemax")
    SCORES = np.array([[29.5, 29.6, 29.9], [3.4, 3.2, 2.7]])
    LABELS = ("BLEU", "REP (lower is better)")

    def test_each_metric_has_a_panel_with_a_bar_for_each_system(self):
        stars = [[False, False, True], [False, False, False]]
        axes = plot_comparison(
            self.SYSTEMS, self.SCORES, self.SCORES - 0.2, self.SCORES + 0.1,
            labels=self.LABELS, baseline="softmax", significant=stars,
        )  # fmt: skip
        assert [ax.get_xlabel() for ax in axes] == list(self.LABELS)
        for ax, scores in zip(axes, self.SCORES, strict=True):
            assert [bar.get_width() for bar in ax.patches] == list(scores)
            assert [bool(bar.get_hatch()) for bar in ax.patches] == [True, False, False]
            whiskers = ax.containers[1].lines[2][0].get_segments()
            assert np.allclose([w[:, 0] for w in whiskers], np.c_[scores - 0.2, scores + 0.1])
        assert axes[0].texts[-1].get_text() == "29.90*"
        assert axes[-1].texts[-1].get_text() == "* differs significantly from softmax"

    def test_without_tests_nothing_is_explained(self):
        axes = plot_comparison(self.SYSTEMS, self.SCORES, labels=self.LABELS)
        assert [len(ax.texts) for ax in axes] == [3, 3], "the scores"

    @pytest.mark.parametrize("metrics", [1, 4, 5, 9])
    def test_texts_of_any_number_of_panels_stay_apart(self, metrics):
        labels = [f"metric {k} (lower is better)" for k in range(metrics)]
        scores = np.linspace(1, 30, 3 * metrics).reshape(metrics, 3)
        axes = plot_comparison(
            self.SYSTEMS, scores, scores * 0.9, scores * 1.1, labels=labels, baseline="softmax",
            significant=scores > 0,
        )  # fmt: skip
        axes[0].figure.canvas.draw()
        texts = [t for ax in axes for t in (*ax.texts, ax.xaxis.label, *ax.get_yticklabels())]
        shown = [t for t in texts if t.get_visible() and t.get_text()]
        boxes = [(t.get_text(), t.get_window_extent().padded(-1)) for t in shown]
        for (one, a), (other, b) in combinations(boxes, 2):
            assert not a.overlaps(b), (one, other)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"labels": ["BLEU"]}, r"scores has shape \(2, 3\), but \(1, 3\)"),
            ({"lows": np.zeros((3, 2)), "highs": np.ones((3, 2))}, "limits has shape"),
            ({"lows": np.full((2, 3), 30.0), "highs": np.full((2, 3), 31.0)}, "does not hold"),
            ({"significant": [True]}, "significant has shape"),
            ({"baseline": "Moses"}, "none of the systems"),
            ({"axes": []}, "0 Axes for 2 metrics"),
            ({"labels": []}, "0 Axes for 0 metrics"),
        ],
    )
    def test_what_does_not_fit_is_refused(self, options, message):
        with pytest.raises(DataError, match=message):
            plot_comparison(self.SYSTEMS, self.SCORES, **{"labels": self.LABELS, **options})


class TestSegmentScatter:
    def test_equal_points_share_a_dot_that_grows(self):
        ax = segment_scatter([0, 0, 0, 0, 5], [0, 0, 0, 0, 2], systems=("A", "B"), metric="REP")
        (dots,) = by_gid(ax, "segments")
        assert np.allclose(dots.get_offsets(), [[0, 0], [5, 2]])
        first, second = dots.get_sizes()
        assert first > second
        assert ax.get_xlabel() == "REP, A"
        assert ax.get_ylabel() == "REP, B"

    def test_sides_of_the_diagonal_are_counted(self):
        ax = segment_scatter([1, 2, 3, 4], [2, 2, 2, 2])
        assert ax.get_title() == "1 above, 2 below, 1 on the diagonal"
        assert ax.get_xlim() == ax.get_ylim()

    def test_unequal_lengths_are_refused(self):
        with pytest.raises(DataError, match=r"shape \(1,\), but \(2,\)"):
            segment_scatter([1, 2], [1])


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

    def test_a_bound_outside_zero_and_one_is_refused(self):
        with pytest.raises(DataError, match="between 0 and 1"):
            transformation_curves(bound=1.5)


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

    def test_it_saves_as_a_gif_with_a_frame_more_than_words(self, tmp_path):
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
