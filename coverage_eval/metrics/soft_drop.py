"""Soft DROP: how much coverage of the source the hypothesis loses against the reference.

Where DROP asks whether a source word is linked at all, soft DROP asks how much: the coverage of
source word i by a text is cov_i = min(1, Σ_j p(a_j = i)), the posteriors of the frozen forward
alignment model summed over the text's words, and

    soft DROP = 100 · Σ_i max(0, cov_i(reference) − cov_i(hypothesis)) / Σ_i cov_i(reference),

for a corpus, sum over sum. Of several references, the smallest coverage is expected. It is this
project's own (the papers have only the hard form).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coverage_eval.alignment.aligned_rows import CoveredRow
from coverage_eval.data.rows import Row
from coverage_eval.metrics.aligned import AlignedMetric
from coverage_eval.metrics.base import Evidence, Statistics

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LostCoverage:
    """Evidence of soft DROP: a source word that the hypothesis covers less than the reference.

    Attributes:
        position: Its position in the source, from 0.
        word: The word.
        reference: Its coverage by the reference, 0 to 1; the smallest of several.
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

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain values; the position from 0."""
        return asdict(self) | {"loss": self.lost}

    def __str__(self) -> str:
        return f"{self.word} at {self.position + 1}: {self.reference:.2f} to {self.hypothesis:.2f}"


@dataclass(frozen=True)
class SoftDROP(AlignedMetric[CoveredRow]):
    """Soft DROP of hypotheses, under the posteriors of one frozen model.

    >>> from coverage_eval import Aligner
    >>> pairs = ["ein haus", "das haus", "ein hund"] * 20, ["a house", "the house", "a dog"] * 20
    >>> with Aligner.train(*pairs) as aligner:
    ...     worst, *_ = SoftDROP(aligner).evidence("a", "a house", "ein haus")
    >>> print(worst)
    haus at 2: 0.93 to 0.00

    Args:
        aligner: What gives the coverages; it must hold a model.
        stopwords: Source words that are neither counted nor expected.
    """

    name: ClassVar[str] = "SoftDROP"
    needs: ClassVar[frozenset[str]] = frozenset({"references", "sources", "coverages"})
    evidence_name: ClassVar[str | None] = "lost"
    higher_is_better: ClassVar[bool] = False
    statistic_names: ClassVar[tuple[str, ...]] = ("lost_coverage", "expected_coverage")
    statistic_type: ClassVar[type[np.generic]] = np.float64
    undefined: ClassVar[str] = (
        "the reference covers no source word at all, so no coverage can have been lost; "
        "check the files, or the model's language pair"
    )
    limits: ClassVar[str] = (
        "Soft DROP rests on a model's probabilities: what the model does not know looks half "
        "lost, even in a good translation. It shows how much coverage is lost, not that a "
        "certain word is."
    )

    def settings(self) -> Mapping[str, object]:
        """The aligner's settings but for the symmetrisation, then the metric's."""
        aligner = {k: v for k, v in self.aligner.settings.items() if k != "sym"}
        return {**aligner, "dir": "forward", "stop": self.stopwords}

    def formula(self, summed: Statistics) -> Floats:
        """100 · lost coverage / expected coverage, 0 to 100."""
        lost, expected = np.moveaxis(np.asarray(summed, dtype=np.float64), -1, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            # The quotient first: it is never above 1, and 100 times it never above 100.
            return np.where(expected > 0, 100.0 * (lost / expected), np.nan)

    def observe(self, rows: Iterable[Row]) -> Iterator[CoveredRow]:
        """The rows' coverages."""
        return self.aligner.cover(rows)

    def count_row(self, row: CoveredRow) -> list[tuple[float, float]]:
        """Lost and expected coverage of each hypothesis."""
        counted = np.array([word not in self.stopwords for word in row.source], dtype=bool)
        expected = np.minimum.reduce(row.references)[counted]
        return [
            (float(np.maximum(0.0, expected - covered[counted]).sum()), float(expected.sum()))
            for covered in row.hypotheses
        ]

    def explain(self, observed: Iterable[CoveredRow]) -> Iterator[tuple[Evidence, ...]]:
        """The source words that lose coverage, of each segment, greatest loss first."""
        for row in observed:
            expected = np.minimum.reduce(row.references)
            yield tuple({"lost": self._words(row, expected, item)} for item in row.hypotheses)

    def _words(self, row: CoveredRow, expected: Floats, covered: Floats) -> list[LostCoverage]:
        words = [
            LostCoverage(position, word, float(expected[position]), float(covered[position]))
            for position, word in enumerate(row.source)
            if expected[position] > covered[position] and word not in self.stopwords
        ]
        return sorted(words, key=lambda item: (-item.lost, item.position))
