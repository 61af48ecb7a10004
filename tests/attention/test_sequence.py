"""Attention over whole targets: against single steps, and its gradient by finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from coverage_eval.attention import (
    AttentionError,
    AttentionState,
    AttentionStep,
    BilinearScore,
    InfeasibleBoundsError,
    attend,
    attend_vjp,
)

B, T, S, D, K = 3, 5, 4, 3, 2
TRANSFORMATIONS = ["softmax", "sparsemax", "constrained_softmax", "constrained_sparsemax"]
KINDS = ["dot", "general", "text", "scripts"]
LENGTHS, TARGETS = np.array([4, 3, 4]), np.array([5, 2, 4])


def problem(kind, seed):
    """The inputs of this kind of score, by name."""
    rng = np.random.default_rng(seed)
    d = K if kind == "dot" else D
    values = {
        "states": rng.normal(size=(B, T, d)),
        "memory": rng.normal(size=(B, S, K)),
        "fertilities": rng.uniform(0.6, 1.6, size=(B, S)),
        "cumulative": rng.uniform(0, 0.3, size=(B, S)),
    }
    values["fertilities"][np.arange(B), LENGTHS - 1] = np.inf
    if kind in ("general", "text", "scripts"):
        values["weight"] = rng.normal(size=(D, K))
    if kind in ("text", "scripts"):
        values["coverage"] = rng.normal(size=D if kind == "text" else K)
    return values


def run(kind, transformation, exhaustion, values):
    names = set(values) - {"states", "memory", "fertilities", "cumulative"}
    parameters = {name: values[name] for name in names}
    score = BilinearScore(**parameters, form="scripts" if kind == "scripts" else "text")
    step = AttentionStep(score, transformation, exhaustion)
    return attend(
        values["states"],
        values["memory"],
        step,
        lengths=LENGTHS,
        target_lengths=TARGETS,
        fertilities=values["fertilities"],
        initial=AttentionState(values["cumulative"]),
    )


def loss_of(result, weights):
    parts = result.attention, result.contexts, result.cumulative
    return sum(float((part * by).sum()) for part, by in zip(parts, weights, strict=True))


def gradients_of(result, weights):
    """The gradients of the loss by the names of the inputs."""
    gradients = attend_vjp(
        result, d_attention=weights[0], d_contexts=weights[1], d_cumulative=weights[2]
    )
    names = ("states", "memory", "fertilities", "cumulative")
    return {name: getattr(gradients, name) for name in names} | gradients.parameters


@pytest.mark.slow
@pytest.mark.parametrize("transformation", TRANSFORMATIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_gradient_through_time_by_finite_differences(kind, transformation):
    """The gradient for every input, along a random direction. An input is skipped if slopes at two
    distances differ, which shows a kink between them; more than half must remain."""
    checked = 0
    for seed in range(2):
        values = problem(kind, seed)
        rng = np.random.default_rng(100 + seed)
        weights = [rng.normal(size=s) for s in ((B, T, S), (B, T, K), (B, S))]
        # β is not defined at padding, so the loss must not use it.
        weights[2][np.arange(S) >= LENGTHS[:, None]] = 0
        found = gradients_of(run(kind, transformation, 0.2, values), weights)
        assert set(found) == set(values)
        for name, value in values.items():
            direction = rng.normal(size=value.shape)
            slopes = []
            for size in (1e-5, 1e-6):
                moved = [{**values, name: value + by * direction} for by in (size, -size)]
                high, low = (
                    loss_of(run(kind, transformation, 0.2, each), weights) for each in moved
                )
                slopes.append((high - low) / (2 * size))
            smooth = abs(slopes[0] - slopes[1]) < 1e-5 * max(1, abs(slopes[1]))
            if smooth:
                checked += 1
                gradient = float((found[name] * direction).sum())
                assert gradient == pytest.approx(slopes[1], rel=1e-5, abs=1e-6), (name, seed)
    assert checked > len(values)


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
    """Each row alone, cut to its lengths, has the same attention and gradients as in the batch."""
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
    rng = np.random.default_rng(0)
    d_contexts = rng.normal(size=batch.contexts.shape)
    gradients = attend_vjp(batch, d_contexts=d_contexts)
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
        part = attend_vjp(alone, d_contexts=d_contexts[row : row + 1, :t])
        np.testing.assert_allclose(gradients.states[row, :t], part.states[0], atol=1e-12)
        np.testing.assert_allclose(gradients.memory[row, :s], part.memory[0], atol=1e-12)
        np.testing.assert_allclose(gradients.fertilities[row, :s], part.fertilities[0], atol=1e-12)
        assert np.all(gradients.states[row, t:] == 0)


def test_float32_stays_float32_in_results_and_gradients():
    values = problem("general", 0)
    for dtype, expected in ((np.float32, np.float32), (np.float64, np.float64)):
        score = BilinearScore(values["weight"].astype(dtype))
        result = attend(
            values["states"].astype(dtype), values["memory"].astype(dtype), AttentionStep(score)
        )
        gradients = attend_vjp(result, d_attention=result.attention)
        outputs = result.attention, result.contexts, result.cumulative
        inputs = gradients.states, gradients.memory, gradients.cumulative
        for array in (*outputs, *inputs, gradients.parameters["weight"]):
            assert array.dtype == expected
        assert gradients.fertilities is None


def test_an_empty_target_has_no_steps():
    step = AttentionStep(BilinearScore())
    result = attend(np.zeros((2, 0, 3)), np.ones((2, 4, 3)), step)
    assert result.attention.shape == (2, 0, 4)
    assert result.contexts.shape == (2, 0, 3)
    assert attend_vjp(result, d_cumulative=np.ones((2, 4))).cumulative.tolist() == [[1] * 4] * 2


def test_input_that_does_not_fit_is_refused():
    step = AttentionStep(BilinearScore(), "constrained_sparsemax")
    with pytest.raises(AttentionError, match=r"\[batch, target, size\]"):
        attend(np.ones((2, 3)), np.ones((2, 3, 3)), step, fertilities=2)
    with pytest.raises(AttentionError, match="row 0: target length 4 is not in"):
        attend(np.ones((1, 3, 3)), np.ones((1, 3, 3)), step, fertilities=2, target_lengths=[4])
    with pytest.raises(AttentionError, match="decoder states of shape"):
        attend(np.ones((2, 3, 3)), np.ones((1, 3, 3)), step, fertilities=2)
    result = attend(np.ones((1, 3, 3)), np.ones((1, 3, 3)), step, fertilities=2)
    with pytest.raises(AttentionError, match=r"attention has shape \(3, 3\)"):
        attend_vjp(result, d_attention=np.ones((3, 3)))
    with pytest.raises(InfeasibleBoundsError, match="sink"):
        attend(np.ones((1, 4, 3)), np.ones((1, 3, 3)), step, fertilities=1)
