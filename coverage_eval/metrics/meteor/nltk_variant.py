"""NLTK's METEOR, which is another metric than METEOR 1.5, with WordNet from Meteor's own data.

It follows Lavie and Agarwal (2007): exact, Porter stem and WordNet matches of equal weight, found
greedily; lowercased; no function words, no paraphrases, no corpus score. The corpus score here is
the mean of the segments' scores. NLTK wants its WordNet downloaded; the word lists inside Meteor's
jar are WordNet 3.0 too and are given to it instead, so that nothing is read from the network. They
do not tell parts of speech apart and are in lower case, so that about one segment in a hundred
scores otherwise than with NLTK's own copy (35 of 3,399 in a trial; the mean differed by 0.0002).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from coverage_eval.metrics.base import Signature, Statistics, TextMetric
from coverage_eval.metrics.meteor.lexicon import find_synsets
from coverage_eval.metrics.meteor.resources import (
    jar_path,
    package_version,
    read_synsets,
)
from coverage_eval.text.corpus import Segment, tokenize

__all__ = ["NLTKMeteor", "WordNet"]


@dataclass(frozen=True)
class Lemma:
    """A word of a synset, as NLTK asks for it."""

    text: str

    def name(self) -> str:
        """The word; compounds are joined by ``_``."""
        return self.text


@dataclass(frozen=True)
class Synset:
    """A set of synonyms, as NLTK asks for it."""

    words: tuple[Lemma, ...]

    def lemmas(self) -> tuple[Lemma, ...]:
        """The synonyms."""
        return self.words


class WordNet:
    """The part of NLTK's WordNet reader that its METEOR uses, over the lists in Meteor's jar.

    Raises:
        MissingDependencyError: The ``meteor`` extra is not installed.
    """

    def __init__(self) -> None:
        words: dict[str, list[Lemma]] = {}
        for word, numbers in read_synsets().items():
            for number in numbers.split():
                words.setdefault(number, []).append(Lemma(word))
        self._synsets = {number: Synset(tuple(lemmas)) for number, lemmas in words.items()}
        self._known: dict[str, list[Synset]] = {}

    def synsets(self, word: str) -> list[Synset]:
        """The synsets of a word and of its base forms, in the order of their numbers."""
        if word not in self._known:
            numbers = sorted(find_synsets(word.lower()))
            self._known[word] = [self._synsets[number] for number in numbers]
        return self._known[word]


@dataclass(frozen=True)
class NLTKMeteor(TextMetric):
    """``nltk.translate.meteor_score`` with its default parameters, averaged over segments."""

    name: ClassVar[str] = "meteor-nltk"
    higher_is_better: ClassVar[bool] = True
    statistic_names: ClassVar[tuple[str, ...]] = ("sum_of_scores", "segments")
    undefined: ClassVar[str] = "there are no segments"

    def signature(self) -> Signature:
        """NLTK's parameters and version, and the origin of WordNet.

        Raises:
            MissingDependencyError: The ``meteor`` extra is not installed.
        """
        jar_path()
        return Signature.of(
            self.name,
            alpha=0.9,
            beta=3.0,
            gamma=0.5,
            corpus="mean",
            nltk=version("nltk"),
            wordnet=f"3.0-pycocoevalcap-{package_version('pycocoevalcap')}",
        )

    def score(self, summed: Statistics) -> NDArray[np.float64]:
        """The mean of the segments' scores, each from 0 to 1."""
        total, segments = np.moveaxis(np.asarray(summed, dtype=np.float64), -1, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean: NDArray[np.float64] = total / segments
        return mean

    def batch_statistics(self, rows: Sequence[tuple[Segment, ...]]) -> NDArray[np.float64]:
        """Each segment's score, and 1; a segment with an empty side scores 0."""
        from nltk.translate.meteor_score import single_meteor_score

        wordnet = _wordnet()
        statistics = np.ones((len(rows), 2))
        for row, (hypothesis, reference) in enumerate(rows):
            hyp, ref = tokenize(hypothesis), tokenize(reference)
            score = single_meteor_score(ref, hyp, wordnet=wordnet) if hyp and ref else 0.0
            statistics[row, 0] = score
        return statistics


@cache
def _wordnet() -> WordNet:
    return WordNet()
