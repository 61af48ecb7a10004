"""Arguments of the wrong kind in Python, and variables of the environment that say nonsense."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

import coverage_eval as ce
from coverage_eval.data.stop_words import StopWords
from coverage_eval.data.tokenizers import Tokenizer
from coverage_eval.metrics.omissions import OmissionFinder
from coverage_eval.metrics.registry import METRICS, metric_class
from fast_align_wrapper import AlignerDataError, FastAlign
from tests.conftest import COMMAND

FLAGS = [
    (form, item.name)
    for name, entry in METRICS.items()
    for form in (name, *entry.forms.values())
    for item in fields(metric_class(form))
    if isinstance(item.default, bool)
]


@pytest.mark.parametrize(("metric", "flag"), FLAGS)
def test_a_string_turns_no_flag_on(metric, flag):
    kind: Any = metric_class(metric)
    has_aligner = "aligner" in {item.name for item in fields(kind)}
    needed = {"aligner": ce.Aligner.from_links([[]], [[]])} if has_aligner else {}
    with pytest.raises(TypeError, match=f"{flag} is True or False, not 'no'"):
        kind(**needed, **{flag: "no"})


def test_there_are_flags():
    assert {flag for _, flag in FLAGS} >= {"lowercase", "leave_out_punctuation"}
    with pytest.raises(TypeError, match="lowercase is True or False, not 1"):
        Tokenizer(lowercase=1)  # type: ignore[arg-type]


def test_stop_words_come_from_a_list_that_is_named():
    for words in (["a"], "a", None):
        with pytest.raises(TypeError, match=r"leave_out must come from StopWords\.of"):
            ce.REP(leave_out=words)  # type: ignore[arg-type]
    assert ce.REP(leave_out=StopWords.of(["a"])).sentence_score("a a", "a").score == 0


def test_a_finder_needs_an_aligner():
    for aligner in (None, "de-en.model"):
        with pytest.raises(TypeError, match=r"aligner must come from Aligner\.train"):
            OmissionFinder.of(aligner)  # type: ignore[arg-type]


def test_half_a_character_is_no_name():
    with pytest.raises(ce.DataError, match=r"the name of a system: x\\ud800 has half a character"):
        ce.compare({"x\ud800": ["a"], "y": ["a"]}, ["a"])


def test_a_model_is_found_from_another_folder(tmp_path, monkeypatch):
    with FastAlign.train([("ein haus", "a house")]) as model:
        model.save(tmp_path / "model")
    monkeypatch.chdir(tmp_path)
    with FastAlign.load("model") as loaded:
        monkeypatch.chdir("/")
        assert loaded.align([("ein haus", "a house")])


def test_a_table_of_invalid_text_is_one_line(tmp_path):
    from fast_align_wrapper.model import read_words

    (tmp_path / "forward.params").write_bytes(b"\xff\ta\t-1\n")
    with pytest.raises(AlignerDataError, match=r"damaged aligner model: forward\.params"):
        read_words(tmp_path / "forward.params")


def test_dates_of_builds_move_no_picture(run_cli, tmp_path):
    (tmp_path / "text").write_text("a b\n")
    arguments = ("compare", "--ref", "text", "a=text", "-m", "rep", "--resamples", "0", "--plot")
    run_cli(*arguments, "plain.pdf", cwd=tmp_path)
    for value in ("x", "-1"):
        run_cli(*arguments, "dated.pdf", cwd=tmp_path, env={"SOURCE_DATE_EPOCH": value})
        assert (tmp_path / "plain.pdf").read_bytes() == (tmp_path / "dated.pdf").read_bytes(), value


def test_a_backend_of_windows_is_not_needed(run_process, tmp_path):
    (tmp_path / "text").write_text("a b\n")
    arguments = ("compare", "--ref", "text", "a=text", "-m", "rep", "--resamples", "0", "--plot")
    run_process(*arguments, "p.svg", cwd=tmp_path, env={"MPLBACKEND": "nonsense"})
    assert (tmp_path / "p.svg").exists()
    assert COMMAND.exists()
