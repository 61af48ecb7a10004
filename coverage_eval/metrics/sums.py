"""The formula that many figures share: one sum over segments divided by another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coverage_eval.metrics.base import Statistics

PERCENT = 100.0


def ratio_of_sums(summed: Statistics, scale: float = PERCENT) -> NDArray[np.float64]:
    """``scale · numerator / denominator`` of ``[..., 2]``; NaN for an empty denominator."""
    numerator, denominator = np.moveaxis(np.asarray(summed, dtype=np.float64), -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(denominator > 0, scale * numerator / denominator, np.nan)
