"""``coverage-eval drop``: links from files, a model trained or loaded, hard and soft."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.tools import write_grammar
from tests.conftest import RunCli
from tests.planting import inject_lines
from tests.repetition import oracles


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Training text, a test set and an output that leaves out a tenth of the words."""
    folder = tmp_path_factory.mktemp("corpus")
    targets = write_grammar(folder, 1000, 200)
    short = inject_lines(targets, "omission-word", 0.1, seed=1)
    (folder / "short").write_text("\n".join(short) + "\n")
    return folder


@pytest.fixture(scope="module")
def model(corpus: Path, run_cli: RunCli) -> Path:
    run_cli("align", "train", "train.source", "train.target", "-o", "model", cwd=corpus)
    return corpus / "model"


def score(
    run_cli: RunCli, corpus: Path, *arguments: object, hyp: str = "short"
) -> dict[str, object]:
    result = run_cli("drop", hyp, "test.target", *arguments, "-f", "json", cwd=corpus)
    (only,) = json.loads(result.stdout)["scores"]
    assert isinstance(only, dict)
    return only


@pytest.mark.parametrize("soft", [(), ("--soft",)])
def test_omissions_are_found(run_cli, corpus, model, soft):
    options = ("--src", "test.source", "--model", model, *soft)
    found = score(run_cli, corpus, *options)
    assert 2 < float(str(found["score"])) < 12  # a tenth of the words was left out
    assert found["segments"] == 200
    same = score(run_cli, corpus, *options, hyp="test.target")
    assert same["score"] == 0


def test_agrees_with_links_from_files_and_with_the_definition(run_cli, corpus, model):
    links = {}
    for text in ("test.target", "short"):
        arguments = ("align", "apply", model, "test.source", text, "--symmetrize", "forward")
        lines = run_cli(*arguments, cwd=corpus).stdout
        (corpus / f"{text}.links").write_text(lines)
        links[text] = [
            [tuple(map(int, link.split("-"))) for link in line.split()]
            for line in lines.splitlines()
        ]
    from_files = score(
        run_cli, corpus, "--src", "test.source",
        "--ref-links", "test.target.links", "--links", "short.links",
    )  # fmt: skip
    by_model = score(
        run_cli, corpus, "--src", "test.source", "--model", model, "--symmetrize", "forward"
    )
    assert from_files["score"] == by_model["score"]
    assert by_model["score"] == oracles.drop(links["test.target"], links["short"])  # type: ignore[arg-type]


def test_the_signature_names_every_setting_that_affects_the_score(run_cli, corpus, model):
    (corpus / "stop").write_text("der\ndie\ndas\n")
    options = ("--src", "test.source", "--model", model, "--stopwords", "stop")
    plain = str(score(run_cli, corpus, *options[:4])["signature"])
    assert plain.startswith("DROP|refs:1|aligner:fast_align-coverage-eval-0.1.0|model:")
    assert "|sym:grow-diag-final-and|sink:no|case:lc|tok:13a|" in plain
    assert "|denom:aligned|stop:none|compat:none|" in plain
    other = str(
        score(run_cli, corpus, *options, "--denominator", "source", "--sink",
              "--symmetrize", "union", "--paper", "acl2018")["signature"]
    )  # fmt: skip
    assert "|sym:union|sink:yes|case:lc|tok:13a|denom:source|stop:3-" in other
    assert "|compat:acl2018|" in other
    soft = str(score(run_cli, corpus, *options[:4], "--soft")["signature"])
    assert soft.startswith("SoftDROP|refs:1|aligner:fast_align-coverage-eval-0.1.0|model:")


def test_stop_words_from_a_file_and_from_standard_input(run_cli, corpus, model):
    source = (corpus / "test.source").read_text().split()
    stop = max(set(source), key=source.count)
    (corpus / "stop").write_text(f"{stop}\n")
    options = ("--src", "test.source", "--model", model)
    found = score(run_cli, corpus, *options, "--stopwords", "stop", "--sentence-level")
    words = [m["text"] for s in found["sentences"] for m in s["marks"]]  # type: ignore[attr-defined]
    assert words
    assert stop not in words
    plain = score(run_cli, corpus, *options)
    assert found["statistics"]["expected_words"] < plain["statistics"]["expected_words"]  # type: ignore[index]
    arguments = ("drop", "short", "test.target", *options, "--stopwords")
    piped = run_cli(*arguments, "-", cwd=corpus, stdin=f"{stop}\n").stdout
    assert piped == run_cli(*arguments, "stop", cwd=corpus).stdout
    (corpus / "lines").write_text("der\ndie katze\n")
    refused = run_cli(*arguments, "lines", cwd=corpus, check=False)
    assert "lines: line 2: a list of stop words has one word per line" in refused.stderr
    missing = run_cli(*arguments, "nowhere", cwd=corpus, check=False)
    assert (missing.returncode, missing.stdout) == (1, "")
    assert missing.stderr == "coverage-eval: error: nowhere: no such file\n"


def test_the_papers_script_skips_lines_that_look_like_markup(run_cli, tmp_path):
    """They shift the pairing, and the longer file is cut."""
    ref, hyp = "<doc>\n0-0 1-1\n0-0\n1-1\n", "0-0\n1-1\n0-0\n0-0\n"
    words = "a b\n" * 4
    for name, text in {"ref.links": ref, "hyp.links": hyp, "h": words, "r": words}.items():
        (tmp_path / name).write_text(text)
    arguments = ("drop", "h", "r", "--ref-links", "ref.links", "--links", "hyp.links", "-b")
    result = run_cli(*arguments, cwd=tmp_path, check=False)
    assert result.returncode == 1
    assert "ref.links: line 1: '<doc>' is not a link" in result.stderr
    expected = oracles.drop_script(ref.splitlines(), hyp.splitlines())
    compat = run_cli(*arguments, "--paper", "acl2018", cwd=tmp_path).stdout
    assert compat == f"{expected:.2f}\n"


def test_links_to_the_sink_do_not_count(run_cli, tmp_path):
    for name, text in (("src", "x y"), ("ref", "a b"), ("hyp", "a b"), ("links", "0-0 2-1")):
        (tmp_path / name).write_text(f"{text}\n")
    (tmp_path / "none").write_text("\n")
    arguments = ("drop", "hyp", "ref", "--src", "src", "--ref-links", "links",
                 "--links", "none")  # fmt: skip
    found = run_cli(*arguments, "--sink", "--sentence-level", "-f", "csv", cwd=tmp_path).stdout
    assert found == "segment,score,marks\n1,100.0,x at 1\n"
    result = run_cli(*arguments, cwd=tmp_path, check=False)
    assert result.returncode == 1
    assert "links: line 1: link 2-1 is out of range: the source has 2 tokens" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--soft", "--ref-links", "links", "--links", "links"),
        ("--model", "m", "--src", "src", "--soft", "--denominator", "source"),
        ("--model", "m", "--src", "src", "--soft", "--symmetrize", "union"),
        ("--ref-links", "links", "--links", "links", "--symmetrize", "union"),
        ("--model", "m", "--src", "-", "--stopwords", "-"),
        ("--model", "m", "--src", "src", "--ref-links", "links", "--links", "links"),
    ],
)
def test_usage_errors(run_cli, tmp_path, arguments):
    for name in ("src", "ref", "hyp"):
        (tmp_path / name).write_text("a b\nc\n")
    (tmp_path / "links").write_text("0-0\n0-0\n")
    result = run_cli("drop", "hyp", "ref", *arguments, cwd=tmp_path, check=False)
    assert result.returncode == 2
    assert not result.stdout
