"""How far probabilities are from the shares of errors that they promise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

BINS = 10
"""Bins of equal width from 0 to 1, as Guo et al. (ICML 2017) have them."""


def reliability_statistics(labels: NDArray[np.bool_], probabilities: Floats) -> Floats:
    """What each segment adds to its bin: 1, its label, its probability.

    Args:
        labels: ``[segments]``, whether each has an error.
        probabilities: ``[segments]``, 0 to 1.

    Returns:
        ``[segments, 3, bins]``, to be summed over segments.
    """
    own = np.minimum((probabilities * BINS).astype(int), BINS - 1)
    statistics = np.zeros((len(labels), 3, BINS))
    added = np.stack([np.ones(len(labels)), labels, probabilities], axis=-1)
    statistics[np.arange(len(labels)), :, own] = added
    return statistics


def calibration_error(summed: Floats) -> Floats:
    """Expected calibration error ``[...]``: Σ_b n_b / n · |share of errors − mean probability|.

    Naeini, Cooper and Hauskrecht (AAAI 2015). It is 0 to 1, and biased upwards where segments are
    few: chance alone moves the shares of the bins.

    Args:
        summed: ``[..., 3, bins]``, sums of :func:`reliability_statistics`.
    """
    count, marked, promised = np.moveaxis(summed, -2, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        error: Floats = np.abs(marked - promised).sum(axis=-1) / count.sum(axis=-1)
    return error


@dataclass(frozen=True)
class ReliabilityBins:
    """The bins that have segments, for a picture.

    Attributes:
        probability: ``[bins]``, mean probability of a bin's segments.
        share: ``[bins]``, share of them that have an error.
        count: ``[bins]``, how many they are.
    """

    probability: Floats
    share: Floats
    count: Floats

    @classmethod
    def of(cls, labels: NDArray[np.bool_], probabilities: Floats) -> ReliabilityBins:
        """Put segments into bins by their probability."""
        count, marked, promised = reliability_statistics(labels, probabilities).sum(axis=0)
        full = count > 0
        return cls(promised[full] / count[full], marked[full] / count[full], count[full])
