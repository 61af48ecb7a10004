"""Errors injected into one's own text: scores rise with their rate, and labels name them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from coverage_eval.alignment.aligner import Aligner, ModelAligner
from coverage_eval.data.dataset import Batch, Row
from coverage_eval.testbed.computed_scores import COMPUTED, default_scores, make_scores
from coverage_eval.testbed.grammar import generate
from coverage_eval.testbed.injected_texts import (
    InjectionPlan,
    evaluate_own_text,
    score_text,
    spoil_text,
)
from coverage_eval.testbed.meta_evaluation import MetaSettings

RATES = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4)


@pytest.fixture(scope="module")
def aligner() -> Iterator[ModelAligner]:
    pairs = ((pair.source, pair.target) for pair in generate(1000, seed=1))
    with Aligner.train_pairs(pairs) as made:
        assert isinstance(made, ModelAligner)
        yield made


ROWS = [Row((" ".join(pair.target),), (), " ".join(pair.source)) for pair in generate(150, seed=2)]

LETTERS = ["rep-letters", "REP-letters-no-ref"]


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("omission-word", ["drop", "softdrop", "uncovered-source"]),
        ("omission-phrase", ["drop", "softdrop", "uncovered-source"]),
        ("repetition-word", ["rep", "seq-rep-1", *LETTERS]),
        ("repetition-phrase", ["rep", "seq-rep-1", *LETTERS]),
        ("repetition-distant", LETTERS),
        ("repetition-oscillating", LETTERS),
        ("repetition-tail", LETTERS),
    ],
)
def test_more_errors_never_lower_the_expected_score(aligner, kind, names):
    """A higher rate contains all errors of a lower rate."""
    for seed in range(3):
        plan = InjectionPlan(kind, RATES, seed=seed)
        rows, _ = spoil_text(ROWS, plan)
        for name, metric in make_scores(names, aligner).items():
            scores = metric.formula(metric.count(Batch(rows)).sum(axis=1))
            assert np.all(np.diff(scores) > -1e-9), (name, scores)
            assert scores[-1] > scores[0] + 1


def test_errors_of_a_kind_are_labelled_at_every_rate(aligner):
    plan = InjectionPlan("omission-phrase", RATES)
    rows, labels = spoil_text(ROWS, plan, aligner)
    assert labels.systems == ("0%", "2%", "5%", "10%", "20%", "40%")
    for index, system in enumerate(plan.systems):
        own = [item for item in labels.judgements if item.system == system]
        assert [item.segment for item in own] == list(range(1, len(ROWS) + 1))
        for item, row, clean in zip(own, rows, ROWS, strict=True):
            assert item.positive == (row.hypotheses[index] != clean.hypotheses[0])
            assert row.references == clean.hypotheses
            assert item.positive or not item.words
    shares = [
        np.mean([item.positive for item in labels.judgements if item.system == system])
        for system in plan.systems
    ]
    assert shares[0] == 0
    assert shares == sorted(shares)


def test_scores_equal_the_metrics_sentence_scores(aligner):
    plan = InjectionPlan("omission-word", (0.0, 0.2))
    rows, _ = spoil_text(ROWS, plan)
    metrics = make_scores(["drop", "rep"], aligner)
    for column in score_text(rows, metrics, plan.systems):
        texts = [row.hypotheses[1] for row in rows], [r.references[0] for r in rows]
        expected = metrics[column.name].sentence_scores(*texts, [row.source or "" for row in rows])
        assert [column.values["20%", n] for n in range(1, len(rows) + 1)] == expected


def test_scores_that_work_without_an_aligner():
    names = default_scores(None)
    metrics = make_scores(names, None)
    plan = InjectionPlan("repetition-word", (0.05,))
    found = evaluate_own_text(ROWS, plan, metrics, None, MetaSettings(resamples=20))
    areas = {score.name: score.auroc.value for score in found.scores}
    assert areas["rep"] > 0.95
    assert areas["rep-letters"] > 0.95
    assert areas["hyp/src length"] > 0.5  # repetitions make outputs longer
    assert [score.name for score in found.scores][: len(names)] == names
    bare = evaluate_own_text(ROWS, plan, metrics, None, MetaSettings(resamples=0), baselines=False)
    assert len(bare.scores) == len(names)


def test_default_scores_are_those_that_the_aligner_allows(aligner):
    plain = ["rep", "rep-letters", "REP-letters-no-ref", "seq-rep-1"]
    assert default_scores(None) == plain
    assert default_scores(None, peers=True) == [*plain[:2], "rep-peers", *plain[2:]]
    links = Aligner.from_links([[]], [[]])
    assert default_scores(links) == [*plain, "drop", "uncovered-source"]
    coverage = ["softdrop", "omissions", "omissions-no-ref"]
    assert default_scores(aligner) == [*plain, "drop", "uncovered-source", *coverage]


def test_scores_count_the_aligners_words():
    with Aligner.train(["a"], ["b"], tokenize="13a", lowercase=True) as cased:
        made = make_scores(["rep", "drop", "seq-rep-1"], cased, {"n": 3})
    for name, metric in made.items():
        assert "|case:lc|tok:13a|" in str(metric.signature), name
    assert "|n:3|" in str(made["rep"].signature)


def test_scores_that_need_an_aligner_say_so():
    with pytest.raises(ValueError, match="uncovered-source needs an aligner: a model or links"):
        make_scores(["uncovered-source"], None)
    for links in (None, Aligner.from_links([[]], [[]])):
        with pytest.raises(ValueError, match="omissions-no-ref needs an aligner: a model"):
            make_scores(["omissions-no-ref"], links)
    assert {"rep", "drop", "softdrop", "uncovered-source"} <= set(COMPUTED)
