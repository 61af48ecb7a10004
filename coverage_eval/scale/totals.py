"""Sums of statistics over batches, exact whatever the order in which they are added up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from coverage_eval.metrics.base import Formula, Statistics
from coverage_eval.metrics.score import Score
from coverage_eval.scale.arrow import pa

Sums = dict[str, dict[str, list[Fraction]]]


@dataclass
class Totals:
    """Summed statistics of scored batches, by figure and system.

    >>> one, other = (Totals(3, 0, {"rep": {"a": [Fraction(2)]}}) for _ in range(2))
    >>> (one + other).sums
    {'rep': {'a': [Fraction(4, 1)]}}

    Attributes:
        scored: Rows with figures.
        set_aside: Rows without.
        sums: Of each figure, then system, then statistic.
    """

    scored: int = 0
    set_aside: int = 0
    sums: Sums = field(default_factory=dict)

    @classmethod
    def of(cls, batch: pa.RecordBatch | pa.Table, figures: Iterable[str]) -> Totals:
        """The totals of scored rows.

        Args:
            batch: As a :class:`~coverage_eval.scale.batch_scorer.BatchScorer` gives it.
            figures: Names of its figures.
        """
        if isinstance(batch, pa.Table):
            names = list(figures)
            return reduce(add, (cls.of(part, names) for part in batch.to_batches()), cls())
        aside = batch.column("set_aside")
        found = cls(aside.null_count, len(aside) - aside.null_count)
        for name in figures:
            column = batch.column(name)
            scored = column.filter(aside.is_null())
            found.sums[name] = {
                system.name: [
                    _exact_sum(part)
                    for part, item in zip(scored.field(i).flatten(), system.type, strict=True)
                    if item.name not in {"score", "evidence"}
                ]
                for i, system in enumerate(column.type)
            }
        return found

    def __add__(self, other: Totals) -> Totals:
        sums: Sums = {}
        for name in self.sums | other.sums:
            ours, theirs = self.sums.get(name, {}), other.sums.get(name, {})
            sums[name] = {
                system: _add(ours.get(system), theirs.get(system)) for system in ours | theirs
            }
        return Totals(self.scored + other.scored, self.set_aside + other.set_aside, sums)

    def statistics(self, name: str, formula: Formula) -> dict[str, Statistics]:
        """Summed statistics ``[1, k]`` of each system by a figure."""
        return {
            system: np.array([[float(one) for one in sums]]).astype(formula.statistic_type)
            for system, sums in self.sums[name].items()
        }

    def scores(
        self, figures: Mapping[str, Formula], *, references: int = 0
    ) -> dict[str, dict[str, Score]]:
        """Corpus scores by figure, then system.

        Args:
            figures: The figures by name.
            references: Number of references.

        Raises:
            DataError: A score is undefined.
        """
        return {
            name: {
                system: formula.score(
                    summed, references=references, system=system, segments=self.scored
                )
                for system, summed in self.statistics(name, formula).items()
            }
            for name, formula in figures.items()
        }

    def to_plain(self) -> dict[str, Any]:
        """As JSON has it, for the way from an executor; fractions are strings."""
        return {
            "scored": self.scored,
            "set_aside": self.set_aside,
            "sums": {
                name: {system: list(map(str, sums)) for system, sums in by_system.items()}
                for name, by_system in self.sums.items()
            },
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Totals:
        """What :meth:`to_plain` has written."""
        sums = {
            name: {system: list(map(Fraction, values)) for system, values in by_system.items()}
            for name, by_system in plain["sums"].items()
        }
        return cls(plain["scored"], plain["set_aside"], sums)


def _exact_sum(values: pa.Array) -> Fraction:
    """The sum of counts or fractions without any rounding."""
    array = values.to_numpy(zero_copy_only=False)
    if array.dtype.kind in "iu":
        return Fraction(int(array.sum()))
    return sum(map(Fraction, array.tolist()), Fraction(0))


def _add(ours: list[Fraction] | None, theirs: list[Fraction] | None) -> list[Fraction]:
    if ours is None or theirs is None:
        return list(ours or theirs or [])
    return [one + other for one, other in zip(ours, theirs, strict=True)]
