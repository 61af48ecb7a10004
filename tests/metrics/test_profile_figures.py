"""The figures of a profile against examples that comments work out, and against oracles."""

from __future__ import annotations

import math
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coverage_eval.alignment.aligner import AlignedRow, Aligner
from coverage_eval.data.dataset import Batch, Row
from coverage_eval.metrics.figures import (
    CDR,
    TNG,
    CompressionRatio,
    DistinctN,
    Diversity,
    DuplicateNgrams,
    LengthRatio,
    RepN,
    SeqRep,
    SourceREP,
    SubstringRepetition,
    TailLoop,
    UncoveredSource,
)

TEXTS = st.lists(st.lists(st.sampled_from(["ab", "c"]), max_size=12).map(" ".join), min_size=1)


def value(metric: Any, *rows: tuple[str, ...]) -> float:
    """The corpus score of rows of a hypothesis and, for some figures, its source."""
    texts = [Row((row[0],), (), row[1] if len(row) > 1 else None) for row in rows]
    return float(metric.formula(metric.count(Batch(texts))[0].sum(axis=0)))


def value_of_links(kind: Any, *rows: AlignedRow) -> float:
    metric = kind(Aligner.from_links([], []))
    batch = Batch([Row(("",))] * len(rows))
    batch.put(*metric.requests(), rows)
    return float(metric.formula(metric.count(batch)[0].sum(axis=0)))


def one(metric: Any, *texts: str) -> float:
    return value(metric, *((text,) for text in texts))


@pytest.mark.parametrize(("n", "expected"), [(1, 4 / 6), (2, 3 / 5), (3, 2 / 4), (4, 1 / 3)])
def test_seq_rep_of_one_segment(n: int, expected: float) -> None:
    # a b a b a b: two words of six, ab ba of five bigrams, aba bab of four, abab baba of three.
    assert one(SeqRep(n=n), "a b a b a b") == pytest.approx(100 * expected)


def test_seq_rep_is_a_mean_over_segments_and_rep_a_ratio_of_sums() -> None:
    texts = ["a a a", "a b c d e", "a", ""]
    # Repeated bigrams 1 of 2, 0 of 4, none, none.
    assert one(SeqRep(n=2), *texts) == pytest.approx(100 * (0.5 + 0 + 0 + 0) / 4)
    assert one(RepN(n=2), *texts) == pytest.approx(100 * 1 / 6)
    assert one(DistinctN(n=2), *texts) == pytest.approx(100 * 5 / 6)


def test_simctg_leaves_the_last_ngram_out() -> None:
    # The bigrams are ab ba ab. The loop never sees the last one, so nothing is repeated.
    assert one(RepN(n=2), "a b a b") == pytest.approx(100 / 3)
    assert one(RepN(n=2, loop="simctg"), "a b a b") == 0
    assert math.isnan(one(RepN(n=4, loop="simctg"), "a b a b"))


def simctg(texts: list[str]) -> float:
    """The diversity that SimCTG's measure_repetition_and_diversity prints by its documentation."""
    product = 1.0
    for n in (2, 3, 4):
        words = [text.split() for text in texts]
        grams = [[tuple(w[i : i + n]) for i in range(max(0, len(w) - n))] for w in words]
        unique, total = sum(len(set(g)) for g in grams), sum(map(len, grams))
        product *= 1 - round((1 - unique / total) * 100, 2) / 100
    return product


def test_diversity_exact_and_as_simctg_prints_it() -> None:
    texts = ["a b a b a b c", "x y z x y z x"]
    # Bigrams ab ba ab ba ab bc: 3 of 6 different; xy yz zx xy yz zx: 3 of 6.
    # Trigrams aba bab aba bab abc: 3 of 5; xyz yzx zxy xyz yzx: 3 of 5.
    # 4-grams abab baba abab babc: 3 of 4; xyzx yzxy zxyz xyzx: 3 of 4.
    assert one(Diversity(), *texts) == pytest.approx((6 / 12) * (6 / 10) * (6 / 8))
    assert one(Diversity(loop="simctg"), *texts) == pytest.approx(simctg(texts), abs=1e-15)
    # 2/3 of the trigrams, rounded to 33.33% repeated.
    long = ["a b a b c d", "a b c d e"]
    assert one(Diversity(loop="simctg"), *long) == pytest.approx(simctg(long), abs=1e-15)


@pytest.mark.parametrize(
    ("text", "expected", "as_script"),
    [
        ("we go on and on and on", 0, 0),  # "and on" has only two words
        ("x a b c a b c", 1, 1),
        ("x a b c a b", 0, 0),  # ends inside the second round
        ("a b b a b b", 1, 0),  # the script sees "b b" first
        ("no " * 50, 1, 0),  # it ends in "no no no"; the script sees "no", and only 50 times
        ("a b c", 0, 0),
        ("", 0, 0),
    ],
)
def test_tail_loop(text: str, expected: int, as_script: int) -> None:
    assert one(TailLoop(), text.strip()) == 100 * expected
    assert one(TailLoop(phrase="top"), text.strip()) == 100 * as_script


def test_a_short_phrase_is_a_tail_loop_from_51_times_on() -> None:
    text = " ".join(["no"] * 51)
    assert one(TailLoop(least=99), text) == 100
    assert one(TailLoop(least=99), text[3:]) == 0
    assert one(TailLoop(phrase="top"), text) == 100


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("abcabcabc", 1),
        ("abc abc  abc", 1),
        ("abcabc", 0),
        ("ab ab ab", 0),  # two characters
        ("ab ab ab ab ab ab", 1),  # "ab ab" three times
        ("ハハハハハハハハハ", 1),
        ("", 0),
    ],
)
def test_substring_repetition(text: str, expected: int) -> None:
    assert one(SubstringRepetition(), text) == 100 * expected
    assert one(SubstringRepetition(), *[text, ""]) == 50 * expected


def test_compression_ratio() -> None:
    text, loop = "the cat sat on the mat", "na " * 99 + "na"
    expected = [len(zlib.compress(t.encode())) for t in (text, loop)]
    assert one(CompressionRatio(), text) == len(text) / expected[0]
    assert one(CompressionRatio(), text, loop) == (len(text) + len(loop)) / sum(expected)
    assert one(CompressionRatio(), loop) > 10 > one(CompressionRatio(), text)
    assert one(CompressionRatio(), "") == 0


def test_duplicate_ngrams_count_characters_once() -> None:
    # aa bb | aa bb | aa: the bigram comes again at words 3-4, five characters of 14.
    assert one(DuplicateNgrams(n=2), "aa bb aa bb aa") == pytest.approx(100 * 5 / 14)
    assert one(DuplicateNgrams(n=5), "aa bb aa bb aa") == 0
    assert math.isnan(one(DuplicateNgrams(), ""))


def test_tng_compares_with_the_source() -> None:
    loop = "a b c d a b c d a b c d"  # abcd three times
    assert value(TNG(), (loop, "v w x y z")) == 100  # 3 − 1
    assert value(TNG(), (loop, "v w x y v w x y")) == 0  # 3 − 2
    assert value(TNG(), ("a b c d a b c d", "v")) == 100  # 2 − 0
    assert value(TNG(), ("", "")) == 0


@pytest.mark.parametrize(("rounds", "expected"), [(9, 0), (10, 1)])
def test_tng_strict_needs_ten_repetitions(rounds: int, expected: int) -> None:
    strict = TNG(n=2, t=6, least_count=10, least_words=10)
    assert value(strict, ("a b c " * rounds, "v w x")) == 100 * expected


def test_tng_strict_needs_a_difference_above_five() -> None:
    strict = TNG(n=2, t=6, least_count=10, least_words=10)
    assert value(strict, ("a b c " * 10, "v w x " * 5)) == 0
    assert value(strict, ("a b c " * 10, "v w x " * 4)) == 100


def test_source_rep() -> None:
    # "the the" once more than in the source, λ2 = 2; bigram "the the" occurs once: first sum 0.
    assert value(SourceREP(), ("the the cat", "die katze ja nun")) == 100 * 2 / 4
    assert "norm:srcwords" in str(SourceREP().signature)


def test_length_ratio() -> None:
    assert value(LengthRatio(), ("a b c", "x y"), ("", "x y"), ("a", "")) == 1.0


def test_uncovered_source_and_cdr() -> None:
    # Words 0 and 2 of the first source are covered, and no word of the second.
    rows = [
        AlignedRow(["x", "y", "z"], (), (((0, 0), (0, 1), (2, 0)),)),
        AlignedRow(["v", "w"], (), ((),)),
    ]
    assert value_of_links(UncoveredSource, *rows) == 100 * 3 / 5
    signature = str(UncoveredSource(Aligner.from_links([], [])).signature)
    assert signature.endswith("|tok:none|stop:none|version:0.1.0")
    links = [
        ([(0, 0), (2, 1)], [(0, 0), (1, 0), (1, 2)]),
        ([], [(0, 0)]),
        ([(1, 1)], []),
    ]
    rows = [AlignedRow(None, (tuple(ref),), (tuple(hyp),)) for hyp, ref in links]
    assert value_of_links(CDR, *rows) == pytest.approx(
        100 / 3
    )  # of the expected {0, 1} and {0}, one word


LINKS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=6).map(tuple)


@given(st.lists(st.tuples(LINKS, LINKS), min_size=1, max_size=8))
def test_cdr_agrees_with_its_formula(links: list[tuple[Any, Any]]) -> None:
    rows = [AlignedRow(None, (ref,), (hyp,)) for hyp, ref in links]
    cdr = value_of_links(CDR, *rows)
    expected = [{i for i, _ in ref} for _, ref in links]
    missed = [want - {i for i, _ in hyp} for want, (hyp, _) in zip(expected, links, strict=True)]
    if any(expected):
        ratio = sum(map(len, missed)) / sum(map(len, expected))
        assert cdr == pytest.approx(100 * (1 - ratio))
    else:
        assert math.isnan(cdr)


@given(TEXTS)
def test_doubling_every_segment_never_lowers_repetition(texts: list[str]) -> None:
    twice = [f"{text} {text}".strip() for text in texts]
    for n in (1, 2, 3, 4):
        assert one(SeqRep(n=n), *twice) >= one(SeqRep(n=n), *texts) - 1e-9
    assert one(TailLoop(), *twice) >= 100 * sum(len(t.split()) >= 3 for t in texts) / len(texts)
