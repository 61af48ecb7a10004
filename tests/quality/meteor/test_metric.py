"""METEOR as a metric: bounds, invariants, evidence and arguments, on random text."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coverage_eval.core.batches import Batch, Row, RowSample
from coverage_eval.core.errors import DataError, SegmentError
from coverage_eval.quality.meteor import METEOR
from coverage_eval.quality.meteor.metric import FIELDS
from tests.quality.meteor.texts import count
from tests.rows import statistics_of

words = st.sampled_from(
    ["the", "The", "cat", "cats", "car", "automobile", "as", "a", "result", "of", "because", ",",
     ".", "Aa", "BB", "runs", "running", "<unk>", "é", "went", "goes", "in", "order", "to"]
)  # fmt: skip
sentences = st.lists(words, max_size=12).map(" ".join)
anything = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
rows = st.lists(st.tuples(sentences | anything, sentences | anything), min_size=1, max_size=8)
metrics = st.builds(
    METEOR, variant=st.sampled_from(["full", "exact-stem"]), norm=st.booleans(), lower=st.booleans()
)


@given(metrics, rows)
def test_scores_are_from_0_to_100_and_0_for_empty_sides(metric, pairs):
    statistics = count(metric, pairs)
    scores = metric.formula(statistics)
    assert ((scores >= 0) & (scores <= 100)).all()
    assert 0 <= metric.score(statistics).score <= 100
    empty = (statistics[:, 0] == 0) | (statistics[:, 1] == 0)
    assert (scores[empty] == 0).all()


@given(metrics, rows, st.randoms(use_true_random=False))
def test_order_and_shards_do_not_matter(metric, pairs, random):
    whole = count(metric, pairs)
    order = list(range(len(pairs)))
    random.shuffle(order)
    shuffled = count(metric, [pairs[index] for index in order])
    np.testing.assert_array_equal(shuffled, whole[order])
    shards = [count(metric, [pair]) for pair in pairs]
    np.testing.assert_array_equal(np.concatenate(shards), whole)


@given(st.lists(st.lists(words, min_size=1, max_size=9), min_size=1, max_size=5))
def test_a_text_against_itself_scores_100(texts):
    metric = METEOR()
    statistics = statistics_of(metric, texts, texts)
    assert metric.score(statistics).score == 100.0
    assert metric.scores_of(statistics) == [100.0] * len(texts)


@given(metrics, sentences, sentences)
def test_evidence_is_what_the_statistics_count(metric, hyp, ref):
    (counts,) = count(metric, [(hyp, ref)])
    named = dict(zip(FIELDS, counts.tolist(), strict=True))
    matches = metric.evidence(hyp, ref)
    for kind in ("exact", "stem", "synonym", "paraphrase"):
        found = [match for match in matches if match.kind == kind]
        for side in ("hyp", "ref"):
            counted = named[f"{kind}_{side}_content"] + named[f"{kind}_{side}_function"]
            texts = [m.hypothesis if side == "hyp" else m.reference for m in found]
            assert counted == sum(map(len, texts))
    for match in matches:
        for text, words, (start, end) in (
            (hyp, match.hypothesis, match.hypothesis_span),
            (ref, match.reference, match.reference_span),
        ):
            assert 0 <= start < end <= len(text)
            if not metric.norm:
                written = text.lower() if metric.lower else text
                assert written[start:end].split() == list(words)
    numbers = [match.numbers for match in matches]
    assert all(hypothesis and reference for hypothesis, reference in numbers)


@pytest.mark.parametrize("norm", [False, True])
def test_all_white_space_separates_tokens(norm):
    metric = METEOR(variant="exact-stem", norm=norm)
    counts = statistics_of(metric, ["a\tb\nc\rd\x0ce  f "], ["a\u00a0b\u2028c\x0bd"])
    assert counts[0, :2].tolist() == [6, 4]


def test_a_perfect_segment_adds_no_chunk_but_keeps_its_score():
    metric = METEOR()
    perfect, other = statistics_of(metric, ["a cat .", "cat a ."], ["a cat .", "a cat ."])
    assert perfect[FIELDS.index("chunks")] == 0
    assert other[FIELDS.index("chunks")] == 3
    assert float(metric.formula(perfect)) == 100.0


def test_a_word_said_thousands_of_times_is_refused_at_once():
    metric = METEOR(variant="exact-stem")
    assert metric.sentence_score("a " * 1000, "a " * 1000).score > 99
    with pytest.raises(DataError, match=r"segment 1: it repeats .*\(3,000 words, 3,000 in"):
        metric.sentence_score("a " * 3000, "a " * 3000)


def test_a_refused_segment_says_why_without_the_loop_that_counts():
    """As in a job of Spark, also after it came from another process."""
    row = Row(("a " * 3000,), ("a " * 3000,), None)
    with pytest.raises(SegmentError) as caught:
        METEOR(variant="exact-stem").fit(RowSample([row], ["x"])).count(Batch([row]))
    assert str(pickle.loads(pickle.dumps(caught.value))).startswith("it repeats words too often")


def test_paraphrases_are_not_looked_for_in_what_is_refused(monkeypatch):
    monkeypatch.setattr("coverage_eval.quality.meteor.metric.find_paraphrases", None)
    with pytest.raises(DataError, match=r"\(3,001 words, 3,000 in"):
        METEOR().sentence_score("a " * 3000 + "b", "a " * 3000)
