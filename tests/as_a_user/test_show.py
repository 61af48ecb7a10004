"""The worst segments, shown with their errors marked in place."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

REF = ["a red house", "the dog sleeps", "one two three four five six seven eight nine", "b"]
HYP = ["a red red house", "the dog sleeps", f"{REF[2]} {REF[2]}", "b"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, lines in {"hyp": HYP, "ref": REF}.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    return tmp_path


def test_the_worst_segments_first(run_cli, folder):
    line = ("rep", "hyp", "ref", "--sentence-level", "-f", "csv")
    plain = list(csv.DictReader(run_cli(*line, cwd=folder).stdout.splitlines()))
    found = run_cli(*line, "--worst", 2, cwd=folder).stdout.splitlines()
    worst = list(csv.DictReader(found))
    by_score = sorted(plain, key=lambda row: -float(row["score"]))
    assert worst == by_score[:2]
    assert [row["segment"] for row in worst] == ["3", "1"]
    slight = (*line, "--w1", 0.01, "--w2", 0.01, "--worst", 4)
    rows = list(csv.DictReader(run_cli(*slight, cwd=folder).stdout.splitlines()))
    assert [row["segment"] for row in rows[:2]] == ["3", "1"]
    assert 0 < float(rows[1]["score"]) < 1
    low = run_cli("bleu", *line[1:], "--worst", 1, cwd=folder).stdout
    assert low.splitlines()[1].startswith("1,")  # segment 2 is too short for BLEU


def test_errors_are_marked_in_place(run_cli, folder):
    shown = run_cli("rep", "hyp", "ref", "--worst", 2, cwd=folder).stdout.split("\n\n")
    assert shown[1].splitlines() == [
        "segment 1  REP 66.67",
        "reference  a red house",
        "output     a red [red] house",
        "'red' repeated at 3",
    ]
    # Nine repeated words are one phrase; the bigram "nine one" is not listed.
    assert shown[0].splitlines()[-1] == "'one two three … eight nine' repeated at 10–18"
    assert "nine [one two three" in shown[0]
    data = json.loads(run_cli("rep", "hyp", "ref", "--worst", 9, "-f", "json", cwd=folder).stdout)
    assert [item["segment"] for item in data["scores"][0]["sentences"]] == [3, 1]


def test_the_score_above_the_texts_has_the_digits_that_are_asked_for(run_cli, folder):
    shown = run_cli("rep", "hyp", "ref", "--worst", 2, "-w", 4, cwd=folder).stdout
    assert "segment 1  REP 66.6667\n" in shown


def test_dropped_words_are_marked_in_the_source(run_cli, tmp_path):
    texts = {"src": "x y z", "ref": "a b c", "hyp": "a"}
    links = {"ref.links": "0-0 1-1 2-2", "hyp.links": "0-0"}
    for name, text in {**texts, **links}.items():
        (tmp_path / name).write_text(f"{text}\n")
    line = ("drop", "hyp", "ref", "--src", "src", "--worst", "1")
    files = ("--links", "hyp.links", "--ref-links", "ref.links")
    shown = run_cli(*line, *files, cwd=tmp_path).stdout.splitlines()
    assert shown == ["segment 1  DROP 66.67", "source     x [y z]", "reference  a b c",
                     "output     a"]  # fmt: skip
