"""REP-score: words that a system repeats and the reference does not.

Malaviya, Ferreira and Martins (ACL 2018), section 5: for a segment with n-gram frequencies t in the
hypothesis and r in the reference,

    σ(t, r) = λ1 · Σ_{s ∈ Vⁿ, t(s) ≥ 2} max(0, t(s) − r(s)) + λ2 · Σ_{w ∈ V} max(0, t(ww) − r(ww)),

and REP is 100 · Σ σ / number of reference words. It has no upper bound: it is not a percentage.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from coverage_eval.metrics.base import Signature, Statistics, TextMetric
from coverage_eval.metrics.candidates import find_candidates
from coverage_eval.metrics.ngrams import excess_ngrams
from coverage_eval.text.corpus import Segment, count_all_tokens, tokenize

__all__ = ["REP", "Repetition"]

Ngram = tuple[str, ...]

_MOST_CHARACTERS = 4_000_000
"""Long segments are counted a few at a time: a count takes some forty bytes a character."""


@dataclass(frozen=True)
class Repetition:
    """Evidence of REP: an n-gram that the hypothesis has more often than the reference.

    Attributes:
        kind: ``"ngram"`` for the first sum of the formula, ``"word"`` for a word twice in a row,
            the second.
        ngram: Its tokens.
        positions: Where it starts in the hypothesis, token positions from 0.
        hypothesis_count: How often the hypothesis has it.
        reference_count: How often the reference has it.
    """

    kind: str
    ngram: Ngram
    positions: tuple[int, ...]
    hypothesis_count: int
    reference_count: int

    @property
    def excess(self) -> int:
        """How many occurrences count as errors."""
        return self.hypothesis_count - self.reference_count

    def __str__(self) -> str:
        """The n-gram, its counts, and where it starts: for people, from 1."""
        at = ",".join(str(position + 1) for position in self.positions)
        times = f"{self.hypothesis_count}x, {self.reference_count}x in the reference"
        return f"{' '.join(self.ngram)} ({times}) at {at}"


@dataclass(frozen=True)
class REP(TextMetric):
    """REP-score of hypotheses against references.

    Args:
        n: Length of the n-grams of the first sum, at least 1.
        w1: Weight λ1 of repeated n-grams.
        w2: Weight λ2 of words twice in a row, which are always bigrams.
        tok: The tokeniser that was applied to the text; it only goes into the signature.

    Raises:
        ValueError: ``n`` below 1, or a weight that is negative, infinite or NaN.
    """

    n: int = 2
    w1: float = 1.0
    w2: float = 2.0
    tok: str = "none"

    name: ClassVar[str] = "REP"
    higher_is_better: ClassVar[bool] = False
    statistic_names: ClassVar[tuple[str, ...]] = (
        "repeated_ngrams",
        "repeated_words",
        "reference_words",
    )
    undefined: ClassVar[str] = (
        "the reference has no words at all, and the score is per reference word; "
        "check that the reference file is the right one"
    )

    def __post_init__(self) -> None:
        if self.n < 1:
            raise ValueError(f"n must be at least 1, not {self.n}")
        if not (0 <= self.w1 < math.inf and 0 <= self.w2 < math.inf):
            raise ValueError(f"weights must be finite and not negative: w1={self.w1}, w2={self.w2}")

    def signature(self) -> Signature:
        """All settings; weights are shown as numbers with a decimal point."""
        return Signature.of(
            self.name, n=self.n, w1=float(self.w1), w2=float(self.w2), norm="refwords", tok=self.tok
        )

    def score(self, summed: Statistics) -> NDArray[np.float64]:
        """100 · (w1 · repeated n-grams + w2 · repeated words) / reference words."""
        ngrams, words, length = np.moveaxis(np.asarray(summed, dtype=np.float64), -1, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = 100.0 * (self.w1 * ngrams + self.w2 * words) / length
        return np.where(length > 0, value, np.nan)

    def batch_statistics(self, rows: Sequence[tuple[Segment, ...]]) -> NDArray[np.int64]:
        """Excess n-grams, excess doubled words and reference words of each segment."""
        hypotheses, references = (list(column) for column in zip(*rows, strict=True))
        if len(rows) > 1 and sum(map(len, hypotheses)) > _MOST_CHARACTERS:
            half = len(rows) // 2
            parts = (self.batch_statistics(part) for part in (rows[:half], rows[half:]))
            return np.concatenate(list(parts))
        length = count_all_tokens(references)
        candidates = find_candidates(hypotheses, references, self.n)
        ngrams = excess_ngrams(*candidates.ngrams, len(rows), least=2)
        words = excess_ngrams(*candidates.doubled, len(rows), least=1)
        return np.stack([ngrams, words, np.array(length, dtype=np.int64)], axis=1)

    def evidence(self, hypothesis: Segment, reference: Segment) -> list[Repetition]:
        """The repeated n-grams of one segment with their positions, leftmost first.

        The excesses of kind ``"ngram"`` sum to the first statistic, of ``"word"`` to the other.
        """
        hyp, ref = tokenize(hypothesis), tokenize(reference)
        found = _repetitions("ngram", _ngrams(hyp, self.n), _ngrams(ref, self.n), least=2)
        found += _repetitions("word", _doubled(hyp), _doubled(ref), least=1)
        return sorted(found, key=lambda item: (item.positions, item.kind))


def _ngrams(tokens: Sequence[str], n: int) -> list[tuple[int, Ngram]]:
    """The n-grams with their positions."""
    if n > len(tokens):  # without n slices of nothing, which takes long where n is absurd
        return []
    return list(enumerate(zip(*(tokens[i:] for i in range(n)), strict=False)))


def _doubled(tokens: Sequence[str]) -> list[tuple[int, Ngram]]:
    """The bigrams of two equal words with their positions; in "a a a" there are two."""
    return [(i, gram) for i, gram in _ngrams(tokens, 2) if gram[0] == gram[1]]


def _repetitions(
    kind: str,
    hypothesis: Iterable[tuple[int, Ngram]],
    reference: Iterable[tuple[int, Ngram]],
    *,
    least: int,
) -> list[Repetition]:
    positions: dict[Ngram, list[int]] = {}
    for position, gram in hypothesis:
        positions.setdefault(gram, []).append(position)
    in_reference = Counter(gram for _, gram in reference)
    return [
        Repetition(kind, gram, tuple(places), len(places), in_reference[gram])
        for gram, places in positions.items()
        if len(places) >= least and len(places) > in_reference[gram]
    ]
