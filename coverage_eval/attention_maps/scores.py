"""Scores of attention maps: coverage and dispersion, and their tables.

Each score of coverage or dispersion maps an array ``[T, S]``, usually without EOS row and column,
to one number. cov_j = Σ_i α_ij is the total attention that source word j gets. A blank source
(S = 0) has no scores, and counts for nothing in a corpus. For a blank hypothesis (T = 0), every
cov_j is 0, and scores of the words that it lacks are undefined. The entropy of a row or column
without weight counts as 0.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from coverage_eval.attention_maps.maps import AttentionMap, Weights
from coverage_eval.core.errors import CorpusWarning, DataError
from coverage_eval.core.lists import DiskList
from coverage_eval.core.score import Signature

OVER, UNDER = 1.5, 0.2
"""A source word with more attention in all is over-attended, one with less is under-attended."""


@dataclass(frozen=True)
class MapScore:
    """One score of a map.

    Attributes:
        summary: One line of help.
        function: Computes it from weights ``[T, S]``; NaN where it is undefined.
        corpus: Whether a corpus gets the mean over the segments that have the score, or the sum.
    """

    summary: str
    function: Callable[[Weights], float]
    corpus: Literal["mean", "sum"] = "mean"


def coverage(attention: Weights) -> Weights:
    """Total attention that each source word gets, cov_j = Σ_i α_ij: ``[S]``, from 0 to T."""
    return np.asarray(attention.sum(axis=0))


def mean_coverage(attention: Weights) -> float:
    """Mean of cov_j over source words: ``src_sum_contr_mean`` of stopes (alti_metrics_utils.py)."""
    return _mean(coverage(attention))


def over_attended(attention: Weights) -> float:
    """Number of source words with cov_j > 1.5: possible repetitions."""
    return float(np.count_nonzero(coverage(attention) > OVER))


def under_attended(attention: Weights) -> float:
    """Number of source words with cov_j < 0.2: possible omissions."""
    return float(np.count_nonzero(coverage(attention) < UNDER))


def cdp_code(attention: Weights) -> float:
    """Coverage deviation penalty as computed: (1/S) Σ_j log(1 / (1 + |1 − cov_j|⁶)), at most 0.

    M4t1ss/SoftAlignments, softalignments/functions.py, ``getCP``.
    """
    return _mean(-np.log1p(np.abs(1 - coverage(attention)) ** 6))


def ap_in(attention: Weights) -> float:
    """Absentmindedness of input words: minus the mean entropy of columns, as :func:`ap_out`."""
    return 0.0 - _mean_entropy(attention.T)


def ap_out(attention: Weights) -> float:
    """Absentmindedness of output words: minus the mean entropy of rows, in nats, at most 0.

    Rikters and Fishel (2017). Rows are normalised to sum to 1, as in SoftAlignments' ``getEnt``.
    That program transposes most toolkits' matrices first, so its APout may be our AP_in; their sum
    and the confidence are the same.
    """
    return 0.0 - _mean_entropy(attention)


def confidence(attention: Weights) -> float:
    """exp(−0.05 (CDP + AP_out + AP_in)²), from 0 to 1, with CDP as :func:`cdp_code`.

    Rikters and Fishel (2017); M4t1ss/SoftAlignments, softalignments/functions.py.
    """
    total = cdp_code(attention) + ap_out(attention) + ap_in(attention)
    return math.exp(-0.05 * total**2)


def summary_penalty(attention: Weights) -> float:
    """Σ_j max(cov_j, 1) − S, over-attention only: ``summary`` of OpenNMT-py's penalties.py."""
    return float(np.maximum(coverage(attention) - 1, 0).sum())


def undertranslated_max(attention: Weights) -> float:
    """Share of source words with max_i α_ij < 0.01: ``src_max_contr_below_001`` of stopes."""
    largest = attention.max(axis=0, initial=0.0)
    return _mean(largest < 0.01)


def undertranslated_sum(attention: Weights) -> float:
    """Share of source words with cov_j < 0.1: ``src_sum_contr_below_01`` of stopes."""
    return _mean(coverage(attention) < 0.1)


def wass_to_unif(attention: Weights) -> float:
    """Distance ½ Σ_j |m_j − 1/S| of the mean row m from the uniform distribution, from 0 to 1.

    Guerreiro et al. (2023); stopes, optimal_transport_scoring.py. m is normalised to sum to 1; the
    distance is undefined if there is no weight at all.
    """
    total = attention.sum()
    if total == 0:
        return math.nan
    mean_row = attention.sum(axis=0) / total
    return float(0.5 * np.abs(mean_row - 1 / attention.shape[1]).sum())


def zeros(attention: Weights) -> float:
    """Share of weights that are exactly 0, as sparsemax and constrained sparsemax produce."""
    return _mean(attention == 0)


def support_size(attention: Weights) -> float:
    """Mean number of source words with a weight above 0 per target word, from 0 to S."""
    return _mean(np.count_nonzero(attention, axis=1))


def _mean(values: NDArray[Any]) -> float:
    """The mean, NaN of nothing; + 0.0 makes 0 of −0, which would print as a penalty."""
    return float(values.mean()) + 0.0 if values.size else math.nan


def _mean_entropy(rows: Weights) -> float:
    """Mean entropy of normalised rows; rows without weight count as 0."""
    if rows.size == 0:
        return math.nan
    sums = rows.sum(axis=1, keepdims=True)
    shares = np.divide(rows, sums, out=np.zeros_like(rows), where=sums > 0)
    logs = np.log(shares, out=np.zeros_like(rows), where=shares > 0)
    # Rounding can make the entropy of a single peak negative, or −0.0.
    return max(0.0, -float((shares * logs).sum()) / len(rows)) + 0.0


SCORES: dict[str, MapScore] = {
    score.function.__name__: score
    for score in (
        MapScore("mean attention that a source word gets", mean_coverage),
        MapScore("source words with coverage above 1.5", over_attended, corpus="sum"),
        MapScore("source words with coverage below 0.2", under_attended, corpus="sum"),
        MapScore("coverage deviation penalty as their program computes it", cdp_code),
        MapScore("minus the mean entropy of source words", ap_in),
        MapScore("minus the mean entropy of target words", ap_out),
        MapScore("from CDP (code), AP_in and AP_out", confidence),
        MapScore("coverage above 1, summed (OpenNMT-py)", summary_penalty),
        MapScore("share of source words with no weight of 0.01", undertranslated_max),
        MapScore("share of source words with coverage below 0.1", undertranslated_sum),
        MapScore("distance of the mean row from uniform", wass_to_unif),
        MapScore("share of weights that are 0", zeros),
        MapScore("source words with weight, per target word", support_size),
    )
}
"""Every score by the name of its function."""


@dataclass(frozen=True)
class SegmentScores:
    """The scores of one segment and the coverage of its source words, without EOS.

    Attributes:
        values: Score by name; None where it is undefined, as for a blank source.
        words: The source words.
        coverage: Total attention that each of them gets.
        over: Positions from 0 of over-attended source words.
        under: Positions from 0 of under-attended source words.
    """

    values: Mapping[str, float | None]
    words: tuple[str, ...]
    coverage: tuple[float, ...]
    over: tuple[int, ...]
    under: tuple[int, ...]


@dataclass(frozen=True)
class ScoreTable:
    """All scores of a corpus.

    Attributes:
        segments: One item per segment, kept on disk.
        corpus: Score by name: the mean over the segments that have it, or the sum; None if none
            has it. Empty without segments.
        signature: Every setting that affects the scores.
    """

    segments: Sequence[SegmentScores]
    corpus: dict[str, float | None]
    signature: Signature


def score_maps(
    maps: Sequence[AttentionMap], names: Sequence[str] = tuple(SCORES)
) -> Sequence[SegmentScores]:
    """Score every segment.

    Args:
        maps: One per segment.
        names: Names in :data:`SCORES`.

    Raises:
        DataError: A name is unknown.
    """
    return score_table(maps, names).segments


def score_table(maps: Sequence[AttentionMap], names: Sequence[str] = tuple(SCORES)) -> ScoreTable:
    """Score every segment and the corpus.

    Args:
        maps: One per segment.
        names: Names in :data:`SCORES`.

    Raises:
        DataError: A name is unknown.

    Warns:
        CorpusWarning: Segments have no source words, and count for nothing.
    """
    if unknown := [name for name in names if name not in SCORES]:
        raise DataError(f"score {unknown[0]!r} is not one of {', '.join(SCORES)}")
    segments = DiskList(_score_segment(item, names) for item in maps)
    corpus = {name: _of_corpus(name, segments) for name in names} if segments else {}
    if blank := sum(not segment.words for segment in segments):
        message = f"of {len(segments)} segments have no source words, and count for nothing"
        warnings.warn(f"{blank} {message}", CorpusWarning, stacklevel=2)
    first = maps[0] if maps else AttentionMap(np.zeros((0, 0)))
    settings = {"over": OVER, "under": UNDER, "with_eos": False}
    signature = Signature.of("attention", level=first.level, **dict(first.chosen), **settings)
    return ScoreTable(segments, corpus, signature)


def _of_corpus(name: str, segments: Sequence[SegmentScores]) -> float | None:
    values = [value for segment in segments if (value := segment.values[name]) is not None]
    if not values:
        return None
    return math.fsum(values) / (1 if SCORES[name].corpus == "sum" else len(values))


def _score_segment(item: AttentionMap, names: Sequence[str]) -> SegmentScores:
    weights = item.word_weights
    received = coverage(weights)
    values = {name: SCORES[name].function(weights) if received.size else math.nan for name in names}
    return SegmentScores(
        values={name: None if math.isnan(value) else value for name, value in values.items()},
        words=item.source_words,
        coverage=tuple(received.tolist()),
        over=tuple(np.flatnonzero(received > OVER).tolist()),
        under=tuple(np.flatnonzero(received < UNDER).tolist()),
    )
