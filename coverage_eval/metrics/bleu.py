"""BLEU, by sacreBLEU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from coverage_eval.metrics.sacrebleu_adapter import SacreBLEUMetric

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric as SacreMetric

__all__ = ["BLEU"]

_ORDERS = range(1, 5)


@dataclass(frozen=True)
class BLEU(SacreBLEUMetric):
    """Corpus BLEU (Papineni et al. 2002) as sacreBLEU computes it.

    Args:
        tokenize: One of sacreBLEU's tokenisers, or ``none``.
        lowercase: Lowercase both sides.
        smooth: sacreBLEU's smoothing method: ``exp``, ``floor``, ``add-k`` or ``none``.
    """

    tokenize: str = "13a"
    lowercase: bool = False
    smooth: str = "exp"

    name: ClassVar[str] = "BLEU"
    statistic_names: ClassVar[tuple[str, ...]] = (
        "hypothesis_words",
        "reference_words",
        *(f"matches_{n}" for n in _ORDERS),
        *(f"ngrams_{n}" for n in _ORDERS),
    )

    @classmethod
    def acl2018(cls) -> BLEU:
        """The BLEU of the paper's scripts: ``multi-bleu.perl -lc`` (``audit scripts``, row 4)."""
        return cls(tokenize="none", lowercase=True, smooth="none")

    def _make(self) -> SacreMetric:
        from sacrebleu.metrics.bleu import BLEU as SacreBLEU

        return SacreBLEU(
            tokenize=self.tokenize, lowercase=self.lowercase, smooth_method=self.smooth, force=True
        )
