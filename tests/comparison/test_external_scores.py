"""Scores of other programs: reading them, matching them with systems, and testing differences."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy.stats import permutation_test

from coverage_eval.comparison.compare import compare
from coverage_eval.comparison.external_scores import ExternalScores, read_external_scores
from coverage_eval.core.errors import DataError

TEXT = [f"word {n} and more" for n in range(30)]
RNG = np.random.default_rng(7)
VALUES = {"a": RNG.normal(0.9, 0.1, 30).tolist(), "b": RNG.normal(0.7, 0.2, 30).tolist()}


def test_means_intervals_and_p_values_agree_with_scipy():
    comparison = compare(
        {"b": TEXT[::-1], "a": TEXT},
        TEXT,
        metrics=[ExternalScores("COMET", VALUES), "rep"],
        resamples=4000,
    )
    cells = {system: row["comet"] for system, row in comparison.rows.items()}
    for system, cell in cells.items():
        assert cell.score.score == pytest.approx(np.mean(VALUES[system]))
        interval = cell.score.interval
        assert interval is not None
        assert interval.low < cell.score.score < interval.high
    found = permutation_test(
        (VALUES["a"], VALUES["b"]), lambda x, y: np.mean(x) - np.mean(y),
        permutation_type="samples", n_resamples=20_000, random_state=3,
    )  # fmt: skip
    assert cells["a"].p_value == pytest.approx(found.pvalue, abs=0.02)
    assert re.match(r"COMET\|given:[0-9a-f]{8}\|", comparison.signatures["COMET"])


def test_an_undefined_segment_does_not_count():
    values = {"a": [0.5, None, 1.0]}
    metric = ExternalScores("x", values)
    result = compare({"a": TEXT[:3]}, TEXT[:3], metrics=[metric], resamples=0).measured
    assert result.segment_scores("x") == values["a"]
    assert result.score("x").score == 0.75


@pytest.mark.parametrize(
    "content",
    [
        "segment,x,y\n1,0.5,7\n2,1,8\n",
        "segment,y,score\n1,7,0.5\n2,8,1\n",
    ],
    ids=["the metric's name", "the name score"],
)
def test_the_column_of_a_metric(tmp_path, content):
    file = tmp_path / "scores.csv"
    file.write_text(content)
    assert read_external_scores("x", file, ["a"], lower=False).values == {"a": [0.5, 1.0]}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("segment,x,y\n1,2,3\n", "COLUMN; there are: segment, x, y"),
        ("segment,score\n1,2\n", "no scores of a; it names no system"),
        ("segment,system,score\n1,a,2\n3,a,2\n1,b,1\n", "the segments of a are not 1 to 2"),
    ],
)
def test_damaged_files_are_refused(tmp_path, content, said):
    file = tmp_path / "f.csv"
    file.write_text(content)
    with pytest.raises(DataError) as caught:
        read_external_scores("comet", file, ["a", "b"], lower=False)
    assert said in str(caught.value)
    assert str(caught.value).startswith(str(file))
