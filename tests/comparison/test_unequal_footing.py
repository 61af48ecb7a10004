"""Comparisons that would be no comparisons: other segments, other names, one source."""

from __future__ import annotations

import numpy as np
import pytest

import coverage_eval as ce
from coverage_eval.errors import DataError
from coverage_eval.metrics.given_scores import MIN_PAIRED, GivenScores

SEGMENTS = 200


def compare(values: dict[str, list[float | None]]) -> ce.Comparison:
    texts = {name: [f"a {number}" for number in range(len(own))] for name, own in values.items()}
    metric = GivenScores("comet", values)
    return ce.compare(texts, next(iter(texts.values())), metrics=[metric])


@pytest.mark.filterwarnings("ignore")
def test_scores_with_gaps_are_compared_where_both_have_one():
    chance = np.random.default_rng(1)
    own = chance.random(SEGMENTS).round(3).tolist()
    # The better half of the segments lacks a score of b, whose other scores are those of a.
    gaps = [None if value > 0.5 else value for value in own]
    comparison = compare({"a": own, "b": gaps})
    (cell,), (first,) = comparison.rows["b"].values(), comparison.rows["a"].values()
    assert cell.score.score == first.score.score == pytest.approx(np.mean([g for g in gaps if g]))
    assert cell.p_value == 1
    caveat = comparison.metrics["comet"].caveat
    assert caveat is not None
    assert f"{sum(g is not None for g in gaps)} of 200 segments have a score of every" in caveat
    assert compare({"a": own, "b": own}).metrics["comet"].caveat is None


@pytest.mark.filterwarnings("ignore")
def test_too_few_common_scores_are_not_compared():
    values: dict[str, list[float | None]] = {
        "a": [1.0] * 10, "b": [1.0] * (MIN_PAIRED - 1) + [None] * (11 - MIN_PAIRED)
    }  # fmt: skip
    with pytest.raises(DataError, match="only 4 of 10 segments have a score of every system"):
        compare(values)
    assert compare({"a": [1.0, 2.0], "b": [1.0, 3.0]}).rows["b"]  # of a text that has no more
    alone = GivenScores("x", {"a": [1.0, None]})
    assert alone.caveat == "the given scores: 1 of 2 segments have a score; only these count for x"


def test_systems_keep_their_names_in_files_of_the_task(run_cli, tmp_path):
    for name in ("ref", "one", "two"):
        (tmp_path / name).write_text("a b\nc d\n")
    systems = ("a/x=one", "b/x=two", "x.txt=two")
    for pair in (systems[:2], systems[::2]):
        arguments = ("compare", "--ref", "ref", *pair, "-m", "rep", "--wmt", "out")
        done = run_cli(*arguments, check=False, cwd=tmp_path)
        assert done.returncode == 1
        assert "are both 'x' in the task's files; give them other names" in done.stderr
        assert not (tmp_path / "out").exists()


def test_labels_of_one_source_have_no_intervals(run_cli, tmp_path):
    (tmp_path / "labels").write_text(
        "segment\tsystem\tsource\tlabel\n1\ta\t1\t1\n1\tb\t1\t0\n1\tc\t1\t1\n"
    )
    for name, scores in (("one", "3 1 2"), ("two", "1 2 3")):
        rows = zip("abc", scores.split(), strict=True)
        (tmp_path / name).write_text("".join(f"{system} {score}\n" for system, score in rows))
    done = run_cli("meta", "--labels", "labels", "one", "two", cwd=tmp_path)
    assert "All translations have one source, so there are no intervals" in done.stdout
    assert "[" not in done.stdout.split("All translations")[0]


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("99", "word 99 of segment 1, whose source has 2"),
        ("1000000000", "line 2: no segment has 1,000,000,000"),
    ],
)
def test_labels_point_at_words_of_the_source(run_cli, tmp_path, word, said):
    (tmp_path / "src").write_text("a b\nc d\n")
    (tmp_path / "labels").write_text(f"segment\tlabel\twords\n1\t1\t{word}\n2\t0\t\n")
    (tmp_path / "scores").write_text("segment,score\n1,2\n2,1\n")
    arguments = ("meta", "--labels", "labels", "scores", "--src", "src")
    done = run_cli(*arguments, check=False, cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert said in done.stderr
