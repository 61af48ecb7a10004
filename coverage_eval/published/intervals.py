"""The mean of a few repetitions and how sure it is, as the tables of the report have it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def mean_and_half_width(values: ArrayLike) -> tuple[float, float | None]:
    """The mean, and half of its 95 % interval by Student's t; None for a single value.

    >>> mean_and_half_width([70.0])
    (70.0, None)
    """
    array = np.asarray(values, dtype=np.float64)
    if array.size == 1:
        return float(array[0]), None
    from scipy.stats import t  # slow to import, and not needed for a single value

    error = float(array.std(ddof=1)) / array.size**0.5
    return float(array.mean()), float(t.ppf(0.975, array.size - 1)) * error
