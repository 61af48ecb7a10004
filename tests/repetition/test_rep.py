"""REP: worked examples, an oracle, invariants, evidence and errors."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coverage_eval.core.errors import DataError
from coverage_eval.core.mark import Mark
from coverage_eval.repetition.rep import (
    MAX_MARKS,
    NGRAM,
    REP,
    TWICE,
    LetterREP,
    LetterRepetition,
)
from tests.repetition import oracles
from tests.rows import score_of, statistics_of

SEGMENTS = st.lists(
    st.tuples(*[st.lists(st.sampled_from(["a", "b", "ab", "ü"]), max_size=9).map(" ".join)] * 2),
    min_size=1,
    max_size=6,
)


def corpus_score(hypotheses: list[str], references: list[str], **settings: float) -> float:
    metric = REP(**settings)  # type: ignore[arg-type]
    return metric.score(statistics_of(metric, hypotheses, references)).score


@pytest.mark.parametrize(
    ("hypothesis", "reference", "sigma"),
    [
        ("a b c", "a b c", 0),
        ("a b a b", "a b", 1),  # "a b" twice against once
        ("a b x a b", "c d", 2),  # an n-gram that the reference lacks counts in full
        ("a a", "a", 2),  # once: no n-gram twice, but one doubled word, λ2 = 2
        ("a a a", "a", 2 + 2 * 2),  # "a a" twice: 2 + 2 · 2
        ("a a", "a a", 0),
        ("", "a", 0),
    ],
)
def test_worked_examples(hypothesis, reference, sigma):
    words = len(reference.split())
    assert corpus_score([hypothesis], [reference]) == pytest.approx(100 * sigma / words)


def test_sentence_with_the_repeated_phrase_of_the_paper():
    hypothesis, reference = "so , you know , you know .", "like that , you know ."
    metric = REP()
    statistics = statistics_of(metric, [hypothesis], [reference])
    assert statistics.tolist() == [[2, 0, 6]]  # ", you" and "you know", once too often each
    found = {m.text: (m.first, m.spans) for m in metric.evidence(hypothesis, reference)}
    assert found == {
        ", you": (((3, 4), (5, 8)), ((14, 15), (16, 19))),
        "you know": (((5, 8), (9, 13)), ((16, 19), (20, 24))),
    }


@given(
    st.sampled_from([(REP, oracles.rep), (LetterREP, oracles.letter_rep)]),
    SEGMENTS,
    st.integers(1, 4),
    st.sampled_from([0.0, 0.5, 1.0]),
    st.sampled_from([0.0, 2.0]),
)
def test_agrees_with_the_definition(pair, rows, n, w1, w2):
    kind, oracle = pair
    columns = [list(column) for column in zip(*rows, strict=True)]
    metric = kind(n=n, w1=w1, w2=w2)
    if not any(columns[1]):
        with pytest.raises(DataError, match="no words at all"):
            score_of(metric, *columns)
        return
    assert float(score_of(metric, *columns)) == pytest.approx(oracle(*columns, n, w1, w2))


@given(st.sampled_from([REP, LetterREP]), SEGMENTS, st.integers(1, 4))
def test_evidence_sums_to_the_statistics(kind, rows, n):
    metric = kind(n=n)
    for row, counts in zip(rows, statistics_of(metric, *zip(*rows, strict=True)), strict=True):
        evidence = metric.evidence(*row)
        for which, count in ((NGRAM, counts[0]), (TWICE, counts[1])):
            found = sum(mark.kind == which for mark in evidence)
            assert found == count if kind is REP else found <= count
        assert sum(mark.amount for mark in evidence) == counts[0] + 2 * counts[1]
        text = row[0]
        for mark in evidence:
            ngram = mark.phrase.split()
            assert text[mark.detail["ngram_start"] :].startswith(mark.phrase)
            assert mark.text.split() == ngram[mark.kind == TWICE :]
            again, first = ([text[slice(*span)] for span in at] for at in (mark.spans, mark.first))
            assert again == first == mark.text.split()
            assert mark.first <= mark.spans
            excess = mark.detail["hypothesis"] - mark.detail["reference"]
            same = [item for item in evidence if (item.kind, item.label) == (mark.kind, mark.label)]
            assert len(same) == excess > 0


@given(SEGMENTS)
def test_tokens_and_text_agree(rows):
    hypotheses, references = zip(*rows, strict=True)
    tokens = [[text.split() for text in column] for column in (hypotheses, references)]
    metric = REP()
    assert np.array_equal(
        statistics_of(metric, *tokens), statistics_of(metric, hypotheses, references)
    )
    (hyp, *_), (ref, *_) = tokens
    expected = metric.evidence(*rows[0])
    assert metric.evidence(hyp, ref) == expected
    assert metric.evidence(hyp, [ref, ref]) == expected


def test_the_signature_lists_every_setting_that_affects_the_score():
    signature = str(REP(n=3, w1=0.5, tokenize="13a", lowercase=True).get_signature())
    assert signature == "REP|n:3|w1:0.5|w2:2.0|norm:refwords|case:lc|tok:13a|version:0.1.0"


def test_evidence_of_a_long_repetition_takes_one_pass():
    """Searching for each of these n-grams separately took minutes."""
    words = [f"w{n}" for n in range(2_000)]
    found = REP().evidence(" ".join(words * 2), "x")
    assert len(found) == 2 * 1_999
    assert [mark.text for mark in found[14:16]] == ["w7 w8"] * 2
    assert found[14].spans == found[15].first == ((21, 23), (24, 26))
    assert str(found[0]) == str(found[1])
    assert str(found[0]) == "w0 w1 (2x, 0x in the reference) at 1,2001"


class TestSeveralReferences:
    """REP clips by the greatest count in any, and divides by the length of the closest."""

    def test_a_worked_example(self):
        # t(a b) = 3, at most 2 in a reference; 4 and 8 words are equally close to 6, so 4 counts.
        references = [["a b a b"], ["a b c d e f g h"]]
        statistics = statistics_of(REP(), ["a b a b a b"], references)
        assert statistics.tolist() == [[1 + 1, 0, 4]]  # "b a": 2 against 1
        assert statistics_of(REP(), ["a b c d e f g"], references).tolist() == [[0, 0, 8]]

    @given(SEGMENTS, st.integers(1, 3))
    def test_one_reference_given_twice_is_one_reference(self, rows, n):
        hypotheses, references = [list(column) for column in zip(*rows, strict=True)]
        metric = REP(n=n)
        once = statistics_of(metric, hypotheses, references)
        assert np.array_equal(once, statistics_of(metric, hypotheses, [references, references]))

    @given(SEGMENTS)
    def test_another_reference_never_adds_repetitions(self, rows):
        hypotheses, references = [list(column) for column in zip(*rows, strict=True)]
        once = statistics_of(REP(), hypotheses, references)
        twice = statistics_of(REP(), hypotheses, [references, hypotheses[::-1]])
        assert (twice[:, :2] <= once[:, :2]).all()


# In letters


@given(SEGMENTS, st.integers(1, 4))
def test_without_a_reference_letters_count_as_with_an_empty_one(rows, n):
    """Only the denominator differs: it is the number of words of the output."""
    hypotheses = [hypothesis for hypothesis, _ in rows]
    ours = statistics_of(LetterRepetition(n=n), hypotheses)
    empty = statistics_of(LetterREP(n=n), hypotheses, [""] * len(rows))
    assert np.array_equal(ours[:, :2], empty[:, :2])
    assert ours[:, 2].tolist() == [len(text.split()) for text in hypotheses]


def test_ngrams_longer_than_the_repeated_part_add_nothing():
    part = " ".join(random.Random(1).choices("abcdefgh", k=40))
    whole, longest = (statistics_of(LetterREP(n=n), [f"{part} x {part}"], ["a"]) for n in (40, 50))
    assert np.array_equal(whole, longest)


@pytest.mark.parametrize("phrase", [["w"], [f"w{n}" for n in range(9)]])
def test_a_loop_of_thousands_of_words_with_the_longest_ngrams(phrase):
    """Searching each n-gram from its first word on took 23 s for 40,000 words."""
    metric = LetterREP(n=50)
    counts = statistics_of(metric, [" ".join((phrase * 4000)[:4000])], [" ".join(phrase * 2)])
    size, letters = len(phrase), len("".join(phrase)) // len(phrase)
    ngrams = sum((4001 - n - max(0, 2 * size + 1 - n)) * n * letters for n in range(1, 51))
    doubled = (3999 - 1) * 2 if size == 1 else 0
    assert counts.tolist() == [[ngrams, doubled, 2 * size]]


def test_an_output_has_a_limited_number_of_marks_and_says_how_many_more_there_are(monkeypatch):
    made = []
    monkeypatch.setattr(Mark, "of", lambda *_, of=Mark.of, **more: made.append(0) or of(*_, **more))
    output = "word " * (MAX_MARKS + 1)
    for metric in (REP(), LetterREP()):
        made.clear()
        (*_, last) = marks = metric.evidence(output, "a word")
        more = {"REP": MAX_MARKS, "REP-letters": 2 * MAX_MARKS}[metric.presentation.name]
        assert (len(marks), len(made)) == (MAX_MARKS, MAX_MARKS)
        assert str(last).endswith(f"{more:,} more repetitions are not marked")
