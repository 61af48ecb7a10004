"""Soft DROP: how much coverage of the source the hypothesis loses against the reference.

Where DROP asks whether a source word is linked at all, soft DROP asks how much: the coverage of
source word i by a text is cov_i = min(1, Σ_j p(a_j = i)), the posteriors of the frozen forward
alignment model summed over the text's words, and

    soft DROP = 100 · Σ_i max(0, cov_i(reference) − cov_i(hypothesis)) / Σ_i cov_i(reference),

for a corpus, sum over sum. It is this project's own (the papers have only the hard form).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coverage_eval.errors import DataError
from coverage_eval.metrics.base import Metric, Signature, Statistics
from coverage_eval.metrics.drop import AlignmentSettings
from coverage_eval.metrics.stopwords import StopWords
from coverage_eval.text.corpus import Segment, tokenize

__all__ = ["CoveredSegment", "LostCoverage", "SoftDROP", "coverage"]

Floats = NDArray[np.float64]


def coverage(posteriors: NDArray[Any]) -> Floats:
    """Coverage of each source word by a text: min(1, Σ_j p(a_j = i)).

    Args:
        posteriors: p(a_j = i), target × source ``[T, S]``, without the NULL column.

    Returns:
        ``[S]``, between 0 and 1; zeros for an empty text.
    """
    sums: Floats = np.asarray(posteriors, dtype=np.float64).sum(axis=0)
    return np.minimum(1.0, sums)


@dataclass(frozen=True)
class CoveredSegment:
    """A source segment and how much each text covers its words, all that soft DROP looks at.

    Attributes:
        source: The source segment.
        reference_coverage: :func:`coverage` of each word by the reference, ``[S]``; a sink's, if
            there is one, stands last.
        hypothesis_coverage: The same by the hypothesis.
    """

    source: Segment
    reference_coverage: Floats
    hypothesis_coverage: Floats


@dataclass(frozen=True)
class LostCoverage:
    """Evidence of soft DROP: a source word that the hypothesis covers less than the reference.

    Attributes:
        position: Its position in the source, from 0.
        word: The word.
        reference: Its coverage by the reference, 0 to 1.
        hypothesis: Its coverage by the hypothesis, 0 to 1.
    """

    position: int
    word: str
    reference: float
    hypothesis: float

    @property
    def lost(self) -> float:
        """The coverage lost, above 0."""
        return self.reference - self.hypothesis

    def __str__(self) -> str:
        """The word, its position (for people, from 1), and its coverage by either text."""
        return f"{self.word} at {self.position + 1}: {self.reference:.2f} to {self.hypothesis:.2f}"


@dataclass(frozen=True)
class SoftDROP(Metric):
    """Soft DROP-score of hypotheses, from coverages under one frozen forward alignment model.

    Args:
        stopwords: Source words that are left out of account.
        alignment: The model, for the signature.
    """

    stopwords: StopWords = field(default_factory=StopWords)
    alignment: AlignmentSettings = field(default_factory=AlignmentSettings)

    name: ClassVar[str] = "SoftDROP"
    higher_is_better: ClassVar[bool] = False
    statistic_names: ClassVar[tuple[str, ...]] = ("lost_coverage", "expected_coverage")
    undefined: ClassVar[str] = (
        "the reference covers no source word at all, so no coverage can have been lost; "
        "check the files, or the model's language pair"
    )

    def signature(self) -> Signature:
        """All settings of metric and alignment."""
        return Signature.of(
            self.name,
            aligner=self.alignment.aligner,
            model=self.alignment.model,
            dir="forward",
            stop=self.stopwords,
            sink=self.alignment.sink,
            tok=self.alignment.tok,
        )

    def score(self, summed: Statistics) -> Floats:
        """100 · lost coverage / expected coverage, 0 to 100."""
        lost, expected = np.moveaxis(np.asarray(summed, dtype=np.float64), -1, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            # The quotient first: it is never above 1, and 100 times it never above 100.
            return np.where(expected > 0, 100.0 * (lost / expected), np.nan)

    def statistics(
        self,
        reference_coverage: Iterable[Floats],
        hypothesis_coverage: Iterable[Floats],
        sources: Iterable[Segment],
    ) -> Floats:
        """Lost and expected coverage of each segment, ``[segments, 2]``.

        Args:
            reference_coverage: :func:`coverage` of each source word by the reference, ``[S]``.
            hypothesis_coverage: The same by the hypothesis.
            sources: The source segments; a sink's coverage, if any, stands after their words.

        Raises:
            DataError: No segments at all.
        """
        rows = zip(sources, reference_coverage, hypothesis_coverage, strict=True)
        return self.stream_statistics(CoveredSegment(*row) for row in rows)

    def stream_statistics(self, segments: Iterable[CoveredSegment]) -> Floats:
        """Lost and expected coverage of a stream of segments; otherwise as :meth:`statistics`."""
        sums = [self._sums(segment) for segment in segments]
        if not sums:
            raise DataError("no segments to score")
        return np.array(sums, dtype=np.float64)

    def evidence(self, segment: CoveredSegment) -> list[LostCoverage]:
        """The source words of one segment that lose coverage, greatest loss first."""
        words = [
            LostCoverage(position, word, float(ref), float(hyp))
            for position, (word, ref, hyp) in enumerate(
                zip(
                    tokenize(segment.source),
                    segment.reference_coverage,
                    segment.hypothesis_coverage,
                    strict=False,
                )
            )
            if ref > hyp and word not in self.stopwords
        ]
        return sorted(words, key=lambda item: (-item.lost, item.position))

    def _sums(self, segment: CoveredSegment) -> tuple[float, float]:
        source = tokenize(segment.source)
        counted = np.array([word not in self.stopwords for word in source], dtype=bool)
        expected = segment.reference_coverage[: len(source)][counted]
        covered = segment.hypothesis_coverage[: len(source)][counted]
        return float(np.maximum(0.0, expected - covered).sum()), float(expected.sum())
