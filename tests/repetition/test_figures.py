"""Figures of an output alone against examples that comments work out, and against oracles."""

from __future__ import annotations

import zlib
from typing import Any

import pytest
from hypothesis import strategies as st

from coverage_eval.core.batches import Batch, Row
from coverage_eval.repetition.figures import (
    TNG,
    CompressionRatio,
    LengthRatio,
    SeqRep,
    TailLoop,
)
from coverage_eval.repetition.rep import SourceREP

TEXTS = st.lists(st.lists(st.sampled_from(["ab", "c"]), max_size=12).map(" ".join), min_size=1)


def value(metric: Any, *rows: tuple[str, ...]) -> float:
    """The corpus score of rows of a hypothesis and, for some figures, its source."""
    texts = [Row((row[0],), (), row[1] if len(row) > 1 else None) for row in rows]
    return float(metric.formula(metric.count(Batch(texts))[0].sum(axis=0)))


def score_one(metric: Any, *texts: str) -> float:
    return value(metric, *((text,) for text in texts))


@pytest.mark.parametrize(("n", "expected"), [(1, 4 / 6), (2, 3 / 5), (3, 2 / 4), (4, 1 / 3)])
def test_seq_rep_of_one_segment(n, expected):
    # a b a b a b: two words of six, ab ba of five bigrams, aba bab of four, abab baba of three.
    assert score_one(SeqRep(n=n), "a b a b a b") == pytest.approx(100 * expected)


def test_seq_rep_is_a_mean_over_segments():
    texts = ["a a a", "a b c d e", "a", ""]
    # Repeated bigrams 1 of 2, 0 of 4, none, none.
    assert score_one(SeqRep(n=2), *texts) == pytest.approx(100 * (0.5 + 0 + 0 + 0) / 4)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("we go on and on and on", 0),  # "and on" has only two words
        ("x a b c a b c", 1),
        ("x a b c a b", 0),  # ends inside the second round
        ("a b b a b b", 1),
        ("no " * 50, 1),  # it ends in "no no no"
        ("a b c", 0),
        ("", 0),
    ],
)
def test_tail_loop(text, expected):
    assert score_one(TailLoop(), text.strip()) == 100 * expected


def test_a_short_phrase_is_a_tail_loop_from_51_times_on():
    text = " ".join(["no"] * 51)
    assert score_one(TailLoop(min_words=99), text) == 100
    assert score_one(TailLoop(min_words=99), text[3:]) == 0


def test_compression_ratio():
    text, loop = "the cat sat on the mat", "na " * 99 + "na"
    expected = [len(zlib.compress(t.encode())) for t in (text, loop)]
    assert score_one(CompressionRatio(), text) == len(text) / expected[0]
    assert score_one(CompressionRatio(), text, loop) == (len(text) + len(loop)) / sum(expected)
    assert score_one(CompressionRatio(), loop) > 10 > score_one(CompressionRatio(), text)
    assert score_one(CompressionRatio(), "") == 0


def test_tng_compares_with_the_source():
    loop = "a b c d a b c d a b c d"  # abcd three times
    assert value(TNG(), (loop, "v w x y z")) == 100  # 3 − 1
    assert value(TNG(), (loop, "v w x y v w x y")) == 0  # 3 − 2
    assert value(TNG(), ("a b c d a b c d", "v")) == 100  # 2 − 0
    assert value(TNG(), ("", "")) == 0


def test_source_rep():
    # "the the" once more than in the source, λ2 = 2; bigram "the the" occurs once: first sum 0.
    assert value(SourceREP(), ("the the cat", "die katze ja nun")) == 100 * 2 / 4
    assert "norm:srcwords" in str(SourceREP().signature)


def test_length_ratio():
    assert value(LengthRatio(), ("a b c", "x y"), ("", "x y"), ("a", "")) == 1.0
