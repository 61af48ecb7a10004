"""Soft alignment error rate of attention against gold links.

SAER = 1 − (Σ α·S + Σ α·P) / (Σ α + |S|), with sure links S and possible links P, S being part of
P: for attention of zeros and ones it is AER. Source: Unbabel/sparse_constrained_attention,
aer/compute_aer.py. Over a corpus, numerators and denominators are summed.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from coverage_eval.attention_maps.maps import Weights
from coverage_eval.errors import DataError

__all__ = ["saer", "saer_statistics"]

Link = tuple[int, int]


def saer_statistics(
    attention: Weights, sure: Collection[Link], possible: Collection[Link]
) -> NDArray[np.float64]:
    """Numerator and denominator of 1 − SAER for one segment, to be summed over a corpus.

    Args:
        attention: ``[T, S]`` of words.
        sure: Gold links (source, target) from 0.
        possible: Gold links that are at least possible; sure ones count among them anyway.

    Returns:
        ``[2]``: Σ α·S + Σ α·P, and Σ α + number of sure links.

    Raises:
        DataError: A gold link is outside of the map.
    """
    rows, columns = attention.shape
    surely = set(sure)
    possibly = surely | set(possible)
    for source, target in possibly:
        if not (0 <= source < columns and 0 <= target < rows):
            raise DataError(
                f"gold link {source}-{target} (source-target, from 0) is outside of attention "
                f"with {columns} source and {rows} target words; merge subwords, or check the gold"
            )
    hit = sum(attention[t, s] for s, t in surely) + sum(attention[t, s] for s, t in possibly)
    return np.array([hit, attention.sum() + len(surely)])


def saer(statistics: NDArray[np.float64]) -> float:
    """SAER from 0 (best) to 1; 0 if there is neither attention nor a sure link."""
    hit, total = statistics
    return float(1 - hit / total) if total > 0 else 0.0
