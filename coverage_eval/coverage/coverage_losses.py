"""How much less than expected each word is covered, and what a segment scores by that.

The *coverage loss* of a word, its loss for short, is its expected coverage minus its coverage. What
references cover, on average, is expected; without references, a word's normal coverage, and the
loss is divided by its spread. Peers join the references or, without references, replace the normal
coverage.

Articles are seldom linked with certainty, and names always are: a coverage of 0.4 says nothing
about an article, but much about a name. So the normal coverage of each word is learnt from text
with complete translations. A word that is rare in this text, or missing, is treated like the
average rare word.

Words are left out together, so a run of them is visible where a single word is not. A segment's
score is its best run of losses, each minus a penalty, plus a share of their sum:

    score = max over runs of Σ (loss − penalty) + ¼ Σ max(0, loss).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coverage_eval.align.aligner import ModelAligner
from coverage_eval.align.rows import CoveredRow
from coverage_eval.core.batches import Row
from coverage_eval.core.metric import Floats

ASSUMED_COVERAGE = (0.75, 0.3)
"""Normal coverage of every word and its spread, for models without normal coverages."""


SUM_SHARE = 0.25
"""The share of the sum of losses that is added to the score. It, the spread and the penalties were
varied in ``notebooks/evidence/tables/parts.csv``; ``tuning.csv`` beside it has what is lost on
another language pair than the one that chose them."""

MIN_SPREAD = 0.3
"""Added to a word's spread before its loss is divided by it, without references."""

PEERS_SPREAD = 0.375
"""Divisor of losses against peers, without references: it puts them on the scale of normal
coverage, which scores segments in which all peers agree with the hypothesis."""

PEER_WORDS_WEIGHT, USUAL_PEER_WORDS = 0.5, 0.7
"""For additions: the weight of the share of peers that have a word, and this share for a usual
word."""

RARE = 2
"""The most occurrences of a rare word."""


@dataclass(frozen=True)
class NormalCoverage:
    """Mean and spread of the coverage of words.

    >>> normal = NormalCoverage.learn([(["a", "b"], np.array([1.0, 0.5]))] * 9)
    >>> means, spreads = normal.of(["b", "never seen"])
    >>> round(float(means[0]), 2)
    0.53

    Attributes:
        words: Mean and standard deviation of each word's coverage.
        other: Mean and standard deviation for all other words.
    """

    words: Mapping[str, Sequence[float]]
    other: Sequence[float]

    @classmethod
    def learn(cls, segments: Iterable[tuple[Sequence[str], Floats]]) -> NormalCoverage:
        """Learn from segments with complete translations.

        Each word's figures come from its occurrences and one occurrence of the average rare word.

        Args:
            segments: The words of each segment and their coverages ``[words]``; at least one word.
        """
        numbers: dict[str, int] = {}
        indices: list[int] = []
        coverages = []
        for words, covered in segments:
            indices += [numbers.setdefault(word, len(numbers)) for word in words]
            coverages.append(covered)
        values = np.concatenate(coverages)
        counts = np.bincount(indices)
        sums, squares = np.bincount(indices, values), np.bincount(indices, values * values)
        is_rare = counts <= max(RARE, counts.min())
        count = int(counts[is_rare].sum())
        mean, square = (sum(each[is_rare].tolist()) / count for each in (sums, squares))
        columns = zip(numbers, counts.tolist(), sums.tolist(), squares.tolist(), strict=True)
        figures = {
            word: _figures(times + 1, first + mean, second + square)
            for word, times, first, second in columns
        }
        return cls(figures, _figures(1, mean, square))

    def of(self, words: Sequence[str]) -> tuple[Floats, Floats]:
        """Means and spreads ``[words]`` of words."""
        pairs = (self.words.get(word, self.other) for word in words)
        figures = np.fromiter(chain.from_iterable(pairs), np.float64, 2 * len(words))
        return figures[::2], figures[1::2]


def _figures(count: float, first: float, second: float) -> tuple[float, float]:
    """Mean and standard deviation of a sum and a sum of squares, to 4 digits."""
    mean = first / count
    return round(mean, 4), round(math.sqrt(max(0.0, second / count - mean * mean)), 4)


@dataclass(frozen=True)
class UnitModel:
    """An aligner of words, or of stems, and how well it covers each of them normally.

    Attributes:
        aligner: The model.
        normal: The normal coverage of words on the side of interest; None if the model has none.
    """

    aligner: ModelAligner
    normal: NormalCoverage | None


class WordRun(NamedTuple):
    """A run of words.

    Attributes:
        start: Its first position, from 0.
        end: The position after its last word.
        sum: The sum of its values, above 0.
    """

    start: int
    end: int
    sum: float


def best_run(values: Floats) -> WordRun | None:
    """The run with the greatest sum (Kadane's algorithm).

    Of several such runs, it is the first and then the shortest.

    >>> best_run(np.array([-1.0, 2.0, -1.0, 2.0, -3.0, 1.0]))
    WordRun(start=1, end=4, sum=3.0)

    Args:
        values: ``[words]``, of any sign.

    Returns:
        The run; None if no value is above 0.
    """
    sums = np.concatenate([[0.0], np.cumsum(values)])
    lowest = np.minimum.accumulate(sums)
    end = int(np.argmax(sums - lowest))
    gain = float(sums[end] - lowest[end])
    if gain <= 0:
        return None
    start = int(np.flatnonzero(sums[:end] == lowest[end])[-1])
    return WordRun(start, end, gain)


def disjoint_runs(values: Floats) -> list[WordRun]:
    """The best run, then the best runs to its left and right, and so on, sorted by position.

    These are the maximal scoring runs of Ruzzo and Tompa (1999).

    >>> [run[:2] for run in disjoint_runs(np.array([-1.0, 2.0, -1.0, 2.0, -3.0, 1.0]))]
    [(1, 4), (5, 6)]
    """
    found = []
    open_parts = [(0, len(values))]
    while open_parts:
        first, last = open_parts.pop()
        run = best_run(values[first:last])
        if run is not None:
            start, end = first + run.start, first + run.end
            found.append(WordRun(start, end, run.sum))
            open_parts += [(first, start), (end, last)]
    return sorted(found)


def strongest_runs(losses: Floats, sizes: NDArray[Any], penalty: float) -> Floats:
    """The sum of the best run of losses, each minus the penalty, of many segments at once.

    Kadane's algorithm on all segments in step; it gives what
    :func:`best_run` gives, and 0 without a run.

    Args:
        losses: The losses of all words, segment after segment, ``[words]``.
        sizes: The number of these words in each segment, ``[segments]``.
        penalty: The penalty.

    Returns:
        ``[segments]``, at least 0.
    """
    sums = np.zeros((len(sizes), 1 + int(sizes.max())))
    inside = np.arange(1, sums.shape[1]) <= sizes[:, None]
    sums[:, 1:][inside] = losses - penalty
    np.cumsum(sums, axis=1, out=sums)  # after its end, a segment's sum stays
    return np.asarray((sums - np.minimum.accumulate(sums, axis=1)).max(axis=1))


def sum_losses(
    losses: Sequence[Floats], sizes: NDArray[np.int64], penalty: float
) -> tuple[Floats, Floats]:
    """The scores by the words' losses, and the strongest runs, ``[outputs, segments]``.

    Args:
        losses: The losses of all words in each output, ``[words]``.
        sizes: The number of these words, ``[outputs, segments]``.
        penalty: Subtracted from each loss of a run.
    """
    outputs = list(zip(losses, sizes, strict=True))
    strengths = np.array([strongest_runs(*each, penalty) for each in outputs])
    sums = [
        [part.sum() for part in np.split(np.maximum(0.0, each), lengths.cumsum()[:-1])]
        for each, lengths in outputs
    ]
    return strengths + SUM_SHARE * np.array(sums), strengths


def _of_references(items: Sequence[CoveredRow]) -> list[Sequence[Floats]]:
    """The coverages by references, as many for each segment.

    The mean of the others stands for a missing one, so it leaves their mean as it is.
    """
    number = max(len(item.references) for item in items)
    padded: list[Sequence[Floats]] = []
    for item in items:
        missing = number - len(item.references)
        mean = [np.mean(item.references, axis=0)] if missing else []
        padded.append([*item.references, *mean * missing])
    return padded


def coverage_losses(
    unit: UnitModel,
    side: str,
    items: Sequence[CoveredRow],
    rows: Sequence[Row],
    peers_used: Sequence[list[int]],
) -> tuple[list[Floats], list[Floats]]:
    """The losses of words in each output, ``[words]``: without peers, and by all peers used.

    Words of outputs that few peers have weigh more.

    Args:
        unit: The model of words, or of stems, that covered the words.
        side: ``source`` or ``target``.
        items: The coverages of each segment.
        rows: The segments.
        peers_used: The positions of each system's peers among the outputs.
    """
    of_references = _of_references(items) if items[0].references else [()] * len(items)
    references, covered = (
        [np.concatenate(segments) for segments in zip(*texts, strict=True)]
        for texts in (of_references, [item.outputs for item in items])
    )
    words: list[list[Sequence[str]]] = []
    if references:
        alone = list(np.mean(np.sort(references, axis=0), axis=0) - covered)
    elif side == "source":
        alone = list(_unusual(unit, (item.source for item in items), np.array(covered)))
    else:
        texts = zip(*(row.hypotheses + row.peers for row in rows), strict=True)
        words = [list(map(unit.aligner.tokenizer, column)) for column in texts]
        alone = [_unusual(unit, *pair) for pair in zip(words, covered, strict=True)]
    losses = list(alone)
    for number, others in enumerate(peers_used):
        if others and side == "source":
            # Sorted, because the last digits of a sum depend on the order of peers.
            seen = np.sort([*references, *(covered[other] for other in others)], axis=0)
            loss = np.mean(seen, axis=0) - covered[number]
            losses[number] = loss if references else loss / PEERS_SPREAD
        elif others:
            peers = zip(*(words[other] for other in others), strict=True)
            shares = np.concatenate(list(map(_shares, words[number], peers)))
            losses[number] = alone[number] + PEER_WORDS_WEIGHT * (USUAL_PEER_WORDS - shares)
    return alone, losses


def _unusual(unit: UnitModel, segments: Iterable[Sequence[str]], covered: Floats) -> Floats:
    """The loss of each word against its normal coverage, ``[…, words]``."""
    words = list(chain.from_iterable(segments))
    mean, spread = ASSUMED_COVERAGE if unit.normal is None else unit.normal.of(words)
    return np.asarray((mean - covered) / (spread + MIN_SPREAD))


def _shares(words: Sequence[str], others: Sequence[Sequence[str]]) -> Floats:
    """For each word, the share of texts that have it as often as the words up to here do."""
    counts = [Counter(text) for text in others]
    so_far: Counter[str] = Counter()
    shares = np.zeros(len(words))
    for position, word in enumerate(words):
        so_far[word] += 1
        shares[position] = sum(count[word] >= so_far[word] for count in counts) / len(counts)
    return shares
