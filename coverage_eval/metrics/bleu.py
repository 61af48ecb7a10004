"""BLEU, by sacreBLEU."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from coverage_eval.metrics.base import Statistics
from coverage_eval.metrics.sacrebleu_adapters import SacreBLEUMetric

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

    def score(self, summed: Statistics) -> NDArray[np.float64]:
        """sacreBLEU's score of summed statistics, 0 to 100.

        Where there are matches of every order, as in any resample of a corpus, the formula is
        computed for all rows at once, in sacreBLEU's own order of operations: to the last bit.
        """
        rows = np.asarray(summed, dtype=np.float64)
        flat = rows.reshape(-1, rows.shape[-1])
        ordinary = (flat[:, 2:] > 0).all(axis=1) & (self.smooth != "add-k")
        scores = np.empty(len(flat))
        scores[ordinary] = _unsmoothed(flat[ordinary])
        scores[~ordinary] = super().score(flat[~ordinary])
        return scores.reshape(rows.shape[:-1])

    def _make(self) -> SacreMetric:
        from sacrebleu.metrics.bleu import BLEU as SacreBLEU

        return SacreBLEU(
            tokenize=self.tokenize, lowercase=self.lowercase, smooth_method=self.smooth, force=True
        )


def _unsmoothed(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """BLEU of rows with matches of every order, where no smoothing applies."""
    length, reference, matches, ngrams = rows[:, 0], rows[:, 1], rows[:, 2:6], rows[:, 6:]
    logs = _each(math.log, 100.0 * matches / ngrams)
    mean = (logs[:, 0] + logs[:, 1] + logs[:, 2] + logs[:, 3]) / len(_ORDERS)
    brevity = np.where(length < reference, _each(math.exp, 1 - reference / length), 1.0)
    return brevity * _each(math.exp, mean)


def _each(function: Callable[[float], float], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Python's own function of each number; NumPy's may differ in the last bit."""
    return np.array([function(value) for value in values.ravel().tolist()]).reshape(values.shape)
