"""Outputs that stop too early or say too much: how long outputs usually are, and which are not."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from coverage_eval.core.sampled_texts import MIN_SEGMENTS
from coverage_eval.core.tokenizers import Segment
from coverage_eval.outputs.parsed_segment import FINAL_PUNCTUATION, Pair, ParsedSegment

MIN_SPREAD, MAX_SPREAD = 0.12, 0.4
"""Bounds of the standard deviation of the logarithm of the ratio of lengths."""

UNUSUAL = 2.0
"""Standard deviations by which the length of an apology that speaks of anything is unusual."""


class LengthProfile(NamedTuple):
    """How long a system's outputs of such sources are.

    Attributes:
        ratio: Median of the logarithm of output length by source length, in letters.
        spread: Its standard deviation, from the median of deviations.
        source: Median source length.
        final_punctuation: Share of outputs with a mark at the end where the source has one.
    """

    ratio: float = 0.0
    spread: float = 0.0
    source: float = 0.0
    final_punctuation: float = 0.0

    @classmethod
    def learn(cls, pairs: Sequence[Pair]) -> LengthProfile:
        """How long these outputs are, whose sources have words."""
        if not pairs:
            return cls()
        from statistics import median  # slow to import

        ratios = [math.log((output.length + 1) / (source.length + 1)) for source, output in pairs]
        ratio = median(ratios)
        spread = 1.4826 * median(abs(other - ratio) for other in ratios)
        marks = [
            FINAL_PUNCTUATION.search(output.text) is not None
            for source, output in pairs
            if FINAL_PUNCTUATION.search(source.text)
        ]
        final_punctuation = sum(marks) / len(marks) if len(marks) >= MIN_SEGMENTS else 0.0
        return cls(ratio, spread, median(source.length for source, _ in pairs), final_punctuation)

    def excess(self, output: ParsedSegment, source: ParsedSegment, without: int = 0) -> float:
        """How much greater the logarithm of the ratio of lengths is than the usual one.

        Args:
            output: The output.
            source: Its source.
            without: Letters of the output that do not count.
        """
        return math.log((output.length - without + 1) / (source.length + 1)) - self.ratio

    def deviation(self, source: ParsedSegment) -> float:
        """The standard deviation of this logarithm; short segments vary more."""
        spread = self.spread * max(1.0, math.sqrt(self.source / max(source.length, 1)))
        return min(max(spread, MIN_SPREAD), MAX_SPREAD)

    def is_unusual(self, output: ParsedSegment, source: ParsedSegment) -> bool:
        """Whether the length is not that of a translation."""
        return abs(self.excess(output, source)) > UNUSUAL * self.deviation(source)


SHORT, SHORT_WITH_MARK = 0.72, 0.6
"""Length of a truncated output, as a share of the usual one, at most; and if the mark at the end is
there: complete captions have two thirds of it, too."""

SHORT_DEVIATIONS, SHORT_DEVIATIONS_WITHOUT_MARK = 3.2, 0.9
"""By how many standard deviations a truncated output is shorter, if the mark at the end is there,
and if it is missing."""

LONG = 1.5
"""Length of an overlong output, as a share of the usual one, at least."""

LONG_DEVIATIONS, LONG_DEVIATIONS_OF_MORE_SENTENCES = 3.2, 1.0
"""By how many standard deviations an overlong output is longer, and if it has more sentences than
the source. Of 138,000 sentences of training text 59 are that long; of outputs that were written
twice, four in five."""

_SENTENCE_END = re.compile(r"[.!?…।؟]+(?=\s|$)|[。！？]")


def fits_reference(output: ParsedSegment, references: Sequence[Segment]) -> bool:
    """Whether an output is about as long as a reference."""
    lengths = (ParsedSegment.of(text).length for text in references)
    return any(SHORT < output.length / max(1, length) < LONG for length in lengths)


def unusual_length(output: ParsedSegment, source: ParsedSegment, lengths: LengthProfile) -> float:
    """Length of a truncated or overlong output, as a share of the usual one; else 0."""
    if not lengths.spread or len(source.words) < 4:
        return 0.0
    excess = lengths.excess(output, source)
    if math.log(SHORT) <= excess <= math.log(LONG):  # nearly all outputs
        return 0.0
    deviation = lengths.deviation(source)
    sentences, expected = (len(_SENTENCE_END.findall(text.text)) for text in (output, source))
    needed = LONG_DEVIATIONS_OF_MORE_SENTENCES if sentences > expected else LONG_DEVIATIONS
    if excess > max(math.log(LONG), needed * deviation):
        return math.exp(excess)
    needed, most = SHORT_DEVIATIONS, SHORT_WITH_MARK
    if FINAL_PUNCTUATION.search(source.text) and not FINAL_PUNCTUATION.search(output.text):
        # A missing mark tells the more, the more outputs have one.
        less = SHORT_DEVIATIONS - SHORT_DEVIATIONS_WITHOUT_MARK
        needed -= less * max(0.0, 2 * lengths.final_punctuation - 1)
        most = SHORT
    return math.exp(excess) if excess < min(math.log(most), -needed * deviation) else 0.0
