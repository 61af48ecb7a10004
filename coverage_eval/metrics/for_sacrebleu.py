"""REP on sacreBLEU's interface for metrics, so sacreBLEU's paired tests can use it.

>>> from sacrebleu.significance import PairedTest
>>> from coverage_eval.metrics.for_sacrebleu import REP
>>> systems = [("baseline", ["a a b", "c"]), ("system", ["a b", "c"])]
>>> test = PairedTest(systems, {"REP": REP()}, references=[["a b", "c"]], test_type="ar")
>>> _, scores = test()
>>> [round(result.score, 2) for result in scores["REP"]]
[66.67, 0.0]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sacrebleu.metrics.base import Metric, Score, Signature

from coverage_eval.data.dataset import Batch, Row
from coverage_eval.metrics import rep
from coverage_eval.version import __version__


class REPSignature(Signature):
    """The settings of REP as a signature of sacreBLEU."""

    def __init__(self, args: dict[str, Any]) -> None:
        """Take the settings from the attributes of :class:`REP`."""
        super().__init__(args)
        settings = args["settings"]
        self.info.update(
            {"n": settings.n, "w1": float(settings.w1), "w2": float(settings.w2), "tok": "none"}
        )
        self.info["version"] = f"coverage-eval-{__version__}"


class REP(Metric):  # type: ignore[misc, unused-ignore]
    """REP-score of Malaviya et al. (ACL 2018) on the interface of sacreBLEU's metrics.

    Lower is better, and there is no upper bound.

    Args:
        n: Length of the n-grams.
        w1: Weight of repeated n-grams.
        w2: Weight of words twice in a row.
        references: Reference documents to keep for scoring several systems, as in sacreBLEU.

    Raises:
        ValueError: Settings out of range.
    """

    _SIGNATURE_TYPE = REPSignature

    def __init__(
        self,
        n: int = 2,
        w1: float = 1.0,
        w2: float = 2.0,
        references: Sequence[Sequence[str]] | None = None,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.settings = rep.REP(n=n, w1=w1, w2=w2)
        if references is not None:
            self._ref_cache = self._cache_references(references)

    def _preprocess_segment(self, sent: str) -> str:
        return sent

    def _extract_reference_info(self, refs: Sequence[str]) -> dict[str, tuple[str, ...]]:
        return {"references": tuple(refs)}

    def _compute_segment_statistics(
        self, hypothesis: str, ref_kwargs: dict[str, tuple[str, ...]]
    ) -> list[int]:
        batch = Batch([Row((hypothesis,), ref_kwargs["references"])])
        statistics: list[int] = self.settings.count(batch)[0, 0].tolist()
        return statistics

    def _compute_score_from_stats(self, stats: Sequence[float]) -> Score:
        return Score("REP", float(self.settings.formula(np.asarray(stats))))

    def _aggregate_and_compute(self, stats: Sequence[Sequence[float]]) -> Score:
        return self._compute_score_from_stats([sum(column) for column in zip(*stats, strict=True)])
