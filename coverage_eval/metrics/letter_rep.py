"""REP in letters: words and phrases said again, near or far, weighed by their letters.

It finds more of the segments that repeat something than REP does, and is this project's own. The
formula is that of :mod:`coverage_eval.metrics.rep` with two changes: the first sum goes over words
and n-grams of every length up to n, so that what comes again elsewhere counts as well as what comes
twice in a row; and each term is multiplied by the letters (characters) of its words, because short
words such as articles come again rightfully, and long ones seldom. The score is per 100 reference
words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from coverage_eval.data.rows import Row
from coverage_eval.metrics.rep import (
    REP,
    Excess,
    Ngram,
    Repetition,
    Tokens,
    closest_length,
    repeated_ngrams,
)


@dataclass(frozen=True)
class LetterREP(REP):
    """REP in letters of hypotheses against references.

    >>> metric = LetterREP()
    >>> print(metric.sentence_score("a red red house", "a red house"))
    REP-letters|refs:1|n:2|w1:1.0|w2:2.0|norm:refwords|case:mixed|tok:none|version:0.1.0 = 500.00
    >>> print(*metric.evidence("a red red house", "a red house"), sep="\\n")
    red red (1x, 0x in the reference) at 2
    red (2x, 1x in the reference) at 2,3

    Args:
        n: Length of the longest n-grams of the first sum, at least 1.
        w1: Weight λ1 of repeated n-grams.
        w2: Weight λ2 of words twice in a row.
        tokenize: The tokeniser to apply, one of ``coverage_eval.data.tokenizers.TOKENIZERS``.
        lowercase: Lowercase the text first.

    Raises:
        TypeError: ``n`` is no whole number, or a weight is no number.
        ValueError: ``n`` below 1, or a weight that is not from 0 to 1,000,000.
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

    def count_batch(self, rows: Sequence[Row]) -> NDArray[np.int64]:
        """Letters of excess n-grams and doubled words, and the words that they are divided by."""
        counts = []
        for row in rows:
            references = [self.tokens(text) for text in self._expected(row)]
            for hypothesis in map(self.tokens, row.hypotheses):
                letters = map(_sum_letters, self.excesses(hypothesis, references).values())
                counts.append((*letters, self._length(hypothesis, references)))
        return np.array(counts, dtype=np.int64).reshape(len(rows), -1, 3)

    def _length(self, hypothesis: Tokens, references: Sequence[Tokens]) -> int:
        """The words that the score is per hundred of."""
        return closest_length(hypothesis, references)

    def excesses(self, hypothesis: Tokens, references: Sequence[Tokens]) -> dict[str, Excess]:
        """The terms of both sums, n-grams of every length among them."""
        found = super().excesses(hypothesis, references)
        said_before = len(hypothesis) - len(set(hypothesis))
        # where an n-gram stands again, so do its n words
        for n in range(1, min(self.n, said_before + 1)):
            found["ngram"] |= repeated_ngrams(hypothesis, references, n)
        return found

    def weigh(self, repetition: Repetition) -> float:
        """What each superfluous occurrence adds to the sum σ of the formula."""
        return super().weigh(repetition) * _letters(repetition.ngram)


def _letters(ngram: Ngram) -> int:
    return sum(map(len, ngram))


def _sum_letters(excess: Excess) -> int:
    return sum([(n - allowed) * _letters(gram) for gram, (n, allowed) in excess.items()])
