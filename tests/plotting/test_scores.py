"""Differences between systems: what their Axes contain."""

import numpy as np
import pytest

from coverage_eval.core.errors import DataError
from coverage_eval.plotting import SYSTEM_COLOURS, plot_differences
from tests.plotting.pictures import overlaps

NAMES = ("base", "a", "b")


def test_dots_intervals_and_stars_of_all_but_the_baseline():
    (ax,) = plot_differences(
        NAMES, [[0, 0.5, -0.25]], [[np.nan, 0.1, -0.5]], [[np.nan, 0.9, 0.2]],
        labels=["REP"], baseline="base", significant=[[False, True, False]],
    )  # fmt: skip
    star = "line: 95% interval; dot and *: differs significantly from base; ring: not"
    assert [t.get_text() for t in ax.texts] == ["+0.50*", "−0.25"]
    assert " ".join(ax.figure.get_supxlabel().split()) == star
    assert [t.get_text() for t in ax.get_yticklabels()] == ["a", "b"]
    assert [t.xy for t in ax.texts[:2]] == [(1, 0), (1, 1)], "at the right edge"
    assert ax.get_xlim()[1] > 1.1, "which is beyond the intervals"
    _, first, full, second, ring = ax.lines
    assert (list(first.get_xdata()), list(second.get_xdata())) == ([0.1, 0.9], [-0.5, 0.2])
    # Colours are those of the same systems in other pictures.
    assert [full.get_color(), ring.get_color()] == [*SYSTEM_COLOURS[1:3]]
    assert full.get_markerfacecolor() == full.get_color() != ring.get_markerfacecolor()


@pytest.mark.parametrize("metrics", [1, 9])
def test_texts_of_any_number_of_panels_do_not_overlap(metrics):
    labels = [f"metric {k} (lower is better)" for k in range(metrics)]
    scores = np.linspace(1, 30, 3 * metrics).reshape(metrics, 3)
    axes = plot_differences(
        NAMES, scores, scores * 0.9, scores * 1.1, labels=labels, baseline="base",
        significant=scores > 0,
    )  # fmt: skip
    axes[0].figure.canvas.draw()
    assert overlaps(axes[0].figure) == []


def test_rows_are_sorted_by_the_first_metric_and_keep_their_colours():
    axes = plot_differences(NAMES, [[0, -1, 2], [0, 5, 1]], labels=["A", "B"], baseline="base")
    assert [t.get_text() for t in axes[0].get_yticklabels()] == ["b", "a"]
    for ax, texts in zip(axes, (["+2.00", "−1.00"], ["+1.00", "+5.00"]), strict=True):
        assert [t.get_text() for t in ax.texts[:2]] == texts
        assert [line.get_color() for line in ax.lines[2::2]] == [*SYSTEM_COLOURS[2:0:-1]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": ["BLEU"]}, r"differences has shape \(2, 3\), but \(1, 3\)"),
        ({"lows": np.zeros((3, 2)), "highs": np.ones((3, 2))}, "lows has shape"),
        ({"significant": [True]}, "significant has shape"),
        ({"baseline": "Moses"}, "baseline 'Moses' and another system are needed"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(options, message):
    given = {"labels": ["BLEU", "REP"], "baseline": "base", **options}
    with pytest.raises(DataError, match=message):
        plot_differences(NAMES, np.ones((2, 3)), **given)
