"""sacreBLEU's metrics as metrics of this package; nothing of them is computed here."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from coverage_eval.metrics.base import Signature, Statistics, TextMetric
from coverage_eval.text.corpus import Segment
from coverage_eval.version import __version__

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric as SacreMetric

__all__ = ["SacreBLEUMetric"]


@dataclass(frozen=True)
class SacreBLEUMetric(TextMetric):
    """A metric of sacreBLEU (Post 2018) with one reference, 0 to 100."""

    higher_is_better: ClassVar[bool] = True
    undefined: ClassVar[str] = "not defined for this corpus"

    @abstractmethod
    def _make(self) -> SacreMetric:
        """sacreBLEU's own object, with these settings."""

    @cached_property
    def _theirs(self) -> SacreMetric:
        metric = self._make()
        setattr(metric, "num_refs", 1)  # noqa: B010 (asked for by signatures; untyped)
        return metric

    def signature(self) -> Signature:
        """sacreBLEU's signature, with the version of this package at its end."""
        pairs = [pair.split(":", 1) for pair in str(self._theirs.get_signature()).split("|")]
        settings = tuple((name, value) for name, value in pairs)
        return Signature(self.name, (*settings, ("coverage-eval", __version__)))

    def batch_statistics(self, rows: Sequence[tuple[Segment, ...]]) -> Statistics:
        """sacreBLEU's sufficient statistics of each segment, ``[len(rows), k]``."""
        texts = [tuple(s if isinstance(s, str) else " ".join(s) for s in row) for row in rows]
        extract = self._theirs._extract_corpus_statistics
        return np.array(extract([h for h, _ in texts], [[r for _, r in texts]]), dtype=np.int64)

    def score(self, summed: Statistics) -> NDArray[np.float64]:
        """sacreBLEU's score of summed statistics, 0 to 100."""
        rows = np.asarray(summed)
        compute = self._theirs._compute_score_from_stats
        flat = [compute(row.tolist()).score for row in rows.reshape(-1, rows.shape[-1])]
        return np.array(flat, dtype=np.float64).reshape(rows.shape[:-1])
