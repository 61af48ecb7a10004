"""Gradients through time where whole units of credit are spent, against finite differences.

With fertilities that are whole numbers, all attention of a step is often at its bounds. Scores of
earlier steps move these bounds, but not their sum.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from coverage_eval.attention import AttentionStep, BilinearScore, attend, attend_vjp

Array = NDArray[np.float64]
STEP = 1e-6
WORDS = range(2, 8)
#: Of each number of words, fertility, with and without a sink: 4,000 sequences in all.
ROWS = 4_000 // (len(WORDS) * 3 * 2) + 1


def test_bounds_that_share_spent_credit_keep_their_sum():
    """α₁ = (.6, .4, 0) leaves (.4, .6, 1), and α₂ takes both bounds whatever the scores are."""
    scores = np.array([[[1, 0.8, -5], [2, 2, -5]]])
    result = attend(scores, np.eye(3)[None], _step("constrained_sparsemax"), fertilities=1)
    np.testing.assert_allclose(result.attention[0], [[0.6, 0.4, 0], [0.4, 0.6, 0]])
    d_attention = np.array([[[0.0, 0, 0], [1, 0, 0]]])
    gradient = attend_vjp(result, d_attention=d_attention).states[0]
    np.testing.assert_allclose(gradient, [[-0.5, 0.5, 0], [0, 0, 0]])


def _step(name: str, exhaustion: float = 0.0) -> AttentionStep:
    """An attention step whose scores are the decoder states, with the identity as memory."""
    return AttentionStep(BilinearScore(), name, exhaustion)


class Sequences:
    """A batch that spends all its credit: without a sink with its last step, with one before."""

    def __init__(self, name: str, fertility: int, sink: bool, words: int) -> None:
        self.rng, positions = np.random.default_rng([fertility, words]), words + sink
        steps = fertility * words + 2 * sink
        self.states = 1.5 * self.rng.normal(size=(ROWS, steps, positions))
        self.fertilities = np.full((ROWS, positions), float(fertility))
        self.fertilities[:, words:] = np.inf
        self.memory = np.broadcast_to(np.eye(positions), (ROWS, positions, positions))
        self.step = _step(name, exhaustion=0.2 * (words % 2))
        self.result = self.run()
        self.weights = self.rng.normal(size=self.states.shape)
        self.gradients = attend_vjp(self.result, d_attention=self.weights)

    def run(self, **moved: Array) -> Any:
        given = {"states": self.states, "fertilities": self.fertilities} | moved
        return attend(memory=self.memory, step=self.step, **given)

    def errors(self, of: str, direction: Array) -> Array:
        """Of the derivative along a direction, where there is one; NaN where sides differ."""
        at, now = getattr(self, of), self.result.attention
        up, down = (self.run(**{of: at + h * direction}).attention for h in (STEP, -STEP))
        kink = abs(up - 2 * now + down).max(axis=(1, 2)) > 1e-3 * STEP
        numeric = (self.weights * (up - down)).sum(axis=(1, 2)) / (2 * STEP)
        gradient = getattr(self.gradients, of) * direction
        return np.where(kink, np.nan, numeric - gradient.reshape(ROWS, -1).sum(axis=1))


@pytest.mark.slow
@pytest.mark.parametrize("sink", [False, True], ids=["all", "sink"])
@pytest.mark.parametrize("fertility", [1, 2, 3])
@pytest.mark.parametrize("name", ["constrained_sparsemax", "constrained_softmax"])
def test_gradients_equal_finite_differences(name, fertility, sink):
    """In the scores of all steps, which cannot change the credit; and in fertilities, where credit
    moves between two words, and the spent bounds' sum does not depend on it."""
    for words in WORDS:
        batch = Sequences(name, fertility, sink, words)
        pairs = np.array([batch.rng.permutation(words)[:2] for _ in range(ROWS)])
        moved = np.zeros_like(batch.fertilities)
        np.put_along_axis(moved, pairs, np.array([[1.0, -1.0]]), axis=1)
        scores = batch.rng.normal(size=batch.states.shape)
        for of, direction, kinks in (("states", scores, 0.02), ("fertilities", moved, 0.75)):
            errors = batch.errors(of, direction)
            assert np.isnan(errors).mean() < kinks
            np.testing.assert_allclose(errors[~np.isnan(errors)], 0, atol=1e-7)
