"""Curves of detection: what is on their Axes, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

from coverage_eval.errors import DataError
from coverage_eval.plotting import precision_recall_curves, reliability_diagram, roc_curves

CURVES = {"drop $x$": ([0, 0.2, 1], [0, 0.7, 1]), "−BLEU": ([0, 0.5, 1], [0, 0.5, 1])}


def lines(ax):
    return {line.get_label(): line for line in ax.get_lines() if not line.get_gid()}


def test_roc_curves_and_the_diagonal_of_chance():
    ax = roc_curves(CURVES)
    drawn = lines(ax)
    assert list(drawn) == list(CURVES)
    for name, points in CURVES.items():
        np.testing.assert_array_equal(drawn[name].get_xydata().T, points)
    assert [line.get_gid() for line in ax.get_lines()][-1] == "chance"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(CURVES)
    assert not any(text.get_parse_math() for text in ax.get_legend().get_texts())
    assert roc_curves(CURVES, ax=ax) is ax


def test_precision_goes_in_steps_and_chance_is_the_share_of_errors():
    ax = precision_recall_curves(CURVES, share=0.25)
    assert {line.get_drawstyle() for line in lines(ax).values()} == {"steps-pre"}
    (chance,) = [line for line in ax.get_lines() if line.get_gid() == "chance"]
    assert set(chance.get_ydata()) == {0.25}


def test_reliability_has_dots_as_large_as_their_bins():
    curves = {"P": ([0.1, 0.9], [0.2, 0.8])}
    ax = reliability_diagram(curves, counts={"P": [10, 1000]})
    small, large = ax.collections[0].get_sizes()
    assert large > 10 * small / 3
    np.testing.assert_allclose(ax.collections[0].get_offsets(), [[0.1, 0.2], [0.9, 0.8]])
    assert len(reliability_diagram(curves).collections) == 1


def test_many_curves_differ_in_colour_or_dashes():
    many = {str(n): ([0, 1], [0, n / 20]) for n in range(20)}
    styles = {
        (line.get_color(), str(line.get_linestyle())) for line in lines(roc_curves(many)).values()
    }
    assert len(styles) == 20


@pytest.mark.parametrize(
    ("curve", "said"),
    [
        (([0, 1], [0, 1.5]), "a: false positive rate and true positive rate lie between 0 and 1"),
        (([0, 1], [0]), "true positive rate of a has shape"),
        (([0, 1], [0, np.nan]), "true positive rate of a has entries that are not numbers"),
    ],
)
def test_what_is_no_curve(curve, said):
    with pytest.raises(DataError, match=said):
        roc_curves({"a": curve})
