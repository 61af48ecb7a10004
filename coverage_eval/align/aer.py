"""Agreement of word alignment links with gold links: AER, precision, recall, F1.

With links A, sure gold links S and possible ones P ⊇ S (Och and Ney, A Systematic Comparison of
Various Statistical Alignment Models, 2003)::

    AER = 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|)
    precision = |A ∩ P| / |A|    recall = |A ∩ S| / |S|

all as percentages, with the counts summed over the corpus. F1 is the harmonic mean of the last two.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coverage_eval.align.gold_links import Gold
from coverage_eval.core.errors import DataError
from coverage_eval.core.score import Formula, Score, Statistics
from fast_align_wrapper.links import Link


class LinkCounts(NamedTuple):
    """|A|, |S|, |A ∩ S| and |A ∩ P|: numbers, or arrays of one shape."""

    links: Any
    sure_links: Any
    sure_links_found: Any
    possible_links_found: Any


@dataclass(frozen=True)
class LinkMetric(Formula, ABC):
    """A figure of links against gold links; all share the same statistics.

    Args:
        made_by: How the links were made, as pairs of name and value for the signature; empty for
            files of links.
    """

    made_by: tuple[tuple[str, str], ...] = ()

    statistic_names: ClassVar[tuple[str, ...]] = LinkCounts._fields

    @staticmethod
    def count(rows: Iterable[tuple[Iterable[Link], Gold]]) -> Statistics:
        """Statistics ``[pairs, 4]``: |A|, |S|, |A ∩ S|, |A ∩ P|.

        Args:
            rows: The links and the gold links of each pair.

        Raises:
            DataError: There is no pair.
        """
        counts = []
        for links, gold in rows:
            found, sure = set(links), set(gold.sure)
            possible = sure.union(gold.possible)
            counts.append((len(found), len(sure), len(found & sure), len(found & possible)))
        if not counts:
            raise DataError("no pairs to compare: the files are empty")
        return np.array(counts, dtype=np.int64)

    def settings(self) -> Mapping[str, object]:
        """How the links were made; links with NULL are always left out."""
        return {**dict(self.made_by), "null": "no"}

    def formula(self, summed: Statistics) -> NDArray[np.float64]:
        """The figure, in percent; NaN if its denominator is zero."""
        counts = LinkCounts(*np.moveaxis(np.asarray(summed, dtype=np.float64), -1, 0))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(100 * self._ratio(counts), dtype=np.float64)

    @abstractmethod
    def _ratio(self, n: LinkCounts) -> Any:
        """The figure between 0 and 1."""


@dataclass(frozen=True)
class AER(LinkMetric):
    """Alignment error rate, 0 to 100."""

    name: ClassVar[str] = "AER"
    higher_is_better: ClassVar[bool] = False
    undefined: ClassVar[str] = "there are neither links nor sure gold links"

    def _ratio(self, n: LinkCounts) -> Any:
        return 1 - (n.sure_links_found + n.possible_links_found) / (n.links + n.sure_links)


@dataclass(frozen=True)
class Precision(LinkMetric):
    """Percentage of the links that are possible, 0 to 100."""

    name: ClassVar[str] = "precision"
    higher_is_better: ClassVar[bool] = True
    undefined: ClassVar[str] = "there are no links"

    def _ratio(self, n: LinkCounts) -> Any:
        return n.possible_links_found / n.links


@dataclass(frozen=True)
class Recall(LinkMetric):
    """Percentage of the sure gold links that were found, 0 to 100."""

    name: ClassVar[str] = "recall"
    higher_is_better: ClassVar[bool] = True
    undefined: ClassVar[str] = "there are no sure gold links"

    def _ratio(self, n: LinkCounts) -> Any:
        return n.sure_links_found / n.sure_links


@dataclass(frozen=True)
class F1(LinkMetric):
    """Harmonic mean of precision and recall, 0 to 100; 0 if nothing was found."""

    name: ClassVar[str] = "F1"
    higher_is_better: ClassVar[bool] = True
    undefined: ClassVar[str] = "there are no links or no sure gold links"

    def _ratio(self, n: LinkCounts) -> Any:
        precision, recall = n.possible_links_found / n.links, n.sure_links_found / n.sure_links
        product, total = 2 * precision * recall, precision + recall
        return np.where(total == 0, 0.0, product / total)


LINK_METRICS = (AER, Precision, Recall, F1)
"""All figures, in the order in which they are reported."""


def aer(
    links: Iterable[Iterable[Link]],
    sure: Iterable[Iterable[Link]],
    possible: Iterable[Iterable[Link]] | None = None,
) -> tuple[Score, ...]:
    """AER, precision, recall and F1 of the links of a corpus, in this order, in percent.

    Args:
        links: The links of each pair.
        sure: The sure gold links of each pair.
        possible: The possible gold links, with or without the sure ones; None if all are sure.

    Raises:
        DataError: No pairs, or no links at all although a figure needs some.
        ValueError: Unequal numbers of pairs.
    """
    certain = [tuple(pair) for pair in sure]
    others = certain if possible is None else [tuple(pair) for pair in possible]
    golds = (Gold(one, two) for one, two in zip(certain, others, strict=True))
    statistics = LinkMetric.count(zip(links, golds, strict=True))
    return tuple(metric().score(statistics) for metric in LINK_METRICS)
