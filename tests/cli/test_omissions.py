"""``omissions`` and ``align train --prepare-for omissions``."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from coverage_eval.cli.commands.omissions import WORST
from tests.cli.tools import on_a_terminal, write_grammar
from tests.conftest import RunCli
from tests.planting import inject_lines

TEXTS = ("bad", "--src", "test.source")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory, run_cli: RunCli) -> Path:
    """A model made for omissions, and outputs with omissions and additions."""
    folder = tmp_path_factory.mktemp("corpus")
    lines = write_grammar(folder, 1000, 200)
    for name, kind in (("bad", "omission-phrase"), ("longer", "addition")):
        (folder / name).write_text("\n".join(inject_lines(lines, kind, 0.1)) + "\n")
    train = ("align", "train", "train.source", "train.target")
    run_cli(*train, "--prepare-for", "omissions", "-o", "model", cwd=folder)
    return folder


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(text.splitlines()))


def test_segments_are_the_same_in_csv_and_json(run_cli, corpus):
    arguments = ("omissions", *TEXTS, "--model", "model", "--sentence-level", "-f")
    table = rows(run_cli(*arguments, "csv", cwd=corpus).stdout)
    (score,) = json.loads(run_cli(*arguments, "json", cwd=corpus).stdout)["scores"]
    assert [row["segment"] for row in table] == [str(n) for n in range(1, 201)]
    assert [float(row["score"]) for row in table] == [s["score"] for s in score["sentences"]]
    assert list(table[0]) == ["segment", "score", "probability", "marks", "reason"]
    run_cli(*arguments, "csv", "-o", "found.csv", cwd=corpus)
    assert (corpus / "found.csv.signatures").read_text() == f"{score['signature']}\n"
    assert score["signature"] not in run_cli(*arguments, "text", cwd=corpus).stdout
    assert score["signature"] in run_cli(*arguments, "text", "--signature", cwd=corpus).stdout
    sources = (corpus / "test.source").read_text().splitlines()
    spans = 0
    for source, row, sentence in zip(sources, table, score["sentences"], strict=True):
        words = [source[start:end] for start, end in sentence["word_spans"]]
        assert (words, len(sentence["losses"])) == (source.split(), len(words))
        for mark, text in zip(sentence["marks"], row["marks"].split("; "), strict=False):
            assert mark["text"] == source[mark["start"] : mark["end"]]
            number = len(source[: mark["start"]].split()) + 1
            assert text.startswith(f"{mark['text']} at {number}")
            spans += 1
    assert spans > 20


def test_the_corpus_figure_is_that_of_its_statistics(run_cli, corpus):
    arguments = ("omissions", *TEXTS, "--model", "model")
    found = run_cli(*arguments, "--sentence-level", "-f", "csv", cwd=corpus).stdout
    (score,) = json.loads(run_cli(*arguments, "-f", "json", cwd=corpus).stdout)["scores"]
    counted = score["statistics"]
    figure = 100 * counted["uncovered_words"] / counted["words"]
    assert float(run_cli(*arguments, "-b", cwd=corpus).stdout) == pytest.approx(figure, abs=0.01)
    flagged = sum(bool(row["reason"]) for row in rows(found))
    assert flagged == counted["flagged"]
    assert flagged == sum(float(row["probability"]) >= 0.5 for row in rows(found))
    text = run_cli(*arguments, "--confidence", cwd=corpus).stdout
    first = f"{flagged} of 200 segments are flagged; Omissions {figure:.2f} (95% interval "
    assert text.startswith(first)
    assert "source words left uncovered, beyond what complete" in " ".join(text.split())
    worst = run_cli(*arguments, "--sentence-level", "--worst", 5, "-f", "csv", cwd=corpus).stdout
    shown = re.findall(r"^ +(\d+)  (\S+)", text, re.MULTILINE)
    for (number, word), row in zip(shown, rows(worst), strict=True):
        assert number == row["segment"]
        assert row["marks"].startswith(word.rstrip("…"))
    only = run_cli(*arguments, "--sentence-level", "--worst", 200, "-f", "csv", cwd=corpus).stdout
    assert len(rows(only)) == flagged
    assert all(row["reason"] for row in rows(only))


def test_without_flags_there_is_no_table(run_cli, corpus):
    complete = ("test.target", "--src", "test.source", "--model", "model")
    shown = run_cli("omissions", *complete, cwd=corpus).stdout
    assert shown.startswith("4 of 200 segments are flagged; ")
    (corpus / "two").write_text("\n".join((corpus / "test.target").read_text().splitlines()[:20]))
    (corpus / "two.source").write_text(
        "\n".join((corpus / "test.source").read_text().splitlines()[:20])
    )
    shown = run_cli("omissions", "two", "--src", "two.source", *complete[3:], cwd=corpus).stdout
    assert shown.startswith("0 of 20 segments are flagged; ")
    assert "segment  suspected" not in shown


def test_additions_are_words_of_the_output(run_cli, corpus):
    arguments = ("omissions", "longer", "--src", "test.source", "--additions", "--model", "model")
    (score,) = json.loads(run_cli(*arguments, "--sentence-level", "-f", "json", cwd=corpus).stdout)[
        "scores"
    ]
    assert score["signature"].startswith("Additions|")
    assert "|dir:reverse|" in score["signature"]
    longer = (corpus / "longer").read_text().splitlines()
    for line, sentence in zip(longer, score["sentences"], strict=True):
        assert len(sentence["losses"]) == len(line.split())
        for mark in sentence["marks"]:
            assert (mark["side"], mark["kind"]) == ("output", "added")
            assert mark["text"] == line[mark["start"] : mark["end"]]
    for text in run_cli(*arguments, "--worst", 10, cwd=corpus).stdout.split("\n\n"):
        _, source, output = text.splitlines()
        assert "[" in output
        assert "[" not in source


def test_a_gate_and_a_filter_without_a_reference(run_cli, corpus):
    line = ("omissions", *TEXTS, "--model", "model")
    (score,) = json.loads(run_cli(*line, "-f", "json", cwd=corpus).stdout)["scores"]
    share = 100 * score["statistics"]["flagged"] / 200
    files = ("--keep", "good.jsonl", "--reject", "bad.jsonl")
    closed = run_cli(*line, "--fail-above", share / 2, *files, cwd=corpus, check=False)
    assert closed.returncode == 3
    assert "failed: " in closed.stderr
    assert " of 200 segments are flagged (" in closed.stderr
    assert f"limit {share / 2:g}%; the estimate is above the limit: segments " in closed.stderr
    kept, rejected = (
        [json.loads(row) for row in (corpus / name).read_text().splitlines()]
        for name in files[1::2]
    )
    named = closed.stderr.rpartition("segments ")[2].partition(" and ")[0]
    numbers = [row["segment"] for row in rejected]
    assert named.strip() == ", ".join(map(str, numbers[:20]))
    assert len(kept) + len(rejected) == 200
    assert {row["reason"].rpartition("; ")[2] for row in rejected} == {"omission"}
    assert {row["probability"] >= 0.5 for row in rejected} == {True}
    assert {row["probability"] >= 0.5 for row in kept} == {False}
    passed = run_cli(*line, "--fail-above", share, cwd=corpus)
    assert passed.returncode == 0
    assert f"limit {share:g}%\n" in passed.stderr


@pytest.mark.parametrize("columns", [60, 80, 140])
def test_the_worst_use_the_width_of_a_terminal(corpus, columns):
    line = ("omissions", *TEXTS, "--model", "model")
    shown, _ = on_a_terminal(*line, cwd=corpus, columns=columns, NO_COLOR="1")
    rows = re.findall(r"^ +\d+  (.+?)(?:  |$)", shown, re.MULTILINE)
    assert len(rows) == WORST
    cut = {len(row) for row in rows if row.endswith("…")}
    assert cut == ({36 + (columns - 80) // 2} if columns < 140 else set())
    assert max(map(len, shown.splitlines())) <= columns


def test_one_empty_output_closes_a_gate_and_complete_text_does_not(run_cli, corpus):
    line = ("--src", "test.source", "--model", "model", "--fail-above")
    clean = run_cli("omissions", "test.target", *line, 0, cwd=corpus)
    assert "4 of 200 segments are flagged (4 omission); " in clean.stderr
    assert "%, limit 0%\n" in clean.stderr
    lines = (corpus / "test.target").read_text().splitlines()
    (corpus / "one-empty").write_text("\n".join([*lines[:7], "", *lines[8:]]) + "\n")
    closed = run_cli("omissions", "one-empty", *line, 0, cwd=corpus, check=False)
    assert closed.returncode == 3
    assert "(1 empty, " in closed.stderr
    *_, warning, failed = closed.stderr.splitlines()
    assert warning.startswith("coverage-eval: warning: one-empty: 1 of 200 outputs have no words")
    assert failed.startswith("coverage-eval: failed: ")
    assert failed.endswith("1 of 200 are certainly wrong: segments 8")


def test_peers_show_what_can_be_translated(run_cli, corpus):
    """Words that other translations cover are expected; one that agrees lowers the score."""
    arguments = ("omissions", *TEXTS, "--model", "model", "--sentence-level", "-f", "csv")

    def scores(*more: str) -> list[str]:
        return [row["score"] for row in rows(run_cli(*arguments, *more, cwd=corpus).stdout)]

    (corpus / "other").write_text((corpus / "test.target").read_text())
    both = ("--peer", "test.target", "--peer", "longer")
    assert scores(*both) != scores()
    peered, agreeing = scores(*both, "--peer", "other"), scores(*both, "--peer", "bad")
    assert sum(map(float, agreeing)) < sum(map(float, peered))
    json_of = ("omissions", *TEXTS, "--model", "model", "-f", "json")
    found = json.loads(run_cli(*json_of, "--peer", "bad", cwd=corpus).stdout)
    assert any(n.startswith("bad: the same text as bad in all 200") for n in found["remarks"])
    assert "|rank:peers1|" in found["scores"][0]["signature"]
    both = ("--peer", "longer", "--ref", "test.target")
    signature = json.loads(run_cli(*json_of, *both, cwd=corpus).stdout)["scores"][0]["signature"]
    assert "|refs:1|" in signature
    assert "|rank:peers1|" in signature


def test_errors_that_need_no_model_are_rejected_without_one(tmp_path, run_cli):
    sources = ["ein hund läuft über die wiese", "zwei kinder spielen im garten mit einem ball",
               "der mann liest eine zeitung"]  # fmt: skip
    outputs = ["a dog runs across the meadow", "zwei kinder spielen im garten mit einem ball", None]
    rows = [{"s": s, "h": h} for s, h in zip(sources, outputs, strict=True)]
    table = tmp_path / "t.jsonl"
    table.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.jsonl"
    command = ["omissions", f"{table}:h", "--src", f"{table}:s"]
    done = run_cli(*command, "--keep", str(good), "--reject", str(bad))
    assert done.returncode == 0
    assert "2 of 3 segments have an error that needs no model" in done.stderr
    assert "without --model, no omissions are looked for" in done.stderr
    kept, rejected = (
        [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for path in (good, bad)
    )
    assert kept == rows[:1]
    reasons = [row.pop("reason") for row in rejected]
    assert rejected == rows[1:]
    assert [reason.partition(":")[0] for reason in reasons] == ["untranslated", "empty"]
    assert run_cli(*command, "--fail-above", "70").returncode == 0
    closed = run_cli(*command, "--fail-above", "60", check=False)
    assert closed.returncode == 3
    assert closed.stderr.rstrip().endswith("segments 2, 3")
    for option in ("--trust", "--additions", "--sentence-level"):
        assert run_cli(*command, "--keep", str(good), option, check=False).returncode == 2


def test_a_text_too_short_to_plant_errors_in_is_filtered_all_the_same(run_cli, corpus, tmp_path):
    (tmp_path / "h").write_text("a b\n\n")
    (tmp_path / "s").write_text("der hund\ndie katze\n")
    line = ("omissions", "h", "--src", "s", "--model", corpus / "model", "--trust")
    done = run_cli(*line, "--fail-above", 1, "--keep", "k", cwd=tmp_path, check=False)
    assert done.returncode == 3
    assert "no segment is long enough to plant an error in it" in done.stderr
    assert (tmp_path / "k").exists()
