"""Repeated n-grams of an output, without a reference: seq-rep-n, rep-n, distinct-n and others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coverage_eval.data.rows import Row
from coverage_eval.metrics.base import Statistics, TokenMetric
from coverage_eval.metrics.letter_rep import LetterREP
from coverage_eval.metrics.profile.ratio import SegmentRatio
from coverage_eval.metrics.rep import Tokens
from coverage_eval.metrics.sums import PERCENT


def count_ngrams(tokens: Sequence[str], n: int, loop: str = "exact") -> tuple[int, int]:
    """The number of different n-grams of a segment, and of all.

    With ``loop="simctg"`` the last n-gram of a segment does not count, as in SimCTG's loop.

    >>> count_ngrams(["a", "b", "a", "b"], 2)
    (2, 3)
    >>> count_ngrams(["a", "b", "a", "b"], 2, "simctg")
    (2, 2)
    """
    if loop == "simctg":
        tokens = tokens[:-1]
    grams = list(zip(*(tokens[start:] for start in range(n)), strict=False))
    return len(set(grams)), len(grams)


@dataclass(frozen=True)
class SeqRep(SegmentRatio):
    """seq-rep-n: mean over segments of 1 − |different n-grams| / |n-grams|, in percent.

    Welleck et al., Neural Text Generation with Unlikelihood Training (ICLR 2020); as in
    ``custom/metrics.py`` of facebookresearch/unlikelihood_training, which divides by zero where a
    segment has no n-gram: here such a segment repeats nothing and counts as 0.
    """

    n: int = 4

    name: ClassVar[str] = "seq-rep"

    def ratio(self, hypothesis: Sequence[str]) -> tuple[float, float]:
        """The repeated share of one segment's n-grams, and 1."""
        unique, total = count_ngrams(hypothesis, self.n)
        return (1 - unique / total if total else 0.0), 1


@dataclass(frozen=True)
class RepN(SegmentRatio):
    """rep-n: 1 − Σ |different n-grams| / Σ |n-grams|, in percent, both summed over segments.

    Su et al., A Contrastive Framework for Neural Text Generation (NeurIPS 2022);
    ``simctg/evaluation.py`` of yxuansu/SimCTG, whose loop leaves out the last n-gram of each
    segment: ``loop="simctg"`` does too.
    """

    n: int = 2
    loop: str = "exact"

    name: ClassVar[str] = "rep"

    def ratio(self, hypothesis: Sequence[str]) -> tuple[float, float]:
        """Repeated n-grams and n-grams of one segment."""
        unique, total = count_ngrams(hypothesis, self.n, self.loop)
        return total - unique, total


@dataclass(frozen=True)
class DistinctN(SegmentRatio):
    """distinct-n: Σ |different n-grams| / Σ |n-grams|, in percent; 100 − rep-n.

    An n-gram of two segments is new in each, as in SimCTG. Li et al. (NAACL 2016), who named the
    figure, count the different n-grams of a whole corpus, which grows with no sum over segments.
    """

    n: int = 2
    loop: str = "exact"

    name: ClassVar[str] = "distinct"
    higher_is_better: ClassVar[bool] = True

    def ratio(self, hypothesis: Sequence[str]) -> tuple[float, float]:
        """Different n-grams and n-grams of one segment."""
        return count_ngrams(hypothesis, self.n, self.loop)


@dataclass(frozen=True)
class LetterRepetition(LetterREP):
    """REP in letters with nothing in the reference's place, per 100 words of the output.

    Every occurrence of a word that comes twice counts, the first among them. See
    :class:`coverage_eval.metrics.letter_rep.LetterREP`.
    """

    name: ClassVar[str] = "REP-letters-no-ref"
    needs: ClassVar[frozenset[str]] = frozenset()
    statistic_names: ClassVar[tuple[str, ...]] = (
        "letters_of_repeated_ngrams",
        "letters_of_repeated_words",
        "hypothesis_words",
    )
    norm: ClassVar[str] = "hypwords"

    def formula(self, summed: Statistics) -> NDArray[np.float64]:
        """As with a reference; 0 for an output without words, which repeats nothing."""
        return np.nan_to_num(super().formula(summed))

    def _expected(self, row: Row) -> Sequence[Any]:  # noqa: ARG002 (a reference is not looked at)
        return [""]

    def _length(self, hypothesis: Tokens, references: Sequence[Tokens]) -> int:  # noqa: ARG002
        return len(hypothesis)


@dataclass(frozen=True)
class Diversity(TokenMetric):
    """diversity: Π over n = 2…4 of (1 − rep-n), between 0 and 1.

    As in SimCTG (see :class:`RepN`), which also rounds each rep-n to two digits of a percentage
    before it multiplies: ``loop="simctg"`` gives its figure, ``"exact"`` neither rounds nor leaves
    an n-gram out.
    """

    loop: str = "exact"

    name: ClassVar[str] = "diversity"
    needs: ClassVar[frozenset[str]] = frozenset()
    higher_is_better: ClassVar[bool] = True
    statistic_names: ClassVar[tuple[str, ...]] = (
        *(f"different_{n}" for n in (2, 3, 4)),
        *(f"ngrams_{n}" for n in (2, 3, 4)),
    )
    undefined: ClassVar[str] = "no hypothesis has four words"

    def count_batch(self, rows: Sequence[Row]) -> NDArray[np.int64]:
        """Different n-grams, then n-grams, for n = 2, 3, 4; ``[len(rows), systems, 6]``."""
        counts = []
        for row in rows:
            texts = [self.tokens(text) for text in row.hypotheses]
            counts.append([[count_ngrams(t, n, self.loop) for n in (2, 3, 4)] for t in texts])
        pairs = np.array(counts, dtype=np.int64)
        return np.concatenate([pairs[..., 0], pairs[..., 1]], axis=-1)

    def formula(self, summed: Statistics) -> NDArray[np.float64]:
        """The product of the three shares of different n-grams; NaN where there are none."""
        values = np.asarray(summed, dtype=np.float64)
        different, total = values[..., :3], values[..., 3:]
        with np.errstate(divide="ignore", invalid="ignore"):
            repeated = np.where(total > 0, 1 - different / total, np.nan)
        if self.loop == "simctg":
            repeated = np.vectorize(_two_digits, otypes=[np.float64])(repeated)
        result: NDArray[np.float64] = np.prod(1 - repeated, axis=-1)
        return result


def _two_digits(share: float) -> float:
    """A share rounded as a percentage with two digits, by Python's own rounding."""
    return float(round(share * PERCENT, 2) / PERCENT)
