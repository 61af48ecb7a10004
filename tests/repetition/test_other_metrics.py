"""Figures of an output alone against examples that comments work out, and against oracles."""

from __future__ import annotations

import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coverage_eval.core.batches import Batch, Row
from coverage_eval.outputs.output_errors import OutputErrorFinder
from coverage_eval.repetition.loops import MIN_AT_END, TOKEN_PATTERN, LoopDetector, find_loop
from coverage_eval.repetition.other_metrics import (
    TNG,
    CompressionRatio,
    LengthRatio,
    SeqRep,
    TailLoop,
)

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


LOOPS = {
    "x" + " a b c" * 4: True,
    "x a b c a b c": False,
    "no " * 50: True,
    "我们继续到下一个" * 6: True,
    "谢谢观看" * 9: True,
    "今天天气很好，我们去公园散步。": False,
    "ขอบคุณครับ" * 9: True,
    "감사합니다 " * 8: True,
    "شكرا " * 8: True,
    "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16": False,
    "12.5 13.5 14.0 12.9 11.8 12.2 13.3 14.1 12.7 13.9": False,
    "0 0 0 0 0 0 0 0 0 0 0 0": False,
    "": False,
}


@pytest.mark.parametrize("text", LOOPS)
def test_the_column_the_named_error_and_the_detector_find_the_same_loops(text):
    assert score_one(TailLoop(), text.strip()) == 100 * LOOPS[text]
    row = Row((text,), (), "etwas anderes")
    (errors,) = OutputErrorFinder.learn([row]).find_row(row)
    assert ("loop" in [error.kind for error in errors]) == LOOPS[text]
    detector = LoopDetector(min_repeated=MIN_AT_END)
    found = [detector.push(piece) for piece in TOKEN_PATTERN.findall(text)]
    assert any(found) == LOOPS[text]


@given(st.lists(st.from_regex(r"[0-9]{1,4}([.,:/][0-9]{1,3})?", fullmatch=True), max_size=40))
def test_rows_of_different_numbers_are_no_loops(numbers):
    assert find_loop(TOKEN_PATTERN.findall(" ".join(dict.fromkeys(numbers)))) is None


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


def test_length_ratio():
    assert value(LengthRatio(), ("a b c", "x y"), ("", "x y"), ("a", "")) == 1.0
