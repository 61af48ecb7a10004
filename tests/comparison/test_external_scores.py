"""Scores of other programs: reading them, matching them with systems, and testing differences."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy.stats import permutation_test

from coverage_eval.comparison.compare import compare
from coverage_eval.comparison.external_scores import (
    ExternalScores,
    known_direction,
    read_external_scores,
)
from coverage_eval.comparison.gate import find_worse
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
    result = compare({"a": TEXT[:3]}, TEXT[:3], metrics=[metric], resamples=0).result
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
    assert read_external_scores("x", file, ["a"]).values == {"a": [0.5, 1.0]}


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
        read_external_scores("comet", file, ["a", "b"])
    assert said in str(caught.value)
    assert str(caught.value).startswith(str(file))


@pytest.mark.parametrize(
    ("names", "higher_is_better"),
    [
        (
            "MetricX-24 metricx metricx_24_hybrid WER hTER TER MQM mqm-penalty perplexity PPL CER",
            False,
        ),
        (
            "COMET comet22 Comet-Kiwi CometKiwi XCOMET-XL BLEURT-20 chrF++ BERTScore BLEU meteor",
            True,
        ),
        ("ours quality terrific werwolf comedy x", None),
    ],
)
def test_families_of_metrics_are_known_by_the_beginning_of_their_names(names, higher_is_better):
    for name in names.split():
        assert known_direction(name) is higher_is_better, name
        assert ExternalScores(name, VALUES).higher_is_better is higher_is_better
        assert ExternalScores(name, VALUES, higher_is_better=True).higher_is_better


@pytest.mark.filterwarnings("ignore::coverage_eval.core.errors.CorpusWarning")
def test_scores_of_an_unknown_direction_are_only_shown():
    texts = {"a": TEXT, "b": TEXT}
    unknown = compare(texts, TEXT, metrics=[ExternalScores("ours", VALUES)])
    assert unknown.statements.write() == ("No score here says which system is better.",)
    assert "--lower-is-better" in " ".join(f.message for f in unknown.result.findings)
    with pytest.raises(ValueError, match="nobody knows whether ours is better when higher"):
        find_worse(unknown, {"ours": 0.0})
    told = compare(texts, TEXT, metrics=[ExternalScores("ours", VALUES, higher_is_better=True)])
    assert [item.system for item in find_worse(told, {"ours": 0.0})] == ["b"]


def test_the_user_says_what_is_better(run_cli, tmp_path):
    (tmp_path / "a").write_text("a house\n" * 8)
    (tmp_path / "b").write_text("a dog\n" * 8)
    rows = [f"{n},{s},{n + 3 * (s == 'b')}\n" for s in "ab" for n in range(1, 9)]
    (tmp_path / "s.csv").write_text("segment,system,ours\n" + "".join(rows))
    line = ("compare", "--ref", "a", "a", "b", "-m", "rep", "--scores", "ours=s.csv",
            "--fail-if-worse", "ours")  # fmt: skip
    for said, status in (((), 2), (("--lower-is-better", "ours"), 3),
                         (("--higher-is-better", "ours"), 0)):  # fmt: skip
        assert run_cli(*line, *said, cwd=tmp_path, check=False).returncode == status
