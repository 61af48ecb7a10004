"""Fertilities of source pieces by each strategy of Malaviya et al. 2018, section 4.

The authors' system adds 1 to ACTUAL and PREDICTED fertilities when it loads them, in training and
in decoding, and nothing to GUIDED ones (``onmt/io/TextDataset.py`` of their fork); so does this.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from coverage_eval.attention.fertility import FertilityTable, actual, constant, guided
from coverage_eval.nmt.bitext import Bitext, PieceText

Bounds: TypeAlias = "Sequence[NDArray[np.float64]]"

ADDED = 1.0
"""What is added to ACTUAL and PREDICTED fertilities."""

STRATEGIES = ("constant", "guided", "actual", "predicted")


@dataclass(frozen=True)
class Fertility:
    """How fertilities are set.

    Attributes:
        strategy: One of ``STRATEGIES``.
        value: f of CONSTANT.
    """

    strategy: str
    value: float = 2.0

    def __post_init__(self) -> None:
        if self.strategy not in STRATEGIES:
            raise ValueError(f"unknown fertilities {self.strategy!r}; one of {STRATEGIES}")

    def __str__(self) -> str:
        return f"constant {self.value:g}" if self.strategy == "constant" else self.strategy


class FertilityBounds:
    """The upper bounds of a bitext's sources, +inf for each source's sink.

    Args:
        bitext: The corpora.
        predict: Gives the expected fertilities of validation and test sources, without their
            sinks; called when they are first needed. None where PREDICTED is not asked for.
    """

    def __init__(
        self, bitext: Bitext, predict: Callable[[], tuple[Bounds, Bounds]] | None = None
    ) -> None:
        self._bitext = bitext
        self._predict = predict

    def train(self, fertility: Fertility) -> Bounds:
        """Of the training sources; where fertilities are predicted, they are trained on ACTUAL."""
        text = self._bitext.train
        if fertility.strategy in {"actual", "predicted"}:
            return with_sinks(_actual(text))
        return self._by_source(fertility, text)

    def valid(self, fertility: Fertility) -> Bounds:
        """Of the validation sources."""
        if fertility.strategy == "actual":
            return with_sinks(_actual(self._bitext.valid))
        return self._without_target(fertility, self._bitext.valid, 0)

    def test(self, fertility: Fertility) -> Bounds:
        """Of the test sources.

        Raises:
            ValueError: ACTUAL, which would need the reference.
        """
        if fertility.strategy == "actual":
            raise ValueError("actual fertilities need the reference: decode with predicted ones")
        return self._without_target(fertility, self._bitext.test, 1)

    def _without_target(self, fertility: Fertility, text: PieceText, part: int) -> Bounds:
        if fertility.strategy != "predicted":
            return self._by_source(fertility, text)
        return with_sinks([row + ADDED for row in self._predicted[part]])

    @cached_property
    def _predicted(self) -> tuple[Bounds, Bounds]:
        assert self._predict is not None
        return self._predict()

    @cached_property
    def _table(self) -> FertilityTable:
        train = self._bitext.train
        return guided(zip(train.sources, train.links, strict=True))

    def _by_source(self, fertility: Fertility, text: PieceText) -> Bounds:
        words = [source[:-1] for source in text.sources]
        if fertility.strategy == "constant":
            return with_sinks([constant(len(source), fertility.value) for source in words])
        return with_sinks([self._table.fertilities(source) for source in words])


def _actual(text: PieceText) -> Bounds:
    return [
        actual(links, len(source) - 1) + ADDED
        for source, links in zip(text.sources, text.links, strict=True)
    ]


def with_sinks(rows: Bounds) -> Bounds:
    """Fertilities of sources that end in sinks, of those of their words."""
    return [np.append(row, np.inf) for row in rows]
