"""The attention step against a scalar oracle; its state, its sink and its rounding errors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coverage_eval.attention import (
    AttentionError,
    AttentionState,
    AttentionStep,
    BilinearScore,
    InfeasibleBoundsError,
    append_sink,
)
from tests.attention.oracles import softmax_oracle, sparsemax_oracle

TRANSFORMATIONS = ["softmax", "sparsemax", "constrained_softmax", "constrained_sparsemax"]


def transform(name, z, u):
    """One row in exact arithmetic."""
    oracle = sparsemax_oracle if name.endswith("sparsemax") else softmax_oracle
    return oracle(z, u if "constrained" in name else None)


def slow_score(score, query, word, beta):
    """One score by the printed formulas."""
    weight = np.eye(len(query)) if score.weight is None else score.weight
    if score.coverage is None:
        return float(query @ weight @ word)
    if score.form == "text":
        return float(query @ (weight @ word + score.coverage * beta))
    return float((weight.T @ query + score.coverage * beta) @ word)


def slow_run(step, queries, memory, fertilities):
    """Attention and contexts of one row, word by word and step by step."""
    words = len(memory)
    beta = [0.0] * words
    rows, contexts = [], []
    for query in queries:
        credit = [max(0.0, f - b) for f, b in zip(fertilities, beta, strict=True)]
        z = [
            slow_score(step.score, query, memory[j], beta[j])
            + (step.exhaustion * credit[j] if math.isfinite(credit[j]) else 0.0)
            for j in range(words)
        ]
        alpha = transform(step.transformation, z, credit)
        rows.append(alpha)
        contexts.append(sum(a * h for a, h in zip(alpha, memory, strict=True)))
        beta = [b + a for b, a in zip(beta, alpha, strict=True)]
    return np.array(rows), np.array(contexts)


def make_score(kind, rng, query=4, memory=5):
    square = rng.normal(size=(query, memory))
    if kind == "dot":
        return BilinearScore(), 5, 5
    if kind == "general":
        return BilinearScore(square), query, memory
    if kind == "text":
        return BilinearScore(square, rng.normal(size=query), "text"), query, memory
    return BilinearScore(square, rng.normal(size=memory), "scripts"), query, memory


KINDS = ["dot", "general", "text", "scripts"]


@pytest.mark.parametrize("transformation", TRANSFORMATIONS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("exhaustion", [0.0, 0.2])
def test_padded_batch_equals_the_scalar_oracle(transformation, kind, exhaustion):
    rng = np.random.default_rng(5)
    score, d, k = make_score(kind, rng)
    step = AttentionStep(score, transformation, exhaustion)
    lengths = np.array([3, 6, 4, 1])
    memory = rng.normal(size=(4, 6, k))
    memory[np.arange(6) >= lengths[:, None]] = np.nan  # padding must not be read
    fertilities = rng.uniform(0.5, 2.0, size=(4, 6))
    fertilities[np.arange(4), lengths - 1] = np.inf
    queries = rng.normal(size=(5, 4, d))
    source = step.source(memory, lengths=lengths, fertilities=fertilities)
    state = step.start(source)
    steps = []
    for query in queries:
        result, state = step(query, source, state)
        steps.append(result)
    for row, words in enumerate(lengths):
        alpha, contexts = slow_run(
            step, queries[:, row], memory[row, :words], list(fertilities[row, :words])
        )
        ours = np.array([s.attention[row] for s in steps])
        np.testing.assert_allclose(ours[:, :words], alpha, rtol=0, atol=1e-11)
        assert np.all(ours[:, words:] == 0)
        np.testing.assert_allclose([s.context[row] for s in steps], contexts, atol=1e-10)
        np.testing.assert_allclose(state.cumulative[row, :words], alpha.sum(0), atol=1e-11)


def test_the_text_weights_coverage_by_the_decoder_state_and_the_scripts_by_the_source_word():
    """With β = 0 both forms are the plain bilinear score."""
    rng = np.random.default_rng(1)
    weight, cover = rng.normal(size=(4, 4)), rng.normal(size=4)
    memory, query = rng.normal(size=(1, 3, 4)), rng.normal(size=(1, 4))
    plain = BilinearScore(weight)
    for form, slope in (("text", query @ cover), ("scripts", memory[0] @ cover)):
        score = BilinearScore(weight, cover, form)
        keys = score.keys(memory)
        zero = score.scores(query, keys, memory, np.zeros((1, 3)))
        np.testing.assert_array_equal(zero, plain.scores(query, keys, memory, np.zeros((1, 3))))
        covered = score.scores(query, keys, memory, np.ones((1, 3)))
        np.testing.assert_allclose(covered - zero, np.broadcast_to(slope, (1, 3)), atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(
    transformation=st.sampled_from(TRANSFORMATIONS[2:]),
    fertilities=st.lists(st.floats(0, 3), min_size=1, max_size=6),
    sink=st.booleans(),
    scale=st.sampled_from([0.0, 1e-3, 1.0, 50.0, 1e6]),
    exhaustion=st.sampled_from([0.0, 0.2, 5.0]),
    seed=st.integers(0, 2**16),
)
def test_invariants_until_the_fertilities_are_spent(
    transformation, fertilities, sink, scale, exhaustion, seed
):
    """For the number of steps that the fertilities allow (10 with a sink), attention is a
    distribution within the credit; one more step fails."""
    steps = 10 if sink else int(sum(fertilities))
    words = len(fertilities)
    bounds = np.array([[*fertilities, np.inf if sink else 0.0]])
    step = AttentionStep(BilinearScore(), transformation, exhaustion)
    source = step.source(np.eye(words + 1)[None], fertilities=bounds, lengths=[words + sink])
    state = step.start(source)
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        query = scale * rng.normal(size=(1, words + 1))
        result, after = step(query, source, state)
        assert np.all(result.credit >= 0)
        assert np.all((result.attention >= 0) & (result.attention <= result.credit))
        assert result.attention.sum() == pytest.approx(1, abs=1e-12)
        np.testing.assert_allclose(
            after.cumulative, state.cumulative + result.attention, atol=1e-12
        )
        state = after
    assert np.all(state.cumulative <= bounds)
    if not sink and sum(fertilities) - steps < 1 - 1e-9:
        with pytest.raises(InfeasibleBoundsError):
            step(np.zeros((1, words + 1)), source, state)


def test_exhaustion_raises_the_scores_of_words_with_credit_but_not_of_the_sink():
    step = AttentionStep(BilinearScore(), "constrained_sparsemax", exhaustion=0.2)
    source = step.source(np.eye(3)[None], fertilities=[[2.0, 1.0, np.inf]])
    result, _ = step(np.zeros((1, 3)), source, step.start(source))
    np.testing.assert_allclose(result.scores, [[0.4, 0.2, 0.0]])


def test_append_sink_adds_the_sink_after_each_rows_last_word():
    memory = np.arange(12.0).reshape(2, 3, 2)
    longer, fertilities, lengths = append_sink(memory, 2.0, lengths=[3, 1], vector=[7.0, 8.0])
    assert longer.shape == (2, 4, 2)
    assert longer[0, 3].tolist() == [7, 8]
    assert longer[1, 1].tolist() == [7, 8]
    np.testing.assert_array_equal(longer[0, :3], memory[0])
    assert fertilities.tolist() == [[2, 2, 2, np.inf], [2, np.inf, 0, 0]]
    assert lengths.tolist() == [4, 2]


def test_inactive_rows_keep_their_state():
    step = AttentionStep(BilinearScore(), "constrained_sparsemax")
    # Row 1 has no credit for another step, which is no error because its target has ended.
    source = step.source(np.eye(2)[None].repeat(2, 0), fertilities=[[1, 1], [0.25, 0.25]])
    result, state = step(
        np.array([[1.0, 0], [np.nan, 0]]),
        source,
        step.start(source),
        active=np.array([True, False]),
    )
    assert result.attention.tolist() == [[1, 0], [0, 0]]
    assert state.cumulative.tolist() == [[1, 0], [0, 0]]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: AttentionStep(BilinearScore(), "hardmax"), "unknown transformation 'hardmax'"),
        (lambda: AttentionStep(BilinearScore(), exhaustion=np.inf), "must be finite"),
        (
            lambda: AttentionStep(BilinearScore(), "constrained_softmax").source(
                np.ones((1, 2, 2))
            ),
            "needs fertilities",
        ),
        (
            lambda: AttentionStep(BilinearScore()).source(np.ones((2, 2, 2)), lengths=[1, 3]),
            "row 1: length 3 is not in 0..2",
        ),
        (
            lambda: AttentionStep(BilinearScore()).source(
                np.ones((2, 2, 2)), fertilities=[[1, 1], [1, -1]]
            ),
            "row 1: fertility -1.0 of word 1",
        ),
    ],
)
def test_input_that_does_not_fit_is_refused(make, message):
    with pytest.raises(AttentionError, match=message):
        make()


def test_states_of_other_batches_are_refused():
    step = AttentionStep(BilinearScore())
    source = step.source(np.ones((2, 3, 4)))
    with pytest.raises(AttentionError, match=r"decoder states of shape \(3, 4\) for 2 sources"):
        step(np.ones((3, 4)), source, step.start(source))
    with pytest.raises(
        AttentionError, match=r"the state is of shape \(1, 3\), the source \(2, 3\)"
    ):
        step(np.ones((2, 4)), source, AttentionState(np.zeros((1, 3))))


def test_an_all_padding_row_is_named():
    step = AttentionStep(BilinearScore())
    source = step.source(np.ones((2, 2, 2)), lengths=[2, 0])
    with pytest.raises(AttentionError, match="row 1"):
        step(np.ones((2, 2)), source, step.start(source))


def test_credit_repairs_rounding_and_nothing_more():
    """If rounding made the last unit slightly smaller, it is restored; a larger lack is not."""
    eps = np.finfo(np.float64).eps
    state = AttentionState([[0.5 + 40 * eps, 0.5]], steps=99)
    whole = np.ones((1, 2))
    credit = state.credit(whole)
    assert credit.sum() == 1.0
    short = AttentionState([[0.5 + 1e-9, 0.5]], steps=99).credit(whole)
    assert short.sum() < 1 - 9e-10
    over = AttentionState([[1.0 + eps, 0.0]], steps=1).credit(np.array([[1.0, np.inf]]))
    assert over.tolist() == [[0.0, np.inf]]


def test_a_word_at_its_bound_has_used_its_fertility_exactly():
    """0.3 + (0.9 - 0.3) is not 0.9 in binary; the word must not keep a residue of credit."""
    state = AttentionState([[0.3, 0.0]], steps=1)
    fertilities = np.array([[0.9, np.inf]])
    used = state.credit(fertilities)[0, 0]
    assert 0.3 + used != 0.9
    after = state.add(np.array([[used, 1 - used]]), fertilities)
    assert after.credit(fertilities)[0, 0] == 0.0
