"""Scores of other programs: reading them, matching them with systems, and testing differences."""

from __future__ import annotations

import json
import random
import re
from typing import Any

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
from coverage_eval.core.batches import Texts
from coverage_eval.core.counting import count
from coverage_eval.core.errors import DataError
from coverage_eval.core.tables import TextTable, find_systems
from coverage_eval.core.texts import SegmentFile, open_text

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
            "MetricX-24 metricx metricx_24_hybrid WER hTER TER perplexity PPL CER",
            False,
        ),
        (
            "COMET comet22 Comet-Kiwi CometKiwi XCOMET-XL BLEURT-20 chrF++ BERTScore BLEU meteor",
            True,
        ),
        ("ours quality terrific werwolf comedy x MQM mqm-penalty", None),
    ],
)
def test_families_of_metrics_are_known_by_the_beginning_of_their_names(names, higher_is_better):
    for name in names.split():
        assert known_direction(name) is higher_is_better, name
        assert ExternalScores(name, VALUES).higher_is_better is higher_is_better
        assert ExternalScores(name, VALUES, higher_is_better=True).higher_is_better


@pytest.mark.parametrize("name", ["metricx", "WER", "ppl", "rep"])
def test_errors_below_zero_are_negated_so_their_direction_is_asked_for(name):
    scores = ExternalScores(name, {"a": [0.5, 1, -0.1], "b": [1, 2, 0]})
    assert scores.higher_is_better is None
    texts = Texts.from_lists({"a": TEXT[:3], "b": TEXT[:3]})
    (said,) = [item.message for item in scores.check(texts.sample) if "better" in item.message]
    assert "has scores below 0, which no" in said
    assert ExternalScores(name, {"a": [0, 1]}).higher_is_better is False
    assert ExternalScores("comet", {"a": [-1, 1]}).higher_is_better is True


def test_equal_outputs_have_equal_scores_but_for_rounding():
    noisy = [score + 6e-5 * (-1) ** n for n, score in enumerate(VALUES["a"])]
    texts = Texts.from_lists({"a": TEXT, "b": TEXT})
    metric = ExternalScores("COMET", {"a": VALUES["a"], "b": noisy})
    counted = count(texts, {"COMET": metric})
    assert counted.segment_scores("COMET", "a") == counted.segment_scores("COMET", "b")
    assert not list(metric.check(texts.sample))
    other = Texts.from_lists({"a": TEXT, "b": [f"{text} ." for text in TEXT]})
    assert count(other, {"COMET": metric}).segment_scores("COMET", "b") == pytest.approx(noisy)


@pytest.mark.parametrize(("lag", "how"), [(1, "early"), (-1, "late"), (7, "")])
def test_scores_that_are_a_row_off_are_named(lag, how):
    moved = [*VALUES["a"][lag:], *VALUES["a"][:lag]]
    texts = Texts.from_lists({"a": TEXT, "b": [*TEXT[:20], *TEXT[:10]]})
    metric = ExternalScores("COMET", {"a": VALUES["a"], "b": moved})
    (said,) = [item.message for item in metric.check(texts.sample)]
    assert "20 of 20 equal outputs of a and b have unequal scores" in said
    assert f"those of b seem to be a row {how}" in said if how else "in another order" in said


def test_negated_scores_of_the_cases_say_nothing(shared, run_cli):
    case = shared / "cases" / "negated-scores"
    for name, file in (("metricx", "metricx"), ("mqm", "mqm100"), ("wer", "wer_neg")):
        line = (
            "compare",
            "-r",
            "ref",
            "bad",
            "good",
            "-m",
            "bleu",
            "--scores",
            f"{name}={file}.csv",
        )
        said = run_cli(*line, cwd=case)
        assert f"{name}: " in said.stderr
        assert "--higher-is-better" in said.stderr
        assert f"good has a worse {name}" not in said.stdout
        gate = run_cli(*line, "--fail-if-worse", name, cwd=case, check=False)
        assert gate.returncode == 2
        assert run_cli(*line, "--fail-if-worse", name, "--higher-is-better", name, cwd=case)


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


COMET = "a.txt\tSegment 0\tscore: 0.5\na.txt\tSegment 1\tscore: 1.0\nb.txt\tSegment 0\tscore: 0\n"
COMET += "b.txt\tSegment 1\tscore: -.5\na.txt\tscore: 0.75\nb.txt\tscore: -0.25\n"


@pytest.mark.parametrize(
    "content",
    [
        COMET,
        "a\t0.5\na\t1.0\nb\t0\nb\t-.5\n",  # WMT
        "M\ten-de\twmt\tref\ta\t1\t0.5\nM\ten-de\twmt\tref\tb\t1\t0\n"
        "M\ten-de\twmt\tref\tb\t2\t-.5\nM\ten-de\twmt\tref\ta\t2\t1\n",
        "a,b\n.5,0\n1,-.5\n",  # a column for each system
        "System,SEGMENT,X\na,1,.5\nb,2,-.5\na,2,1\nb,1,0\n",
    ],
)
def test_what_other_programs_print_is_read(tmp_path, content):
    (tmp_path / "scores").write_text(content)
    found = read_external_scores("x", SegmentFile(tmp_path / "scores"), ["out/a.txt", "b"])
    assert found.values == {"out/a.txt": [0.5, 1.0], "b": [0.0, -0.5]}


def test_the_command_reads_what_comet_score_prints(tmp_path, run_cli):
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("a house\na dog\n")
    (tmp_path / "comet").write_text(COMET)
    line = ("compare", "a.txt", "b.txt", "-r", "a.txt", "--scores", "comet=comet", "-m", "chrf")
    table = run_cli(*line, "-f", "csv", cwd=tmp_path).stdout
    rows = [row.split(",")[:3] for row in table.splitlines()]
    assert [row for row in rows if "comet" in row] == [
        ["a.txt", "comet", "0.75"], ["b.txt", "comet", "-0.25"]
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["comet", "x"])
@pytest.mark.parametrize("column", ["", ":COMET"])
def test_what_comet_score_writes_as_json_is_read(tmp_path, name, column):
    scores = {"out/a.txt": [0.5, 1], "out/b.txt": [0.0, -0.5]}
    rows: dict[str, Any] = {
        system: [{"src": "x", "mt": "y", "COMET": score} for score in of_system]
        for system, of_system in scores.items()
    }
    (tmp_path / "comet.json").write_text(json.dumps(rows, indent=4))
    found = read_external_scores(name, open_text(f"{tmp_path}/comet.json{column}"), ["a", "b"])
    assert found.values == {"a": [0.5, 1.0], "b": [0.0, -0.5]}
    rows["out/a.txt"][1]["COMET"] = "high"
    (tmp_path / "comet.json").write_text(json.dumps(rows, indent=4))
    with pytest.raises(DataError, match=r"comet.json: out/a.txt, row 2: 'high' is not a finite"):
        read_external_scores(name, open_text(f"{tmp_path}/comet.json"), ["a", "b"])


@pytest.mark.parametrize("key", ["segment", "seg_id", "doc"])
def test_rows_in_any_order_give_the_scores_of_their_segments(tmp_path, key):
    """Rows of one table are texts and scores; those of each system are in another order."""
    names = {"segment": str, "seg_id": "s{}".format, "doc": lambda n: f"d{n % 3}\t{n // 3}"}
    rows = [(s, n, f"{n} of {s}", n + 30 * (s == "b")) for n in range(1, 13) for s in "ab"]
    random.Random(3).shuffle(rows)
    head = "doc\tseg" if key == "doc" else key
    lines = [f"{s}\t{names[key](n)}\t{text}\t{score}\n" for s, n, text, score in rows]
    (tmp_path / "t.tsv").write_text(f"system\t{head}\tmt\tours\n" + "".join(lines))
    long = find_systems(TextTable(tmp_path / "t.tsv"))
    found = read_external_scores("ours", open_text(f"{tmp_path}/t.tsv:ours"), ["a", "b"])
    for system, more in (("a", 0), ("b", 30)):
        texts = [int(text.split()[0]) + more for text in long.of_system(system, "mt")]
        assert found.values[system] == texts


def test_a_number_a_line_is_of_the_only_system(tmp_path):
    (tmp_path / "bleurt").write_text("0.5\n-1e-3\n\n")
    file = SegmentFile(tmp_path / "bleurt")
    assert read_external_scores("bleurt", file, ["a"]).values == {"a": [0.5, -0.001, None]}
    with pytest.raises(DataError, match="no scores of a; it names no system"):
        read_external_scores("bleurt", file, ["a", "b"])
    (tmp_path / "wide").write_text("0.5\t1\n1\t0\n")
    with pytest.raises(DataError, match=r"no names of columns.*add it: .echo 'A,B'; cat "):
        read_external_scores("x", SegmentFile(tmp_path / "wide"), ["a", "b"])


def test_a_comparison_names_its_table_of_pandas():
    comparison: Any = compare({"a": TEXT, "b": TEXT}, TEXT, metrics=["rep"], resamples=0)
    with pytest.raises(TypeError, match=r"to_frame\(\) is one"):
        comparison["a"]
    with pytest.raises(AttributeError, match=r"no 'to_csv'; comparison.to_frame\(\) is a table"):
        comparison.to_csv("x.csv")
    assert not hasattr(comparison, "columns")
