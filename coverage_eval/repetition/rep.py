"""REP-score: words that a system repeats and the reference does not.

Malaviya, Ferreira and Martins (ACL 2018), section 5: for a segment with n-gram frequencies t in the
hypothesis and r in the reference,

    σ(t, r) = λ1 · Σ_{s ∈ Vⁿ, t(s) ≥ 2} max(0, t(s) − r(s)) + λ2 · Σ_{w ∈ V} max(0, t(ww) − r(ww)),

and REP is 100 · Σ σ / number of reference words. It has no upper bound: it is not a percentage.
With several references, r(s) is the greatest count in any of them, and the words are counted in the
reference closest in length to the hypothesis (the shorter of two equally close), as in BLEU.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from operator import eq
from typing import ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from coverage_eval.core.batches import Batch
from coverage_eval.core.mark import LIST_PHRASES, Explanation, Mark, MarkKind
from coverage_eval.core.metric import Presentation, Statistics, setting
from coverage_eval.core.text_metric import TokenMetric
from coverage_eval.core.tokenizers import Segment, Words

_MAX_WEIGHT = 1_000_000
_MAX_N = 50
"""Longer n-grams than any phrase take memory for each of their words: words × n × 8 bytes."""

MAX_MARKS = 5000
"""Repetitions of an output that are marked; the score counts all."""

Tokens: TypeAlias = Sequence[str]
Ngram: TypeAlias = tuple[str, ...]

NGRAM = "n-gram"
TWICE = "word twice in a row"


def find_ngrams(tokens: Tokens, n: int) -> list[Ngram]:
    """The n-grams of a text, from left to right.

    >>> find_ngrams(["a", "b", "b"], 2)
    [('a', 'b'), ('b', 'b')]
    """
    if n == 2:  # nearly always, and pairwise is twice as fast
        return list(pairwise(tokens))
    return list(zip(*[tokens[first:] for first in range(n)], strict=False))


def doubled_words(tokens: Tokens) -> list[Ngram]:
    """The bigrams of two equal words; in "a a a" there are two."""
    return [pair for pair in pairwise(tokens) if pair[0] == pair[1]]


class _Repetition(NamedTuple):
    """An n-gram that the hypothesis has more often than the reference.

    Attributes:
        kind: :data:`NGRAM` for the first sum of the formula, :data:`TWICE` for the second.
        ngram: Its tokens.
        times: How often the hypothesis has it.
        allowed: How often the reference has it, the greatest count of several.
    """

    kind: str
    ngram: Ngram
    times: int
    allowed: int


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
        tokenize: The tokeniser to apply, one of ``coverage_eval.core.tokenizers.TOKENIZERS``.
        lowercase: Lowercase the text first.

    Raises:
        TypeError: ``n`` is not a whole number, or a weight is not a number.
        ValueError: ``n`` is not from 1 to 50, or a weight not from 0 to 1,000,000.
    """

    n: int = setting(2, "Count repeated n-grams of this length.", flag="-n", min=1, max=_MAX_N)
    w1: float = setting(1.0, "Weight of repeated n-grams (λ1).", min=0, max=_MAX_WEIGHT)
    w2: float = setting(2.0, "Weight of words twice in a row (λ2).", min=0, max=_MAX_WEIGHT)

    presentation: ClassVar[Presentation] = Presentation(
        "REP",
        higher_is_better=False,
        kinds=tuple(
            MarkKind(
                name,
                "output",
                "repeated",
                "repetition",
                "repeated words",
                "word repeated beyond the reference",
                "repetition",
                style="repeated",
                listed=LIST_PHRASES,
                allowed_by="reference",
            )
            for name in (NGRAM, TWICE)
        ),
        more_errors="repeats more",
        undefined=(
            "the reference has no words at all, and the score is per reference word; check that "
            "the reference file is the right one"
        ),
        caveat=(
            "REP counts words, not meanings: it also counts legitimate repetitions that the "
            "reference lacks, and misses repetitions in other words. It is per 100 reference "
            "words and has no upper bound, so it is not a percentage."
        ),
    )
    statistic_names: ClassVar[tuple[str, ...]] = (
        "repeated_ngrams",
        "repeated_words",
        "reference_words",
    )
    one_more_error: ClassVar[tuple[float, ...] | None] = (1.0, 0.5, 0.0)
    """The mean of a phrase said twice (2 n-grams, as the reference lacks it) and a word said twice
    in a row: 2 by the default weights."""
    norm: ClassVar[str] = "refwords"
    in_letters: ClassVar[bool] = False
    """Whether repeated words count, too, and each repetition by its letters."""

    def settings(self) -> Mapping[str, object]:
        """All settings; weights are shown as numbers with a decimal point."""
        weights = {"w1": float(self.w1), "w2": float(self.w2)}
        return {"n": self.n, **weights, "norm": self.norm, **self.tokenizer.settings}

    def errors(self, statistics: Statistics) -> NDArray[np.float64]:
        """The sum σ: w1 · repeated n-grams + w2 · repeated words; the score is per 100 words."""
        ngrams, words, _ = np.moveaxis(np.asarray(statistics, dtype=np.float64), -1, 0)
        return np.asarray(self.w1 * ngrams + self.w2 * words)

    def count(self, batch: Batch) -> NDArray[np.int64]:
        """The statistics of each segment: both sums of the formula without their weights, words."""
        counts = []
        for row in batch.rows:
            expected = row.nonblank_references if "references" in self.needs else []
            references = [self.tokenizer(text) for text in expected]
            for hypothesis in map(self.tokenizer, row.hypotheses):
                sums = [0, 0, closest_length(hypothesis, references)]
                for item in self._repetitions(hypothesis, references):
                    size = sum(map(len, item.ngram)) if self.in_letters else 1
                    # The first occurrences match the reference, the others are errors.
                    sums[item.kind == TWICE] += (item.times - item.allowed) * size
                counts.append(sums)
        return np.array(counts, dtype=np.int64).reshape(len(batch.rows), -1, 3).swapaxes(0, 1)

    def explain(self, batch: Batch) -> Iterator[tuple[Explanation, ...]]:
        """Each occurrence beyond the reference, n-gram by n-gram, leftmost first.

        A mark's amount is what it adds to the sum σ of the formula. It has the words said again
        (the second of two equal words) and where they are said first; ``detail`` has the ``ngram``,
        as it is counted, where it starts (``ngram_start``), and its counts in ``hypothesis`` and,
        if there is one, ``reference`` or ``source``. An output has at most :data:`MAX_MARKS`; the
        label of the last one says how many repetitions have none.
        """
        for row in batch.rows:
            expected = row.nonblank_references if "references" in self.needs else []
            references = [self.tokenizer(text) for text in expected]
            yield tuple(self._explained(text, references) for text in row.hypotheses)

    def _explained(self, text: Segment, references: Sequence[Tokens]) -> Explanation:
        hypothesis = self.tokenizer(text)
        repetitions = self._repetitions(hypothesis, references)
        if not repetitions:
            return Explanation()
        words = self.tokenizer.locate(text)
        # As a reader meets them; at one position, the longest comes first.
        found = sorted(
            _with_starts(hypothesis, repetitions),
            key=lambda pair: (pair[0], pair[1].kind, -len(pair[1].ngram)),
        )
        all_marks = (mark for pair in found for mark in self._marks(words, *pair))
        marks = list(islice(all_marks, MAX_MARKS))
        if more := sum(item.times - item.allowed for item in repetitions) - len(marks):
            label = f"{marks[-1]}; {more:,} more repetitions are not marked"
            marks[-1] = replace(marks[-1], label=label)
        return Explanation(tuple(marks), words=words)

    def _marks(self, words: Words, starts: Sequence[int], item: _Repetition) -> Iterator[Mark]:
        ngram, length = " ".join(item.ngram), len(item.ngram)
        skipped = int(item.kind == TWICE)  # of two equal words, the second is superfluous
        amount = self.w2 if skipped else self.w1
        if self.in_letters:
            amount *= sum(map(len, item.ngram))
        first = words.spans[starts[0] : starts[0] + length - skipped]
        times, counts = f"{item.times}x", {"hypothesis": item.times}
        if allowed_by := self.presentation.kinds[0].allowed_by:
            times += f", {item.allowed}x in the {allowed_by}"
            counts[allowed_by] = item.allowed
        label = f"{ngram} ({times}) at {','.join(str(start + 1) for start in starts)}"
        for start in starts[item.allowed - item.times :]:
            detail = {"ngram": ngram, "ngram_start": words.spans[start][0], **counts}
            yield Mark.of(
                words, range(start + skipped, start + length), "output", item.kind,
                amount=amount, first=first, phrase=ngram, detail=detail, label=label,
            )  # fmt: skip

    def _repetitions(
        self, hypothesis: Tokens, references: Sequence[Tokens]
    ) -> Sequence[_Repetition]:
        """The terms of both sums of the formula."""
        repetitions: list[_Repetition] = []
        for n in range(1 if self.in_letters else self.n, self.n + 1):
            ngrams = find_ngrams(hypothesis, n)
            if len(set(ngrams)) == len(ngrams):  # so no longer one is repeated; most end here
                break
            expected = [find_ngrams(text, n) for text in references]
            repetitions += _exceeding(NGRAM, ngrams, expected, min_count=2)
        if any(map(eq, hypothesis, hypothesis[1:])):
            expected = [doubled_words(text) for text in references]
            repetitions += _exceeding(TWICE, doubled_words(hypothesis), expected, min_count=1)
        return repetitions


def _exceeding(
    kind: str, ngrams: Sequence[Ngram], expected: Sequence[Sequence[Ngram]], *, min_count: int
) -> list[_Repetition]:
    """The n-grams of the hypothesis that none of the references has as often.

    Args:
        kind: The kind of repetition.
        ngrams: The n-grams of the hypothesis.
        expected: Those of each reference.
        min_count: How often the hypothesis has one at least.
    """
    allowed = [Counter(of_text) for of_text in expected]
    found = (
        _Repetition(kind, ngram, count, max((counts[ngram] for counts in allowed), default=0))
        for ngram, count in Counter(ngrams).items()
        if count >= min_count
    )
    return [item for item in found if item.times > item.allowed]


def _with_starts(
    tokens: Tokens, repetitions: Sequence[_Repetition]
) -> list[tuple[Sequence[int], _Repetition]]:
    """The n-grams with the positions where they start, by one pass over the text a length."""
    starts: dict[Ngram, list[int]] = {item.ngram: [] for item in repetitions}
    for n in sorted({len(ngram) for ngram in starts}):
        for start, ngram in enumerate(find_ngrams(tokens, n)):
            if ngram in starts:
                starts[ngram].append(start)
    return [(starts[item.ngram], item) for item in repetitions]


def closest_length(hypothesis: Tokens, references: Sequence[Tokens]) -> int:
    """The length of the reference closest in length; the shorter of two equally close.

    Without references it is the hypothesis's own length.
    """
    if not references:
        return len(hypothesis)
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
        tokenize: The tokeniser to apply, one of ``coverage_eval.core.tokenizers.TOKENIZERS``.
        lowercase: Lowercase the text first.

    Raises:
        TypeError, ValueError: As :class:`REP`.
    """

    presentation: ClassVar[Presentation] = replace(
        REP.presentation,
        name="REP-letters",
        caveat=(
            "REP in letters is made to find segments with repetitions: longer words count more, "
            "and a repeated word counts once as a word and once as part of a phrase. It is not a "
            "percentage and not comparable with REP."
        ),
    )
    in_letters: ClassVar[bool] = True
    statistic_names: ClassVar[tuple[str, ...]] = (
        "letters_of_repeated_ngrams",
        "letters_of_repeated_words",
        "reference_words",
    )
    one_more_error: ClassVar[tuple[float, ...] | None] = (5.0, 10.0, 0.0)
    """A word of five letters twice in a row."""


@dataclass(frozen=True)
class LetterRepetition(LetterREP):
    """REP in letters without a reference, per 100 words of the output.

    Every occurrence of a repeated word counts, including the first. See
    :class:`coverage_eval.repetition.rep.LetterREP`.
    """

    presentation: ClassVar[Presentation] = replace(
        LetterREP.presentation,
        name="REP-letters-no-ref",
        kinds=tuple(
            replace(kind, meaning="word that the output says again", allowed_by="")
            for kind in REP.presentation.kinds
        ),
    )
    needs: ClassVar[frozenset[str]] = frozenset()
    statistic_names: ClassVar[tuple[str, ...]] = (
        "letters_of_repeated_ngrams",
        "letters_of_repeated_words",
        "hypothesis_words",
    )
    norm: ClassVar[str] = "hypwords"

    def formula(self, summed: Statistics) -> NDArray[np.float64]:
        """As with a reference, but 0 for an output without words."""
        return np.nan_to_num(super().formula(summed))
