"""Finds the source words that a hypothesis leaves out, or hypothesis words without a source.

A word's *loss* is the coverage to be expected less the coverage found. With references, a word is
expected to be covered as they cover it; without, as it normally is, and the loss is divided by its
spread. A segment's score is the best run of losses, each less a penalty, and a share of the sum of
all:

    score = max over runs of Σ (loss − penalty) + ¼ Σ max(0, loss).

Where the form and the constants come from is in ``notebooks/evidence.md``: what the score is made
of, and what is lost by tuning it on one pair of languages and using it on the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import tee
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coverage_eval.alignment.aligner import Aligner, ModelAligner
from coverage_eval.errors import DataError
from coverage_eval.omissions.calibration import Calibration
from coverage_eval.omissions.coverage_losses import disjoint_runs
from coverage_eval.omissions.units import SIDES, MeasuredRow, Unit, load_units, measure
from coverage_eval.text.rows import Row, make_text_rows

Floats = NDArray[np.float64]

EXPECTED = (0.75, 0.3)
"""Normal coverage and spread of any word, where a model's training learnt none."""


@dataclass(frozen=True)
class Scan:
    """Constants of the scan.

    Attributes:
        penalty: Taken off each word's loss.
        least_strength: Runs with less than this are not listed.
        threshold: Segments with less than this do not count, where there are no probabilities.
    """

    penalty: float
    least_strength: float
    threshold: float


WITH_REFERENCES = Scan(penalty=0.1, least_strength=0.75, threshold=1.5)
WITHOUT_REFERENCES = Scan(penalty=0.4, least_strength=1.5, threshold=4.0)

SUM_SHARE = 0.25
"""Share of the sum of losses in the score."""

LEAST_SPREAD = 0.3
"""Added to a word's spread, by which its loss is divided where there are no references."""


@dataclass(frozen=True)
class FoundSpan:
    """Words that are left out, or have no source.

    Attributes:
        start: Position of the first, from 0.
        end: The position behind the last.
        words: The words.
        strength: The sum of their losses, each less the penalty.
    """

    start: int
    end: int
    words: tuple[str, ...]
    strength: float

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain values; positions from 0, the end excluded."""
        return asdict(self)

    def __str__(self) -> str:
        last = f"-{self.end}" if self.end > self.start + 1 else ""
        return f"{' '.join(self.words)} at {self.start + 1}{last}: {self.strength:.2f}"


@dataclass(frozen=True)
class FoundSegment:
    """What was found in a segment.

    Attributes:
        score: The greater, the more seems to be missing; at least 0, without a unit.
        spans: The spans, in their order.
        losses: The loss of each word, ``[words]``.
        source_length: Words of the source.
        target_length: Words of the hypothesis.
        probability: That there is an error; None where the finder was not calibrated.
    """

    score: float
    spans: tuple[FoundSpan, ...]
    losses: Floats
    source_length: int
    target_length: int
    probability: float | None = None


@dataclass(frozen=True)
class OmissionFinder:
    """A frozen model, made for omissions or not, with what is decided about its use.

    >>> sources = ["ein haus", "das haus", "ein hund", "das tier"] * 20
    >>> targets = ["a house", "the house", "a dog", "the animal"] * 20
    >>> with Aligner.train(sources, targets) as aligner:
    ...     found = OmissionFinder.of(aligner).find_texts(["the house"], ["das haus ein hund"])
    >>> print(*found[0].spans)
    ein hund at 3-4: 1.70

    Args:
        units: The units, that of words first.
        side: ``source`` for omissions, ``target`` for additions.
        referenced: Whether references say what is expected.
        calibration: What makes probabilities of scores; None for no probabilities.
    """

    units: tuple[Unit, ...]
    side: str = "source"
    referenced: bool = False
    calibration: Calibration | None = None

    @classmethod
    def of(
        cls, aligner: Aligner, side: str = "source", *, referenced: bool = False
    ) -> OmissionFinder:
        """The finder that a model file makes, with what the file has.

        Args:
            aligner: A model; any will do, one made for omissions does better.
            side: As above.
            referenced: As above; additions need none.

        Raises:
            DataError: Links instead of a model, or a damaged model file.
            ValueError: An unknown side, or additions with references.
        """
        if referenced and side == "target":
            raise ValueError("additions are found without references")
        if side not in SIDES:
            raise ValueError(f"side is one of {', '.join(SIDES)}, not {side!r}")
        if not isinstance(aligner, ModelAligner):
            raise DataError("omissions need a model: links from files have no probabilities")
        path = aligner.model.attachment(_calibration_name(side, referenced=referenced))
        calibration = None if path is None else Calibration.load(path)
        return cls(load_units(aligner, side), side, referenced, calibration)

    def calibrated(self, calibration: Calibration) -> OmissionFinder:
        """This finder with probabilities, which are kept with its model from now on."""
        name = _calibration_name(self.side, referenced=self.referenced)
        self.aligner.model.attach(name, calibration.save)
        return replace(self, calibration=calibration)

    @property
    def aligner(self) -> ModelAligner:
        """The model of words."""
        return self.units[0].aligner

    @property
    def scan(self) -> Scan:
        """The constants that go with references, or without."""
        return WITH_REFERENCES if self.referenced else WITHOUT_REFERENCES

    @property
    def settings(self) -> Mapping[str, object]:
        """The aligner's settings but for the symmetrisation, then the finder's."""
        aligner = {k: v for k, v in self.aligner.settings.items() if k != "sym"}
        normal = [unit.normal.digest for unit in self.units if unit.normal is not None]
        units = [
            unit.name if unit.name == "words" else f"{unit.name}:{unit.aligner.model.hash}"
            for unit in self.units
        ]
        return {
            **aligner,
            "dir": SIDES[self.side],
            "units": "+".join(units),
            "normal": ",".join(normal) or None,
            "cal": None if self.calibration is None else self.calibration.digest,
        }

    def find_texts(
        self,
        hypotheses: Sequence[str],
        sources: Sequence[str],
        references: Sequence[str] | None = None,
    ) -> list[FoundSegment]:
        """As :meth:`find`, of lists of segments."""
        return list(self.find(make_text_rows(hypotheses, references, sources)))

    def find(self, rows: Iterable[Row]) -> Iterator[FoundSegment]:
        """Look through segments one by one; memory does not grow with the text.

        Args:
            rows: Segments with their source and one hypothesis, all with references or none.

        Raises:
            DataError: No source.
            AlignerError: The aligner failed.
        """
        copies = tee(rows, len(self.units))
        measured = (
            measure(unit.aligner, copy, self.side)
            for unit, copy in zip(self.units, copies, strict=True)
        )
        for found in zip(*measured, strict=True):
            first: MeasuredRow = found[0]
            if bool(first.references) != self.referenced:
                raise DataError("the finder was made for rows with references, or without")
            losses = [_losses(row, unit) for row, unit in zip(found, self.units, strict=True)]
            yield self._found(np.mean(losses, axis=0), first)

    def _found(self, losses: Floats, row: MeasuredRow) -> FoundSegment:
        runs = disjoint_runs(losses - self.scan.penalty)
        best = max((run.sum for run in runs), default=0.0)
        score = best + SUM_SHARE * float(np.maximum(0.0, losses).sum())
        spans = tuple(
            FoundSpan(run.start, run.end, tuple(row.words[run.start : run.end]), run.sum)
            for run in runs
            if run.sum >= self.scan.least_strength
        )
        lengths = (row.source_length, row.target_length)
        probability = None
        if self.calibration is not None:
            probability = self.calibration.probability(score, *lengths)
        return FoundSegment(score, spans, losses, *lengths, probability)


class RecordedFinder(NamedTuple):
    """What an :class:`OmissionFinder` signed that did its work elsewhere.

    Attributes:
        settings: The finder's settings.
        calibration: Its calibration.
        scan: The constants of its scan.
    """

    settings: Mapping[str, object]
    calibration: Calibration | None
    scan: Scan


def _losses(row: MeasuredRow, unit: Unit) -> Floats:
    """The loss of each word, as one unit sees it."""
    if row.references:
        return np.asarray(np.minimum.reduce(row.references) - row.hypothesis)
    if unit.normal is None:
        mean, spread = EXPECTED
        return np.asarray((mean - row.hypothesis) / (spread + LEAST_SPREAD))
    means, spreads = unit.normal.of(row.words)
    return np.asarray((means - row.hypothesis) / (spreads + LEAST_SPREAD))


def _calibration_name(side: str, *, referenced: bool) -> str:
    return f"calibration.{side}{'.references' if referenced else ''}.json"
