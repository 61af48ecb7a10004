"""``coverage-eval profile``: its figures, formats, options and errors."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    texts = {
        "hyp": "a b a b a b\nthe the cat\n\n",
        "src": "x y z\ndie katze\nq\n",
        "ref": "a b c\nthe the cat\nz\n",
        "hyp_links": "0-0 1-1\n1-2\n\n",
        "ref_links": "0-0 2-2\n1-2 0-0\n\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return {name: tmp_path / name for name in texts}


def everything(files: dict[str, Path]) -> list[object]:
    return [
        "profile", files["hyp"], "--src", files["src"], "--ref", files["ref"],
        "--src-hyp-align", files["hyp_links"], "--src-ref-align", files["ref_links"],
    ]  # fmt: skip


def test_text_says_what_each_figure_means(run_cli, files):
    lines = run_cli(*everything(files)).stdout.splitlines()
    (uncovered,) = [line for line in lines if line.startswith("uncovered-source ")]
    assert re.search(r" 50\.00 .*source words without any link", uncovered)
    signature = r"uncovered-source\|aligner:given\|links:\w+\+\w+\|.*\|tok:none\|"
    assert any(re.match(signature, line) for line in lines)


def test_json_and_csv_have_the_same_values(run_cli, files):
    scores = json.loads(run_cli(*everything(files), "-f", "json").stdout)["scores"]
    rows = list(csv.DictReader(io.StringIO(run_cli(*everything(files), "-f", "csv").stdout)))
    assert {s["figure"]: s["score"] for s in scores} == {
        row["figure"]: float(row["score"]) for row in rows
    }
    assert all(score["signature"] and score["meaning"] for score in scores)
    by_name = {score["figure"]: score["score"] for score in scores}
    assert by_name["length-ratio"] == 9 / 6
    assert by_name["uncovered-source"] == 50  # covered: 0, 1 of three, 1 of two, none of one


def test_segments_without_enough_words_have_no_figure(run_cli, files):
    done = run_cli("profile", files["hyp"], "--sentence-level", "-f", "csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [row["segment"] for row in rows] == ["1", "2", "3"]
    assert [row["tail-loop"] for row in rows] == ["0.0", "0.0", "0.0"]
    assert [row["rep-3"] for row in rows] == ["50.0", "0.0", ""]
    done = run_cli("profile", files["hyp"], "--sentence-level", "-f", "json")
    assert json.loads(done.stdout)["sentences"][2]["rep-3"] is None


def test_other_formats_and_intervals(run_cli, files):
    for form, part in (("markdown", "| seq-rep-1"), ("latex", "\\toprule")):
        assert part in run_cli("profile", files["hyp"], "-f", form).stdout
    assert run_cli("profile", files["hyp"], "-b").stdout.splitlines()[0] == "33.33"
    first, second = (
        run_cli("profile", files["hyp"], "--confidence", "--bootstrap", 50, "-f", "csv").stdout
        for _ in range(2)
    )
    assert first == second
    assert first.startswith("figure,score,low,high,")


def test_tokenizer_is_applied_and_signed(run_cli, tmp_path):
    (tmp_path / "h").write_text("No, no!\n")
    done = run_cli("profile", tmp_path / "h", "--tokenize", "char", "-f", "json").stdout
    scores = {s["figure"]: s for s in json.loads(done)["scores"]}
    assert scores["distinct-1"]["score"] == pytest.approx(500 / 6)  # N o , n o !
    assert "|tok:char|" in scores["distinct-1"]["signature"]


def test_profile_uses_stop_words(run_cli, files, tmp_path):
    (tmp_path / "stop").write_text("x\nkatze\n")
    options = ("--stopwords", tmp_path / "stop", "-f", "json")
    scores = json.loads(run_cli(*everything(files), *options).stdout)["scores"]
    by_name = {score["figure"]: score for score in scores}
    # Without stop words the source has y z, die and q; the hypothesis's links cover y.
    assert by_name["uncovered-source"]["score"] == 75
    assert "|stop:2-" in by_name["uncovered-source"]["signature"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--stopwords s", "--stopwords needs links"),
        ("--model m", "--src is needed to align the texts"),
        ("--src s --model m --train-src t --train-tgt u", "only one of"),
        ("--src -", "named more than once"),
        ("--src-hyp-align l", "needs --src"),
        ("--src s --src-ref-align l", "needs --ref and --src-hyp-align"),
    ],
)
def test_usage_errors_come_before_any_file(run_cli, options, message):
    done = run_cli("profile", "-", *options.split(), check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_the_worst_segments_by_the_first_figure(run_cli, tmp_path):
    (tmp_path / "hyp").write_text("a b c\na a a\n\na a b\n")
    line = ("profile", "hyp", "--sentence-level", "-f", "json", "--sort", "worst")
    whole = json.loads(run_cli(*line, cwd=tmp_path).stdout)["sentences"]
    assert [item["segment"] for item in whole] == [2, 4, 1, 3]  # the empty one is undefined
    two = json.loads(run_cli(*line, "--top", 2, cwd=tmp_path).stdout)["sentences"]
    assert two == whole[:2]
