"""Agreement of attention with gold links: AER of its hard links, and SAER of its weights.

SAER = 1 − (Σ α·S + Σ α·P) / (Σ α + |S|), with sure links S and possible links P ⊇ S: for weights
of zeros and ones it is AER. Source: Unbabel/sparse_constrained_attention, aer/compute_aer.py. Both
are in per cent, and over a corpus their numerators and denominators are summed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from coverage_eval.alignment.gold_links import Gold
from coverage_eval.attention_maps.hard import hard_links
from coverage_eval.attention_maps.maps import AttentionMap, Weights
from coverage_eval.errors import DataError
from coverage_eval.metrics.aer import AER, LINK_METRICS
from coverage_eval.metrics.score import Formula, Statistics


@dataclass(frozen=True)
class SAER(Formula):
    """Soft alignment error rate of attention, 0 (best) to 100.

    Args:
        chosen: The layer and head of the maps, as in each of them.
    """

    chosen: tuple[tuple[str, str], ...] = ()

    name: ClassVar[str] = "SAER"
    higher_is_better: ClassVar[bool] = False
    statistic_names: ClassVar[tuple[str, ...]] = ("weight_on_gold", "weight_and_sure_links")
    undefined: ClassVar[str] = "there is neither attention nor a sure gold link"

    def settings(self) -> dict[str, object]:
        """The choice of layer and head."""
        return dict(self.chosen)

    @staticmethod
    def count(rows: Iterable[tuple[Weights, Gold]]) -> Statistics:
        """Statistics ``[segments, 2]``: Σ α·S + Σ α·P, and Σ α + |S|.

        Args:
            rows: Weights ``[T, S]`` of words, and gold links, of each segment.

        Raises:
            DataError: A gold link is outside of its map.
        """
        counts = [_weights_on_gold(weights, gold) for weights, gold in rows]
        return np.array(counts, dtype=np.float64).reshape(-1, 2)

    def formula(self, summed: Statistics) -> NDArray[np.float64]:
        """SAER in per cent; NaN where there is neither attention nor a sure link."""
        hit, total = np.moveaxis(np.asarray(summed, dtype=np.float64), -1, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(100 * (1 - hit / total), dtype=np.float64)


def _weights_on_gold(attention: Weights, gold: Gold) -> tuple[float, float]:
    rows, columns = attention.shape
    sure = set(gold.sure)
    possible = sure.union(gold.possible)
    for source, target in possible:
        if source >= columns or target >= rows:
            raise DataError(
                f"gold link {source}-{target} (source-target, from 0) is outside of attention "
                f"with {columns} source and {rows} target words; merge subwords, or check the gold"
            )
    hit = sum(attention[t, s] for s, t in sure) + sum(attention[t, s] for s, t in possible)
    return float(hit), float(attention.sum()) + len(sure)


@dataclass(frozen=True)
class GoldAgreement:
    """The statistics of a corpus against its gold links, one row a segment.

    Attributes:
        links: Those of :class:`coverage_eval.metrics.aer.AER`, ``[segments, 4]``.
        weights: Those of :class:`SAER`, ``[segments, 2]``.
        rule: How hard links were made: ``argmax`` or ``>`` and the threshold.
        chosen: The layer and head of the maps, as in each of them.
    """

    links: Statistics
    weights: Statistics
    rule: str
    chosen: tuple[tuple[str, str], ...] = ()

    def figures(self) -> list[tuple[Formula, Statistics]]:
        """AER, SAER, precision, recall and F1, each with its statistics."""
        made_by = (*self.chosen, ("links", self.rule))
        aer, *others = ((metric(made_by), self.links) for metric in LINK_METRICS)
        return [aer, (SAER(self.chosen), self.weights), *others]


def compare_with_gold(
    maps: Sequence[AttentionMap], golds: Iterable[Gold], *, threshold: float | None = None
) -> GoldAgreement:
    """Count how maps agree with gold links.

    Args:
        maps: One a segment, of the level (subwords or words) that the gold links have.
        golds: One a segment.
        threshold: For hard links; by default argmax.

    Raises:
        DataError: Unequal numbers of segments, or a gold link outside of its map (the segment).
    """
    kept = list(golds)
    if len(kept) != len(maps):
        raise DataError(f"{len(maps)} attention maps, but gold links of {len(kept)} segments")
    weights = []
    for number, (item, gold) in enumerate(zip(maps, kept, strict=True), start=1):
        try:
            weights.append(SAER.count([(item.word_weights, gold)])[0])
        except DataError as error:  # noqa: PERF203 (names the segment)
            raise DataError(f"segment {number}: {error}") from error
    links = AER.count(
        (hard_links(item, threshold), gold) for item, gold in zip(maps, kept, strict=True)
    )
    rule = "argmax" if threshold is None else f">{threshold}"
    chosen = maps[0].chosen if maps else ()
    return GoldAgreement(links, np.array(weights), rule, chosen)
