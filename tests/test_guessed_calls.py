"""The calls that users of sacreBLEU and jiwer try first work, and agree with the commands."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sacrebleu

import coverage_eval as ce
from coverage_eval.core.errors import CorpusWarning
from coverage_eval.registry import METRICS, make_metric
from tests.comparison.systems import damaged
from tests.conftest import RunCli
from tests.grammar import generate

TRAINING, TEST = generate(800, seed=1), generate(80, seed=2)
REFS = [f"{' '.join(pair.target)}." for pair in TEST]
TEXTS = {
    "train_srcs": [f"{' '.join(pair.source)}." for pair in TRAINING],
    "train_tgts": [f"{' '.join(pair.target)}." for pair in TRAINING],
    "srcs": [f"{' '.join(pair.source)}." for pair in TEST],
    "refs": REFS,
    "refs_b": [line.replace("the ", "this ") for line in REFS],
    "a": damaged(REFS, 3, repeated=0.1),
    "b": damaged(REFS, 4, repeated=0.02, omitted=0.15),
}
"""Segments end in an attached full stop, which ``13a`` separates and ``none`` does not."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("guessed")
    for name, lines in TEXTS.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines))
    return folder


@pytest.fixture(scope="module")
def model(folder: Path) -> Path:
    train = TEXTS["train_srcs"], TEXTS["train_tgts"]
    with ce.Aligner.train(*train, symmetrize="forward", tokenize="13a") as aligner:
        aligner.save(folder / "model")
    return folder / "model"


@pytest.fixture(scope="module")
def aligner(model: Path) -> Iterator[ce.Aligner]:
    with ce.Aligner.load(model, symmetrize="forward") as loaded:
        yield loaded


@pytest.fixture
def command(run_cli: RunCli, folder: Path) -> Callable[..., dict[str, Any]]:
    """The one score of a command in JSON, without what only the command line says."""

    def run(*arguments: object) -> dict[str, Any]:
        (score,) = json.loads(run_cli(*arguments, "-f", "json", cwd=folder).stdout)["scores"]
        assert isinstance(score, dict)
        return score

    return run


def same(score: ce.Score, printed: dict[str, Any]) -> bool:
    """Whether a score equals a printed one in figure, signature, direction and sums."""
    return score.to_dict() == printed


def test_rep_equals_the_command(command):
    score = ce.rep(TEXTS["a"], TEXTS["refs"], n=2, tokenize="13a")
    assert same(score, command("rep", "a", "refs", "-n", 2, "--tokenize", "13a"))
    assert float(score) == score.score > 0
    # The tokeniser is not only signed but applied.
    assert "|tok:13a|" in str(score.signature)
    assert float(score) != float(ce.rep(TEXTS["a"], TEXTS["refs"]))


def test_several_references_are_a_list_from_lists(command):
    several = [TEXTS["refs"], TEXTS["refs_b"]]
    score = ce.rep(TEXTS["a"], several)
    assert same(score, command("rep", "a", "-r", "refs", "-r", "refs_b"))
    assert "|refs:2|" in str(score.signature)


def test_drop_and_soft_drop_equal_their_commands(aligner, model, command):
    texts = [[line.split() for line in TEXTS[name]] for name in ("b", "refs", "srcs")]
    by_model = ("--src", "srcs", "--model", model)
    score = ce.drop(*texts, aligner)
    assert same(score, command("drop", "b", "refs", *by_model, "--symmetrize", "forward"))
    assert same(ce.DROP(aligner).corpus_score(*texts), score.to_dict())
    assert "|sym:forward|" in str(score.signature)
    soft = ce.soft_drop(*texts, aligner)
    printed = command("drop", "b", "refs", *by_model, "--soft")
    assert soft.score == printed["score"]
    assert 0 < float(soft) < 100


def test_segment_scores_and_evidence_of_a_metric_equal_those_of_the_command(folder, run_cli):
    metric = ce.REP(n=2, tokenize="13a")
    hyps, refs = TEXTS["a"], TEXTS["refs"]
    assert metric.corpus_score(hyps, [refs]) == ce.rep(hyps, refs, n=2, tokenize="13a")
    arguments = ("rep", "a", "refs", "--tokenize", "13a", "--sentence-level", "-f", "json")
    (printed,) = json.loads(run_cli(*arguments, cwd=folder).stdout)["scores"]
    segments = printed["sentences"]
    of_segments = metric.corpus_score(hyps, [refs]).segment_scores
    assert of_segments is not None
    scores = of_segments()
    assert scores == [item["score"] for item in segments]
    for hyp, ref, value, item in zip(hyps, refs, scores, segments, strict=True):
        assert float(metric.sentence_score(hyp, ref)) == value
        found = [mark.to_dict() for mark in metric.evidence(hyp, ref)]
        assert json.loads(json.dumps(found)) == item["marks"]
    assert str(metric.get_signature()).startswith("REP|n:2|")


def test_a_score_as_data_frame_json_and_text():
    score = ce.rep(TEXTS["a"], TEXTS["refs"], resamples=20)
    assert score.interval is not None
    frame = score.to_frame()
    assert len(frame) == 1
    row = frame.iloc[0]
    assert (row["metric"], row["score"], row["segments"]) == ("REP", score.score, 80)
    assert (row["low"], row["high"]) == (score.interval.low, score.interval.high)
    assert json.loads(json.dumps(score.to_dict()))["score"] == score.score
    assert repr(score) == str(score)
    assert str(score).startswith(f"{score.signature} = {score.score:.2f} [")


def test_line_ends_do_not_change_a_score(aligner):
    texts = TEXTS["a"], TEXTS["refs"], TEXTS["srcs"]
    with_ends = [
        [line + end for line in lines]
        for lines, end in zip(texts, ("\n", "\r\n", "\n"), strict=True)
    ]
    for metric in (ce.REP(tokenize="char"), ce.DROP(aligner), ce.SoftDROP(aligner), ce.BLEU()):
        assert metric.corpus_score(*with_ends) == metric.corpus_score(*texts)


def test_a_score_is_formatted_as_its_number_or_as_its_line():
    score = ce.rep(["a red red house"], ["a red house"])
    assert f"{score:.1f}" == "66.7"
    assert f"{score}" == str(score)


def test_a_metric_and_its_function_give_the_same_score_and_warnings():
    texts = TEXTS["refs"], TEXTS["refs"]  # equal, which is a warning
    found = []
    for score in (lambda: ce.rep(*texts, n=3), lambda: ce.REP(n=3).corpus_score(*texts)):
        with pytest.warns(CorpusWarning) as caught:
            value = score()
        found.append((value, [str(warning.message) for warning in caught]))
    assert found[0] == found[1]


def test_the_calls_of_sacrebleu(aligner):
    hyps, refs, srcs = TEXTS["b"], [TEXTS["refs"], TEXTS["refs_b"]], TEXTS["srcs"]
    theirs = sacrebleu.BLEU()
    ours = ce.BLEU().corpus_score(hyps, refs)
    assert ours.score == theirs.corpus_score(hyps, refs).score
    assert str(theirs.get_signature()) in str(ours.signature)
    assert ce.DROP(aligner).corpus_score(hyps, refs, srcs) == ce.drop(hyps, refs, srcs, aligner)
    of_segment = ce.REP(n=2).sentence_score("a red red house", ["a house", "a red house"])
    assert of_segment == ce.rep(["a red red house"], [["a house"], ["a red house"]], n=2)
    assert str(ce.REP(n=2).get_signature()) == str(of_segment.signature).replace("|refs:2", "")


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_has_them(name, model):
    with ce.Aligner.load(model) as aligner:
        metric = make_metric(name, {"aligner": aligner})
        hyps, refs, srcs = TEXTS["b"][:30], [TEXTS["refs"][:30]], TEXTS["srcs"][:30]
        is_document = name in {"missing-lines", "extra-text"}
        has_references = is_document or "references" in metric.needs
        peers = [TEXTS["a"][:30]] if name == "shortfall" else []
        score = metric.corpus_score(
            hyps, refs if has_references else None, srcs, peers=peers, unaligned=is_document
        )
        assert score.metric == metric.get_signature().metric == metric.presentation.name
        if not is_document and name != "shortfall":
            of_segment = metric.sentence_score(
                hyps[0], [refs[0][0]] if has_references else None, srcs[0]
            )
            assert of_segment.metric == metric.presentation.name
