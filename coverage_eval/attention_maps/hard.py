"""Hard links from attention, in Pharaoh order (source, target), so that DROP can run on them."""

from __future__ import annotations

import numpy as np

from coverage_eval.attention_maps.maps import AttentionMap, Weights


def argmax_links(attention: Weights) -> list[tuple[int, int]]:
    """The most attended source word of each target word.

    The first of several equal ones is taken. A target word without any weight has no link. As in
    fairseq, EOS is left out before the maximum is taken: give the part of the map without it.

    Args:
        attention: ``[T, S]``, EOS row and column left out.

    Returns:
        Links (source, target) from 0, sorted; at most one a target word.
    """
    if attention.size == 0:
        return []
    best = attention.argmax(axis=1)
    linked = attention.max(axis=1) > 0
    return sorted((int(best[t]), int(t)) for t in np.flatnonzero(linked))


def threshold_links(attention: Weights, threshold: float) -> list[tuple[int, int]]:
    """Every link with more weight than a threshold (many to many), as Marian and Sockeye have it.

    Args:
        attention: ``[T, S]``, EOS row and column left out.
        threshold: In [0, 1); with 0, the support of a sparse map.

    Returns:
        Links (source, target) from 0, sorted.
    """
    return sorted((int(s), int(t)) for t, s in np.argwhere(attention > threshold))


def hard_links(item: AttentionMap, threshold: float | None = None) -> list[tuple[int, int]]:
    """The links of one map: argmax, or by a threshold; a map of links gives its links back."""
    if item.hard and threshold is None:
        threshold = 0.0
    if threshold is None:
        return argmax_links(item.word_weights)
    return threshold_links(item.word_weights, threshold)
