"""Correlation of scores with labels, by SciPy; None where one of them does not vary."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike


def pearson(labels: ArrayLike, scores: ArrayLike) -> float | None:
    """Pearson's r, −1 to 1; of labels that are 0 or 1, the point-biserial correlation."""
    from scipy.stats import pearsonr

    return _correlation(pearsonr, labels, scores)


def kendall(grades: ArrayLike, scores: ArrayLike) -> float | None:
    """Kendall's τ-b, −1 to 1, which corrects for ties."""
    from scipy.stats import kendalltau

    return _correlation(kendalltau, grades, scores)


def _correlation(function: Callable[..., Any], one: ArrayLike, other: ArrayLike) -> float | None:
    first, second = (np.asarray(item, dtype=np.float64) for item in (one, other))
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    return float(function(first, second).statistic)
