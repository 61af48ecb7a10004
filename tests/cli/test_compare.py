"""``coverage-eval compare``: its table, options and errors."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from coverage_eval.cli.commands.compare import compare
from coverage_eval.quality.meteor.words import data_file
from coverage_eval.repetition.rep import REP
from tests.comparison.systems import damaged
from tests.conftest import RunCli
from tests.grammar import generate

TEXTS = ("--ref", "ref", "--src", "src")
MODEL = ("--model", "model")
SYSTEMS = ("few=few", "many=many", "drops=drops")
LINKS = ("--ref-links", "ref.links", "--links", "hyp.links")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory, run_cli: RunCli) -> Path:
    """Training text, a model, a test set, and three outputs with known errors."""
    folder = tmp_path_factory.mktemp("corpus")
    for name, pairs in (("train.", generate(600, seed=1)), ("", generate(150, seed=2))):
        for side, short in (("source", "src"), ("target", "ref")):
            lines = [" ".join(getattr(pair, side)) for pair in pairs]
            (folder / f"{name}{short}").write_text("\n".join(lines) + "\n")
    references = (folder / "ref").read_text().splitlines()
    rates = {"few": (0.02, 0.02), "many": (0.1, 0.02), "drops": (0.02, 0.2)}
    for seed, (name, (repeated, omitted)) in enumerate(rates.items()):
        # With these seeds no output is written twice as a whole, which would be a warning.
        lines = damaged(references, seed + 7, repeated=repeated, omitted=omitted)
        (folder / name).write_text("\n".join(lines) + "\n")
    run_cli("align", "train", "train.src", "train.ref", "-o", "model", cwd=folder)
    return folder


def scores(run_cli: RunCli, corpus: Path, *arguments: object, **options: Any) -> dict[str, Any]:
    result = run_cli("compare", *arguments, "-f", "json", cwd=corpus, **options)
    found = json.loads(result.stdout)
    found["by"] = {(item["system"], item["metric"]): item for item in found["scores"]}
    assert isinstance(found, dict)
    return found


def test_scores_equal_those_of_the_single_commands(run_cli, corpus):
    metrics = ("--metrics", "bleu,rep,drop,softdrop")
    found = scores(run_cli, corpus, *TEXTS, *MODEL, *SYSTEMS, *metrics, "--resamples", 0)["by"]
    drop = ("--src", "src", *MODEL)
    alone = {"BLEU": ("bleu",), "REP": ("rep",), "DROP": ("drop",), "SoftDROP": ("drop", "--soft")}
    for metric, (name, *more) in alone.items():
        options = drop if name == "drop" else ()
        text = run_cli(name, "many", "ref", *more, *options, "-f", "json", cwd=corpus).stdout
        (score,) = json.loads(text)["scores"]
        for key in ("score", "signature", "statistics", "segments"):
            assert found["many", metric][key] == score[key]


def test_omissions_and_additions_may_be_columns(run_cli, corpus):
    """The other systems are peers, like ``--peer`` of ``omissions``.

    Both adapt to the outputs of the system, so both have one figure.
    """
    options = ("--src", "src", *MODEL, "--peer", "many", "--peer", "few")
    metrics = ("--metrics", "omissions,additions", "--resamples", 0)
    found = scores(run_cli, corpus, *TEXTS, *MODEL, *SYSTEMS, *metrics)["by"]
    for metric, side in (("Omissions", ("--ref", "ref")), ("Additions", ("--additions",))):
        text = run_cli("omissions", "drops", *side, *options, "-f", "json", cwd=corpus).stdout
        (score,) = json.loads(text)["scores"]
        one, other = (
            re.sub(r"\|(text|share):[^|]*", "", item["signature"])
            for item in (found["drops", metric], score)
        )
        assert one == other
        assert found["drops", metric]["score"] == pytest.approx(score["score"])
    assert found["drops", "Omissions"]["score"] > found["few", "Omissions"]["score"]
    done = run_cli(
        "compare", *TEXTS, *MODEL, "few", "drops", "--metrics", "omissions",
        "--fail-if-worse", "omissions", cwd=corpus, check=False,
    )  # fmt: skip
    assert done.returncode == 3
    assert "drops is worse than few: Omissions" in done.stderr


def test_links_from_files_give_the_scores_of_their_model(run_cli, corpus):
    names = ("few", "many", "drops")
    for name in ("ref", *names):
        run_cli("align", "apply", "model", "src", name, "-o", f"{name}.links", cwd=corpus)
    links = ("--ref-links", "ref.links", *(f"--links={name}.links" for name in names))
    options = (*SYSTEMS, "--metrics", "drop", "--resamples", 50)
    known = scores(run_cli, corpus, *TEXTS, *MODEL, *options, "--strict")
    assert known["warnings"] == []
    assert known["model"]
    found = scores(run_cli, corpus, *TEXTS, *links, *options, "--breakdown", "dropped-words")
    assert found["by"].keys() == known["by"].keys()
    for key, score in found["by"].items():
        for name in ("score", "confidence", "difference", "p_value", "p_value_holm", "best"):
            assert score[name] == known["by"][key][name]
        assert score["signature"].startswith("DROP|refs:1|aligner:given|links:")
    assert found["breakdowns"][0]["rows"][0]["word"]


def test_lowercase_and_tokenisers_of_both_sides(run_cli, corpus):
    words = ("--tokenize", "13a", "--src-tokenize", "intl")
    run_cli("align", "train", "train.src", "train.ref", *words, "-o", "lower", cwd=corpus)
    words = ("--tokenize", "13a", "--lowercase")
    options = (*SYSTEMS, "--metrics", "rep,drop", "--resamples", 0)
    found = scores(run_cli, corpus, *TEXTS, "--model", "lower", *words, *options)
    by = found["by"]
    assert "|case:lc|tok:13a|" in by["few", "REP"]["signature"]
    assert "|case:lc|tok:intl>13a|" in by["few", "DROP"]["signature"]
    assert found["warnings"] == []
    # DROP uses the tokenisers that the model records; REP does not.
    known = scores(run_cli, corpus, *TEXTS, "--model", "lower", *options)
    assert known["by"]["few", "DROP"] == by["few", "DROP"]
    assert "|case:mixed|tok:none|" in known["by"]["few", "REP"]["signature"]
    assert known["warnings"] == []
    assert known["model"] == found["model"]


def test_the_ending_of_a_picture_draws_the_differences(run_cli, corpus, tmp_path):
    line = ("compare", *TEXTS, *SYSTEMS, "--metrics", "bleu,rep", "--resamples", 50)
    assert run_cli(*line, "-o", tmp_path / "table.svg", cwd=corpus).stdout == ""
    svg = (tmp_path / "table.svg").read_text()
    assert all(name in svg for name in ("few", "many", "drops", "BLEU", "REP"))


def test_breakdowns(run_cli, corpus):
    options = (*TEXTS, *MODEL, *SYSTEMS, "--metrics", "rep,drop", "--resamples", 0)
    found = scores(run_cli, corpus, *options, "--breakdown", "all")["breakdowns"]
    assert [table["name"] for table in found] == [
        "source-length", "source-position", "output-position", "dropped-words", "repeated-ngrams",
    ]  # fmt: skip
    assert {row["system"] for row in found[3]["rows"]} == {"few", "many", "drops"}
    text = run_cli("compare", *options, "--worst", 1, cwd=corpus).stdout
    assert "Segments whose scores differ most from few's\n" in text
    arguments = ("compare", "--ref", "ref", "few", "--metrics", "rep", "--breakdown")
    refused = run_cli(*arguments, "source-length", cwd=corpus, check=False)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "breakdown source-length needs the source text" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("=few",), "'=few' is neither a file nor of the form NAME=FILE"),
        (("few=few", "few=many"), "the name 'few' is given twice"),
        (("few=few", "--baseline", "x"), "the baseline 'x' is not one of the systems few"),
        (("few=few", "--metrics", "wer"), "unknown metric 'wer'; one of bleu, meteor,"),
        (("few=few", "--metrics", "rep,drop"), "metric drop needs --src, and --model"),
        (("few=few", "--metrics", "softdrop", *MODEL), "--src is needed"),
        (("few=few", "--links", "l"), "--ref-links and --links go together"),
        (("few=few", *LINKS, "--src", "src", *MODEL), "only one of"),
        (("few=few", *LINKS, "--metrics", "softdrop"), "links have no probabilities"),
        (("few=few", "-o", "x.png"), "it needs another system"),
        (("few=few", "many=many", "-o", "x.png", "--worst", "1"), "leave --sentence-level, --b"),
        (("few=few", "--lowercase", "-m", "bleu,chrf"), "--lowercase is not for bleu and chrf"),
        (("few=few", "--sentence-level", "--breakdown", "all"), "leave --breakdown out"),
        (("few=few", "--breakdown", "colour"), "unknown breakdown 'colour'"),
        (("few=few", "--breakdown", "all", "--metrics", "rep", "-f", "csv"), "use -f json"),
    ],
)  # fmt: skip
def test_usage_errors(arguments, message):
    """They are found before any file is read: none of these files exists."""
    result = CliRunner().invoke(compare, ["--ref", "ref", *arguments])
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())


def test_missing_files_are_found_before_anything_is_counted(run_cli, corpus, monkeypatch):
    monkeypatch.setattr(REP, "count", None)
    for arguments in (
        ("compare", "few=few", "none=none"),
        ("compare", "few=few", "--metrics", "drop", "--model", "none", "--src", "src"),
    ):
        result = run_cli(*arguments, "--ref", "ref", check=False, cwd=corpus)
        assert result.returncode == 1
        assert result.stdout == ""
        assert len([x for x in result.stderr.splitlines() if "error" in x]) == 1
        assert "none" in result.stderr


def test_without_the_meteor_extra_the_other_metrics_are_computed(run_cli, corpus, monkeypatch):
    options = ("compare", "--ref", "ref", "few=few", "--resamples", 0, "-f", "json")
    monkeypatch.setitem(sys.modules, "pycocoevalcap", None)  # so that Python does not find it
    data_file.cache_clear()
    result = run_cli(*options, cwd=corpus)
    assert [item["metric"] for item in json.loads(result.stdout)["scores"]] == ["BLEU", "REP"]
    assert "METEOR" not in result.stderr
    (note,) = [note for note in json.loads(result.stdout)["remarks"] if "no METEOR" in note]
    refused = run_cli(*options, "--metrics", "meteor,rep", check=False, cwd=corpus)
    assert (refused.returncode, refused.stdout) == (1, "")
    for line in (note, refused.stderr):
        assert "pip install 'coverage-eval[meteor]'" in line
