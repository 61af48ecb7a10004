"""The common form of the profile's figures: a sum over segments divided by another."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coverage_eval.data.rows import Row
from coverage_eval.metrics.base import Statistics, TokenMetric
from coverage_eval.metrics.sums import PERCENT, ratio_of_sums


@dataclass(frozen=True)
class SegmentRatio(TokenMetric):
    """A figure of the form scale · Σ numerators / Σ denominators over segments.

    A share of flagged segments and a mean over segments have this form too, with 1 as every
    denominator.
    """

    needs: ClassVar[frozenset[str]] = frozenset()
    statistic_names: ClassVar[tuple[str, ...]] = ("numerator", "denominator")
    statistic_type: ClassVar[type[np.generic]] = np.float64
    scale: ClassVar[float] = PERCENT
    higher_is_better: ClassVar[bool] = False
    undefined: ClassVar[str] = "no hypothesis is long enough for this figure"

    @abstractmethod
    def ratio(self, *args: Any, **kwargs: Any) -> tuple[float, float]:
        """Numerator and denominator of one segment.

        It takes the tokens of the hypothesis and, where the figure needs them, of the source.
        """

    def count_batch(self, rows: Sequence[Row]) -> NDArray[np.float64]:
        """Numerator and denominator of each segment, ``[len(rows), systems, 2]``."""
        counts = []
        for row in rows:
            source = [self.tokens(row.source or "")] if "sources" in self.needs else []
            counts.append([self.ratio(self.tokens(text), *source) for text in row.hypotheses])
        return np.array(counts, dtype=np.float64)

    def formula(self, summed: Statistics) -> NDArray[np.float64]:
        """``scale · numerator / denominator``; NaN for an empty denominator."""
        return ratio_of_sums(summed, self.scale)
