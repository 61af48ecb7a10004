"""How much less than expected each word is covered, and what a segment scores by that.

The *coverage loss* of a word, its loss for short, is its expected coverage minus its coverage. What
references cover, on average, is expected; without references, a word's normal coverage, and the
loss is divided by its spread. Peers join the references or, without references, replace the normal
coverage.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from itertools import chain
from statistics import median

import numpy as np
from numpy.typing import NDArray

from coverage_eval.align.rows import CoveredRow
from coverage_eval.core.batches import Row
from coverage_eval.core.metric import Floats
from coverage_eval.coverage.null_scores import strongest_runs
from coverage_eval.coverage.omission_model import UnitModel

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

MIN_MEDIAN_TEXTS = 3
"""Different texts of others from which on their median says what a segment leaves uncovered. With
two others, the median says too little."""


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


def text_keys(row: Row) -> list[Hashable]:
    """The outputs of a segment, the systems' and then the peers', to tell equal ones."""
    texts = row.hypotheses + row.peers
    return [text if isinstance(text, str) else tuple(text) for text in texts]


def peer_medians(
    rows: Sequence[Row], peers_used: Sequence[list[int]], scores: Floats, lengths: NDArray[np.int64]
) -> tuple[Floats, Floats]:
    """The median score and length of the different texts beside each system's; NaN for too few.

    Args:
        rows: The segments.
        peers_used: The positions of each system's peers among the outputs.
        scores: The scores without peers, ``[outputs, segments]``.
        lengths: The number of words likewise; outputs without words are left out.

    Returns:
        Scores and lengths, ``[systems, segments]`` each.
    """
    of_scores, of_lengths = np.full((2, len(peers_used), len(rows)), np.nan)
    for segment, row in enumerate(rows):
        texts = text_keys(row)
        for system, others in enumerate(peers_used):
            different = {
                texts[other]: (scores[other, segment], lengths[other, segment])
                for other in others
                if texts[other] != texts[system] and lengths[other, segment]
            }
            if len(different) >= MIN_MEDIAN_TEXTS:
                both = map(median, zip(*different.values(), strict=True))
                of_scores[system, segment], of_lengths[system, segment] = both
    return of_scores, of_lengths


def by_length(scores: Floats, lengths: NDArray[np.int64], usual: Floats) -> Floats:
    """Scores of omissions by relative lengths: 1 + the score is divided by length over usual one.

    Args:
        scores: The scores, at least 0.
        lengths: The number of words of each output.
        usual: The usual length of each; NaN leaves its score as it is.
    """
    ratios = np.maximum(1, lengths) / np.maximum(1, np.where(np.isnan(usual), lengths, usual))
    return np.maximum(0.0, (1 + scores) / ratios - 1)


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
