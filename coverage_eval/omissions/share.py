"""The figure of a corpus: the share of segments in which something is missing, or too much."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from coverage_eval.metrics.base import Formula, Statistics
from coverage_eval.metrics.sums import ratio_of_sums
from coverage_eval.omissions.finder import FoundSegment, OmissionFinder, RecordedFinder

DEFAULT_PROBABILITY = 0.5
"""Where segments begin to count, if there are probabilities."""


@dataclass(frozen=True)
class OmissionShare(Formula):
    """Percentage of segments with an omission, as a threshold decides.

    Args:
        finder: What finds them, and signs.
        threshold: Segments with at least this probability have one; where there are no
            probabilities, those with at least this score. None for :data:`DEFAULT_PROBABILITY`, or
            the finder's own threshold.
    """

    finder: OmissionFinder | RecordedFinder
    threshold: float | None = None

    name: ClassVar[str] = "Omissions"
    higher_is_better: ClassVar[bool] = False
    statistic_names: ClassVar[tuple[str, ...]] = ("segments_found", "segments")
    undefined: ClassVar[str] = "there are no segments"

    def settings(self) -> Mapping[str, object]:
        """The finder's settings, then the threshold."""
        return {**self.finder.settings, "at": f"{self._kind}>={self._least:g}"}

    @property
    def _kind(self) -> str:
        return "score" if self.finder.calibration is None else "P"

    @property
    def _least(self) -> float:
        if self.threshold is not None:
            return self.threshold
        has_none = self.finder.calibration is None
        return self.finder.scan.threshold if has_none else DEFAULT_PROBABILITY

    def formula(self, summed: Statistics) -> NDArray[np.float64]:
        """100 · segments found / segments, 0 to 100."""
        return ratio_of_sums(summed)

    def is_found(self, segment: FoundSegment) -> bool:
        """Whether a segment counts."""
        value = segment.score if segment.probability is None else segment.probability
        return value >= self._least


@dataclass(frozen=True)
class AdditionShare(OmissionShare):
    """The same of segments with words that have no source."""

    name: ClassVar[str] = "Additions"
