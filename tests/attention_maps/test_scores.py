"""Each score against values computed by hand or by other libraries."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import entropy, wasserstein_distance

from coverage_eval.attention_maps import AttentionMap, scores
from coverage_eval.attention_maps.scores import SCORES, score_maps, score_table
from coverage_eval.core.errors import CorpusWarning

# Three target words × four source words, whose coverage is 1.75, 0.75, 0.5 and 0.
A = np.array([[1, 0, 0, 0], [0.5, 0.25, 0.25, 0], [0.25, 0.5, 0.25, 0]])
EMPTY = [np.zeros((0, 0)), np.zeros((0, 3)), np.zeros((3, 0))]

rectangles = hnp.arrays(
    np.float64,
    hnp.array_shapes(min_dims=2, max_dims=2, min_side=0, max_side=6),
    elements=st.floats(0, 1) | st.sampled_from([0.0, 1.0, 1e-300]),
)


def test_coverage_and_the_scores_that_count_words_by_it():
    assert scores.coverage(A).tolist() == [1.75, 0.75, 0.5, 0]
    assert scores.mean_coverage(A) == 0.75
    assert scores.over_attended(A) == 1
    assert scores.over_attended(np.array([[0.75], [0.75]])) == 0
    assert scores.under_attended(A) == 1
    assert scores.under_attended(np.array([[0.2, 0.1]])) == 1
    (segment,) = score_maps([AttentionMap(A)])
    assert (segment.over, segment.under) == ((0,), (3,))


def test_coverage_deviation_penalty_of_the_code():
    deviations = [0.75, 0.25, 0.5, 1]
    code = sum(math.log(1 / (1 + abs(d) ** 6)) for d in deviations) / 4
    assert scores.cdp_code(A) == pytest.approx(code)
    assert code == pytest.approx(-0.218174, abs=1e-6)
    assert scores.cdp_code(np.eye(3)) == 0


def test_undertranslated_words_by_their_largest_and_by_their_total_weight():
    weak = np.array([[0.009, 0.04, 0.95], [0.009, 0.04, 0.95]])
    assert scores.undertranslated_max(weak) == pytest.approx(1 / 3)
    assert scores.undertranslated_sum(weak) == pytest.approx(2 / 3)
    assert scores.undertranslated_max(A) == 0.25


def test_absentmindedness_is_minus_mean_entropy():
    assert scores.ap_out(A) == pytest.approx(-np.mean([entropy(row) for row in A]))
    columns = [entropy(column) if column.sum() else 0 for column in A.T]
    assert scores.ap_in(A) == pytest.approx(-np.mean(columns))
    assert scores.ap_out(np.eye(4)) == 0
    assert math.copysign(1, scores.ap_out(np.eye(4))) == 1
    assert scores.ap_out(np.full((3, 4), 0.1)) == pytest.approx(-math.log(4))


def test_confidence_combines_three_scores():
    total = scores.cdp_code(A) + scores.ap_out(A) + scores.ap_in(A)
    assert scores.confidence(A) == pytest.approx(math.exp(-0.05 * total**2))
    assert scores.confidence(np.eye(5)) == 1
    # Transposing the matrix swaps AP_in and AP_out; their sum stays the same.
    assert scores.ap_in(A.T) == pytest.approx(scores.ap_out(A))


def test_wasserstein_distance_to_the_uniform_distribution():
    mean_row = A.mean(axis=0)
    assert scores.wass_to_unif(A) == pytest.approx(0.5 * np.abs(mean_row - 0.25).sum())
    # This is the Wasserstein distance if any two positions are at distance 1, as two positions on
    # a line can be.
    two = np.array([[0.9, 0.1]])
    line = wasserstein_distance([0, 1], [0, 1], [0.9, 0.1], [0.5, 0.5])
    assert scores.wass_to_unif(two) == pytest.approx(line)
    assert scores.wass_to_unif(np.full((2, 4), 0.25)) == 0
    assert scores.wass_to_unif(np.array([[1.0, 0, 0, 0]])) == 0.75


def test_zeros_and_support_size():
    assert scores.zeros(A) == 5 / 12
    assert scores.support_size(A) == 7 / 3


@pytest.mark.filterwarnings("ignore::coverage_eval.core.errors.CorpusWarning")
@pytest.mark.parametrize("weights", EMPTY, ids=lambda w: str(w.shape))
def test_a_blank_source_has_no_scores_and_a_blank_hypothesis_no_words_to_score(weights):
    (segment,) = score_maps([AttentionMap(weights)])
    if weights.shape[1] == 0:
        assert {*segment.values.values()} == {None}
        return
    assert {name: value for name, value in segment.values.items() if value is not None} == {
        "mean_coverage": 0, "over_attended": 0, "under_attended": 3, "summary_penalty": 0,
        "cdp_code": pytest.approx(-math.log(2)), "undertranslated_max": 1, "undertranslated_sum": 1,
    }  # fmt: skip


@pytest.mark.filterwarnings("ignore::coverage_eval.core.errors.CorpusWarning")
@given(rectangles)
def test_no_score_of_words_is_ever_nan_or_infinite(weights):
    item = AttentionMap(weights, src_eos=weights.shape[1] > 1)
    values = score_maps([item])[0].values
    known = [value for value in values.values() if value is not None]
    assert all(map(math.isfinite, known)), values
    if item.word_weights.any():
        assert len(known) == len(SCORES)


@pytest.mark.filterwarnings("ignore::coverage_eval.core.errors.CorpusWarning")
@given(rectangles, st.randoms(use_true_random=False))
def test_scores_do_not_depend_on_the_order_of_words(weights, random):
    rng = np.random.default_rng(weights.size)
    shuffled = weights[rng.permutation(len(weights))][:, rng.permutation(weights.shape[1])]
    before, after = (score_maps([AttentionMap(w)])[0].values for w in (weights, shuffled))
    for name in SCORES:
        value = before[name]
        expected = None if value is None else pytest.approx(value, abs=1e-9)
        assert after[name] == expected, name


def test_the_score_of_a_corpus_is_the_mean_or_for_counts_the_sum():
    with_eos = AttentionMap(np.array([[0.5, 0.5]]), src_eos=True)
    table = score_table([AttentionMap(A), AttentionMap(np.zeros((0, 2))), with_eos])
    assert table.corpus["under_attended"] == 1 + 2 + 0
    assert table.corpus["mean_coverage"] == pytest.approx((0.75 + 0 + 0.5) / 3)
    assert score_table([]).corpus == {}


def test_blank_lines_count_for_nothing():
    items = [AttentionMap(A), AttentionMap(A[:2])]
    blank = [AttentionMap(np.zeros((rows, 0))) for rows in (0, 3)]
    alone = score_table(items)
    with pytest.warns(CorpusWarning, match="2 of 4 segments have no source words, and count for n"):
        beside = score_table([blank[0], *items, blank[1]])
    assert beside.corpus == alone.corpus
    with pytest.warns(CorpusWarning):
        assert {*score_table(blank).corpus.values()} == {None}


def test_the_case_of_blank_lines(shared, run_cli):
    folder = shared / "cases" / "blank-source-attention"
    for name, undertranslated in (("bad", "0.50"), ("good", "0.00")):
        metrics = "mean_coverage,confidence,undertranslated_max"
        lines = [
            run_cli("attention", "score", folder / f"{name}{blank}.jsonl", "-m", metrics).stdout
            for blank in ("", "blank")
        ]
        plain, beside = (next(x for x in text.splitlines() if "corpus" in x) for text in lines)
        assert plain.split() == beside.split()
        assert plain.split()[-1] == undertranslated
