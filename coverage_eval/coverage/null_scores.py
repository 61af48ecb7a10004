"""How strong runs of losses get in complete translations.

Words are left out together, so a run of them is visible where a single word is not: the question is
how often a complete translation has a run of losses as strong as this one.

A word's loss minus the penalty is negative on average, so the sums of losses along a segment are a
random walk that falls, and its best run has the distribution of Karlin and Altschul (PNAS 87,
1990), which BLAST uses for the same purpose:

    P(strength ≥ x | n words) = 1 − exp(−K · nᵃ · exp(−λ · x)).

In theory a is 1, and it is on captions; but a long text has more words that may explain a word, and
letters of a word share its loss, so a is learnt, too. Three numbers, learnt from complete
translations, say at every length how rare a run is. This probability is the run's *p-value*. A flag
is a p-value below the rate of false alarms that the user accepts.

Another text has other words and other habits of translating. Most of its outputs are complete, so K
is estimated anew from the text itself: given λ and a, the most likely K is the number of runs
divided by the sum of nᵃ · exp(−λ · strength), in which omissions weigh next to nothing
(:meth:`NullScores.adapt`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coverage_eval.core.metric import Floats


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


DEFAULT_FALSE_ALARMS = 0.04
"""Chosen on half of the segments of WMT23 en-de with people's labels: see notebooks/evidence.md."""

MIN_SEGMENTS = 50
"""With fewer outputs, flags are not adapted to the text."""

_PRIOR_WEIGHT = 100.0
"""Outputs of the text that weigh as much as what the model learnt."""

_MAX_FACTOR = 4.0
"""Most that a text raises or lowers K: a text full of omissions must not hide them."""

EXPECTED_SHARE = 0.05
"""Share of outputs with an error that is assumed before a text is seen; 100 outputs weigh as
much."""

_ERROR_SHAPE = 0.2
"""P-values of outputs with an error are assumed to have the density a · p^(a−1), with this a."""

_ROUNDS = 50
"""Rounds of EM, after which the share no longer changes in three digits."""

_LEVEL = 0.05
"""Level of significance of the test of flags."""

_SURE = 0.01
"""Probability that a complete text has a flag that counts as certain."""

_MIN_DECAY, _MAX_DECAY = 1e-3, 1e3
_MAX_GROWTH, _STEP = 1.5, 0.05
"""The decays and growths that are tried."""


@dataclass(frozen=True)
class NullScores:
    """The distribution of the strongest run in complete translations.

    >>> null = NullScores(0.2, 1.7)
    >>> null.p_values(np.array([0.0, 2.0, 2.0]), np.array([12, 12, 120])).round(3)
    array([1.   , 0.077, 0.551])
    >>> round(null.min_strength(0.04, 12), 2)
    2.4

    Attributes:
        rate: K, the runs per word; above 0.
        decay: λ, how fast strong runs get rare; above 0.
        growth: a, how the number of runs grows with the length; 0 to 1.5.
        texts: Number of texts that it was learnt from; 0 if it is assumed.
        longest: Words of the longest of them.
    """

    rate: float
    decay: float
    growth: float = 1.0
    texts: int = 0
    longest: int = 0

    @classmethod
    def learn(cls, strengths: Floats, lengths: NDArray[Any]) -> NullScores:
        """The most likely K and λ.

        Args:
            strengths: The strongest run in each text, ``[texts]``, at least 0; some are above 0.
            lengths: Words of each text, ``[texts]``, at least 1.
        """
        found = strengths[strengths > 0]
        sizes = np.log(lengths)
        in_runs = float(sizes[strengths > 0].sum())

        def rate_of(decay: float, growth: float) -> float:
            return len(found) / float(np.sum(np.exp(growth * sizes - decay * strengths)))

        def loss(decay: float, growth: float) -> float:
            log_density = math.log(rate_of(decay, growth) * decay)
            return float(decay * found.sum() - len(found) * log_density - growth * in_runs)

        from scipy.optimize import minimize_scalar  # slow to import, and used in training only

        ends = (math.log(_MIN_DECAY), math.log(_MAX_DECAY))
        fits = []
        for growth in np.arange(0.0, _MAX_GROWTH + 0.01, _STEP):
            best = minimize_scalar(
                lambda x, a=growth: loss(math.exp(x), a), bounds=ends, method="bounded"
            )
            fits.append((float(best.fun), float(f"{math.exp(best.x):.4g}"), round(growth, 2)))
        _, decay, growth = min(fits)
        rate = float(f"{rate_of(decay, growth):.4g}")
        return cls(rate, decay, growth, len(strengths), int(np.max(lengths)))

    def p_values(self, strengths: Floats, lengths: NDArray[Any]) -> Floats:
        """The share of complete translations of these lengths with a run as strong, 0 to 1."""
        return np.where(strengths > 0, -np.expm1(-self.expected_runs(strengths, lengths)), 1.0)

    def min_strength(self, p_value: float, length: int) -> float:
        """The strength that has this p-value in a text of this length, at least 0."""
        runs = self.rate * max(1, length) ** self.growth
        return max(0.0, (math.log(runs) - math.log(-math.log1p(-p_value))) / self.decay)

    def expected_runs(self, strengths: Floats, lengths: NDArray[Any]) -> Floats:
        """The runs as strong that complete translations of these lengths have on average."""
        decayed = np.exp(-np.minimum(700.0, self.decay * strengths))
        return np.asarray(self.rate * np.maximum(1.0, lengths) ** self.growth * decayed)

    def adapt(self, strengths: Floats, lengths: NDArray[Any]) -> Adapted:
        """Adapt the distribution to a text by its outputs, most of which are complete.

        Args:
            strengths: The strongest run of each output, ``[outputs]``.
            lengths: Words of each, ``[outputs]``; outputs without words are left out.

        Returns:
            The adapted distribution; this one if there are too few outputs.
        """
        has_words = lengths > 0
        strengths, lengths = strengths[has_words], lengths[has_words]
        if len(strengths) < MIN_SEGMENTS:
            return Adapted(self, 1.0, EXPECTED_SHARE)
        runs = np.count_nonzero(strengths > 0) + _PRIOR_WEIGHT
        expected = np.sum(self.expected_runs(strengths, lengths)) + _PRIOR_WEIGHT
        clipped = float(np.clip(runs / expected, 1 / _MAX_FACTOR, _MAX_FACTOR))
        factor = float(f"{clipped:.3g}")
        null = replace(self, rate=self.rate * factor)
        p_values = null.p_values(strengths, lengths)
        share = EXPECTED_SHARE
        for _ in range(_ROUNDS):  # the most likely share, by EM
            found = float(error_probabilities(p_values, share).sum())
            share = (found + _PRIOR_WEIGHT * EXPECTED_SHARE) / (len(p_values) + _PRIOR_WEIGHT)
        return Adapted(null, factor, float(f"{min(0.99, share):.3g}"))


class Adapted(NamedTuple):
    """A distribution that is adapted to a text.

    Attributes:
        null: The distribution.
        factor: What its rate was multiplied by.
        share: The share of outputs with an error that the text seems to have.
    """

    null: NullScores
    factor: float
    share: float


def error_probabilities(p_values: Floats, share: float) -> Floats:
    """Probabilities of an error: local false discovery rates, subtracted from 1.

    P-values of complete translations are even from 0 to 1, those of others have the density
    a · p^(a−1): the beta-uniform mixture of Pounds and Morris (Bioinformatics 19, 2003). So a
    smaller p-value never has a lower probability.

    Args:
        p_values: The p-values.
        share: The share of outputs with an error.
    """
    wrong = share * _ERROR_SHAPE * np.maximum(p_values, 1e-300) ** (_ERROR_SHAPE - 1.0)
    return np.asarray(wrong / (1.0 - share + wrong))


@dataclass(frozen=True)
class Scan:
    """Constants of the scan.

    Attributes:
        penalty: Subtracted from each loss; others are in ``notebooks/evidence/tables/parts.csv``.
        null: False alarms of models that have not learnt them: those of captions.
    """

    penalty: float
    null: NullScores


WITH_REFERENCES = Scan(penalty=0.1, null=NullScores(0.1, 2.5))
WITHOUT_REFERENCES = Scan(penalty=0.3, null=NullScores(0.2, 1.7))
LETTERS = Scan(penalty=0.1, null=NullScores(0.2, 1.2))
"""Without references, for sources cut into letters, which share the loss of a word. On Japanese
without spaces the AUROC is .70 with this penalty and .68 with the one for words."""

LETTER_TOKENIZERS = ("char", "zh")
"""Tokenisers that cut text into letters."""


class FlagTest(NamedTuple):
    """Whether more segments have an error than a share, and the false alarms to expect.

    Attributes:
        certain: Number of flagged segments that no false alarm explains: with p-values so
            small that a complete text of this length has one with a probability of 1%.
        expected: Flags to expect if just the share has an error: these and the false alarms.
        p_value: The probability of as many flags or more, by the binomial test.
        is_above: Whether certain errors exceed the share, or the flags are significantly more.
    """

    certain: int
    expected: float
    p_value: float
    is_above: bool


def judge_flags(
    segments: int, p_values: Sequence[float], false_alarms: float, share: float
) -> FlagTest:
    """Test whether more than a share of the segments have an error.

    >>> judge_flags(100, [0.03] * 4, 0.04, 0.0).is_above
    False
    >>> judge_flags(100, [1e-9], 0.04, 0.0).is_above  # surely no false alarm
    True

    Args:
        segments: Number of segments.
        p_values: The p-value of each flagged segment; 0 for errors that are certain, 1 for guesses.
        false_alarms: The share of complete translations that may be flagged, 0 to 1.
        share: The share of segments that may have an error, 0 to 1.
    """
    from scipy.special import bdtrc  # slow to import, and not needed for a score

    flagged = len(p_values)
    certain = sum(value <= _SURE / max(1, segments) for value in p_values)
    rate = share + (1 - share) * false_alarms
    p_value = float(bdtrc(flagged - 1, segments, rate)) if flagged else 1.0
    is_above = certain > share * segments or p_value < _LEVEL
    return FlagTest(certain, rate * segments, p_value, is_above)
