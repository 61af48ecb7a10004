"""What complete translations score, and how likely an output has an error.

A word's loss minus the penalty is negative on average, so the sums of losses along a segment are a
random walk that falls, and its best run has the distribution of Karlin and Altschul (PNAS 87,
1990), which BLAST uses for the same purpose. Of complete translations, this share has a run as
strong; it is the run's *p-value*:

    p(strength | n words) = 1 − exp(−K · nᵃ · exp(−λ · strength)).

P-values of complete translations are even from 0 to 1, those of outputs with an error are assumed
to have the density s · p^(s−1). With a share π of errors, the *probability* of one is

    P(p) = π · s · p^(s−1) / (1 − π + π · s · p^(s−1))

(the beta-uniform mixture of Pounds and Morris, Bioinformatics 19, 2003). K, a, λ and what complete
translations score by length are learnt in training; the text at hand adapts K and π
(:meth:`NullScores.adapt`). An output is *flagged* if its probability is .5 or more, or if it has an
output error that is certain (:func:`are_flagged`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coverage_eval.core.metric import Floats

Flags = NDArray[np.bool_]

MIN_ADAPTED_OUTPUTS = 50
"""With fewer different outputs, nothing is adapted to the text."""

_PRIOR_WEIGHT = 100.0
"""Outputs of the text that weigh as much as what the model learnt."""

_MAX_FACTOR = 4.0
"""Most that a text raises or lowers K: a text full of omissions must not hide them."""

EXPECTED_SHARE = 0.05
"""The share of errors before a text is seen: assumed, not fitted to labels."""

_ERROR_SHAPE = 0.2
"""The exponent s of the density of p-values of outputs with an error: assumed, too."""

FLAG_PROBABILITY = 0.5
"""From this probability on, an output is flagged."""

USUAL_QUANTILE = 0.9
"""The quantile of complete translations' scores that :meth:`NullScores.usual_scores` has; chosen on
WMT23 and TED (``notebooks/evidence/tables/people_quantiles.csv``)."""

_EVEN = 1000
"""P-values that stand for even ones."""

_ROUNDS = 50
"""Rounds of EM, after which the share no longer changes in three digits."""

_SURE_ERRORS = 1.645
"""Standard errors above 0 that an excess must be: one-sided, at the level of 5 %."""

_SURE_PROBABILITY = 0.99
"""A probability from which on an output is counted as one with an error."""

_MIN_DECAY, _MAX_DECAY = 1e-3, 1e3
_MAX_GROWTH, _STEP = 1.5, 0.05
"""The decays and growths that are tried."""


@dataclass(frozen=True)
class NullScores:
    """What complete translations score.

    >>> null = NullScores(0.2, 1.7)
    >>> null.p_values(np.array([0.0, 2.0, 2.0]), np.array([12, 12, 120])).round(3)
    array([1.   , 0.077, 0.551])

    Attributes:
        rate: K, the runs per word; above 0.
        decay: λ, how fast strong runs get rare; above 0.
        growth: a, how the number of runs grows with the length; 0 to 1.5.
        usual: The usual score of a text of n words is the first + n · the second, at least 0.
        texts: Number of texts that it was learnt from; 0 if it is assumed.
        longest: Words of the longest of them.
        complete: Their p-values, ascending; even ones are assumed if there are none.
    """

    rate: float
    decay: float
    growth: float = 1.0
    usual: tuple[float, float] = (0.0, 0.1)
    texts: int = 0
    longest: int = 0
    complete: tuple[float, ...] = field(default=(), repr=False)

    @classmethod
    def learn(cls, strengths: Floats, scores: Floats, lengths: NDArray[Any]) -> NullScores:
        """The most likely K, λ and a, and the usual scores.

        Args:
            strengths: The strongest run in each text, ``[texts]``, at least 0; some are above 0.
            scores: The score of each text, ``[texts]``, at least 0.
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
        usual = fit_quantile(lengths, scores, USUAL_QUANTILE)
        null = cls(rate, decay, growth, usual, len(strengths), int(np.max(lengths)))
        p_values = np.sort(null.p_values(strengths, lengths)).tolist()
        return replace(null, complete=tuple(float(f"{value:.3g}") for value in p_values))

    def usual_scores(self, lengths: NDArray[Any]) -> Floats:
        """What complete translations of these lengths score: a quantile."""
        start, slope = self.usual
        return np.maximum(0.0, start + slope * lengths)

    def p_values(self, strengths: Floats, lengths: NDArray[Any]) -> Floats:
        """The share of complete translations of these lengths with a run as strong, 0 to 1."""
        return np.where(strengths > 0, -np.expm1(-self._expected_runs(strengths, lengths)), 1.0)

    def _expected_runs(self, strengths: Floats, lengths: NDArray[Any]) -> Floats:
        """The runs as strong that complete translations of these lengths have on average."""
        decayed = np.exp(-np.minimum(700.0, self.decay * strengths))
        return np.asarray(self.rate * np.maximum(1.0, lengths) ** self.growth * decayed)

    def adapt(self, strengths: Floats, lengths: NDArray[Any]) -> AdaptedNull:
        """Adapt K and the share of errors to a text, most of whose outputs are complete.

        Given λ and a, the most likely K is the number of runs divided by the sum of
        nᵃ · exp(−λ · strength), in which omissions weigh next to nothing.

        Args:
            strengths: The strongest run of each output, ``[outputs]``: of different ones, without
                those that are certainly wrong.
            lengths: Words of each; outputs without words are left out.

        Returns:
            The adapted distribution; with too few outputs, one as the model has learnt it.
        """
        strengths, lengths = strengths[lengths > 0], lengths[lengths > 0]
        if len(strengths) < MIN_ADAPTED_OUTPUTS:
            return AdaptedNull(**vars(self))
        runs = np.count_nonzero(strengths > 0) + _PRIOR_WEIGHT
        # Sorted, because the last digits of a sum depend on the order of outputs.
        expected = np.sum(np.sort(self._expected_runs(strengths, lengths))) + _PRIOR_WEIGHT
        factor = float(f"{float(np.clip(runs / expected, 1 / _MAX_FACTOR, _MAX_FACTOR)):.3g}")
        adapted = {**vars(self), "rate": self.rate * factor}
        p_values = np.sort(NullScores(**adapted).p_values(strengths, lengths))
        share = float(f"{min(0.99, fit_share(p_values)):.3g}")
        return AdaptedNull(**adapted, factor=factor, share=share, outputs=len(strengths))


@dataclass(frozen=True)
class AdaptedNull(NullScores):
    """What complete translations score, and the share of errors, as a system's outputs adapt them.

    >>> null = AdaptedNull(0.2, 1.7)
    >>> null.probabilities(np.array([0.0, 4.0]), np.array([12, 12])).round(3)
    array([0.01 , 0.547])
    >>> round(null.min_strength(12), 2)
    3.86

    Attributes:
        factor: What K was multiplied by.
        share: The share of outputs with an error, among those that are not certainly wrong.
        outputs: Number of outputs that it is adapted to; 0 if there were too few.
    """

    factor: float = 1.0
    share: float = EXPECTED_SHARE
    outputs: int = 0

    def probabilities(self, strengths: Floats, lengths: NDArray[Any]) -> Floats:
        """The probability of an error in outputs of these lengths with such runs, 0 to 1."""
        return error_probabilities(self.p_values(strengths, lengths), self.share)

    def min_strength(self, length: int) -> float:
        """The strength from which on an output of this length is flagged, at least 0."""
        rare = self.share * _ERROR_SHAPE / (1.0 - self.share)
        p_value = min(1.0, rare ** (1.0 / (1.0 - _ERROR_SHAPE)))
        if p_value >= 1:  # where most outputs have an error, any run is one
            return 0.0
        runs = self.rate * max(1, length) ** self.growth
        return max(0.0, (math.log(runs) - math.log(-math.log1p(-p_value))) / self.decay)

    @property
    def complete_probabilities(self) -> Floats:
        """The probabilities that complete texts would have here."""
        even = (np.arange(_EVEN) + 0.5) / _EVEN
        return error_probabilities(np.array(self.complete) if self.complete else even, self.share)

    @property
    def false_alarms(self) -> float:
        """The share of complete texts that are flagged here."""
        return float((self.complete_probabilities >= FLAG_PROBABILITY).mean())


def fit_quantile(lengths: NDArray[Any], scores: Floats, quantile: float) -> tuple[float, float]:
    """The line by length below which this share of the scores is: start and slope, each ≥ 0.

    It is Koenker and Bassett's regression quantile (Econometrica 46, 1978), the dual of this linear
    programme.

    >>> fit_quantile(np.array([1, 2, 3, 4, 5]), np.array([0.5, 1.0, 9.0, 2.0, 2.5]), 0.5)
    (0.0, 0.5)
    """
    from scipy.optimize import linprog  # slow to import, and used in training only

    line = np.vstack([np.ones(len(lengths)), lengths])
    fit = linprog(-scores, A_ub=line, b_ub=np.zeros(2), bounds=(quantile - 1, quantile))
    start, slope = (abs(float(f"{value:.4g}")) for value in fit.ineqlin.marginals)
    return start, slope


def fit_share(p_values: Floats) -> float:
    """The most likely share of outputs with an error, by EM, beside 100 of which 5 % have one."""
    share = EXPECTED_SHARE
    for _ in range(_ROUNDS):
        found = float(error_probabilities(p_values, share).sum())
        share = (found + _PRIOR_WEIGHT * EXPECTED_SHARE) / (len(p_values) + _PRIOR_WEIGHT)
    return share


def error_probabilities(p_values: Floats, share: float) -> Floats:
    """Probabilities of an error, given its share; a smaller p-value never has a lower one."""
    wrong = share * _ERROR_SHAPE * np.maximum(p_values, 1e-300) ** (_ERROR_SHAPE - 1.0)
    return np.asarray(wrong / (1.0 - share + wrong))


def are_flagged(probabilities: Floats, are_certain: Flags) -> Flags:
    """Which outputs are flagged: an error is more likely than not, or certain.

    Every command, report, filter and gate asks here.

    Args:
        probabilities: The probability of an error of each output.
        are_certain: Whether each has an output error that is no guess.
    """
    return (probabilities >= FLAG_PROBABILITY) | are_certain


@dataclass(frozen=True)
class ErrorShare:
    """An estimate of the share of outputs with an error, and whether it is above a limit.

    Attributes:
        estimate: The share, 0 to 1.
        certain: Number of outputs that are certainly wrong.
        has_too_many_certain: Whether these alone are more than the limit.
        is_above: Whether they are, or the estimate is above the limit.
    """

    estimate: float
    certain: int
    has_too_many_certain: bool
    is_above: bool


def estimate_share(
    probabilities: Floats, are_certain: Flags, null: AdaptedNull, limit: float
) -> ErrorShare:
    """Estimate the share of outputs with an error, and hold it against a limit.

    It counts the outputs that are certainly wrong, and those with a probability of .99, less the
    share that complete text has of these here. Of the others, it is the share π that explains their
    mean probability, if outputs with an error have 1 and the rest what complete text has here:
    π + (1 − π) · usual = mean. An estimate counts as above the limit if this excess is also
    significantly more than 0, and more than half of what complete text has, which clean text of
    another kind may exceed.

    >>> probabilities, certain = np.array([0.01] * 90 + [0.99] * 10), np.arange(100) >= 95
    >>> found = estimate_share(probabilities, certain, AdaptedNull(0.2, 1.7), limit=0.02)
    >>> found.certain, round(found.estimate, 3), found.is_above
    (5, 0.1, True)

    Args:
        probabilities: The probability of an error of each output, ``[outputs]``.
        are_certain: Whether each is certainly wrong.
        null: What these outputs adapted.
        limit: The share of outputs that may have an error, 0 to 1.
    """
    outputs, certain, rest = len(are_certain), int(are_certain.sum()), probabilities[~are_certain]
    complete = null.complete_probabilities
    excess = noise = 0.0
    if len(rest):
        sure, usually_sure = rest >= _SURE_PROBABILITY, complete >= _SURE_PROBABILITY
        usual, mean = (
            float(some.mean()) if len(some) else 0.0
            for some in (complete[~usually_sure], rest[~sure])
        )
        excess = max(0.0, float(sure.mean() - usually_sure.mean()))
        excess += max(0.0, mean - usual) / (1.0 - usual) * float(np.mean(~sure))
        noise = _SURE_ERRORS * float(rest.std()) / math.sqrt(len(rest))
    estimate = (certain + excess * len(rest)) / max(1, outputs)
    has_too_many_certain = certain > limit * outputs
    is_above = has_too_many_certain or (
        estimate > limit and excess > max(noise, float(complete.mean()) / 2)
    )
    return ErrorShare(estimate, certain, has_too_many_certain, is_above)


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
