"""The common form of the profile's figures: a sum over segments divided by another."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coverage_eval.metrics.base import Statistics, TextMetric

__all__ = ["PERCENT", "SegmentRatio"]

PERCENT = 100.0


@dataclass(frozen=True)
class SegmentRatio(TextMetric):
    """A figure of the form scale · Σ numerators / Σ denominators over segments.

    A share of flagged segments and a mean over segments have this form too, with 1 as every
    denominator.
    """

    columns: ClassVar[tuple[str, ...]] = ("hypotheses",)
    statistic_names: ClassVar[tuple[str, ...]] = ("numerator", "denominator")
    scale: ClassVar[float] = PERCENT
    higher_is_better: ClassVar[bool] = False
    undefined: ClassVar[str] = "no hypothesis is long enough for this figure"

    @abstractmethod
    def count(self, *args: Any, **kwargs: Any) -> tuple[float, float]:
        """Numerator and denominator of one segment, from one value for each of ``columns``."""

    def batch_statistics(self, rows: Sequence[tuple[Any, ...]]) -> NDArray[np.float64]:
        """Numerator and denominator of each segment, ``[len(rows), 2]``."""
        counts = [self.count(*row) for row in rows]
        return np.array(counts, dtype=np.float64).reshape(len(rows), 2)

    def score(self, summed: Statistics) -> NDArray[np.float64]:
        """``scale · numerator / denominator``; NaN for an empty denominator."""
        numerator, denominator = np.moveaxis(np.asarray(summed, dtype=np.float64), -1, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(denominator > 0, self.scale * numerator / denominator, np.nan)
