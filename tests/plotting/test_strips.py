"""Strips of values: every value lies in its step, and lines stand at their values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgba

from coverage_eval.errors import DataError
from coverage_eval.plotting.canvas import figure_of
from coverage_eval.plotting.strips import BINS, value_strips

VALUES = st.lists(st.floats(-100, 100), min_size=1, max_size=50)


@given(VALUES)
def test_a_step_is_drawn_where_a_value_lies_and_nowhere_else(values):
    ax = value_strips({"a": values})
    low, high = min(values), max(values)
    visible = {
        round(bar.get_x() * BINS)
        for bar in ax.patches
        if to_rgba(bar.get_facecolor())[3] > 0
    }  # fmt: skip
    if high - low < 1e-300:
        assert visible == {0}
        return
    places = (np.array(values) - low) / (high - low)
    counts, _ = np.histogram(places, BINS, (0, 1))
    assert visible == set(np.flatnonzero(counts).tolist())


def test_the_fullest_step_is_the_darkest():
    ax = value_strips({"a": [0] * 98 + [1, 2]})
    shades = [to_rgba(bar.get_facecolor())[3] for bar in ax.patches]
    assert shades[0] == 1
    assert 0.1 < shades[-1] < 0.3
    assert "98% are 0" in [text.get_text() for text in ax.texts]


def test_lines_stand_at_the_mean_and_at_the_limits():
    ax = value_strips({"a": [0, 10], "b": [2, 3]}, means={"a": 2.5}, limits={"b": [5]})
    (whole,) = (line for line in ax.lines if line.get_gid() == "whole")
    (limit,) = (line for line in ax.lines if line.get_gid() == "limit")
    assert list(whole.get_xdata()) == [0.25, 0.25]
    assert list(limit.get_xdata()) == [1, 1]  # the strip reaches to its limit
    texts = [text.get_text() for text in ax.texts]
    assert {"2.50", "5"} <= set(texts)
    assert "red dashes: limit" in ax.get_title(loc="left")


def test_one_line_a_figure():
    names = [f"figure {n}" for n in range(19)]
    ax = value_strips({name: [0, 1, 2] for name in names})
    assert [label.get_text() for label in ax.get_yticklabels()] == names
    assert figure_of(ax).get_size_inches()[1] < 10


def test_nothing_cannot_be_drawn():
    with pytest.raises(DataError, match="no strips"):
        value_strips({})
    with pytest.raises(DataError, match="a has no values"):
        value_strips({"a": [np.nan]})
