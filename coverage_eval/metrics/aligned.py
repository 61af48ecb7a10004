"""Metrics of links or coverages: what one aligner makes of a test set."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import TypeVar

import numpy as np

from coverage_eval.alignment.aligner import Aligner, check_aligner
from coverage_eval.data.batches import batched
from coverage_eval.data.files import CorpusWarning
from coverage_eval.errors import DataError
from coverage_eval.metrics.base import Metric, Statistics
from coverage_eval.metrics.stopwords import StopWords

ObservedRow = TypeVar("ObservedRow")


@dataclass(frozen=True)
class AlignedMetric(Metric[ObservedRow]):
    """A metric of what links the source with reference and hypothesis, made by one aligner.

    Args:
        aligner: What makes the links or coverages, and signs them.
        stopwords: Source words that are neither counted nor expected.

    Raises:
        TypeError: Something that is no :class:`~coverage_eval.Aligner` or no
            :class:`~coverage_eval.StopWords`.

    Warns:
        CorpusWarning: The source is lowercased, and some stop words are not.
    """

    aligner: Aligner
    stopwords: StopWords = field(default_factory=StopWords)

    def __post_init__(self) -> None:
        check_aligner(self.aligner)
        # Letters of a string, or the order of a set, would be signed without complaint.
        if not isinstance(self.stopwords, StopWords):
            raise TypeError(
                "stopwords must come from StopWords.of(words) or StopWords.read(file), not "
                f"{self.stopwords!r:.40}"
            )
        cased = sorted(word for word in self.stopwords.words if word != word.lower())
        if cased and self.aligner.source_tokens.lowercase:
            warnings.warn(
                f"stop words are compared as written, and the source is lowercased: "
                f"{cased[0]!r} is never found ({len(cased)} such stop words)",
                CorpusWarning,
                stacklevel=3,
            )

    def settings(self) -> Mapping[str, object]:
        """What the aligner signs, then the metric's own fields, the stop words last."""
        names = [item.name for item in fields(self) if item.name not in {"aligner", "stopwords"}]
        own = {name: getattr(self, name) for name in names}
        return {**self.aligner.settings, **own, "stop": self.stopwords}

    def count(self, observed: Iterable[ObservedRow], *, jobs: int = 1) -> Statistics:  # noqa: ARG002
        """Statistics ``[systems, segments, k]``; the aligner has threads of its own."""
        blocks = [np.array([*map(self.count_row, rows)]) for rows in batched(observed)]
        if not blocks:
            raise DataError("no segments to score")
        return np.concatenate(blocks).swapaxes(0, 1)

    @abstractmethod
    def count_row(self, row: ObservedRow) -> list[tuple[float, float]]:
        """Statistics of one segment, those of each hypothesis."""
