"""Segment scores from another program, such as COMET, as a metric."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coverage_eval.core.checks import Finding
from coverage_eval.core.dataset import Batch, Request, Row, RowSample
from coverage_eval.core.errors import DataError
from coverage_eval.core.files import zip_lines
from coverage_eval.core.score import Signature, Statistics
from coverage_eval.core.text_metric import TextMetric

MIN_PAIRED = 5
"""With fewer segments that have a score of every system, there is no test."""


@dataclass(frozen=True, eq=False)
class GivenScores(TextMetric):
    """The mean of given segment scores; intervals and tests resample these scores.

    >>> import coverage_eval as ce
    >>> comet = GivenScores("COMET", {"a": [0.8, 0.9], "b": [0.7, 0.8]})
    >>> systems = {"a": ["a house", "a dog"], "b": ["house", "dog"]}
    >>> comparison = ce.compare(systems, ["a house", "a dog"], metrics=["rep", comet], resamples=0)
    >>> round(comparison.rows["b"]["comet"].difference, 3)
    -0.1

    Args:
        name: The metric's name.
        values: The scores of each segment by system; None for a missing score.
        higher_is_better: Whether a higher score is better.
        origin: The file that the scores come from, for messages.
    """

    name: str  # type: ignore[misc]  # other metrics have one name per class
    values: Mapping[str, Sequence[float | None]]
    higher_is_better: bool = field(default=True, kw_only=True)  # type: ignore[misc]
    origin: str = "the given scores"

    needs: ClassVar[frozenset[str]] = frozenset()
    statistic_names: ClassVar[tuple[str, ...]] = ("sum", "scored_segments")
    statistic_type: ClassVar[type[np.generic]] = np.float64
    factor: ClassVar[float] = 1.0  # the mean, in the scores' own unit
    undefined: ClassVar[str] = "no segment has a score"
    limits: ClassVar[str] = (
        "Another program computed these segment scores; its version and settings are unknown here. "
        "Their mean may differ from that program's own corpus score."
    )

    def fit(self, sample: RowSample) -> GivenScores:
        """This metric with the scores of the systems, in their order.

        A segment that lacks the score of one of them has none for the others either.

        Raises:
            DataError: A system has no scores, or several systems have too few in common.
        """
        if not sample.is_named:
            return self
        for system in sample.systems:
            if system not in self.values:
                known = ", ".join(self.values)
                raise DataError(f"{self.origin}: no scores of {system}; there are: {known}")
        chosen = {system: list(self.values[system]) for system in sample.systems}
        # A difference of means over different segments is none of the systems.
        shared = [None not in scores for scores in zip(*chosen.values(), strict=False)]
        if len(chosen) > 1 and MIN_PAIRED > sum(shared) < len(shared):
            raise DataError(
                f"{self.origin}: only {sum(shared)} of {len(shared)} segments have a score of "
                f"every system; fewer than {MIN_PAIRED} are not compared"
            )
        values = {
            system: [*(s if both else None for s, both in zip(own, shared, strict=False)),
                     *own[len(shared) :]]
            for system, own in chosen.items()
        }  # fmt: skip
        return replace(self, values=values)

    @property
    def remarks(self) -> Sequence[Finding]:
        """How many segments lack a score, so that they are left out for every system."""
        segments = max(map(len, self.values.values()), default=0)
        scored = sum(None not in scores for scores in zip(*self.values.values(), strict=False))
        if scored == segments:
            return ()
        of_all = " of every system" if len(self.values) > 1 else ""
        said = (
            f"{self.origin}: {scored:,} of {segments:,} segments have a score{of_all}; only these "
            f"count for {self.name}"
        )
        return [Finding("caveat", said)]

    @cached_property
    def _digest(self) -> str:
        """The first 8 hexadecimal digits of the hash of the scores."""
        return sha256(repr([list(own) for own in self.values.values()]).encode()).hexdigest()[:8]

    def sign(self, *, references: int) -> Signature:  # noqa: ARG002 (unknown here)
        """The metric's name and the hash of the scores."""
        return Signature.of(self.name, given=self._digest)

    def requests(self) -> Sequence[Request]:
        """The scores of each segment."""
        return (Request(("given scores", id(self)), self._of_rows),)

    def _of_rows(self, rows: Iterable[Row]) -> Iterator[tuple[float | None, ...]]:
        columns = zip_lines(
            ["the text", *(f"{self.origin}, {system}" for system in self.values)],
            [rows, *(((score,) for score in own) for own in self.values.values())],
        )
        return (tuple(score for (score,) in scores) for _, *scores in columns)

    def count(self, batch: Batch) -> Statistics:
        """Each segment's score and 1, or two zeros; ``[systems, segments, 2]``."""
        scores: NDArray[Any] = np.array(batch.get(*self.requests()), dtype=np.float64).T
        known = ~np.isnan(scores)
        return np.stack([np.where(known, scores, 0.0), known], axis=-1)
