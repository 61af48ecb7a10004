"""The 23 sufficient statistics of Meteor 1.5 and the score of their sum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coverage_eval.quality.meteor.matching import MODULES, Match, count_chunks

ALPHA, BETA, GAMMA, DELTA = 0.85, 0.2, 0.6, 0.75
"""Meteor 1.5's English parameters, tuned to rank systems (Denkowski and Lavie 2014)."""

MODULE_WEIGHTS = (1.0, 0.6, 0.8, 0.6)
"""The weights of an exact, stem, synonym and paraphrase match."""

_MODULE_FIELDS = ("hyp_content", "ref_content", "hyp_function", "ref_function")

FIELDS = (
    "hyp_len",
    "ref_len",
    "hyp_function",
    "ref_function",
    *(f"{m}_{f}" for m in MODULES for f in _MODULE_FIELDS),
    "chunks",
    "hyp_matched",
    "ref_matched",
)
"""The statistics' names, in the order in which Meteor prints them."""

_CHUNKS, _HYP_MATCHED, _REF_MATCHED = 20, 21, 22


def pair_statistics(
    matches: Sequence[Match],
    hypothesis_functions: Sequence[bool],
    reference_functions: Sequence[bool],
) -> list[int]:
    """The 23 counts of one pair.

    Meteor does not count the chunk of a perfect segment, whose sides match as a whole. This changes
    the corpus score, but not the segment's own. (``-ssOut`` prints the chunk.)

    Args:
        matches: The chosen matches, in the order of the reference.
        hypothesis_functions: Whether each token of the hypothesis is a function word.
        reference_functions: Whether each token of the reference is a function word.
    """
    counts = [0] * len(FIELDS)
    counts[0], counts[1] = len(hypothesis_functions), len(reference_functions)
    counts[2], counts[3] = sum(hypothesis_functions), sum(reference_functions)
    for position, (start, length, reference_length, module) in matches:
        functions = sum(hypothesis_functions[start : start + length])
        reference_function = sum(reference_functions[position : position + reference_length])
        first = 4 + 4 * module
        counts[first] += length - functions
        counts[first + 1] += reference_length - reference_function
        counts[first + 2] += functions
        counts[first + 3] += reference_function
        counts[_HYP_MATCHED] += length
        counts[_REF_MATCHED] += reference_length
    chunks = count_chunks(matches)
    is_perfect = chunks == 1 and counts[_HYP_MATCHED:] == counts[:2]
    counts[_CHUNKS] = 0 if is_perfect else chunks
    return counts


class Parts(NamedTuple):
    """A Meteor score and its parts; arrays of one shape."""

    precision: NDArray[np.float64]
    """Weighted share of the hypothesis that is matched, 0 to 1."""
    recall: NDArray[np.float64]
    """Weighted share of the reference that is matched, 0 to 1."""
    penalty: NDArray[np.float64]
    """The fragmentation penalty gamma * (chunks / matches) ** beta, 0 to gamma."""
    score: NDArray[np.float64]
    """The harmonic mean of precision and recall, weighted by alpha, times (1 - penalty)."""


def score_parts(counts: NDArray[Any]) -> Parts:
    """The Meteor 1.5 score, from 0 to 1, and its parts.

    Denkowski and Lavie, "Meteor Universal" (WMT 2014), section 2: precision and recall with weights
    for content and function words, their harmonic mean, and a fragmentation penalty. Without a
    match, or with an empty side, the score and all its parts are 0.

    Args:
        counts: The 23 statistics ``[..., 23]`` (see :data:`FIELDS`), of segments or summed.
    """
    counts = np.asarray(counts, dtype=np.float64)
    precision, recall = _weighted_ratio(counts, side=0), _weighted_ratio(counts, side=1)
    matched = (counts[..., _HYP_MATCHED] + counts[..., _REF_MATCHED]) / 2.0
    any_match = (precision > 0) & (recall > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        f_mean = 1.0 / ((1.0 - ALPHA) / precision + ALPHA / recall)
        penalty = GAMMA * (counts[..., _CHUNKS] / matched) ** BETA
    penalty = np.where(any_match, penalty, 0.0)
    return Parts(precision, recall, penalty, np.where(any_match, f_mean, 0.0) * (1.0 - penalty))


def _weighted_ratio(counts: NDArray[np.float64], side: int) -> NDArray[np.float64]:
    """Precision (side 0) or recall (side 1)."""
    functions = counts[..., 2 + side]
    length = DELTA * (counts[..., side] - functions) + (1.0 - DELTA) * functions
    matched = np.zeros_like(length)
    for module, weight in enumerate(MODULE_WEIGHTS):
        content = counts[..., 4 + 4 * module + side]
        function = counts[..., 6 + 4 * module + side]
        matched = matched + weight * (DELTA * content + (1.0 - DELTA) * function)
    return np.divide(matched, length, out=np.zeros_like(length), where=length > 0)
