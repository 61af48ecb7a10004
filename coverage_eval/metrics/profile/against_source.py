"""An output against its source: repetition, length, and source words that nothing is aligned to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coverage_eval.alignment.aligned_rows import AlignedRow
from coverage_eval.data.rows import Row
from coverage_eval.metrics.aligned import AlignedMetric
from coverage_eval.metrics.base import Statistics
from coverage_eval.metrics.drop import DROP
from coverage_eval.metrics.profile.ratio import SegmentRatio
from coverage_eval.metrics.rep import REP
from coverage_eval.metrics.sums import ratio_of_sums


@dataclass(frozen=True)
class SourceREP(REP):
    """REP with the source in the reference's place: repetition that the source does not explain.

    Counts of n-grams are compared across languages, so a word repeated in the source by its
    translation still counts; what makes the figure useful is that few sources repeat anything.
    Per 100 source words. See :class:`coverage_eval.metrics.rep.REP`.
    """

    name: ClassVar[str] = "REP-src"
    needs: ClassVar[frozenset[str]] = frozenset({"sources"})
    statistic_names: ClassVar[tuple[str, ...]] = (
        "repeated_ngrams",
        "repeated_words",
        "source_words",
    )
    undefined: ClassVar[str] = "the source has no words at all, and the score is per source word"
    norm: ClassVar[str] = "srcwords"

    def _expected(self, row: Row) -> Sequence[Any]:
        return [row.source or ""]


@dataclass(frozen=True)
class LengthRatio(SegmentRatio):
    """Σ |hypothesis| / Σ |source| in tokens; a segment's low ratio hints at omission."""

    name: ClassVar[str] = "length-ratio"
    needs: ClassVar[frozenset[str]] = frozenset({"sources"})
    scale: ClassVar[float] = 1.0
    higher_is_better: ClassVar[bool] = True
    undefined: ClassVar[str] = "the source has no words at all"

    def ratio(self, hypothesis: Sequence[str], source: Sequence[str]) -> tuple[float, float]:
        """Tokens of hypothesis and source."""
        return len(hypothesis), len(source)


@dataclass(frozen=True)
class UncoveredSource(AlignedMetric[AlignedRow]):
    """1 − Σ |C(hypothesis)| / Σ |source|, in percent: source words without any link.

    C(x) are the source positions aligned to some word of x. It needs no reference, and so also
    counts what no translation would express; compare systems, not languages. Stop words are
    neither counted nor missed.
    """

    name: ClassVar[str] = "uncovered-source"
    needs: ClassVar[frozenset[str]] = frozenset({"sources", "links"})
    statistic_names: ClassVar[tuple[str, ...]] = ("numerator", "denominator")
    higher_is_better: ClassVar[bool] = False
    undefined: ClassVar[str] = "the source has no words at all"

    def formula(self, summed: Statistics) -> NDArray[np.float64]:
        """100 · numerator / denominator; NaN for an empty denominator."""
        return ratio_of_sums(summed)

    def observe(self, rows: Iterable[Row]) -> Iterator[AlignedRow]:
        """The rows' links."""
        return self.aligner.align(rows)

    def count_row(self, row: AlignedRow) -> list[tuple[float, float]]:
        """Source words without link, and source words."""
        source = enumerate(row.source or ())
        counted = {position for position, word in source if word not in self.stopwords}
        linked = [{position for position, _ in links} for links in row.hypotheses]
        return [(len(counted - covered), len(counted)) for covered in linked]


@dataclass(frozen=True)
class CDR(DROP):
    """Coverage difference ratio: 1 − Σ |C(ref) without C(hyp)| / Σ |C(ref)|, in percent.

    Kong et al., Neural Machine Translation with Adequacy-Oriented Learning (AAAI 2019,
    arXiv:1811.08541), where it is the reward of one sentence; 100 − DROP of the same links and
    settings. Experimental: the formula is quoted from memory and was not compared with the paper.
    """

    name: ClassVar[str] = "CDR"
    higher_is_better: ClassVar[bool] = True
    undefined: ClassVar[str] = "no source word is aligned with the reference"

    def formula(self, summed: Statistics) -> NDArray[np.float64]:
        """100 − DROP, 0 to 100."""
        return 100.0 - super().formula(summed)
