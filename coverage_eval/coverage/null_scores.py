"""How strong runs of coverage losses get in complete translations.

Words are left out together, so a run of them is visible where a single word is not: the question is
how often a complete translation has a run of losses as strong as this one.

A word's loss minus the penalty is negative on average, so the sums of losses along a segment are a
random walk that falls, and its best run has the distribution of Karlin and Altschul (PNAS 87,
1990), which BLAST uses for the same purpose:

    P(strength ≥ x | n words) = 1 − exp(−K · nᵃ · exp(−λ · x)).

In theory a is 1, and it is on captions; but a long text has more words that may explain a word, and
letters of a word share its loss, so a is learnt, too. Three numbers, learnt from complete
translations, say at every length how rare a run is. This probability is the run's *p-value*.

Another text has other words and other habits of translating. Most of its outputs are complete, so K
is estimated anew from the text itself: given λ and a, the most likely K is the number of runs
divided by the sum of nᵃ · exp(−λ · strength), in which omissions weigh next to nothing
(:meth:`NullScores.adapt`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
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


MIN_ADAPTED_OUTPUTS = 50
"""With fewer outputs, flags are not adapted to the text."""

_PRIOR_WEIGHT = 100.0
"""Outputs of the text that weigh as much as what the model learnt."""

_MAX_FACTOR = 4.0
"""Most that a text raises or lowers K: a text full of omissions must not hide them."""

EXPECTED_SHARE = 0.05
"""Share of outputs with an error that is assumed before a text is seen; 100 outputs weigh as
much."""

FLAG_PROBABILITY = 0.5
"""From this probability on, an error is more likely than not."""

_ERROR_SHAPE = 0.2
"""P-values of outputs with an error are assumed to have the density a · p^(a−1), with this a."""

_EVEN = 1000
"""P-values that stand for even ones."""

_ROUNDS = 50
"""Rounds of EM, after which the share no longer changes in three digits."""

_SURE_ERRORS = 1.645
"""Standard errors above 0 that an excess must be: one-sided, at the level of 5 %."""

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
        longest: Words of the longest of them; only for readers of the model's file.
        complete: Their p-values, ascending; even ones are assumed if there are none.
    """

    rate: float
    decay: float
    growth: float = 1.0
    texts: int = 0
    longest: int = 0
    complete: tuple[float, ...] = field(default=(), repr=False)

    @classmethod
    def learn(cls, strengths: Floats, lengths: NDArray[Any]) -> NullScores:
        """The most likely K, λ and a.

        Args:
            strengths: The strongest run in each text, ``[texts]``, at least 0; some are above 0.
            lengths: Words of each text, ``[texts]``, at least 1.
        """
        found = strengths[strengths > 0]
        sizes = np.log(lengths)
        in_runs = float(sizes[strengths > 0].sum())

        def rate_of(decay: float, growth: float) -> float:
            return len(found) / float(np.sum(np.exp(growth * sizes - decay * strengths)))

        def objective(decay: float, growth: float) -> float:
            log_density = math.log(rate_of(decay, growth) * decay)
            return float(decay * found.sum() - len(found) * log_density - growth * in_runs)

        from scipy.optimize import minimize_scalar  # slow to import, and used in training only

        ends = (math.log(_MIN_DECAY), math.log(_MAX_DECAY))
        fits = []
        for growth in np.arange(0.0, _MAX_GROWTH + 0.01, _STEP):
            best = minimize_scalar(
                lambda x, a=growth: objective(math.exp(x), a), bounds=ends, method="bounded"
            )
            fits.append((float(best.fun), float(f"{math.exp(best.x):.4g}"), round(growth, 2)))
        _, decay, growth = min(fits)
        rate = float(f"{rate_of(decay, growth):.4g}")
        null = cls(rate, decay, growth, len(strengths), int(np.max(lengths)))
        p_values = np.sort(null.p_values(strengths, lengths)).tolist()
        return replace(null, complete=tuple(float(f"{value:.3g}") for value in p_values))

    def p_values(self, strengths: Floats, lengths: NDArray[Any]) -> Floats:
        """The share of complete translations of these lengths with a run as strong, 0 to 1."""
        return np.where(strengths > 0, -np.expm1(-self.expected_runs(strengths, lengths)), 1.0)

    def min_strength(self, p_value: float, length: int) -> float:
        """The strength that has this p-value in a text of this length, at least 0."""
        if p_value >= 1:  # where most outputs have an error, any run is one
            return 0.0
        runs = self.rate * max(1, length) ** self.growth
        return max(0.0, (math.log(runs) - math.log(-math.log1p(-p_value))) / self.decay)

    def expected_runs(self, strengths: Floats, lengths: NDArray[Any]) -> Floats:
        """The runs as strong that complete translations of these lengths have on average."""
        decayed = np.exp(-np.minimum(700.0, self.decay * strengths))
        return np.asarray(self.rate * np.maximum(1.0, lengths) ** self.growth * decayed)

    @property
    def complete_p_values(self) -> Floats:
        """The p-values of complete texts, ascending."""
        return np.array(self.complete or (np.arange(_EVEN) + 0.5) / _EVEN)

    def complete_probability(self, outputs: int) -> float:
        """The mean probability of an error in a complete text of so many outputs.

        Some share of errors is fitted to complete texts, too, and long tails look like errors.
        """
        p_values = self.complete_p_values
        return float(error_probabilities(p_values, fit_share(p_values, outputs)).mean())

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
        if len(strengths) < MIN_ADAPTED_OUTPUTS:
            return Adapted(self, 1.0, EXPECTED_SHARE, len(strengths))
        runs = np.count_nonzero(strengths > 0) + _PRIOR_WEIGHT
        expected = np.sum(self.expected_runs(strengths, lengths)) + _PRIOR_WEIGHT
        clipped = float(np.clip(runs / expected, 1 / _MAX_FACTOR, _MAX_FACTOR))
        factor = float(f"{clipped:.3g}")
        null = replace(self, rate=self.rate * factor)
        share = fit_share(null.p_values(strengths, lengths), len(strengths))
        return Adapted(null, factor, float(f"{min(0.99, share):.3g}"), len(strengths))


class Adapted(NamedTuple):
    """A distribution that is adapted to a text.

    Attributes:
        null: The distribution.
        factor: What its rate was multiplied by.
        share: The share of outputs with an error that the text seems to have.
        outputs: Number of outputs that it is adapted to.
    """

    null: NullScores
    factor: float
    share: float
    outputs: int

    @property
    def complete(self) -> float:
        """The mean probability of an error in a complete text of so many outputs."""
        return self.null.complete_probability(self.outputs)

    @property
    def false_alarms(self) -> float:
        """The share of complete texts that are flagged, at this text's share of errors."""
        probabilities = error_probabilities(self.null.complete_p_values, self.share)
        return float((probabilities >= FLAG_PROBABILITY).mean())


def fit_share(p_values: Floats, outputs: int) -> float:
    """The most likely share of outputs with an error, by EM; what is expected, for too few outputs.

    Args:
        p_values: The p-values of the outputs, or of others that are distributed like them.
        outputs: Number of outputs.
    """
    share = EXPECTED_SHARE
    for _ in range(_ROUNDS if outputs >= MIN_ADAPTED_OUTPUTS else 0):
        found = outputs * float(error_probabilities(p_values, share).mean())
        share = (found + _PRIOR_WEIGHT * EXPECTED_SHARE) / (outputs + _PRIOR_WEIGHT)
    return share


def error_probabilities(p_values: Floats, share: float | Floats) -> Floats:
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


def p_value_of(probability: float, share: float) -> float:
    """The p-value whose :func:`error_probabilities` is this, 0 to 1.

    >>> round(float(error_probabilities(np.array([p_value_of(0.5, 0.05)]), 0.05)[0]), 6)
    0.5
    """
    odds = probability / (1.0 - probability)
    rare = share * _ERROR_SHAPE / (odds * (1.0 - share))
    return float(min(1.0, rare ** (1.0 / (1.0 - _ERROR_SHAPE))))


@dataclass(frozen=True)
class ScoringConstants:
    """The constants of scores with references, or without, of words or letters.

    Attributes:
        penalty: Subtracted from each loss; others are in ``notebooks/evidence/tables/parts.csv``.
        null: What complete translations score, for models that have not learnt it; learnt from
            captions.
    """

    penalty: float
    null: NullScores


WITH_REFERENCES = ScoringConstants(penalty=0.1, null=NullScores(0.1, 2.5))
WITHOUT_REFERENCES = ScoringConstants(penalty=0.3, null=NullScores(0.2, 1.7))
LETTERS = ScoringConstants(penalty=0.1, null=NullScores(0.2, 1.2))
"""Without references, for sources cut into letters, which share the loss of a word. On Japanese
without spaces the AUROC is .70 with this penalty and .68 with the one for words."""

LETTER_TOKENIZERS = ("char", "zh")
"""Tokenisers that cut text into letters."""


class ErrorShare(NamedTuple):
    """An estimate of the share of outputs with an error, and whether it is above a limit.

    Attributes:
        estimate: The mean probability of an error, minus that of a complete text, 0 to 1.
        certain: Number of outputs that are wrong for certain.
        has_too_many_certain: Whether these alone are more than the limit.
        is_above: Whether they are, or the estimate is above the limit.
    """

    estimate: float
    certain: int
    has_too_many_certain: bool
    is_above: bool


def estimate_share(
    probabilities: Floats, is_certain: NDArray[np.bool_], limit: float, complete: float
) -> ErrorShare:
    """Estimate the share of outputs with an error, and hold it against a limit.

    The mean probability of a complete text is subtracted. An estimate counts as above a limit if it
    is also more than what was subtracted, which clean text of another kind may exceed by half, and
    significantly more than 0.

    >>> probabilities = np.array([0.01] * 95 + [0.9] * 5)
    >>> found = estimate_share(probabilities, probabilities > 1, limit=0.02, complete=0.01)
    >>> round(found.estimate, 4), found.is_above
    (0.0445, True)

    Args:
        probabilities: The probability of an error of each output, ``[outputs]``.
        is_certain: Whether each is wrong for certain.
        limit: The share of outputs that may have an error, 0 to 1.
        complete: The mean probability in a complete text, as of :attr:`Adapted.complete`.
    """
    probabilities = np.where(is_certain, 1.0, probabilities)
    outputs = max(1, len(probabilities))
    certain = int(is_certain.sum())
    estimate = max(0.0, float(probabilities.sum()) - complete * (outputs - certain)) / outputs
    spread = float(probabilities.std()) if len(probabilities) else 0.0
    noise = _SURE_ERRORS * spread / math.sqrt(outputs)
    has_too_many_certain = certain > limit * outputs
    is_above = has_too_many_certain or estimate > max(limit, complete, noise)
    return ErrorShare(estimate, certain, has_too_many_certain, is_above)
