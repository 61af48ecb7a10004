"""Pictures of scores: systems, segments and detection; what their Axes contain."""

from itertools import combinations

import numpy as np
import pytest
from matplotlib.colors import to_hex

from coverage_eval.core.errors import DataError
from coverage_eval.plotting import canvas, plot_comparison, plot_differences


def metric_bars(systems, values, intervals=None, significant=None, baseline=None):
    """The panel of one metric."""
    lows, highs = (None, None) if intervals is None else np.transpose(intervals)[:, None]
    stars = None if significant is None else [significant]
    (ax,) = plot_comparison(
        systems, [values], lows, highs, labels=["BLEU"], baseline=baseline, significant=stars
    )
    return ax


class TestMetricBars:
    SYSTEMS = ("softmax", "csparsemax")

    def test_bars_intervals_and_stars(self):
        ax = metric_bars(
            self.SYSTEMS,
            [29.51, 29.85],
            intervals=[[29.0, 30.1], [29.3, 30.4]],
            significant=[False, True],
        )
        bars = [patch for patch in ax.patches if patch.get_width() > 0]
        assert [bar.get_width() for bar in bars] == [29.51, 29.85]
        assert [t.get_text() for t in ax.texts[:2]] == ["29.51", "29.85*"]
        assert [t.xy for t in ax.texts[:2]] == [(30.1, 0), (30.4, 1)], "at the intervals' ends"
        segments = ax.containers[1].lines[2][0].get_segments()
        assert np.allclose([s[:, 0] for s in segments], [[29.0, 30.1], [29.3, 30.4]])
        assert [t.get_text() for t in ax.get_yticklabels()] == list(self.SYSTEMS)
        assert ax.get_ylim()[0] > ax.get_ylim()[1], "the first system is on top"

    def test_the_baseline_differs_by_hatching_and_name_and_each_system_by_colour(self):
        ax = metric_bars(self.SYSTEMS, [29.51, 29.85], baseline="csparsemax")
        found = [to_hex(bar.get_facecolor()).upper() for bar in ax.patches]
        assert found == [*canvas.SYSTEMS[:2]]
        assert [bool(bar.get_hatch()) for bar in ax.patches] == [False, True]
        assert [t.get_text() for t in ax.get_yticklabels()] == ["softmax", "csparsemax (baseline)"]

    def test_an_undefined_score_is_labelled(self):
        limits = [[29.0, 30.0], [np.nan, np.nan]]
        ax = metric_bars(self.SYSTEMS, [29.51, np.nan], intervals=limits)
        assert [t.get_text() for t in ax.texts] == ["29.51", "undefined"]
        ax.figure.canvas.draw()


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
        assert [ax.get_title() for ax in axes] == list(self.LABELS)
        for ax, scores in zip(axes, self.SCORES, strict=True):
            assert [bar.get_width() for bar in ax.patches] == list(scores)
            assert [bool(bar.get_hatch()) for bar in ax.patches] == [True, False, False]
            whiskers = ax.containers[1].lines[2][0].get_segments()
            assert np.allclose([w[:, 0] for w in whiskers], np.c_[scores - 0.2, scores + 0.1])
        assert [text.get_text() for text in axes[0].texts] == ["29.50", "29.60", "29.90*"]
        assert axes[-1].texts[-1].get_text() == "* differs significantly from softmax"

    @pytest.mark.parametrize("metrics", [1, 4, 5, 9])
    def test_texts_of_any_number_of_panels_do_not_overlap(self, metrics):
        labels = [f"metric {k} (lower is better)" for k in range(metrics)]
        scores = np.linspace(1, 30, 3 * metrics).reshape(metrics, 3)
        axes = plot_comparison(
            self.SYSTEMS, scores, scores * 0.9, scores * 1.1, labels=labels, baseline="softmax",
            significant=scores > 0,
        )  # fmt: skip
        axes[0].figure.canvas.draw()
        texts = [
            text
            for ax in axes
            for text in (*ax.texts, ax.title, ax.xaxis.label, *ax.get_yticklabels())
        ]
        shown = [t for t in texts if t.get_visible() and t.get_text()]
        boxes = [(t.get_text(), t.get_window_extent().padded(-1)) for t in shown]
        for (one, a), (other, b) in combinations(boxes, 2):
            assert not a.overlaps(b), (one, other)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"labels": ["BLEU"]}, r"scores has shape \(2, 3\), but \(1, 3\)"),
            ({"lows": np.zeros((3, 2)), "highs": np.ones((3, 2))}, "lows has shape"),
            ({"lows": np.full((2, 3), 30.0), "highs": np.full((2, 3), 31.0)}, "does not contain"),
            ({"significant": [True]}, "significant has shape"),
            ({"baseline": "Moses"}, "not one of the systems"),
            ({"axes": []}, "0 Axes for 2 metrics"),
            ({"labels": []}, "0 Axes for 0 metrics"),
        ],
    )
    def test_arguments_that_do_not_fit_are_refused(self, options, message):
        with pytest.raises(DataError, match=message):
            plot_comparison(self.SYSTEMS, self.SCORES, **{"labels": self.LABELS, **options})


class TestDifferences:
    NAMES = ("base", "a", "b")

    def test_dots_intervals_and_stars_of_all_but_the_baseline(self):
        (ax,) = plot_differences(
            self.NAMES, [[0, 0.5, -0.25]], [[np.nan, 0.1, -0.5]], [[np.nan, 0.9, 0.2]],
            labels=["REP"], baseline="base", significant=[[False, True, False]],
        )  # fmt: skip
        star = "* differs significantly from base"
        assert [t.get_text() for t in ax.texts] == ["+0.50*", "−0.25", star]
        assert [t.get_text() for t in ax.get_yticklabels()] == ["a", "b"]
        assert [t.xy for t in ax.texts[:2]] == [(1, 0), (1, 1)], "at the right edge"
        assert ax.get_xlim()[1] > 1.1, "which is beyond the intervals"
        _, first, full, second, ring = ax.lines
        assert (list(first.get_xdata()), list(second.get_xdata())) == ([0.1, 0.9], [-0.5, 0.2])
        # Colours are those of the same systems in other pictures.
        assert [full.get_color(), ring.get_color()] == [*canvas.SYSTEMS[1:3]]
        assert full.get_markerfacecolor() == full.get_color() != ring.get_markerfacecolor()
