"""What is normal in complete translations: how words are covered, and how strong runs get.

Articles are seldom linked with certainty, and names always are: a coverage of 0.4 says nothing
about an article, but much about a name. So the normal coverage of each word is learnt from text
with complete translations. A word that is rare in this text, or missing, is treated like the
average rare word. Words are left out together, so a run of them is visible where a single word is
not: the question is how often a complete translation has a run of losses as strong as this one.

A word's loss minus the penalty is negative on average, so the sums of losses along a segment are a
random walk that falls, and its best run has the distribution of Karlin and Altschul (PNAS 87,
1990), which BLAST uses for the same purpose:

    P(strength ≥ x | n words) = 1 − exp(−K · nᵃ · exp(−λ · x)).

In theory a is 1, and it is on captions; but a long text has more words that may explain a word, and
letters of a word share its loss, so a is learnt, too. Three numbers, learnt from complete
translations, say at every length how rare a run is. We call this probability the run's *chance*. A
flag is a chance below the rate of false alarms that the user accepts.

Another text has other words and other habits of translating. Most of its outputs are complete, so K
is estimated anew from the text itself: given λ and a, the most likely K is the number of runs
divided by the sum of nᵃ · exp(−λ · strength), in which omissions weigh next to nothing
(:meth:`NullScores.fit`).

All that is learnt is attached to the model of words (:class:`OmissionModel`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coverage_eval.align.aligner import ModelAligner
from coverage_eval.core.metric import Floats

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
        places: list[int] = []
        coverages = []
        for words, covered in segments:
            places += [numbers.setdefault(word, len(numbers)) for word in words]
            coverages.append(covered)
        values = np.concatenate(coverages)
        counts = np.bincount(places)
        sums, squares = np.bincount(places, values), np.bincount(places, values * values)
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

_OWN_WEIGHT = 100.0
"""Outputs of the text that weigh as much as what the model learnt."""

_MAX_FACTOR = 4.0
"""Most that a text raises or lowers K: a text full of omissions must not hide them."""

USUAL_SHARE = 0.05
"""Share of outputs with an error that is assumed before a text is seen; 100 outputs weigh as
much."""

_ERROR_SHAPE = 0.2
"""Chances of outputs with an error are assumed to have the density a · c^(a−1), with this a."""

_ROUNDS = 50

_LEVEL = 0.05
"""Level of significance of the test of flags."""

_SURE = 0.01
"""Probability that a complete text has a flag that counts as certain."""

_SMALLEST, _LARGEST = 1e-3, 1e3
_MAX_GROWTH, _STEP = 1.5, 0.05
"""The growths that are tried."""

_ADAPTED = ("factor", "share")


@dataclass(frozen=True)
class NullScores:
    """The distribution of the strongest run in complete translations.

    >>> null = NullScores(0.2, 1.7)
    >>> null.chances(np.array([0.0, 2.0, 2.0]), np.array([12, 12, 120])).round(3)
    array([1.   , 0.077, 0.551])
    >>> round(null.least_strength(0.04, 12), 2)
    2.4

    Attributes:
        rate: K, the runs per word; above 0.
        decay: λ, how fast strong runs get rare; above 0.
        growth: a, how the number of runs grows with the length; 0 to 1.5.
        texts: Number of texts that it was learnt from; 0 if it is assumed.
        longest: Words of the longest of them.
        factor: What ``rate`` was multiplied by for the text at hand.
        share: The share of outputs with an error that the text at hand seems to have.
    """

    rate: float
    decay: float
    growth: float = 1.0
    texts: int = 0
    longest: int = 0
    factor: float = 1.0
    share: float = USUAL_SHARE

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
            told = math.log(rate_of(decay, growth) * decay)
            return float(decay * found.sum() - len(found) * told - growth * in_runs)

        from scipy.optimize import minimize_scalar  # slow to import, and used in training only

        ends = (math.log(_SMALLEST), math.log(_LARGEST))
        fits = []
        for growth in np.arange(0.0, _MAX_GROWTH + 0.01, _STEP):
            best = minimize_scalar(
                lambda x, a=growth: loss(math.exp(x), a), bounds=ends, method="bounded"
            )
            fits.append((float(best.fun), float(f"{math.exp(best.x):.4g}"), round(growth, 2)))
        _, decay, growth = min(fits)
        rate = float(f"{rate_of(decay, growth):.4g}")
        return cls(rate, decay, growth, len(strengths), int(np.max(lengths)))

    def chances(self, strengths: Floats, lengths: NDArray[Any]) -> Floats:
        """The share of complete translations of these lengths with a run as strong, 0 to 1."""
        expected = self._expected(strengths, lengths)
        return np.where(strengths > 0, -np.expm1(-expected), 1.0)

    def least_strength(self, chance: float, length: int) -> float:
        """The strength that has this chance in a text of this length, at least 0."""
        runs = self.rate * self.factor * max(1, length) ** self.growth
        return max(0.0, (math.log(runs) - math.log(-math.log1p(-chance))) / self.decay)

    def _expected(self, strengths: Floats, lengths: NDArray[Any]) -> Floats:
        decayed = np.exp(-np.minimum(700.0, self.decay * strengths))
        sizes = np.maximum(1.0, lengths) ** self.growth
        return np.asarray(self.rate * self.factor * sizes * decayed)

    def fit(self, strengths: Floats, lengths: NDArray[Any]) -> NullScores:
        """This distribution, adapted to a text by its outputs, most of which are complete.

        Args:
            strengths: The strongest run of each output, ``[outputs]``.
            lengths: Words of each, ``[outputs]``; outputs without words tell nothing.

        Returns:
            The distribution; itself if there are too few outputs.
        """
        told = lengths > 0
        strengths, lengths = strengths[told], lengths[told]
        if len(strengths) < MIN_SEGMENTS:
            return self
        runs = np.count_nonzero(strengths > 0) + _OWN_WEIGHT
        expected = np.sum(self._expected(strengths, lengths)) + _OWN_WEIGHT
        factor = float(np.clip(runs / expected, 1 / _MAX_FACTOR, _MAX_FACTOR))
        fitted = replace(self, factor=float(f"{factor:.3g}"))
        chances = fitted.chances(strengths, lengths)
        for _ in range(_ROUNDS):  # the most likely share, by EM
            found = float(fitted.probabilities(chances).sum()) + _OWN_WEIGHT * USUAL_SHARE
            fitted = replace(fitted, share=found / (len(chances) + _OWN_WEIGHT))
        return replace(fitted, share=float(f"{min(0.99, fitted.share):.3g}"))

    def probabilities(self, chances: Floats) -> Floats:
        """Probabilities of an error: local false discovery rates, subtracted from 1.

        Chances of complete translations are even from 0 to 1, those of others have the density
        a · c^(a−1): the beta-uniform mixture of Pounds and Morris (Bioinformatics 19, 2003). So a
        smaller chance never has a lower probability.
        """
        wrong = self.share * _ERROR_SHAPE * np.maximum(chances, 1e-300) ** (_ERROR_SHAPE - 1.0)
        return np.asarray(wrong / (1.0 - self.share + wrong))

    @property
    def learnt(self) -> dict[str, float]:
        """What a model keeps, without what a text adapts."""
        return {name: value for name, value in asdict(self).items() if name not in _ADAPTED}


STEMS = "stems.model"
"""The attachment of a model with the model of stems."""

REFERENCES, ALONE = "references", "alone"
"""Names of the distributions of complete translations, with references and without."""


def normal_name(unit: str, side: str) -> str:
    """The attachment of a model with normal coverages."""
    return f"normal.{unit}.{side}.json"


def null_name(side: str) -> str:
    """The attachment of a model with what complete translations score."""
    return f"null.{side}.json"


def save_figures(figures: object, path: Path) -> None:
    """Write what a model keeps, as JSON."""
    path.write_text(json.dumps(figures, sort_keys=True), encoding="utf-8")


@dataclass(frozen=True)
class Unit:
    """Words or stems, with a model trained on them.

    Attributes:
        aligner: The model.
        normal: The normal coverage of words on the side of interest; None if the model has none.
    """

    aligner: ModelAligner
    normal: NormalCoverage | None


@dataclass(frozen=True)
class OmissionModel:
    """What a model's file knows of omissions, or of additions.

    Attributes:
        side: ``source`` for omissions, ``target`` for additions.
        units: Words, and stems if the model was made for omissions.
        nulls: What complete translations score, with ``references`` and ``alone``; empty if it is
            not known.
        settings: What signatures say of it.
    """

    side: str
    units: tuple[Unit, ...]
    nulls: Mapping[str, NullScores]
    settings: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def load(cls, aligner: ModelAligner, side: str) -> OmissionModel:
        """Read what a model of words has attached.

        Raises:
            AlignerError, DataError: A damaged model file.
        """

        def attached(name: str) -> tuple[Any, str]:
            """The figures in an attachment, and the beginning of their hash; if there are some."""
            path = aligner.model.attachment(name)
            if path is None:
                return None, ""
            text = path.read_text(encoding="utf-8").strip()
            return json.loads(text), sha256(text.encode()).hexdigest()[:8]

        aligners, names = {"words": aligner}, ["words"]
        stems = aligner.model.attached_model(STEMS)
        if stems is not None:
            # It was trained with the tokenisers of the words, so positions agree.
            aligners["stems"] = ModelAligner(stems, sink=aligner.sink)
            names.append(f"stems:{stems.hash}")
        known = [attached(normal_name(name, side)) for name in aligners]
        nulls, digest = attached(null_name(side))
        return cls(
            side,
            tuple(
                Unit(unit, NormalCoverage(**normal) if normal else None)
                for unit, (normal, _) in zip(aligners.values(), known, strict=True)
            ),
            {name: NullScores(**figures) for name, figures in (nulls or {}).items()},
            {
                "units": "+".join(names),
                "normal": ",".join(hashed for _, hashed in known if hashed) or None,
                "null": digest or "assumed",
            },
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """It is pickled as the model, whose file has everything."""
        return OmissionModel.load, (self.units[0].aligner, self.side)


class FlagTest(NamedTuple):
    """Whether more segments have an error than a share, and the false alarms to expect.

    Attributes:
        certain: Number of flagged segments that no false alarm explains: with chances so small
            that a complete text of this length has one with a probability of 1%.
        expected: Flags to expect if just the share has an error: these and the false alarms.
        p_value: The probability of as many flags or more, by the binomial test.
        is_above: Whether certain errors exceed the share, or the flags are significantly more.
    """

    certain: int
    expected: float
    p_value: float
    is_above: bool


def judge_flags(
    segments: int, chances: Sequence[float], false_alarms: float, share: float
) -> FlagTest:
    """Test whether more than a share of the segments have an error.

    >>> judge_flags(100, [0.03] * 4, 0.04, 0.0).is_above
    False
    >>> judge_flags(100, [1e-9], 0.04, 0.0).is_above  # surely no false alarm
    True

    Args:
        segments: Number of segments.
        chances: The chance of each flagged segment; 0 for errors that are certain, 1 for guesses.
        false_alarms: The share of complete translations that may be flagged, 0 to 1.
        share: The share of segments that may have an error, 0 to 1.
    """
    from scipy.special import bdtrc  # slow to import, and not needed for a score

    flagged = len(chances)
    certain = sum(chance <= _SURE / max(1, segments) for chance in chances)
    rate = share + (1 - share) * false_alarms
    p_value = float(bdtrc(flagged - 1, segments, rate)) if flagged else 1.0
    is_above = certain > share * segments or p_value < _LEVEL
    return FlagTest(certain, rate * segments, p_value, is_above)
