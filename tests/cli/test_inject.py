"""``inject``: texts with known errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coverage_eval.testbed.gold_errors import read_gold_errors
from coverage_eval.testbed.grammar import generate
from tests.cli.tools import write_grammar
from tests.conftest import RunCli


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory, run_cli: RunCli) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    write_grammar(folder, 800, 300)
    links = [" ".join(f"{i}-{j}" for i, j in pair.links) for pair in generate(300, seed=2)]
    (folder / "links").write_text("\n".join(links) + "\n")
    run_cli("align", "train", "train.source", "train.target", "-o", "model", cwd=folder)
    return folder


TEXTS = ("test.target", "--src", "test.source")


def test_links_and_model_name_the_lost_source_words(run_cli, corpus):
    kind = ("--kind", "omission-phrase", "--rate", 0.05, "--seed", 3)
    for name, origin in (("a", ("--links", "links")), ("b", ("--model", "model"))):
        out = ("-o", f"{name}.txt", "--gold", f"{name}.jsonl")
        assert run_cli("inject", *TEXTS, *origin, *kind, *out, cwd=corpus).stdout == ""
    assert (corpus / "a.txt").read_text() == (corpus / "b.txt").read_text()
    by_links, by_model = (list(read_gold_errors(corpus / f"{name}.jsonl")) for name in "ab")
    assert len(by_links) == len(by_model) > 50
    same = sum(one.source == two.source for one, two in zip(by_links, by_model, strict=True))
    assert same > 0.7 * len(by_links)
    plain = run_cli("inject", *TEXTS, *kind, "--gold", "c.jsonl", cwd=corpus)
    assert plain.stdout == (corpus / "a.txt").read_text()
    assert {error.source for error in read_gold_errors(corpus / "c.jsonl")} == {None}


def test_parts_of_a_text_get_the_errors_of_the_whole(run_cli, corpus):
    settings = ("--kind", "hallucination", "--kind", "omission-rare", "--rate", 0.05)
    whole = run_cli("inject", *TEXTS, *settings, "--gold", "whole", cwd=corpus).stdout
    for side in ("source", "target"):
        lines = (corpus / f"test.{side}").read_text().splitlines()[100:]
        (corpus / f"part.{side}").write_text("\n".join(lines) + "\n")
    part = ("part.target", "--src", "part.source", "--pool", "test.target")
    found = run_cli("inject", *part, *settings, "--gold", "part", cwd=corpus).stdout
    assert found.splitlines() == whole.splitlines()[100:]


def test_the_tokeniser_of_a_model_cuts_the_output(run_cli, corpus):
    (corpus / "raw.de").write_text("Das Haus, rot.\n" * 30)
    (corpus / "raw.en").write_text("The house, red.\n" * 29 + "\n")
    arguments = ("raw.de", "raw.en", "--tokenize", "13a", "--lowercase", "-o", "raw.model")
    run_cli("align", "train", *arguments, cwd=corpus)
    settings = ("--model", "raw.model", "--kind", "omission-word", "--rate", 0, "--gold", "-")
    done = run_cli("inject", "raw.en", "--src", "raw.de", *settings[:-1], "raw.gold", cwd=corpus)
    assert done.stdout == "The house , red .\n" * 29 + "\n"
    assert (corpus / "raw.gold").read_text() == ""


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("--kind", "omission"), 2, "'omission' is not one of"),
        (("--rate", 0.7), 2, "must be at least 0 and at most 0.5, not 0.7"),
        (("--rate", "nan"), 2, "nan"),
        (("--kind", "untranslated"), 2, "--kind untranslated needs --links or --model"),
        (("--links", "links", "--model", "model"), 2, "give only one of --links and --model"),
        (("-o", "test.source"), 2, "is one of the input files"),
        (("--gold", "nowhere/gold"), 1, "cannot be written"),
        (("--links", "short"), 1, "unequal numbers of lines"),
        (("--pool", "no-such"), 1, "no-such: no such file"),
        (("--kind", "omission-function", "--rate", 0.5), 1, "too few for a rate of 0.5"),
    ],
)
def test_errors(run_cli, corpus, arguments, status, said):
    (corpus / "short").write_text("0-0\n")
    defaults = {"--kind": "addition", "--rate": 0.1, "--gold": "new.gold", "-o": "new.out"}
    given = [x for item in defaults.items() if item[0] not in arguments for x in item]
    done = run_cli("inject", *TEXTS, *given, *arguments, check=False, cwd=corpus)
    assert done.returncode == status
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1 or status == 2
    assert not (corpus / "new.gold").exists()
    assert not (corpus / "new.out").exists()


def test_every_line_of_gold_names_the_words_of_its_error(run_cli, corpus):
    settings = ("--kind", "repetition-distant", "--rate", 0.05, "-o", "out", "--gold", "gold")
    run_cli("inject", *TEXTS, "--links", "links", *settings, cwd=corpus)
    output = (corpus / "out").read_text().splitlines()
    for line in (corpus / "gold").read_text().splitlines():
        error = json.loads(line)
        words = output[error["segment"] - 1].split()
        start, end = error["hypothesis"]
        again = words[start:end]
        others = [*words[:start], *words[end:]]
        assert f" {' '.join(again)} " in f" {' '.join(others)} "
