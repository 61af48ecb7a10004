"""Planted errors: a finder finds what stands out, and nothing where the model knows nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from types import SimpleNamespace

import pytest

import coverage_eval as ce
from coverage_eval.core.batches import Row
from coverage_eval.coverage.omission_finder import OmissionFinder
from coverage_eval.coverage.trust import Trust, estimate_recall
from tests.coverage.conftest import special
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
