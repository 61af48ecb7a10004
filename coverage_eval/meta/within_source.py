"""Two translations of the same source, one with an error: which of them does a score suspect?

A score may separate segments because hard sources lead to errors. Within a source it cannot.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def compare_within_sources(
    labels: NDArray[np.bool_], scores: Floats, sources: NDArray[np.intp]
) -> Floats:
    """Pairs of translations of one source, only one of which has an error.

    Won pairs divided by pairs are an AUROC that compares each translation only with others of its
    own source.

    Args:
        labels: ``[translations]``, whether each has an error.
        scores: ``[translations]``, the higher the more likely an error.
        sources: ``[translations]``, the number of each one's source, from 0.

    Returns:
        ``[sources, 2]``: pairs in which the translation with the error scores higher, a tie
        counting half, and all pairs.
    """
    result = np.zeros((int(sources.max()) + 1, 2))
    order = np.argsort(sources, kind="stable")
    starts = np.flatnonzero(np.diff(sources[order], prepend=-1))
    for own in np.split(order, starts[1:]):
        wrong, right = scores[own][labels[own]], np.sort(scores[own][~labels[own]])
        # Each pair is counted without being made: a source may have any number of translations.
        lower, not_higher = (np.searchsorted(right, wrong, side) for side in ("left", "right"))
        won = (lower.sum() + not_higher.sum()) / 2
        result[sources[own[0]]] = won, len(wrong) * len(right)
    return result
