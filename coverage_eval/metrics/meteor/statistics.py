"""The 23 sufficient statistics of Meteor 1.5 and the score of their sum."""

from __future__ import annotations

from collections.abc import Sequence

from coverage_eval.metrics.meteor.aligner import Match, count_chunks

__all__ = [
    "ALPHA",
    "BETA",
    "DELTA",
    "FIELDS",
    "GAMMA",
    "MODULE_WEIGHTS",
    "meteor_score",
    "pair_statistics",
    "without_perfect_chunk",
]

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
    *(f"{m}_{f}" for m in ("exact", "stem", "synonym", "paraphrase") for f in _MODULE_FIELDS),
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
    """The 23 counts of one pair, as Meteor prints them with ``-ssOut``.

    Args:
        matches: The matches chosen, in reference order.
        hypothesis_functions: For each hypothesis token whether it is a function word.
        reference_functions: The same of the reference.
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
    counts[_CHUNKS] = count_chunks(matches)
    return counts


def _is_perfect(counts: Sequence[float]) -> bool:
    """Whether both sides are matched as a whole, in one chunk."""
    return bool(
        counts[_CHUNKS] == 1
        and counts[_HYP_MATCHED] == counts[0]
        and counts[_REF_MATCHED] == counts[1]
    )


def without_perfect_chunk(counts: list[int]) -> list[int]:
    """The counts as Meteor adds them up: the one chunk of a perfect segment is left out.

    The segment's own score is the same with and without it.
    """
    if _is_perfect(counts):
        return [*counts[:_CHUNKS], 0, *counts[_CHUNKS + 1 :]]
    return counts


def meteor_score(counts: Sequence[float]) -> float:
    """The Meteor 1.5 score, from 0 to 1, of one segment's counts or of the sum of many.

    Denkowski and Lavie, "Meteor Universal" (WMT 2014), section 2: weighted precision and recall
    with content and function words apart, their harmonic mean, and a fragmentation penalty.
    Without a match, or with an empty side, the score is 0.

    Args:
        counts: The 23 statistics, see :data:`FIELDS`.
    """
    precision = _weighted_ratio(counts, side=0)
    recall = _weighted_ratio(counts, side=1)
    if precision == 0 or recall == 0:
        return 0.0
    f_mean = 1.0 / ((1.0 - ALPHA) / precision + ALPHA / recall)
    matched = (float(counts[_HYP_MATCHED]) + float(counts[_REF_MATCHED])) / 2.0
    fragmentation = 0.0 if _is_perfect(counts) else float(counts[_CHUNKS]) / matched
    return float(f_mean * (1.0 - GAMMA * fragmentation**BETA))


def _weighted_ratio(counts: Sequence[float], side: int) -> float:
    """Precision (side 0) or recall (side 1)."""
    functions = float(counts[2 + side])
    length = DELTA * (float(counts[side]) - functions) + (1.0 - DELTA) * functions
    if length == 0:
        return 0.0
    matched = 0.0
    for first, weight in zip(range(4, 20, 4), MODULE_WEIGHTS, strict=True):
        content, function = float(counts[first + side]), float(counts[first + 2 + side])
        matched += weight * (DELTA * content + (1.0 - DELTA) * function)
    return matched / length
