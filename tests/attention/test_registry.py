"""Every transformation is as the registry describes it, and a new one is used everywhere."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from coverage_eval import attention
from coverage_eval.attention import (
    TRANSFORMATIONS,
    AttentionError,
    find_transformation,
)

Array = NDArray[np.float64]
each = pytest.mark.parametrize("transformation", TRANSFORMATIONS.values(), ids=TRANSFORMATIONS)


@each
def test_found_by_name_and_by_label(transformation):
    assert find_transformation(transformation.name) is transformation
    assert find_transformation(transformation.label) is transformation
    assert transformation.name == transformation.function.__name__
    assert getattr(attention, transformation.label) is transformation.function


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
