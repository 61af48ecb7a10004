"""Mistakes that would give a plausible number, their messages, and what must not be refused."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest

import coverage_eval as ce
from coverage_eval.core.errors import CorpusWarning
from tests.conftest import RunCli
from tests.core.corrupt import confuse, glue
from tests.grammar import generate

PAIRS = generate(900, seed=4)
TRAIN, TEST = PAIRS[:600], PAIRS[600:]
SRC = [list(pair.source) for pair in TEST]
REF = [list(pair.target) for pair in TEST]
A = confuse(REF, 0.2)
B = confuse(A, 0.1, seed=12)


def lines(rows: object) -> list[str]:
    return [" ".join(row) for row in rows]  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, run_cli: RunCli) -> Path:
    folder = tmp_path_factory.mktemp("user")
    texts = {
        "train.de": lines(pair.source for pair in TRAIN),
        "train.en": lines(pair.target for pair in TRAIN),
        "src": lines(SRC),
        "ref": lines(REF),
        "a": lines(A),
        "b": lines(B),
        "blank": [""] * len(REF),
        "shifted": lines([*A[1:], A[0]]),
        **{f"raw.{name}": lines(glue(rows)) for name, rows in (("a", A), ("b", B), ("ref", REF))},
        "raw.src": lines(glue(SRC)),
        **{f"three.{name}": lines(rows[:3]) for name, rows in (("src", SRC), ("ref", REF))},
    }
    for name, segments in texts.items():
        (folder / name).write_text("".join(f"{s}\n" for s in segments), encoding="utf-8")
    run_cli("align", "train", "train.de", "train.en", "-o", "model", cwd=folder)
    run_cli("align", "train", "three.src", "three.ref", "-o", "tiny", cwd=folder)
    words = {word for pair in TRAIN for word in pair.source}
    other = {word: f"slovo{number}" for number, word in enumerate(sorted(words))}
    slovak = [" ".join(other[word].title() for word in pair.source) for pair in TRAIN]
    (folder / "train.sk").write_text("".join(f"{line}\n" for line in slovak))
    run_cli("align", "train", "train.sk", "train.en", "-o", "sk.model", cwd=folder)
    return folder


def typed(run_cli: RunCli, folder: Path, line: str, status: int = 0) -> tuple[str, str]:
    done = run_cli(*line.split(), cwd=folder, check=False)
    assert done.returncode == status, done.stderr
    return done.stdout, done.stderr


# --- outputs that say nothing ---


def test_every_command_warns_of_a_blank_output(run_cli, folder):
    said = "coverage-eval: warning: blank: no segment has a word"
    for line in ("rep blank ref", "compare blank --ref ref --resamples 0"):
        assert typed(run_cli, folder, line)[1].startswith(said), line
        assert typed(run_cli, folder, f"{line} --strict", 1)[1].startswith(
            said.replace("warning", "error")
        )
    _, stderr = typed(run_cli, folder, "report --ref ref a blank --metrics rep -o report.html")
    assert stderr.startswith(said)
    assert "blank: no segment has a word" in (folder / "report.html").read_text("utf-8")
    gate = typed(run_cli, folder, "compare --ref ref a blank --metrics rep --fail-if-worse rep", 1)
    assert "blank: its low scores mean nothing, so no gate" in gate[1]


# --- texts and models with which no score means anything ---


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("drop a ref --src src --model sk.model", "src: 100% of its words are unknown"),
        (
            "compare a --ref ref --src src --model sk.model",
            "src: 100% of its words are unknown",
        ),
        ("omissions a --src src --model sk.model", "src: 100% of its words are unknown"),
        (
            "report a --ref ref --src src --model sk.model -o no.html",
            "src: 100% of its words are unknown",
        ),
        (
            "drop src src --src ref --model model",
            "ref: the model knows its words",
        ),
        ("rep shifted ref", "shifted: all lines are 1 line early (line N fits line N+1 of ref)"),
        (
            "omissions shifted --src src --model model",
            "shifted: all lines are 1 line early (line N fits line N+1 of src)",
        ),
        ("align apply model ref src -o no.links", "swap source and target"),
    ],
)
def test_a_score_that_would_mean_nothing_is_refused(run_cli, folder, line, said):
    shown, stderr = typed(run_cli, folder, line, 1)
    assert shown == ""
    assert stderr.startswith("coverage-eval: error: ")
    assert said in stderr.splitlines()[0]
    assert not (folder / "no.html").exists()
    assert not (folder / "no.links").exists()


def test_a_model_of_shifted_lines_is_written_with_a_warning(run_cli, folder):
    assert "warning" not in typed(run_cli, folder, "align train train.de train.en -o m")[1]
    first, *rest = (folder / "train.en").read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "moved.en").write_text("".join([*rest, first]), encoding="utf-8")
    said = typed(run_cli, folder, "align train train.de moved.en -o bad")[1]
    assert said.startswith("coverage-eval: warning: moved.en: ")
    assert (folder / "bad").is_file()  # training may have taken minutes


def test_a_file_without_links_is_warned_of(run_cli, folder):
    typed(run_cli, folder, "align apply model src ref -o links")
    (folder / "none").write_text("\n" * len(REF))
    line = "drop a ref --src src --ref-links links --links"
    shown, said = typed(run_cli, folder, f"{line} none -f json")
    message = "none: no line has a link; is it the right file?"
    assert message in json.loads(shown)["warnings"]
    assert f"coverage-eval: warning: {message}\n" in said
    assert "no line" not in typed(run_cli, folder, f"{line} links")[1]


# --- text with and without tokenisation ---


def test_untokenised_text_is_cut_for_rep(run_cli, folder):
    typed(run_cli, folder, "align train train.de train.en --tokenize 13a -o cut.model")
    settings = "--metrics rep,drop --resamples 0 -f json"

    def scores(ref: str, systems: str, src: str, model: str) -> list[float]:
        line = f"compare --ref {ref} {systems} --src {src} --model {model} {settings}"
        data = json.loads(typed(run_cli, folder, line)[0])
        signatures = [score["signature"] for score in data["scores"]]
        assert (
            all(("|tok:13a|" in s) == ref.startswith("raw") for s in signatures) or model != "model"
        )
        return [score["score"] for score in data["scores"]]

    raw = scores("raw.ref", "raw.a raw.b", "raw.src", "cut.model")
    assert raw == scores("ref", "a b", "src", "cut.model")
    # A model whose text was tokenised elsewhere knows the words that 13a makes.
    assert scores("raw.ref", "raw.a raw.b", "raw.src", "model") == raw
    line = "compare --ref raw.ref raw.a raw.b --metrics rep,bleu -f json"
    printed, said = typed(run_cli, folder, line)
    note = "the texts are not tokenised: tokenised with 13a for REP (--tokenize none"
    assert said.startswith(f"coverage-eval: note: {note}")
    assert any(said.startswith(note) for said in json.loads(printed)["remarks"])
    line = "compare --ref raw.ref raw.a --metrics rep --tokenize none --signature"
    kept = typed(run_cli, folder, line)
    assert "|tok:none|" in kept[0]
    assert "have punctuation attached to words" in kept[1]
    # As in the paper's script.
    assert "|tok:none|" in typed(run_cli, folder, "rep raw.a raw.ref")[0]


def test_three_segments_are_too_few_for_intervals(run_cli, folder):
    line = "drop three.ref three.ref --src three.src --model tiny --confidence"
    said = typed(run_cli, folder, line)[1]
    assert "the model was trained on 3 pairs, too few" in said
    assert "3 segments are too few for a reliable interval" in said
    shown = typed(run_cli, folder, "compare --ref three.ref three.ref --metrics rep")[0]
    assert "3 segments: too few for intervals and tests to say much" in shown


# --- too little ---


def test_a_model_that_was_not_made_for_omissions_is_warned_of(run_cli, folder):
    line = "omissions a --src src --model model"
    said = typed(run_cli, folder, line)[1]
    assert said.startswith("coverage-eval: warning: the model was not made for omissions")
    assert "train one with 'align train --prepare-for omissions', or give --ref" in said
    refused = run_cli(*line.split(), "--strict", cwd=folder, check=False)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "the model was not made for omissions" in refused.stderr
    assert "not made for omissions" not in run_cli(*line.split(), "--ref", "ref", cwd=folder).stderr


# --- the Python interface ---


def test_python_warns_as_the_commands_do(folder):
    texts = {name: list(ce.read_segments(folder / name)) for name in ("src", "ref", "a", "blank")}
    with ce.Aligner.load(folder / "model") as aligner, ce.Aligner.load(folder / "sk.model") as sk:
        finder = ce.OmissionFinder(aligner)
        calls = {
            "swap source and target": lambda: finder.find_texts(texts["src"], texts["a"]),
            "those of the hypothesis": lambda: finder.find_texts(texts["src"][:1], texts["a"][:1]),
            "words are unknown": lambda: ce.drop(texts["a"], texts["ref"], texts["src"], sk),
            "the hypothesis: no segment": lambda: ce.rep(texts["blank"], texts["ref"]),
            "blank: no segment": lambda: ce.compare(texts, texts["ref"], metrics="rep"),
        }
        for said, call in calls.items():
            with pytest.warns(CorpusWarning, match=said) as caught:
                call()
            assert caught[0].filename == __file__, said
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            finder.find_texts(texts["a"], texts["src"])
            ce.drop(texts["a"], texts["ref"], texts["src"], aligner)
            ce.rep(texts["a"], texts["ref"])


# --- what must not be refused ---


@pytest.mark.parametrize("number", [1, 3])
def test_a_few_segments_are_scored(run_cli, folder, number):
    for name in ("a", "b", "ref", "src", "raw.a", "raw.ref"):
        text = (folder / name).read_text("utf-8").splitlines(keepends=True)
        (folder / f"few.{name}").write_text("".join(text[:number]), encoding="utf-8")
    for line in (
        "rep few.a few.ref",
        "rep few.raw.a few.raw.ref",
        "bleu few.a few.ref",
        "rep few.a --ref few.b --ref few.ref",
        "drop few.a few.ref --src few.src --model model",
        "drop few.a few.ref --src few.src --model tiny",
        "omissions few.a --src few.src --model model",
        "compare few.a few.b --ref few.ref --src few.src --model model --metrics rep,drop,bleu",
    ):
        printed = typed(run_cli, folder, line)[0]
        assert any(map(str.isdigit, printed)), line
