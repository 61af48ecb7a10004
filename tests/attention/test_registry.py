"""Every transformation is as the registry describes it, and a new one is used everywhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from coverage_eval.attention import (
    TRANSFORMATIONS,
    AttentionError,
    AttentionStep,
    BilinearScore,
    Transformation,
    attend,
    attend_vjp,
    attend_with_credit,
    find_transformation,
)

Array = NDArray[np.float64]
each = pytest.mark.parametrize("transformation", TRANSFORMATIONS.values(), ids=TRANSFORMATIONS)


@each
def test_found_by_name_and_by_label(transformation):
    assert find_transformation(transformation.name) is transformation
    assert find_transformation(transformation.label) is transformation
    assert transformation.name == transformation.function.__name__


def test_an_unknown_name_is_refused_with_a_list_of_names():
    with pytest.raises(AttentionError, match="'entmax': use one of softmax, sparsemax, constr"):
        find_transformation("entmax")


@each
def test_shapes_of_attention_and_gradients(transformation):
    z, u = np.random.default_rng(51).normal(size=(5, 4)), np.full(4, 0.4)
    alpha = transformation(z, u)
    np.testing.assert_allclose(alpha.sum(axis=1), 1, atol=1e-15)
    assert transformation.bounded == bool((alpha <= u).all())
    arguments = (alpha, u) if transformation.bounded else (alpha,)
    gradients = transformation.vjp(np.ones_like(z), *arguments)
    gradients = gradients if transformation.bounded else (gradients,)
    assert len(gradients) == len(arguments)
    for gradient in gradients:  # the sum of attention does not change
        np.testing.assert_allclose(gradient, np.zeros_like(z), atol=1e-14)


def evenly(z: ArrayLike, *, axis: int = -1, mask: Any = None) -> Array:
    """The same attention to every position that may be used, whatever its score."""
    usable = np.ones(np.shape(z), dtype=bool) if mask is None else mask
    return np.asarray(usable / usable.sum(axis=axis, keepdims=True))


@pytest.fixture
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    zero = Transformation("evenly", "even", False, evenly, lambda d, alpha, axis=-1: 0 * d * alpha)
    monkeypatch.setitem(TRANSFORMATIONS, "evenly", zero)  # type: ignore[arg-type]


@pytest.mark.usefixtures("_registered")
def test_a_new_transformation_is_used_by_steps_and_credit():
    attention, _ = attend_with_credit([[1.0, 2.0, 3.0, 4.0]], 1.0, "even")
    np.testing.assert_array_equal(attention, [[0.25] * 4])
    step = AttentionStep(BilinearScore(), "evenly")
    result = attend(np.ones((1, 2, 3)), np.eye(3)[None], step, lengths=[2])
    np.testing.assert_array_equal(result.attention, [[[0.5, 0.5, 0.0]] * 2])
    assert not attend_vjp(result, d_attention=np.ones((1, 2, 3))).states.any()
