"""Invalid rows, and rows that are hard to compute, alone and in batches."""

import numpy as np
import pytest

from coverage_eval.attention import (
    AttentionError,
    InfeasibleBoundsError,
    constrained_softmax,
    constrained_sparsemax,
)

TRANSFORMS = [constrained_softmax, constrained_sparsemax]


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_a_row_does_not_depend_on_its_batch(transform):
    rng = np.random.default_rng(21)
    z, u = 3 * rng.normal(size=(300, 30)), rng.uniform(size=(300, 30))
    u[::3] = np.maximum(rng.integers(1, 4, size=(100, 30)) - rng.uniform(0, 3, size=(100, 30)), 0)
    z[::7] += 1e6
    whole = transform(z, u)
    parts = [transform(z[part], u[part]) for part in np.array_split(np.arange(300), 11)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    order = rng.permutation(300)
    np.testing.assert_array_equal(transform(z[order], u[order]), whole[order])
    np.testing.assert_array_equal([transform(*row) for row in zip(z, u, strict=True)], whole)
    np.testing.assert_array_equal(transform(z.T, u.T, axis=0), whole.T)


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("padding", [np.inf, 0.3, np.nan, -1.0, -1e-17])
def test_bounds_at_padding_are_ignored(transform, padding):
    z = np.array([[2.0, 1.0, 0.0, -np.inf], [2.0, 1.0, 0.0, 0.0]])
    u = np.array([[0.5, 0.25, 0.25, padding], [0.75, 0.5, 1.0, 1.0]])
    np.testing.assert_array_equal(transform(z, u)[0], [0.5, 0.25, 0.25, 0.0])
    mask = np.array([[True, True, True, False], [True] * 4])
    masked = transform(np.where(mask, z, 9.0), u, mask=mask)
    np.testing.assert_array_equal(masked, transform(z, u))
    assert (masked >= 0).all()
    u[0, 2] = 0.125
    with pytest.raises(InfeasibleBoundsError, match=r"row 0: .* sum to 0.875"):
        transform(z, u)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e60])
@pytest.mark.parametrize("low", [-np.inf, -1e9, -40.0])
def test_a_row_with_huge_scores_or_a_nan_does_not_affect_other_rows(bad, low):
    """It does not change how their padding is treated, either."""
    z = np.array([[bad, 0.0, 0.0, 0.0], [2.0, 1.0, 0.0, low], [0.0, low, low, low]])
    third = np.float32(0.25 + 5e-8)
    u = np.array([[1.0] * 4, [0.5, 0.25, third, 0.3], [1.5, 0.5, 0.5, 0.5]], dtype=np.float32)
    for transform in TRANSFORMS:
        if bad < np.inf:
            alone = [transform(*row) for row in zip(z, u, strict=True)]
            np.testing.assert_array_equal(transform(z, u), alone)
            if low == -np.inf:
                np.testing.assert_array_equal(alone[1], [0.5, 0.25, third, 0.0])
        else:
            with pytest.raises(AttentionError, match=r"^row 0: a score is"):
                transform(z, u)


def test_a_long_row_of_words_at_their_bounds_with_an_exhausted_word_of_tiny_weight():
    z, u = np.arange(1100) * 10.0, np.r_[0.0, np.full(1099, 1.05 / 1100)]
    alpha = constrained_softmax(z, u)
    # The highest scores are at their bound, and the next one below gets the rest.
    full = int(1 / u[1])
    np.testing.assert_array_equal(alpha[1100 - full :], u[1100 - full :])
    np.testing.assert_allclose(alpha[1099 - full], (1 - full * u[1]) / (1 + np.exp(-10)), rtol=1e-3)
    assert abs(alpha.sum() - 1) < 1e-14
    assert alpha[0] == 0
