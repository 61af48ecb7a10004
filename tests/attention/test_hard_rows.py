"""Invalid rows, and rows that are hard to compute, alone and in batches."""

import numpy as np
import pytest

from coverage_eval.attention import (
    AttentionError,
    InfeasibleBoundsError,
    constrained_softmax,
    constrained_sparsemax,
)
from tests.attention.oracles import softmax_oracle, sparsemax_oracle

TRANSFORMS = [constrained_softmax, constrained_sparsemax]
EASY = ([2.0, 1.0, 0.5, -1.0, 0.0], [0.5, 0.25, 1.0, 3.0, 0.125])

#: Scores and bounds.
HARD = {
    "scores that float32 cannot tell apart": (
        [1e7 + 0.375, 1e7 + 0.875, 1e7, 1e7 + 0.25, 1e7 + 1.0],
        [0.75, 0.625, 0.5, 0.5, 0.875],
    ),
    "a threshold far below the best": ([90.0, 3.0, 2.5, 2.0, -4.0], [0.25, 0.5, 1.0, 1.0, 1.0]),
    "scores beyond float32": ([1e60, 1e60, 0.0, 0.5, 1.0], [0.25, 0.25, 0.25, 0.5, 0.5]),
    "bounds that just suffice": ([3.0, 1.0, 2.0, 0.0, 0.5], [0.25, 0.25, 0.25, 0.125, 0.125001]),
}


@pytest.mark.parametrize("name", HARD)
def test_hard_rows_among_easy_ones(name):
    z, u = (np.array(pair) for pair in zip(EASY, HARD[name], EASY, strict=True))
    for transform, oracle in zip(TRANSFORMS, (softmax_oracle, sparsemax_oracle), strict=True):
        for row, expected in zip(transform(z, u), map(oracle, z, u), strict=True):
            np.testing.assert_allclose(row, expected, rtol=1e-12, atol=1e-15)


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


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_negative_bounds(transform):
    """A tiny negative bound counts as 0; a larger one is an error, even if the sum is right."""
    z, u = np.zeros((3, 4)), np.ones((3, 4))
    z[1, 0], u[1, 0] = 5.0, -1e-17
    np.testing.assert_allclose(transform(z, u)[1], [0, 1 / 3, 1 / 3, 1 / 3], rtol=1e-15)
    u[1, 0] = -1e-9
    with pytest.raises(AttentionError, match=r"row 1: an upper bound is negative") as caught:
        transform(z, u)
    assert caught.value.row == (1,)


def test_the_callers_arrays_are_left_alone():
    z, u = np.array([EASY[0]] * 2), np.array([EASY[1]] * 2)
    before = z.copy(), u.copy()
    for transform in TRANSFORMS:
        result = transform(z, u)
        assert not np.shares_memory(result, z)
        assert not np.shares_memory(result, u)
    np.testing.assert_array_equal((z, u), before)


@pytest.mark.slow
@pytest.mark.parametrize("wide", [4.0, 1e4, 1e9, 1e300, np.inf])
def test_wide_bounds_lose_no_precision(wide):
    rng = np.random.default_rng(22)
    z, u = rng.normal(size=(200, 4)), np.where(rng.random((200, 4)) < 0.7, wide, 0.3)
    u[:, 0] = wide
    for transform, oracle in zip(TRANSFORMS, (softmax_oracle, sparsemax_oracle), strict=True):
        found = transform(z, u)
        np.testing.assert_allclose(found[:20], list(map(oracle, z[:20], u[:20])), atol=1e-15)
        np.testing.assert_allclose(found, transform(z, np.minimum(u, 2.0)), rtol=0, atol=1e-15)


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize(
    ("z", "u"),
    [([1.0], [-1.0]), ([1.0, 2.0], [-3.0, -1.0]), ([np.nan], [1.0]), ([np.inf, 0.0], [1.0, 1.0]),
     ([-np.inf], [1.0]), ([0.0], [np.nan]), ([3.4e38, 0.0], [np.nan, np.inf])],
)  # fmt: skip
def test_bad_rows_are_named_wherever_they_are(transform, z, u):
    for place in range(3):
        scores, bounds = np.zeros((3, len(z))), np.ones((3, len(z)))
        scores[place], bounds[place] = z, u
        with pytest.raises(AttentionError, match=f"^row {place}: ") as caught:
            transform(scores, bounds)
        assert caught.value.row == (place,)


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


def test_padding_without_a_bound_does_not_affect_other_rows():
    """The NaN of a bound at padding must not hide the wide bounds of another row."""
    z = np.array([[2.0, -np.inf], [-0.47, -0.78], [0.0, 0.0]])
    u = np.array([[1.5, np.nan], [1e9, 1e9], [1.0, 1.0]])
    expected = [[1.0, 0.0], [0.655, 0.345], [0.5, 0.5]]
    np.testing.assert_allclose(constrained_sparsemax(z, u), expected, rtol=1e-15)


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("low", [-np.inf, -1e60, -1e39, 0.0])
def test_negative_bounds_at_very_low_scores(transform, low):
    z, u = [0.0, 1.0, low], [1.0, 1.0, -0.5]
    if low == -np.inf:  # padding, so its bound is ignored
        np.testing.assert_array_equal(transform(z, u), transform(z, [1.0, 1.0, 0.0]))
    else:
        with pytest.raises(AttentionError, match=r"an upper bound is negative: -0\.5"):
            transform(z, u)


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_a_row_of_huge_scores_does_not_depend_on_its_batch(transform):
    """At these magnitudes, rounding of the scores decides which positions receive attention."""
    rng = np.random.default_rng(23)
    z = rng.normal(size=(400, 12)) * 10.0 ** rng.integers(-3, 300, size=(400, 1))
    z += 10.0 ** rng.integers(14, 19, size=(400, 1))
    u = rng.uniform(size=(400, 12)) + 0.02
    whole = transform(z, u)
    np.testing.assert_array_equal([transform(*row) for row in zip(z, u, strict=True)], whole)
    order = rng.permutation(400)
    np.testing.assert_array_equal(transform(z[order], u[order]), whole[order])
    np.testing.assert_array_equal(transform(z[::-7], u[::-7]), whole[::-7])
    np.testing.assert_allclose(whole.sum(axis=1), 1, rtol=0, atol=1e-14)


def test_a_long_row_of_words_at_their_bounds_with_an_exhausted_word_of_tiny_weight():
    z, u = np.arange(1100) * 10.0, np.r_[0.0, np.full(1099, 1.05 / 1100)]
    alpha = constrained_softmax(z, u)
    # The highest scores are at their bound, and the next one below gets the rest.
    full = int(1 / u[1])
    np.testing.assert_array_equal(alpha[1100 - full :], u[1100 - full :])
    np.testing.assert_allclose(alpha[1099 - full], (1 - full * u[1]) / (1 + np.exp(-10)), rtol=1e-3)
    assert abs(alpha.sum() - 1) < 1e-14
    assert alpha[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("length", [1, 128, 129, 300])
def test_many_and_long_rows(length):
    rng = np.random.default_rng(length)
    shape = (200, length)
    z, u = 0.01 * rng.normal(size=shape), rng.uniform(3 / length, 9 / length, shape)
    for transform, oracle in zip(TRANSFORMS, (softmax_oracle, sparsemax_oracle), strict=True):
        found = transform(z, u)
        np.testing.assert_allclose(found[-1], oracle(z[-1], u[-1]), rtol=1e-12, atol=1e-16)
        np.testing.assert_allclose(found.sum(axis=1), 1, rtol=0, atol=1e-14)
        np.testing.assert_array_equal(transform(z[-1:], u[-1:]), found[-1:])
