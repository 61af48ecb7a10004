"""REP-score: words that a system repeats and the reference does not.

Malaviya, Ferreira and Martins (ACL 2018), section 5: for a segment with n-gram frequencies t in the
hypothesis and r in the reference,

    σ(t, r) = λ1 · Σ_{s ∈ Vⁿ, t(s) ≥ 2} max(0, t(s) − r(s)) + λ2 · Σ_{w ∈ V} max(0, t(ww) − r(ww)),

and REP is 100 · Σ σ / number of reference words. It has no upper bound: it is not a percentage.
With several references, r(s) is the greatest count in any of them, and the words are those of the
reference closest in length to the hypothesis (the shorter of two equally close), as BLEU has it.
"""

from __future__ import annotations

import html
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
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

Excess = dict[Ngram, tuple[int, int]]
"""Repeated n-grams with their counts in the hypothesis and, at most, in a reference."""


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
        leave_out: Words that no counted n-gram may hold, such as function words.
        leave_out_punctuation: Whether no counted n-gram may hold a token of punctuation alone.
        tokenize: The tokeniser to apply, one of ``coverage_eval.data.tokenizers.TOKENIZERS``.
        lowercase: Lowercase the text first.

    Raises:
        TypeError: ``n`` is no whole number, or a weight is no number.
        ValueError: ``n`` is not from 1 to 50, or a weight that is not from 0 to 1,000,000.
    """

    n: int = setting(2, "Count repeated n-grams of this length.", flag="-n", least=1, most=_MOST_N)
    w1: float = setting(
        1.0, "Weigh repeated n-grams by this number (λ1).", least=0, most=_MOST_WEIGHT
    )
    w2: float = setting(
        2.0, "Weigh words twice in a row by this number (λ2).", least=0, most=_MOST_WEIGHT
    )
    leave_out: StopWords = field(
        default_factory=StopWords,
        metadata={
            "help": "Count no n-gram that holds a word of this file, one a line.",
            "metavar": "FILE",
        },
    )
    leave_out_punctuation: bool = setting(
        False, "Count no n-gram that holds a token of punctuation alone."
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
        "REP counts words, not meanings: a rightful repetition that the reference lacks counts, "
        "and what is said twice in other words does not. It is per 100 reference words and has "
        "no upper bound, so it is not a percentage."
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
        """Excess n-grams, excess doubled words and reference words of each segment."""
        counts = []
        for row in batch.rows:
            references = [self.tokens(text) for text in self._expected(row)]
            for hypothesis in map(self.tokens, row.hypotheses):
                ngrams = words = 0
                said_before = len(hypothesis) - len(set(hypothesis))
                if said_before >= self.n:  # where an n-gram is repeated, so are its n words
                    ngrams = _sum(self._counted(repeated_ngrams(hypothesis, references, self.n)))
                if said_before:
                    words = _sum(self._counted(_repeated_words(hypothesis, references)))
                counts.append((ngrams, words, closest_length(hypothesis, references)))
        return np.array(counts, dtype=np.int64).reshape(len(batch), -1, 3).swapaxes(0, 1)

    def _expected(self, row: Row) -> Sequence[Any]:
        """The texts whose repetitions are not errors."""
        return row.references

    def excesses(self, hypothesis: Tokens, references: Sequence[Tokens]) -> dict[str, Excess]:
        """The terms of both sums of the formula, by the kind of their :class:`Repetition`."""
        return {
            "ngram": self._counted(repeated_ngrams(hypothesis, references, self.n)),
            "word": self._counted(_repeated_words(hypothesis, references)),
        }

    def _counted(self, excess: Excess) -> Excess:
        """The n-grams without any token that is left out."""
        if not (self.leave_out.words or self.leave_out_punctuation):
            return excess
        return {gram: found for gram, found in excess.items() if not any(map(self._is_out, gram))}

    def _is_out(self, token: str) -> bool:
        is_punctuation = self.leave_out_punctuation and is_punctuation_alone(token)
        return is_punctuation or token in self.leave_out.words

    def weigh(self, repetition: Repetition) -> float:
        """What each superfluous occurrence adds to the sum σ of the formula."""
        return {"ngram": self.w1, "word": self.w2}[repetition.kind]

    def explain(self, batch: Batch) -> Iterator[tuple[Evidence, ...]]:
        """The repeated n-grams of each segment with their positions, leftmost first.

        The excesses of kind ``"ngram"`` sum to the first statistic, of ``"word"`` to the other.
        """
        for row in batch.rows:
            references = [self.tokens(text) for text in self._expected(row)]
            yield tuple(
                {"repetitions": self._find(self.tokens(text), references)}
                for text in row.hypotheses
            )

    def _find(self, hypothesis: Tokens, references: Sequence[Tokens]) -> list[Repetition]:
        excesses = self.excesses(hypothesis, references)
        places = _places({gram for excess in excesses.values() for gram in excess}, hypothesis)
        found = [
            Repetition(kind, ngram, tuple(places[ngram]), count, allowed)
            for kind, excess in excesses.items()
            for ngram, (count, allowed) in excess.items()
        ]
        return sorted(found, key=lambda item: (item.positions, item.kind))


def is_punctuation_alone(token: str) -> bool:
    """Whether a token has punctuation and symbols only, which may be written as in HTML."""
    return all(unicodedata.category(letter)[0] in "PS" for letter in html.unescape(token))


def _ngrams(tokens: Tokens, n: int) -> list[Ngram]:
    return list(zip(tokens, *[tokens[i:] for i in range(1, n)], strict=False))


def repeated_ngrams(hypothesis: Tokens, references: Sequence[Tokens], n: int) -> Excess:
    """The terms of the first sum of the formula."""
    ngrams = _ngrams(hypothesis, n)
    if len(set(ngrams)) == len(ngrams):
        return {}
    repeated = {ngram: count for ngram, count in Counter(ngrams).items() if count > 1}
    return _excess(repeated, [_ngrams(tokens, n) for tokens in references])


def _repeated_words(hypothesis: Tokens, references: Sequence[Tokens]) -> Excess:
    """The terms of the second sum of the formula."""
    if not any(map(eq, hypothesis, hypothesis[1:])):
        return {}
    return _excess(Counter(_doubled(hypothesis)), map(_doubled, references))


def _doubled(tokens: Tokens) -> list[Ngram]:
    """The bigrams of two equal words; in "a a a" there are two."""
    return [pair for pair in pairwise(tokens) if pair[0] == pair[1]]


def _excess(counts: Mapping[Ngram, int], references: Iterable[Iterable[Ngram]]) -> Excess:
    """The n-grams that occur more often than in any reference, with both counts."""
    expected = list(map(Counter, references))
    allowed = {gram: max([counter[gram] for counter in expected]) for gram in counts}
    return {gram: (n, allowed[gram]) for gram, n in counts.items() if n > allowed[gram]}


def _sum(excess: Excess) -> int:
    return sum([count - allowed for count, allowed in excess.values()])


def _places(grams: Iterable[Ngram], tokens: Tokens) -> dict[Ngram, list[int]]:
    """Where n-grams start, in one pass for each of their lengths."""
    places: dict[Ngram, list[int]] = {gram: [] for gram in grams}
    for n in {len(gram) for gram in places}:
        for start, found in enumerate(_ngrams(tokens, n)):
            if found in places:
                places[found].append(start)
    return places


def closest_length(hypothesis: Tokens, references: Sequence[Tokens]) -> int:
    """The length of the reference closest in length, of the shorter of two equally close."""
    if len(references) == 1:
        return len(references[0])
    return min(map(len, references), key=lambda length: (abs(length - len(hypothesis)), length))


@dataclass(frozen=True)
class LetterREP(REP):
    """REP in letters: words and phrases said again, near or far, weighed by their letters.

    It finds more of the segments that repeat something than REP does, and is this project's own.
    The formula is REP's with two changes: the first sum goes over words and n-grams of every length
    up to n, so repetitions elsewhere count like words twice in a row; and each term is multiplied
    by the letters (characters) of its words, because short words recur legitimately, and long ones
    seldom. The score is per 100 reference words.

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
        TypeError: ``n`` is no whole number, or a weight is no number.
        ValueError: ``n`` is not from 1 to 50, or a weight that is not from 0 to 1,000,000.
    """

    name: ClassVar[str] = "REP-letters"
    statistic_names: ClassVar[tuple[str, ...]] = (
        "letters_of_repeated_ngrams",
        "letters_of_repeated_words",
        "reference_words",
    )
    limits: ClassVar[str] = (
        "REP in letters is made to find segments that repeat something: it counts a longer word "
        "as more, and what comes again as a word and as part of a phrase. It is no percentage, "
        "and not comparable with REP."
    )

    def count(self, batch: Batch) -> NDArray[np.int64]:
        """Letters of excess n-grams and doubled words, and the words that they are divided by."""
        counts = []
        for row in batch.rows:
            references = [self.tokens(text) for text in self._expected(row)]
            for hypothesis in map(self.tokens, row.hypotheses):
                letters = map(_sum_letters, self.excesses(hypothesis, references).values())
                counts.append((*letters, self._length(hypothesis, references)))
        return np.array(counts, dtype=np.int64).reshape(len(batch), -1, 3).swapaxes(0, 1)

    def _length(self, hypothesis: Tokens, references: Sequence[Tokens]) -> int:
        """The words that the score is per hundred of."""
        return closest_length(hypothesis, references)

    def excesses(self, hypothesis: Tokens, references: Sequence[Tokens]) -> dict[str, Excess]:
        """The terms of both sums, n-grams of every length among them."""
        found = super().excesses(hypothesis, references)
        said_before = len(hypothesis) - len(set(hypothesis))
        # where an n-gram stands again, so do its n words
        for n in range(1, min(self.n, said_before + 1)):
            found["ngram"] |= self._counted(repeated_ngrams(hypothesis, references, n))
        return found

    def weigh(self, repetition: Repetition) -> float:
        """What each superfluous occurrence adds to the sum σ of the formula."""
        return super().weigh(repetition) * _letters(repetition.ngram)


def _letters(ngram: Ngram) -> int:
    return sum(map(len, ngram))


def _sum_letters(excess: Excess) -> int:
    return sum([(n - allowed) * _letters(gram) for gram, (n, allowed) in excess.items()])
