"""REP in letters: worked examples, an oracle, invariants and settings."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import coverage_eval as ce
from coverage_eval.core.errors import DataError
from coverage_eval.repetition.rep import LetterREP, LetterRepetition
from tests.repetition import oracles

SEGMENTS = st.lists(
    st.tuples(*[st.lists(st.sampled_from(["a", "bb", "abc", "ü"]), max_size=9).map(" ".join)] * 2),
    min_size=1,
    max_size=6,
)


@pytest.mark.parametrize(
    ("hypothesis", "reference", "letters"),
    [
        ("red a house red", "a red house", 3),  # twice against once, far apart
        ("red a house red", "a house", 2 * 3),  # a word that the reference lacks counts in full
        ("a red red", "a red", 3 + 2 * 6),  # the word, and the pair of equal words, λ2 = 2
        ("of it x of it", "of it", 2 + 2 + 4),  # both words and their bigram
        ("of it x of it", "of it y of it", 0),
        ("ein Haus", "das Haus", 0),
        ("", "a", 0),
    ],
)
def test_worked_examples(hypothesis, reference, letters):
    words = len(reference.split())
    assert float(ce.letter_rep([hypothesis], [reference])) == pytest.approx(100 * letters / words)


@given(SEGMENTS, st.integers(1, 4), st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([0.0, 2.0]))
def test_agrees_with_the_definition(rows, n, w1, w2):
    columns = [list(column) for column in zip(*rows, strict=True)]
    metric = LetterREP(n=n, w1=w1, w2=w2)
    if not any(columns[1]):
        with pytest.raises(DataError, match="no words at all"):
            metric.corpus_score(*columns)
        return
    assert float(metric.corpus_score(*columns)) == pytest.approx(
        oracles.letter_rep(*columns, n, w1, w2)
    )


@given(SEGMENTS, st.integers(1, 4))
def test_without_a_reference_letters_count_as_with_an_empty_one(rows, n):
    """Only the denominator differs: it is the number of words of the output."""
    hypotheses = [hypothesis for hypothesis, _ in rows]
    ours = LetterRepetition(n=n).statistics(hypotheses)
    empty = LetterREP(n=n).statistics(hypotheses, [""] * len(rows))
    assert np.array_equal(ours[:, :2], empty[:, :2])
    assert ours[:, 2].tolist() == [len(text.split()) for text in hypotheses]


@given(SEGMENTS, st.integers(1, 4))
def test_evidence_sums_to_the_score(rows, n):
    metric = LetterREP(n=n, w1=0.5)
    for row, score in zip(rows, metric.sentence_scores(*zip(*rows, strict=True)), strict=True):
        evidence = metric.evidence(*row)
        tokens = row[0].split()
        for mark in evidence:
            start, length = mark.detail["start"], len(mark.text.split())
            assert " ".join(tokens[start : start + length]) == mark.text
        if score is not None:
            weights = sum(mark.amount for mark in evidence)
            assert score == pytest.approx(100 * weights / len(row[1].split()))


def test_several_references():
    # One reference has "red" twice; none has "house" or "red house" twice. The reference of three
    # words is the closest in length.
    references = [["a red house"], ["a red house and a red car"]]
    statistics = LetterREP().statistics(["red house red house"], references)
    assert statistics.tolist() == [[5 + 8, 0, 3]]


def test_ngrams_longer_than_the_repeated_part_add_nothing():
    part = " ".join(random.Random(1).choices("abcdefgh", k=40))
    whole, longest = (LetterREP(n=n).statistics([f"{part} x {part}"], ["a"]) for n in (40, 50))
    assert np.array_equal(whole, longest)


@pytest.mark.parametrize("phrase", [["w"], [f"w{n}" for n in range(9)]])
def test_a_loop_of_thousands_of_words_with_the_longest_ngrams(phrase):
    """Searching each n-gram from its first word on took 23 s for 40,000 words."""
    metric = LetterREP(n=50)
    counts = metric.statistics([" ".join((phrase * 4000)[:4000])], [" ".join(phrase * 2)])
    size, letters = len(phrase), len("".join(phrase)) // len(phrase)
    ngrams = sum((4001 - n - max(0, 2 * size + 1 - n)) * n * letters for n in range(1, 51))
    doubled = (3999 - 1) * 2 if size == 1 else 0
    assert counts.tolist() == [[ngrams, doubled, 2 * size]]
