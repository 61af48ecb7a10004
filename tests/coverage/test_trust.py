"""Planted errors: a finder finds what stands out, and nothing where the model knows nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from types import SimpleNamespace

import pytest

import coverage_eval as ce
from coverage_eval.comparison.report.html import make_report
from coverage_eval.comparison.table import comparison_as_dict
from coverage_eval.core.batches import Row, Texts
from coverage_eval.coverage.omission_finder import OmissionFinder
from coverage_eval.coverage.omissions import FittedFinder, Omissions
from coverage_eval.coverage.trust import (
    Trust,
    estimate_recall,
    estimate_recalls,
    trust_sentences,
)
from coverage_eval.repetition.rep import REP
from tests.comparison.systems import damaged
from tests.coverage.conftest import measured, special
from tests.grammar import generate

__all__ = ["special"]

OTHER = generate(150, seed=11)
ROWS = [Row((" ".join(p.target),), (), " ".join(p.source)) for p in OTHER]


def test_planted_errors_are_found(special):
    for finder in (OmissionFinder(special), OmissionFinder(special, "target")):
        found = estimate_recall(finder, ROWS, segments=60)
        assert found == estimate_recall(finder, ROWS, segments=60)
        assert estimate_recall(finder, ROWS, segments=60, seed=1).share_found > 0.5
        assert found.segments == 60
        assert 50 < found.planted <= 60
        assert found.share_found > 0.5
        assert found.false_alarms < 0.1
        assert not found.is_low


def test_a_text_whose_lines_do_not_match_is_not_believed(special):
    texts = [row.hypotheses[0] for row in ROWS]
    sources = [row.source or "" for row in ROWS]
    dataset = Texts.from_lists({"x": [*texts[5:], *texts[:5]]}, None, sources)
    result = measured(dataset, o=Omissions(special))
    fitted = result.fitted["o"]
    assert isinstance(fitted, FittedFinder)
    found = estimate_recall(fitted.finder, result.rows)
    assert found.is_low


def test_what_outputs_lack_is_no_false_alarm(special):
    """Of 150 outputs, 50 lose half of their words: errors go into the others."""
    texts = [str(row.hypotheses[0]) for row in ROWS]
    cut = [" ".join(text.split()[: len(text.split()) // 2]) for text in texts[:50]]
    rows = [
        row._replace(hypotheses=(text,))
        for row, text in zip(ROWS, [*cut, *texts[50:]], strict=True)
    ]
    found = estimate_recall(OmissionFinder(special), rows, segments=150)
    assert found is not None
    assert found.segments - found.planted >= 30
    assert found.share_found > 0.5
    assert found.false_alarms < 0.1
    assert not found.is_low
    assert estimate_recall(OmissionFinder(special), rows * 2, segments=150) == found


def test_without_a_long_segment_there_is_no_estimate(special):
    assert estimate_recall(OmissionFinder(special), [Row(("a b",), (), "c d")]) is None


def test_the_sentence_says_both_shares():
    assert str(Trust("source", 52, 46, 15, 0.009)) == (
        "this model finds about 1 in 3 planted omissions here (15 of 46); "
        "of complete text it flags about 1 in 100"
    )
    assert str(Trust("target", 9, 9, 0, 0.0)).startswith(
        "this model finds none of the planted additions here (0 of 9); of complete"
    )
    assert Trust("source", 0, 0, 0, 0.0).is_low
    assert "finds so little" in Trust("source", 50, 50, 3, 0.01).warning
    everywhere = Trust("source", 100, 10, 10, 0.01)
    assert "cannot tell errors from false alarms" in everywhere.warning
    assert not Trust("source", 100, 31, 31, 0.05).warning


def test_each_metric_that_flags_gets_an_estimate(special):
    """A score that finds little says so; short segments get no estimate."""
    texts = [row.hypotheses[0] for row in ROWS]
    sources = [row.source or "" for row in ROWS]
    dataset = Texts.from_lists({"x": texts, "y": [*texts[5:], *texts[:5]]}, texts, sources)
    result = measured(dataset, o=Omissions(special), r=REP())
    trust = estimate_recalls(result)
    assert list(trust) == ["o"]
    (sentence,) = trust_sentences(result, trust)
    assert sentence.startswith("Omissions: this model finds ")
    low = {"o": Trust("source", 10, 10, 1, 0.0)}
    assert "; it finds so little that its flags" in trust_sentences(result, low)[0]
    short = measured(Texts.from_lists({"x": ["a b"]}, None, ["c d"]), o=Omissions(special))
    assert estimate_recalls(short) == {}


@pytest.mark.parametrize(
    ("planted", "found", "false_alarms", "is_low"),
    [(50, 16, 0.1, False), (50, 9, 0.0, True), (15, 15, 0.0, True)],
)
def test_a_doubtful_column_has_a_say_only_where_its_test_finds_a_difference(
    special, planted, found, false_alarms, is_low
):
    """One system leaves words out, or does not; the other repeats some.

    A column finds too little with less than a fifth of the errors beyond false alarms, or if it
    flags nearly all outputs anyway.
    """
    trust = Trust("source", 100, planted, found, false_alarms)
    assert trust.is_low == is_low
    texts = [str(row.hypotheses[0]) for row in ROWS]
    again = damaged(texts, 1, repeated=0.05)
    sources, nearly = [row.source or "" for row in ROWS], [*texts[:-1], f"{texts[-1]} x"]
    for other, differs in ((damaged(texts, 1, omitted=0.2), True), (nearly, False)):
        comparison = ce.compare(
            {"again": again, "other": other}, texts, sources, special, metrics=["rep", "omissions"],
            resamples=200,
        )  # fmt: skip
        comparison = replace(comparison, trust={"omissions": trust})
        page = make_report(comparison).html
        data = comparison_as_dict(comparison)
        note = f"Omissions: do not go by this column: {trust.warning}."
        told = {item.metric: item for item in comparison.statements.statements}
        if differs:
            assert told["omissions"].worse == ["other"]
        else:
            assert [*told] == ["rep"]
        assert (note in page) == (note in data["notes"]) == (is_low and not differs)
        assert data["trust"]["omissions"]["is_low"] == is_low


@pytest.mark.parametrize("side", ["source", "target"])
@pytest.mark.parametrize(
    "texts",
    [
        # Many tokens, but only two words between spaces.
        ["a,b.c;d!e ff", "g,h.i;j!k ll", "the dog sees the old house", "a cat sleeps in red sun"],
        ["the dog sees the old house"] * 3,  # there is no phrase of another segment
    ],
)
def test_only_texts_in_which_something_was_planted_count(side, texts):
    """Each counted text lacks words of the one before it, or has words that it lacks."""
    pairs = [(p.source, p.target) for p in generate(60, seed=3)]
    with ce.Aligner.train(*map(list, zip(*pairs, strict=True)), tokenize="none") as aligner:
        aligner.tokenizer = replace(aligner.tokenizer, name="13a")
        finder = OmissionFinder(aligner, side)
        seen: list[list[str]] = []

        def find(rows: Iterable[Row]) -> list[SimpleNamespace]:
            seen.append([str(row.hypotheses[0]) for row in rows])
            return [SimpleNamespace(is_flagged=False)] * len(seen[-1])

        finder.find = find
        rows = [Row((text,), (), "der hund sieht das alte haus") for text in texts]
        if side == "target" and len(set(texts)) == 1:
            assert estimate_recall(finder, rows) is None
            return
        estimate_recall(finder, rows)
    before, after = (list(map(str.split, lines)) for lines in seen)
    assert before
    for one, other in zip(before, after, strict=True):
        assert abs(len(one) - len(other)) >= 3
