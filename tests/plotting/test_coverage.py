"""Cumulative attention: what its histogram shows."""

import numpy as np
import pytest

from coverage_eval.errors import DataError
from coverage_eval.plotting import coverage_histogram


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
