"""Attention over whole targets: against single steps, rows alone, types and refusals."""

from __future__ import annotations

import numpy as np
import pytest

from coverage_eval.attention import (
    AttentionError,
    AttentionStep,
    BilinearScore,
    InfeasibleBoundsError,
    attend,
    sink_at_end,
)

B, T, S, D, K = 3, 5, 4, 3, 2
LENGTHS, TARGETS = np.array([4, 3, 4]), np.array([5, 2, 4])


def problem(kind, seed):
    """The inputs of this kind of score, by name."""
    rng = np.random.default_rng(seed)
    values = {
        "states": rng.normal(size=(B, T, D)),
        "memory": rng.normal(size=(B, S, K)),
        "fertilities": sink_at_end(rng.uniform(0.6, 1.6, size=(B, S)), LENGTHS),
        "weight": rng.normal(size=(D, K)),
    }
    if kind in ("text", "scripts"):
        values["coverage"] = rng.normal(size=D if kind == "text" else K)
    return values


def test_attend_equals_single_steps_and_continues_from_a_state():
    values = problem("text", 0)
    score = BilinearScore(values["weight"], values["coverage"])
    step = AttentionStep(score, "constrained_sparsemax", 0.2)
    options = {"lengths": LENGTHS, "fertilities": values["fertilities"]}
    whole = attend(values["states"], values["memory"], step, **options)
    source = step.source(values["memory"], **options)
    state = step.start(source)
    for t in range(T):
        result, state = step(values["states"][:, t], source, state)
        np.testing.assert_array_equal(result.attention, whole.attention[:, t])
        np.testing.assert_array_equal(result.context, whole.contexts[:, t])
    np.testing.assert_array_equal(state.cumulative, whole.cumulative)
    first = attend(values["states"][:, :2], values["memory"], step, **options)
    second = attend(values["states"][:, 2:], values["memory"], step, initial=first.state, **options)
    joined = np.concatenate([first.attention, second.attention], axis=1)
    np.testing.assert_array_equal(joined, whole.attention)


def test_rows_do_not_depend_on_their_batch():
    """Each row alone, cut to its lengths, has the same attention as in the batch."""
    values = problem("scripts", 2)
    score = BilinearScore(values["weight"], values["coverage"], "scripts")
    step = AttentionStep(score, "constrained_softmax", 0.2)
    states, memory = values["states"].copy(), values["memory"].copy()
    states[np.arange(T) >= TARGETS[:, None]] = np.nan
    memory[np.arange(S) >= LENGTHS[:, None]] = np.nan
    batch = attend(
        states, memory, step,
        lengths=LENGTHS, target_lengths=TARGETS, fertilities=values["fertilities"],
    )  # fmt: skip
    for row, (s, t) in enumerate(zip(LENGTHS, TARGETS, strict=True)):
        alone = attend(
            states[row : row + 1, :t],
            memory[row : row + 1, :s],
            step,
            fertilities=values["fertilities"][row : row + 1, :s],
        )
        np.testing.assert_allclose(batch.attention[row, :t, :s], alone.attention[0], atol=1e-14)
        np.testing.assert_allclose(batch.contexts[row, :t], alone.contexts[0], atol=1e-14)
        assert np.all(batch.attention[row, t:] == 0)
        assert np.all(batch.attention[row, :, s:] == 0)


def test_float32_stays_float32():
    values = problem("general", 0)
    for dtype, expected in ((np.float32, np.float32), (np.float64, np.float64)):
        score = BilinearScore(values["weight"].astype(dtype))
        result = attend(
            values["states"].astype(dtype), values["memory"].astype(dtype), AttentionStep(score)
        )
        for array in (result.attention, result.contexts, result.cumulative):
            assert array.dtype == expected


def test_an_empty_target_has_no_steps():
    step = AttentionStep(BilinearScore())
    result = attend(np.zeros((2, 0, 3)), np.ones((2, 4, 3)), step)
    assert result.attention.shape == (2, 0, 4)
    assert result.contexts.shape == (2, 0, 3)
    assert result.cumulative.tolist() == [[0] * 4] * 2


def test_input_that_does_not_fit_is_refused():
    step = AttentionStep(BilinearScore(), "constrained_sparsemax")
    with pytest.raises(AttentionError, match=r"\[batch, target, size\]"):
        attend(np.ones((2, 3)), np.ones((2, 3, 3)), step, fertilities=2)
    with pytest.raises(AttentionError, match="row 0: target length 4 is not in"):
        attend(np.ones((1, 3, 3)), np.ones((1, 3, 3)), step, fertilities=2, target_lengths=[4])
    with pytest.raises(AttentionError, match="decoder states of shape"):
        attend(np.ones((2, 3, 3)), np.ones((1, 3, 3)), step, fertilities=2)
    with pytest.raises(InfeasibleBoundsError, match="sink"):
        attend(np.ones((1, 4, 3)), np.ones((1, 3, 3)), step, fertilities=1)
