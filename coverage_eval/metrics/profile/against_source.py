"""An output against its source: repetition, length, and source words that nothing is aligned to."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from coverage_eval.metrics.base import Signature
from coverage_eval.metrics.profile.ratio import SegmentRatio
from coverage_eval.metrics.rep import REP
from coverage_eval.text.corpus import Segment, tokenize

__all__ = ["CDR", "LengthRatio", "SourceREP", "UncoveredSource"]

Links: TypeAlias = "Collection[tuple[int, int]]"
"""Links of one segment: pairs of source and target position, from 0."""


@dataclass(frozen=True)
class SourceREP(REP):
    """REP with the source in the reference's place: repetition that the source does not explain.

    Counts of n-grams are compared across languages, so a word repeated in the source by its
    translation still counts; what makes the figure useful is that few sources repeat anything.
    Per 100 source words. See :class:`coverage_eval.metrics.rep.REP`.
    """

    name: ClassVar[str] = "REP-src"
    columns: ClassVar[tuple[str, ...]] = ("hypotheses", "sources")
    statistic_names: ClassVar[tuple[str, ...]] = (
        "repeated_ngrams",
        "repeated_words",
        "source_words",
    )
    undefined: ClassVar[str] = "the source has no words at all, and the score is per source word"

    def signature(self) -> Signature:
        """As REP's, normalised by source words."""
        return Signature.of(
            self.name, n=self.n, w1=float(self.w1), w2=float(self.w2), norm="srcwords", tok=self.tok
        )


@dataclass(frozen=True)
class LengthRatio(SegmentRatio):
    """Σ |hypothesis| / Σ |source| in tokens; a segment's low ratio hints at omission."""

    tok: str = "none"

    name: ClassVar[str] = "length-ratio"
    columns: ClassVar[tuple[str, ...]] = ("hypotheses", "sources")
    scale: ClassVar[float] = 1.0
    higher_is_better: ClassVar[bool] = True
    undefined: ClassVar[str] = "the source has no words at all"

    def count(self, hypothesis: Segment, source: Segment) -> tuple[float, float]:
        """Tokens of hypothesis and source."""
        return len(tokenize(hypothesis)), len(tokenize(source))


@dataclass(frozen=True)
class UncoveredSource(SegmentRatio):
    """1 − Σ |C(hypothesis)| / Σ |source|, in percent: source words without any link.

    C(x) are the source positions aligned to some word of x. It needs no reference, and so also
    counts what no translation would express; compare systems, not languages.
    """

    links: str = "given"
    tok: str = "none"

    name: ClassVar[str] = "uncovered-source"
    columns: ClassVar[tuple[str, ...]] = ("hypothesis_links", "sources")
    undefined: ClassVar[str] = "the source has no words at all"

    def count(self, links: Links, source: Segment) -> tuple[float, float]:
        """Source words without link, and source words."""
        words = len(tokenize(source))
        return words - len({position for position, _ in links if position < words}), words


@dataclass(frozen=True)
class CDR(SegmentRatio):
    """Coverage difference ratio: 1 − Σ |C(ref) without C(hyp)| / Σ |C(ref)|, in percent.

    Kong et al., Neural Machine Translation with Adequacy-Oriented Learning (AAAI 2019,
    arXiv:1811.08541), where it is the reward of one sentence; 100 − DROP of the same links.
    Experimental: the formula is quoted from memory and was not compared with the paper.
    """

    links: str = "given"
    tok: str = "none"

    name: ClassVar[str] = "CDR"
    columns: ClassVar[tuple[str, ...]] = ("hypothesis_links", "reference_links")
    higher_is_better: ClassVar[bool] = True
    undefined: ClassVar[str] = "no source word is aligned with the reference"

    def count(self, hypothesis_links: Links, reference_links: Links) -> tuple[float, float]:
        """Source words that both cover, and those that the reference covers."""
        expected = {position for position, _ in reference_links}
        covered = {position for position, _ in hypothesis_links}
        return len(expected & covered), len(expected)
