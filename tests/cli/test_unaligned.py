"""Outputs whose lines do not match: from the error message to a report in two commands."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from coverage_eval.testbed.grammar import generate
from tests.cli.tools import write_grammar
from tests.conftest import RunCli

MISSING = {10, 11, 12, 40}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory, run_cli: RunCli) -> Path:
    """A source, a reference, an output that lacks four lines, and the lines as they should be."""
    folder = tmp_path_factory.mktemp("corpus")
    write_grammar(folder, 2000, 0)
    pairs = {" ".join(p.source): " ".join(p.target) for p in generate(90, seed=3)}
    sources, targets = list(pairs)[:60], list(pairs.values())[:60]
    cut = ["" if n in MISSING else text for n, text in enumerate(targets)]
    for name, lines in (("src", sources), ("ref", targets), ("cut", cut)):
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n")
    (folder / "out.txt").write_text("\n".join(filter(None, cut)) + "\n")
    (folder / "one.txt").write_text(" ".join(filter(None, cut)) + "\n")
    train = ("align", "train", "train.source", "train.target", "--prepare-for", "omissions")
    run_cli(*train, "-o", "model", cwd=folder)
    return folder


MODEL = ("--src", "src.txt", "--model", "model")


def test_the_error_says_what_to_type_and_then_a_report_is_made(
    run_cli: RunCli, corpus: Path
) -> None:
    report = ("report", "--ref", "ref.txt", *MODEL, "-o", "report.html")
    refused = run_cli(*report, "out.txt", cwd=corpus, check=False)
    assert refused.returncode == 1
    assert (
        "unequal numbers of lines: out.txt has 56, ref.txt has 60, src.txt has 60" in refused.stderr
    )
    (command,) = re.findall(r"try: (coverage-eval .*)\n", refused.stderr)
    assert refused.stderr.count("\n") == 1
    _, *arguments = shlex.split(command)
    assert arguments == ["segment", "out.txt", *MODEL, "-o", "out.lines.txt"]
    run_cli(*arguments, cwd=corpus)
    assert (corpus / "out.lines.txt").read_text() == (corpus / "cut.txt").read_text()
    run_cli(*report, "out.lines.txt", cwd=corpus)
    assert (corpus / "report.html").stat().st_size > 1000


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("rep", "out.txt", "ref.txt"), "segment out.txt --ref ref.txt -o out.lines.txt"),
        (("omissions", "out.txt", *MODEL), "segment out.txt --src src.txt --model model -o "),
        (
            ("compare", "--ref", "ref.txt", "a=cut.txt", "b=out.txt"),
            "segment out.txt --ref ref.txt",
        ),
        (("profile", "out.txt", "--src", "src.txt"), None),
        (("align", "apply", "model", "src.txt", "out.txt"), None),
    ],
)
def test_a_hint_is_given_where_there_is_something_to_cut_by(
    run_cli: RunCli, corpus: Path, arguments: tuple[str, ...], hint: str | None
) -> None:
    done = run_cli(*arguments, cwd=corpus, check=False)
    assert done.returncode == 1
    assert "unequal numbers of lines" in done.stderr
    assert (hint or "try:") in done.stderr if hint else "try:" not in done.stderr


@pytest.mark.parametrize("output", ["out.txt", "one.txt"])
@pytest.mark.parametrize(
    "arguments",
    [
        ("rep", "{}", "ref.txt"),
        ("bleu", "{}", "ref.txt"),
        ("drop", "{}", "ref.txt", *MODEL),
        ("omissions", "{}", *MODEL),
        ("compare", "--ref", "ref.txt", *MODEL, "a={}", "b=ref.txt", "--resamples", "0"),
        ("profile", "{}", *MODEL),
    ],
    ids=lambda arguments: arguments[0],
)
def test_unaligned_scores_are_those_of_the_cut_lines(
    run_cli: RunCli, corpus: Path, arguments: tuple[str, ...], output: str
) -> None:
    def numbers(name: str, *more: str) -> tuple[list[object], str]:
        filled = [part.format(name) for part in arguments]
        done = run_cli(*filled, *more, "-f", "json", cwd=corpus)
        scores = json.loads(done.stdout)["scores"]
        return [(one["score"], one.get("metric")) for one in scores], done.stdout

    cut, plain = numbers("cut.txt")
    found, said = numbers(output, "--unaligned")
    assert found == cut
    kind = "reference-13a" if arguments[0] in {"rep", "bleu"} else "model-"
    assert f"|seg:{kind}" in said
    assert "|seg:" not in plain


def test_omissions_lists_passages_before_words(run_cli: RunCli, corpus: Path) -> None:
    command = ("omissions", "out.txt", *MODEL, "--unaligned", "--sentence-level", "--errors-only")
    done = run_cli(*command, cwd=corpus)
    words = [len(line.split()) for line in (corpus / "src.txt").read_text().splitlines()]
    lines = done.stdout.splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith("lines 11 to 13"))
    assert f"{sum(words[10:13])} words, nothing like them in the output" in lines[first]
    assert lines[first + 1].startswith(f"line 41, {words[40]} words, nothing like it")
    assert "the whole line" in done.stdout.split("segment", 1)[1]
    data = json.loads(run_cli(*command, "-f", "json", cwd=corpus).stdout)
    kinds = [(one["kind"], one["first"], one["last"]) for one in data["passages"]]
    assert kinds == [("passage", 11, 13), ("sentence", 41, 41)]
    score = 100 * sum(words[n] for n in MISSING) / sum(words)
    assert data["documents"] == [{"document": "out.txt", "score": pytest.approx(score)}]
    marked = {one["segment"]: one["marks"] for one in data["scores"][0]["sentences"]}
    assert [mark["kind"] for mark in marked[11]] == ["sentence"]
    assert marked[11][0]["positions"] == [*range(words[10])]


def test_peers_are_cut_and_segments_kept(run_cli: RunCli, corpus: Path) -> None:
    command = ("omissions", "cut.txt", *MODEL, "--unaligned", "--peer", "one.txt", "-b")
    cut = run_cli("omissions", "cut.txt", *MODEL, "--peer", "cut.txt", "-b", cwd=corpus)
    assert run_cli(*command, cwd=corpus).stdout == cut.stdout
    kept = ("omissions", "out.txt", *MODEL, "--unaligned", "--reject", "bad.jsonl")
    run_cli(*kept, cwd=corpus)
    rows = [json.loads(line) for line in (corpus / "bad.jsonl").read_text().splitlines()]
    assert {row["segment"] for row in rows} >= {n + 1 for n in MISSING}


def test_documents_have_a_gate(run_cli: RunCli, corpus: Path) -> None:
    command = ("segment", "out.txt", *MODEL, "--fail-above")
    closed = run_cli(
        *command, 1, "--reject", "bad.jsonl", "--keep", "good", cwd=corpus, check=False
    )
    assert closed.returncode == 3
    assert "1 of 1 documents lack more than 1% of the source's words: out.txt" in closed.stderr
    (row,) = map(json.loads, (corpus / "bad.jsonl").read_text().splitlines())
    assert [(one["first"], one["last"]) for one in row["missing"]] == [(11, 13), (41, 41)]
    assert row["output"] + "\n" == (corpus / "out.txt").read_text()
    assert (corpus / "good").read_text() == ""
    assert run_cli(*command, 20, cwd=corpus).stdout == closed.stdout


def test_unaligned_needs_something_to_cut_by(run_cli: RunCli, corpus: Path) -> None:
    done = run_cli("profile", "out.txt", "--src", "src.txt", "--unaligned", cwd=corpus, check=False)
    assert done.returncode == 2
    assert "--unaligned needs --src with --model M, or --ref" in done.stderr
