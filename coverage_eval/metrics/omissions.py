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

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import islice, tee
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coverage_eval.alignment.aligner import SIDES, Aligner, CoveredRow, ModelAligner
from coverage_eval.data.dataset import (
    Batch,
    Dataset,
    Request,
    Row,
    answer_ahead,
    make_batches,
)
from coverage_eval.data.input_checks import warn_of
from coverage_eval.errors import DataError
from coverage_eval.metrics.coverage_losses import Calibration, NormalCoverage, disjoint_runs
from coverage_eval.metrics.measure import ONE_SYSTEM, Metric, check_inputs
from coverage_eval.metrics.score import Evidence, Signature, Statistics, ratio_of_sums

Floats = NDArray[np.float64]

_LOSS_DIGITS = 4

STEM = 5
"""Letters that a word is cut to."""

MOST_PAIRS = 100_000
"""Training pairs that normal coverages are learnt from."""

_STEMS = "stems.model"


@dataclass(frozen=True)
class Unit:
    """A way of writing words, with the model trained on text that is written so.

    Attributes:
        name: ``words`` or ``stems``.
        aligner: The model.
        normal: The words' normal coverage on the side that is looked at; None if the model's
            training did not learn any.
    """

    name: str
    aligner: ModelAligner
    normal: NormalCoverage | None


def load_units(aligner: ModelAligner, side: str = "source") -> tuple[Unit, ...]:
    """The units that a model file has: words alone, unless it was made for omissions.

    Args:
        aligner: The model of words.
        side: One of :data:`SIDES`.

    Raises:
        AlignerError, DataError: A damaged model file.
    """
    found = [Unit("words", aligner, _load_normal(aligner, "words", side))]
    stems = aligner.model.attached_model(_STEMS)
    if stems is not None:
        # As the words are cut, so that positions agree.
        names = (aligner.tokens.name, aligner.source_tokens.name)
        cut = ModelAligner(stems, tokenize=names[0], src_tokenize=names[1], sink=aligner.sink)
        found.append(Unit("stems", cut, _load_normal(aligner, "stems", side)))
    return tuple(found)


def _load_normal(aligner: ModelAligner, unit: str, side: str) -> NormalCoverage | None:
    path = aligner.model.attachment(_normal_name(unit, side))
    return None if path is None else NormalCoverage.load(path)


def _normal_name(unit: str, side: str) -> str:
    return f"normal.{unit}.{side}.json"


def add_omission_data(
    aligner: ModelAligner, read: Callable[[], Iterable[tuple[str, ...]]], **options: Any
) -> None:
    """Add to a model what finding omissions needs beyond it, to be saved with it.

    Args:
        aligner: The model of words, newly trained.
        read: Gives the training text again, pairs of source and target.
        **options: The options that it was trained with, but for the case.

    Raises:
        AlignerError: The aligner failed.
    """
    stems = Aligner.train_pairs(
        read(),
        tokenize=aligner.tokens.name,
        src_tokenize=aligner.source_tokens.name,
        lowercase=True,
        stem=STEM,
        **options,
    )
    with stems:
        aligner.model.attach(_STEMS, stems.model.save)
        step = max(1, -(-aligner.model.manifest.pairs // MOST_PAIRS))
        for name, unit in (("words", aligner), ("stems", stems)):
            for side in SIDES:
                normal = _learn(unit, islice(read(), 0, None, step), side)
                aligner.model.attach(_normal_name(name, side), normal.save)


def _learn(aligner: ModelAligner, pairs: Iterable[tuple[str, ...]], side: str) -> NormalCoverage:
    learnt, covered = tee(Row((target,), (), source) for source, target in pairs)
    rows = zip(learnt, aligner.cover(covered, side), strict=True)
    if side == "source":
        return NormalCoverage.learn((item.source, item.hypotheses[0]) for _, item in rows)
    return NormalCoverage.learn(
        (aligner.tokens(row.hypotheses[0]), item.hypotheses[0]) for row, item in rows
    )


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
        """As :meth:`find`, of lists of segments; texts that look wrong are warned of."""
        dataset = Dataset.of_lists({ONE_SYSTEM: hypotheses}, references, sources)
        found = list(self.find(dataset.rows()))
        warn_of(check_inputs(dataset, aligner=self.aligner)[0])
        return found

    def find(self, rows: Iterable[Row]) -> Iterator[FoundSegment]:
        """Look through segments one by one; memory does not grow with the text.

        Args:
            rows: Segments with their source and one hypothesis, all with references or none.

        Raises:
            DataError: No source; references that are expected and not there, or the reverse.
            AlignerError: The aligner failed.
        """
        for batch in answer_ahead(make_batches(rows), self.requests()):
            if any(bool(row.references) != self.referenced for row in batch.rows):
                raise DataError("the finder was made for rows with references, or without")
            yield from (found for (found,) in self.find_batch(batch))

    def requests(self) -> list[Request]:
        """Coverages under the model of each unit."""
        return [
            unit.aligner.coverages(self.side, references=self.referenced) for unit in self.units
        ]

    def find_batch(self, batch: Batch) -> list[tuple[FoundSegment, ...]]:
        """What is found in each segment of a batch, by system.

        Raises:
            DataError: References that say what is expected are not there.
        """
        units = [batch.get(request) for request in self.requests()]
        return [self._find_row(*item) for item in zip(batch.rows, *units, strict=True)]

    def _find_row(self, row: Row, *units: CoveredRow) -> tuple[FoundSegment, ...]:
        if self.referenced and not row.references:
            raise DataError("the finder was made for rows with references, or without")
        found = []
        for number, (text, length) in enumerate(zip(row.hypotheses, units[0].lengths, strict=True)):
            words, losses = [], []
            for unit, item in zip(self.units, units, strict=True):
                words.append(item.source if self.side == "source" else unit.aligner.tokens(text))
                losses.append(_losses(unit, words[-1], item.hypotheses[number], item.references))
            lengths = (len(units[0].source), length)
            found.append(self._found(np.mean(losses, axis=0), words[0], *lengths))
        return tuple(found)

    def _found(
        self, losses: Floats, words: Sequence[str], source_length: int, target_length: int
    ) -> FoundSegment:
        runs = disjoint_runs(losses - self.scan.penalty)
        best = max((run.sum for run in runs), default=0.0)
        score = best + SUM_SHARE * float(np.maximum(0.0, losses).sum())
        spans = tuple(
            FoundSpan(run.start, run.end, tuple(words[run.start : run.end]), run.sum)
            for run in runs
            if run.sum >= self.scan.least_strength
        )
        probability = None
        if self.calibration is not None:
            probability = self.calibration.probability(score, source_length, target_length)
        return FoundSegment(score, spans, losses, source_length, target_length, probability)


def _losses(
    unit: Unit, words: Sequence[str], covered: Floats, references: Sequence[Floats]
) -> Floats:
    """The loss of each word, as one unit sees it."""
    if references:
        return np.asarray(np.minimum.reduce(references) - covered)
    if unit.normal is None:
        mean, spread = EXPECTED
        return np.asarray((mean - covered) / (spread + LEAST_SPREAD))
    means, spreads = unit.normal.of(words)
    return np.asarray((means - covered) / (spreads + LEAST_SPREAD))


def _calibration_name(side: str, *, referenced: bool) -> str:
    return f"calibration.{side}{'.references' if referenced else ''}.json"


DEFAULT_PROBABILITY = 0.5
"""Where segments begin to count, if there are probabilities."""


@dataclass(frozen=True)
class Omissions(Metric):
    """Percentage of segments with an omission, as a threshold decides.

    A segment's own score is the finder's, which no sum of statistics gives.

    Args:
        aligner: The model.
        threshold: Segments with at least this probability have one; where there are no
            probabilities, those with at least this score. None for :data:`DEFAULT_PROBABILITY`, or
            the finder's own threshold.
        referenced: Whether references say what is expected.

    Raises:
        DataError: Links instead of a model, or a damaged model file.
    """

    aligner: Aligner
    threshold: float | None = None
    referenced: bool = True

    name: ClassVar[str] = "Omissions"
    needs: ClassVar[frozenset[str]] = frozenset({"sources", "coverages"})
    evidence_name: ClassVar[str | None] = "spans"
    scores_are_evidence: ClassVar[bool] = True
    higher_is_better: ClassVar[bool] = False
    statistic_names: ClassVar[tuple[str, ...]] = ("segments_found", "segments")
    undefined: ClassVar[str] = "there are no segments"
    limits: ClassVar[str] = (
        "Spans of the source that the output covers less than the reference does, or than is "
        "normal, under the model's probabilities. A free translation can look so, too."
    )
    side: ClassVar[str] = "source"

    def __post_init__(self) -> None:
        _ = self.finder  # which refuses links and damaged models

    @cached_property
    def finder(self) -> OmissionFinder:
        """What finds them, and signs."""
        return OmissionFinder.of(self.aligner, self.side, referenced=self.referenced)

    def settings(self) -> Mapping[str, object]:
        """The finder's settings, then the threshold."""
        kind = "score" if self.finder.calibration is None else "P"
        return {**self.finder.settings, "at": f"{kind}>={self._least:g}"}

    def sign(self, *, references: int) -> Signature:
        """As of any metric, but references that are not looked at are not named."""
        return super().sign(references=references if self.referenced else 0)

    @property
    def _least(self) -> float:
        if self.threshold is not None:
            return self.threshold
        has_none = self.finder.calibration is None
        return self.finder.scan.threshold if has_none else DEFAULT_PROBABILITY

    def formula(self, summed: Statistics) -> Floats:
        """100 · segments found / segments, 0 to 100."""
        return ratio_of_sums(summed)

    def requests(self) -> Sequence[Request]:
        """Coverages under the model of each of the finder's units."""
        return self.finder.requests()

    def found(self, batch: Batch) -> Sequence[tuple[FoundSegment, ...]]:
        """What is found in each segment of a batch, by system; looked for once."""
        key = ("found", id(self.finder))
        return batch.get(Request(key, lambda _: self.finder.find_batch(batch)))

    def count(self, batch: Batch) -> Statistics:
        """Whether something was found in each segment, and 1; ``[systems, segments, 2]``."""
        counts = [[(self.is_found(one), 1) for one in row] for row in self.found(batch)]
        return np.array(counts, dtype=np.int64).swapaxes(0, 1)

    def explain(self, batch: Batch) -> Iterator[tuple[Evidence, ...]]:
        """The score, the probability (None if not calibrated), spans, and each word's loss."""
        for row in self.found(batch):
            yield tuple(
                {
                    "score": one.score,
                    "probability": one.probability,
                    "spans": list(one.spans),
                    "losses": one.losses.round(_LOSS_DIGITS).tolist(),
                }
                for one in row
            )

    def is_found(self, segment: FoundSegment) -> bool:
        """Whether a segment counts."""
        value = segment.score if segment.probability is None else segment.probability
        return value >= self._least


@dataclass(frozen=True)
class Additions(Omissions):
    """Percentage of segments with words that have no source."""

    referenced: bool = False

    name: ClassVar[str] = "Additions"
    side: ClassVar[str] = "target"
    limits: ClassVar[str] = (
        "Words of the output that the source covers less than is normal, under the model's "
        "probabilities. A free translation can look so, too."
    )
