"""1.5-entmax, between softmax and sparsemax (Peters, Niculae and Martins, ACL 2019).

The example of a transformation on the page on extending; ``tests/test_extending.py`` adds it.
"""

import numpy as np
from numpy.typing import ArrayLike

from coverage_eval.attention.inputs import FloatArray, prepare


def entmax15(z: ArrayLike, *, axis: int = -1, mask: ArrayLike | None = None) -> FloatArray:
    """1.5-entmax along one axis, by one sort (their Algorithm 2)."""
    batch = prepare(z, axis=axis, mask=mask)
    with np.errstate(over="ignore"):  # scores more than 2 below the top get no attention
        half = np.maximum(batch.scores - batch.top, -4.0) / 2
    ordered = -np.sort(-half, axis=1)
    size = np.arange(1, half.shape[1] + 1)
    mean = np.cumsum(ordered, axis=1) / size
    spread = np.cumsum(ordered**2, axis=1) - size * mean**2
    threshold = mean - np.sqrt(np.maximum(0.0, (1 - spread) / size))
    support = (threshold <= ordered).sum(axis=1, keepdims=True)
    chosen = np.take_along_axis(threshold, support - 1, axis=1)
    return batch.restore(np.maximum(half - chosen, 0.0) ** 2)


def entmax15_vjp(d_alpha: ArrayLike, alpha: ArrayLike, *, axis: int = -1) -> FloatArray:
    """Gradient for the scores, of the shape of ``alpha``."""
    gradient, root = np.asarray(d_alpha), np.sqrt(np.asarray(alpha))
    mean = (gradient * root).sum(axis, keepdims=True) / root.sum(axis, keepdims=True)
    result: FloatArray = root * (gradient - mean)
    return result
