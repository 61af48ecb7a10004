"""Scores of how attention is spread: each from an array ``[T, S]`` to one number.

All are 0 for a map without rows or columns, and none is ever NaN. A row or column without weight
has no spread: it counts as 0.
"""

from __future__ import annotations

import math

import numpy as np

from coverage_eval.attention_maps.coverage import cdp_code
from coverage_eval.attention_maps.maps import Weights


def ap_out(attention: Weights) -> float:
    """Absentmindedness of output words: minus the mean entropy of rows, in nats, at most 0.

    Rikters and Fishel (2017); rows are normalised to sum 1, as in SoftAlignments' ``getEnt``.
    That program transposes most toolkits' matrices first, so its APout may be this APin; their sum,
    and the confidence, are the same.
    """
    return 0.0 - _mean_entropy(attention)


def ap_in(attention: Weights) -> float:
    """Absentmindedness of input words: minus the mean entropy of columns, in nats, at most 0.

    Rikters and Fishel (2017); see :func:`ap_out`.
    """
    return 0.0 - _mean_entropy(attention.T)


def confidence(attention: Weights) -> float:
    """exp(−0.05 (CDP + AP_out + AP_in)²), from 0 to 1, with CDP as computed by SoftAlignments.

    Rikters and Fishel (2017); M4t1ss/SoftAlignments, softalignments/functions.py.
    """
    total = cdp_code(attention) + ap_out(attention) + ap_in(attention)
    return math.exp(-0.05 * total**2)


def wass_to_unif(attention: Weights) -> float:
    """Distance ½ Σ_j |m_j − 1/S| of the mean row m from the uniform distribution, from 0 to 1.

    Guerreiro et al. (2023); stopes, optimal_transport_scoring.py. m is normalised to sum 1, which
    changes nothing for rows that do; it is 0 if there is no weight at all.
    """
    total = attention.sum()
    if total == 0:
        return 0.0
    mean_row = attention.sum(axis=0) / total
    return float(0.5 * np.abs(mean_row - 1 / attention.shape[1]).sum())


def zeros(attention: Weights) -> float:
    """Share of weights that are exactly 0: the sparsity of sparsemax and its kin."""
    return float(np.mean(attention == 0)) if attention.size else 0.0


def support_size(attention: Weights) -> float:
    """Mean number of source words with a weight above 0, per target word: from 0 to S."""
    return float(np.count_nonzero(attention, axis=1).mean()) if attention.shape[0] else 0.0


def _mean_entropy(rows: Weights) -> float:
    """Mean entropy of rows, each normalised; rows without weight count as 0."""
    if rows.size == 0:
        return 0.0
    sums = rows.sum(axis=1, keepdims=True)
    shares = np.divide(rows, sums, out=np.zeros_like(rows), where=sums > 0)
    logs = np.log(shares, out=np.zeros_like(rows), where=shares > 0)
    # Rounding may put the entropy of a single peak below 0, and minus zero is no entropy either.
    return max(0.0, -float((shares * logs).sum()) / len(rows)) + 0.0
