"""BLEU, by sacreBLEU; nothing of it is computed here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from coverage_eval import __version__
from coverage_eval.corpus import Segment
from coverage_eval.metrics.base import Signature, Statistics, TextMetric

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU as SacreBLEU

__all__ = ["BLEU"]

_ORDERS = range(1, 5)


@dataclass(frozen=True)
class BLEU(TextMetric):
    """Corpus BLEU (Papineni et al. 2002) as sacreBLEU computes it (Post 2018).

    Args:
        tokenize: One of sacreBLEU's tokenisers, or ``none``.
        lowercase: Lowercase both sides.
        smooth: sacreBLEU's smoothing method: ``exp``, ``floor``, ``add-k`` or ``none``.
    """

    tokenize: str = "13a"
    lowercase: bool = False
    smooth: str = "exp"

    name: ClassVar[str] = "BLEU"
    higher_is_better: ClassVar[bool] = True
    statistic_names: ClassVar[tuple[str, ...]] = (
        "hypothesis_words",
        "reference_words",
        *(f"matches_{n}" for n in _ORDERS),
        *(f"ngrams_{n}" for n in _ORDERS),
    )
    undefined: ClassVar[str] = "not defined for this corpus"

    @classmethod
    def acl2018(cls) -> BLEU:
        """The BLEU of the paper's scripts: ``multi-bleu.perl -lc`` (shared text: audits, row 4)."""
        return cls(tokenize="none", lowercase=True, smooth="none")

    @cached_property
    def _bleu(self) -> SacreBLEU:
        from sacrebleu.metrics.bleu import BLEU as SacreBLEU

        return SacreBLEU(
            tokenize=self.tokenize, lowercase=self.lowercase, smooth_method=self.smooth, force=True
        )

    def signature(self) -> Signature:
        """sacreBLEU's signature, with the version of this package at its end."""
        self._bleu.num_refs = 1
        pairs = [pair.split(":", 1) for pair in str(self._bleu.get_signature()).split("|")]
        settings = tuple((name, value) for name, value in pairs)
        return Signature(self.name, (*settings, ("coverage-eval", __version__)))

    def batch_statistics(self, rows: Sequence[tuple[Segment, ...]]) -> Statistics:
        """sacreBLEU's sufficient statistics of each segment, ``[len(rows), 10]``."""
        texts = [tuple(s if isinstance(s, str) else " ".join(s) for s in row) for row in rows]
        extract = self._bleu._extract_corpus_statistics
        return np.array(extract([h for h, _ in texts], [[r for _, r in texts]]), dtype=np.int64)

    def score(self, summed: Statistics) -> NDArray[np.float64]:
        """sacreBLEU's score of summed statistics, 0 to 100."""
        rows = np.asarray(summed)
        compute = self._bleu._compute_score_from_stats
        flat = [compute(row.tolist()).score for row in rows.reshape(-1, rows.shape[-1])]
        return np.array(flat, dtype=np.float64).reshape(rows.shape[:-1])
