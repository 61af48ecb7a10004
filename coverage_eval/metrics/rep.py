"""REP-score: words that a system repeats and the reference does not.

Malaviya, Ferreira and Martins (ACL 2018), section 5: for a segment with n-gram frequencies t in the
hypothesis and r in the reference,

    σ(t, r) = λ1 · Σ_{s ∈ Vⁿ, t(s) ≥ 2} max(0, t(s) − r(s)) + λ2 · Σ_{w ∈ V} max(0, t(ww) − r(ww)),

and REP is 100 · Σ σ / number of reference words. It has no upper bound: it is not a percentage.
With several references, r(s) is the greatest count in any of them, and the words are counted in the
reference closest in length to the hypothesis (the shorter of two equally close), as in BLEU.
"""

from __future__ import annotations

import html
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain, pairwise
from numbers import Real
from operator import eq
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coverage_eval.data.dataset import Batch, Row
from coverage_eval.errors import require_integer
from coverage_eval.metrics.drop import StopWords
from coverage_eval.metrics.measure import TokenMetric
from coverage_eval.metrics.score import Evidence, Statistics, ratio_of_sums, setting

_MOST_WEIGHT = 1_000_000
_MOST_N = 50
"""Longer n-grams than any phrase take memory for each of their words: words × n × 8 bytes."""

Tokens = Sequence[str]
Ngram = tuple[str, ...]

Places = Mapping[Ngram, Sequence[int]]
"""Where n-grams start in a text."""


@dataclass(frozen=True)
class Repetition:
    """Evidence of REP: an n-gram that the hypothesis has more often than the reference.

    Attributes:
        kind: ``"ngram"`` for the first sum of the formula, ``"word"`` for a word twice in a row,
            the second.
        ngram: Its tokens.
        positions: Where it starts in the hypothesis, token positions from 0.
        hypothesis_count: How often the hypothesis has it.
        reference_count: How often the reference has it, the greatest count of several.
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

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain values; positions from 0."""
        return asdict(self) | {"excess": self.excess}

    def __str__(self) -> str:
        at = ",".join(str(position + 1) for position in self.positions)
        times = f"{self.hypothesis_count}x, {self.reference_count}x in the reference"
        return f"{' '.join(self.ngram)} ({times}) at {at}"


@dataclass(frozen=True)
class REP(TokenMetric):
    """REP-score of hypotheses against references.

    >>> metric = REP(n=2)
    >>> print(metric.sentence_score("a red red house", "a red house"))
    REP|refs:1|n:2|w1:1.0|w2:2.0|norm:refwords|case:mixed|tok:none|version:0.1.0 = 66.67
    >>> print(*metric.evidence("a red red house", "a red house"))
    red red (1x, 0x in the reference) at 2

    Args:
        n: Length of the n-grams of the first sum, 1 to 50.
        w1: Weight λ1 of repeated n-grams.
        w2: Weight λ2 of words twice in a row, which are always bigrams.
        leave_out: Ignore n-grams with one of these words, such as function words.
        leave_out_punctuation: Ignore n-grams with a token of nothing but punctuation.
        tokenize: The tokeniser to apply, one of ``coverage_eval.data.tokenizers.TOKENIZERS``.
        lowercase: Lowercase the text first.

    Raises:
        TypeError: ``n`` is not a whole number, or a weight is not a number.
        ValueError: ``n`` is not from 1 to 50, or a weight not from 0 to 1,000,000.
    """

    n: int = setting(2, "Count repeated n-grams of this length.", flag="-n", least=1, most=_MOST_N)
    w1: float = setting(1.0, "Weight of repeated n-grams (λ1).", least=0, most=_MOST_WEIGHT)
    w2: float = setting(2.0, "Weight of words twice in a row (λ2).", least=0, most=_MOST_WEIGHT)
    leave_out: StopWords = field(
        default_factory=StopWords,
        metadata={
            "help": "Do not count n-grams with a word of this file, one per line.",
            "metavar": "FILE",
        },
    )
    leave_out_punctuation: bool = setting(
        False, "Do not count n-grams with a token that is only punctuation."
    )

    name: ClassVar[str] = "REP"
    evidence_name: ClassVar[str | None] = "repetitions"
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
    limits: ClassVar[str] = (
        "REP counts words, not meanings: it also counts legitimate repetitions that the reference "
        "lacks, and misses repetitions in other words. It is per 100 reference words and has no "
        "upper bound, so it is not a percentage."
    )
    norm: ClassVar[str] = "refwords"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_integer("n", self.n, 1, _MOST_N)
        if not (isinstance(self.w1, Real) and isinstance(self.w2, Real)):
            raise TypeError(f"weights must be numbers: w1={self.w1!r}, w2={self.w2!r}")
        if not (0 <= self.w1 <= _MOST_WEIGHT and 0 <= self.w2 <= _MOST_WEIGHT):
            raise ValueError(
                f"weights must be from 0 to {_MOST_WEIGHT:,}: w1={self.w1}, w2={self.w2}"
            )

    def settings(self) -> Mapping[str, object]:
        """All settings; weights are shown as numbers with a decimal point."""
        own: dict[str, object] = {
            "n": self.n,
            "w1": float(self.w1),
            "w2": float(self.w2),
            "norm": self.norm,
        }
        left_out = ["punct"] if self.leave_out_punctuation else []
        left_out += [str(self.leave_out)] if self.leave_out.words else []
        if left_out:
            own["without"] = "+".join(left_out)
        return own | self.tokens.settings

    def formula(self, summed: Statistics) -> NDArray[np.float64]:
        """100 · (w1 · repeated n-grams + w2 · repeated words) / reference words."""
        ngrams, words, length = np.moveaxis(np.asarray(summed, dtype=np.float64), -1, 0)
        return ratio_of_sums(np.stack([self.w1 * ngrams + self.w2 * words, length], axis=-1))

    def count(self, batch: Batch) -> NDArray[np.int64]:
        """The statistics of each segment: both sums of the formula without their weights, words."""
        counts = []
        for row in batch.rows:
            references = [self.tokens(text) for text in self._expected(row)]
            for hypothesis in map(self.tokens, row.hypotheses):
                sums = {"ngram": 0, "word": 0}
                for found in self._repetitions(hypothesis, references):
                    sums[found.kind] += found.excess * self._size(found.ngram)
                counts.append((*sums.values(), self._length(hypothesis, references)))
        return np.array(counts, dtype=np.int64).reshape(len(batch), -1, 3).swapaxes(0, 1)

    def explain(self, batch: Batch) -> Iterator[tuple[Evidence, ...]]:
        """The repeated n-grams of each segment with their positions, leftmost first.

        The excesses of kind ``"ngram"`` sum to the first statistic, of ``"word"`` to the other.
        """
        for row in batch.rows:
            references = [self.tokens(text) for text in self._expected(row)]
            yield tuple(
                {"repetitions": sorted(self._repetitions(hypothesis, references), key=_reading)}
                for hypothesis in map(self.tokens, row.hypotheses)
            )

    def weigh(self, repetition: Repetition) -> float:
        """What each superfluous occurrence adds to the sum σ of the formula."""
        weight = {"ngram": self.w1, "word": self.w2}[repetition.kind]
        return weight * self._size(repetition.ngram)

    def _expected(self, row: Row) -> Sequence[Any]:
        """The texts whose repetitions are not errors."""
        return row.references

    def _length(self, hypothesis: Tokens, references: Sequence[Tokens]) -> int:
        """The words that the score is per hundred of."""
        return closest_length(hypothesis, references)

    def _lengths(self) -> range:
        """The lengths of the n-grams of the first sum."""
        return range(self.n, self.n + 1)

    def _size(self, ngram: Ngram) -> int:  # noqa: ARG002 (LetterREP uses it)
        """What one occurrence of an n-gram counts."""
        return 1

    def _repetitions(
        self, hypothesis: Tokens, references: Sequence[Tokens]
    ) -> Iterator[Repetition]:
        """The terms of both sums of the formula without any token that is left out."""
        if len(set(hypothesis)) == len(hypothesis):
            return
        found = chain(
            _repeated_ngrams(hypothesis, references, self._lengths()),
            _doubled_words(hypothesis, references),
        )
        if self.leave_out.words or self.leave_out_punctuation:
            yield from (item for item in found if not any(map(self._is_out, item.ngram)))
        else:
            yield from found

    def _is_out(self, token: str) -> bool:
        is_punctuation = self.leave_out_punctuation and is_punctuation_alone(token)
        return is_punctuation or token in self.leave_out.words


def _reading(repetition: Repetition) -> tuple[Any, ...]:
    """Orders repetitions as a reader meets them; of several at one place, the longest first."""
    return repetition.positions, repetition.kind, -len(repetition.ngram)


def is_punctuation_alone(token: str) -> bool:
    """Whether a token has only punctuation and symbols, perhaps written as HTML entities."""
    return all(unicodedata.category(letter)[0] in "PS" for letter in html.unescape(token))


def _repeated_ngrams(
    hypothesis: Tokens, references: Sequence[Tokens], lengths: range
) -> Iterator[Repetition]:
    """The terms of the first sum of the formula, shorter n-grams first.

    An n-gram is repeated only where its first words are, so each length looks only where the one
    before it found something: 2 s instead of 35 s for a loop of 40,000 words and n up to 50.
    """
    said_again = {token for token, count in Counter(hypothesis).items() if count > 1}
    ours: Places = {(): [place for place, token in enumerate(hypothesis) if token in said_again]}
    theirs: list[Places] = [{(): range(len(reference))} for reference in references]
    for n in lengths:
        longer = _lengthen(ours, hypothesis, n)
        ours = {ngram: starts for ngram, starts in longer.items() if len(starts) > 1}
        if not ours:
            return
        for number, reference in enumerate(references):
            longer = _lengthen(theirs[number], reference, n)
            theirs[number] = {ngram: longer[ngram] for ngram in ours.keys() & longer.keys()}
        yield from _exceeding("ngram", ours, theirs)


def _lengthen(places: Places, tokens: Tokens, n: int) -> Places:
    """Where the n-grams start that begin with some shorter n-grams, given the places of these."""
    longer: dict[Ngram, Sequence[int]] = {}
    for ngram, starts in places.items():
        continued: dict[Ngram, list[int]] = {}
        for start in starts:
            if start + n <= len(tokens):
                rest = tuple(tokens[start + len(ngram) : start + n])
                continued.setdefault(rest, []).append(start)
        longer |= {ngram + rest: own for rest, own in continued.items()}
    return longer


def _doubled_words(hypothesis: Tokens, references: Sequence[Tokens]) -> Iterator[Repetition]:
    """The terms of the second sum of the formula."""
    if any(map(eq, hypothesis, hypothesis[1:])):
        yield from _exceeding("word", _doubled(hypothesis), list(map(_doubled, references)))


def _doubled(tokens: Tokens) -> Places:
    """Where the bigrams of two equal words start; in "a a a" there are two."""
    places: dict[Ngram, list[int]] = {}
    for start, pair in enumerate(pairwise(tokens)):
        if pair[0] == pair[1]:
            places.setdefault(pair, []).append(start)
    return places


def _exceeding(kind: str, ours: Places, theirs: Sequence[Places]) -> Iterator[Repetition]:
    """The n-grams that occur more often in the hypothesis than in any reference."""
    for ngram, starts in ours.items():
        allowed = max([len(places.get(ngram, ())) for places in theirs])
        if len(starts) > allowed:
            yield Repetition(kind, ngram, tuple(starts), len(starts), allowed)


def closest_length(hypothesis: Tokens, references: Sequence[Tokens]) -> int:
    """The length of the reference closest in length; the shorter of two equally close."""
    if len(references) == 1:
        return len(references[0])
    return min(map(len, references), key=lambda length: (abs(length - len(hypothesis)), length))


@dataclass(frozen=True)
class LetterREP(REP):
    """REP in letters: repeated words and phrases, near or far, weighted by their letters.

    This project's own metric; it finds more of the segments with repetitions than REP does. The
    formula is REP's with two changes. The first sum is over words and n-grams of every length up to
    n, so it finds words that come back later. Each term is multiplied by the letters (characters)
    of its words, because short words recur legitimately, and long ones seldom. The score is per 100
    reference words.

    >>> metric = LetterREP()
    >>> print(metric.sentence_score("a red red house", "a red house"))
    REP-letters|refs:1|n:2|w1:1.0|w2:2.0|norm:refwords|case:mixed|tok:none|version:0.1.0 = 500.00
    >>> print(*metric.evidence("a red red house", "a red house"), sep="\\n")
    red red (1x, 0x in the reference) at 2
    red (2x, 1x in the reference) at 2,3

    Args:
        n: Length of the longest n-grams of the first sum, 1 to 50.
        w1: Weight λ1 of repeated n-grams.
        w2: Weight λ2 of words twice in a row.
        leave_out: As of :class:`REP`.
        leave_out_punctuation: As of :class:`REP`.
        tokenize: The tokeniser to apply, one of ``coverage_eval.data.tokenizers.TOKENIZERS``.
        lowercase: Lowercase the text first.

    Raises:
        TypeError, ValueError: As :class:`REP`.
    """

    name: ClassVar[str] = "REP-letters"
    statistic_names: ClassVar[tuple[str, ...]] = (
        "letters_of_repeated_ngrams",
        "letters_of_repeated_words",
        "reference_words",
    )
    limits: ClassVar[str] = (
        "REP in letters is made to find segments with repetitions: longer words count more, and a "
        "repeated word counts once as a word and once as part of a phrase. It is not a percentage "
        "and not comparable with REP."
    )

    def _lengths(self) -> range:
        return range(1, self.n + 1)

    def _size(self, ngram: Ngram) -> int:
        """Its letters."""
        return sum(map(len, ngram))
