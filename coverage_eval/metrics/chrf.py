"""chrF, by sacreBLEU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from coverage_eval.metrics.sacrebleu_adapters import SacreBLEUMetric

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric as SacreMetric

__all__ = ["CHRF"]


@dataclass(frozen=True)
class CHRF(SacreBLEUMetric):
    """Corpus chrF2 (Popović 2015) as sacreBLEU computes it, of character n-grams only.

    Args:
        lowercase: Lowercase both sides.
    """

    lowercase: bool = False

    name: ClassVar[str] = "chrF2"
    statistic_names: ClassVar[tuple[str, ...]] = tuple(
        f"{what}_{n}" for n in range(1, 7) for what in ("hypothesis", "reference", "matches")
    )

    def _make(self) -> SacreMetric:
        from sacrebleu.metrics.chrf import CHRF as SacreCHRF

        return SacreCHRF(lowercase=self.lowercase)
