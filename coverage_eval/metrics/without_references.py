"""Lengths and links of an output against its source, without a reference."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coverage_eval.alignment.aligner import AlignedRow
from coverage_eval.data.dataset import Batch, Request
from coverage_eval.metrics.drop import AlignedMetric
from coverage_eval.metrics.evaluation import TokenMetric


@dataclass(frozen=True)
class SegmentRatio(TokenMetric):
    """A figure of the form factor · Σ numerators / Σ denominators over segments.

    Shares of flagged segments and means over segments have this form too, with denominators of 1.
    """

    needs: ClassVar[frozenset[str]] = frozenset()
    statistic_names: ClassVar[tuple[str, ...]] = ("numerator", "denominator")
    statistic_type: ClassVar[type[np.generic]] = np.float64
    higher_is_better: ClassVar[bool | None] = False
    undefined: ClassVar[str] = "no hypothesis is long enough for this figure"

    @abstractmethod
    def ratio(self, *args: Any, **kwargs: Any) -> tuple[float, float]:
        """Numerator and denominator of one segment.

        It takes the tokens of the hypothesis and, if the figure needs them, of the source.
        """

    def count(self, batch: Batch) -> NDArray[np.float64]:
        """Numerator and denominator of each segment, ``[systems, segments, 2]``."""
        counts = []
        for row in batch.rows:
            source = [self.tokens(row.source or "")] if "sources" in self.needs else []
            counts.append([self.ratio(self.tokens(text), *source) for text in row.hypotheses])
        return np.array(counts, dtype=np.float64).swapaxes(0, 1)


@dataclass(frozen=True)
class LengthRatio(SegmentRatio):
    """Σ |hypothesis| / Σ |source| in tokens; a low ratio of a segment hints at omissions."""

    name: ClassVar[str] = "length-ratio"
    needs: ClassVar[frozenset[str]] = frozenset({"sources"})
    factor: ClassVar[float] = 1.0
    higher_is_better: ClassVar[bool | None] = None
    limits: ClassVar[str] = (
        "Words of the output per word of the source. Neither a high nor a low ratio is good in "
        "itself; a ratio below other systems' hints at omissions, one above at additions."
    )
    undefined: ClassVar[str] = "the source has no words at all"

    def ratio(self, hypothesis: Sequence[str], source: Sequence[str]) -> tuple[float, float]:
        """Tokens of hypothesis and source."""
        return len(hypothesis), len(source)


@dataclass(frozen=True)
class UncoveredSource(AlignedMetric):
    """1 − Σ |C(hypothesis)| / Σ |source|, in percent: source words without any link.

    C(x) are the source positions aligned to some word of x. Without a reference, it also counts
    words that no translation expresses, so compare systems, not languages. Stop words are ignored.
    """

    name: ClassVar[str] = "uncovered-source"
    needs: ClassVar[frozenset[str]] = frozenset({"sources", "links"})
    statistic_names: ClassVar[tuple[str, ...]] = ("numerator", "denominator")
    higher_is_better: ClassVar[bool | None] = False
    undefined: ClassVar[str] = "the source has no words at all"

    def requests(self) -> Sequence[Request]:
        """The links between source and hypotheses, and references if the aligner has them."""
        return (self.aligner.links(references=self.aligner.links_references),)

    def _count_row(self, row: AlignedRow) -> list[tuple[int, int]]:
        """Source words without a link, and source words."""
        source = enumerate(row.source or ())
        counted = {position for position, word in source if word not in self.stopwords}
        linked = [{position for position, _ in links} for links in row.hypotheses]
        return [(len(counted - covered), len(counted)) for covered in linked]
