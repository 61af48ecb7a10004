"""Finds source words that a hypothesis leaves out, and hypothesis words without a source.

A word's *loss* is its expected coverage minus its coverage. References and outputs of other systems
(peers) are witnesses of what can be covered: their mean coverage of a word is the expected one.
Without witnesses, a word's normal coverage is expected, and the loss is divided by its spread. To
find additions, the loss of a hypothesis word that the source covers too little grows if few peers
have the word, and shrinks if all have it. A segment's score is the best run of losses, each minus a
penalty, plus a share of the sum of losses:

    score = max over runs of Σ (loss − penalty) + ¼ Σ max(0, loss).

An omission that a system shares with all its peers is not found. In each segment, peers with the
text of the hypothesis or of the source are ignored, because they add no evidence, and peers with
the same text count once; if none is left, normal coverage decides.

``notebooks/evidence.md`` tells where the form and the constants come from, and what is lost by
tuning them on one language pair and using them on another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
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
from coverage_eval.errors import DataError, require_integer
from coverage_eval.metrics.coverage_losses import (
    Calibration,
    NormalCoverage,
    WordRun,
    disjoint_runs,
)
from coverage_eval.metrics.measure import ONE_SYSTEM, Metric, check_inputs
from coverage_eval.metrics.score import Evidence, Formula, Signature, Statistics, ratio_of_sums

Floats = NDArray[np.float64]

_LOSS_DIGITS = 4

STEM = 5
"""Letters of a stem."""

MOST_PAIRS = 100_000
"""Most training pairs to learn normal coverages from."""

_STEMS = "stems.model"


@dataclass(frozen=True)
class Unit:
    """Words or stems, with a model trained on them.

    Attributes:
        name: ``words`` or ``stems``.
        aligner: The model.
        normal: The normal coverage of words on the side of interest; None if the model has none.
    """

    name: str
    aligner: Aligner
    normal: NormalCoverage | None


def load_units(aligner: Aligner, side: str = "source") -> tuple[Unit, ...]:
    """The units of a model file: only words, unless it was made for omissions.

    Args:
        aligner: The model of words, or soft links, which have only words.
        side: One of :data:`SIDES`.

    Raises:
        AlignerError, DataError: A damaged model file.
    """
    if not isinstance(aligner, ModelAligner):
        return (Unit("words", aligner, None),)
    found = [Unit("words", aligner, _load_normal(aligner, "words", side))]
    stems = aligner.model.attached_model(_STEMS)
    if stems is not None:
        # The tokenisers of the words, so positions agree.
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
    """Attach to a new model what else :class:`OmissionFinder` needs, to be saved with the model.

    Args:
        aligner: The model of words, newly trained.
        read: Gives the training text again, as pairs of source and target.
        **options: The options that it was trained with, except for the case.

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
"""Normal coverage and spread of every word, for models without normal coverages."""


@dataclass(frozen=True)
class Scan:
    """Constants of the scan.

    Attributes:
        penalty: Subtracted from each word's loss.
        least_strength: The least strength of a listed run.
        threshold: The least score of a segment that counts, if there are no probabilities.
    """

    penalty: float
    least_strength: float
    threshold: float


WITH_REFERENCES = Scan(penalty=0.1, least_strength=0.75, threshold=1.5)
WITHOUT_REFERENCES = Scan(penalty=0.4, least_strength=1.5, threshold=4.0)
LETTERS = Scan(penalty=0.1, least_strength=2.0, threshold=5.0)
"""Without references, for sources cut into letters, which share the loss of a word. On Japanese
without spaces the AUROC is .70 with this penalty and .68 with the one for words. As few correct
segments are listed (16%) and counted (2%) as with words."""

LETTER_TOKENIZERS = ("char", "zh")
"""Tokenisers that cut text into letters."""

SUM_SHARE = 0.25
"""The share of the sum of losses that is added to the score."""

LEAST_SPREAD = 0.3
"""Added to a word's spread before its loss is divided by it, without references."""

PEERS_SPREAD = 0.375
"""Divisor of losses against peers, without references: it puts them on the scale of normal
coverage, which scores segments in which all peers agree with the hypothesis."""

SAID_WEIGHT, SAID_SHARE = 0.5, 0.7
"""For additions: the weight of the share of peers that have a word, and this share for a usual
word."""

MANY_PEERS = 3
"""From this number of peers on, there is one calibration."""

DEFAULT_PROBABILITY = 0.5
"""The least probability of a segment that counts, by default."""

LEAST_OTHERS = 2
"""From this number on, other systems are witnesses by default."""


@dataclass(frozen=True)
class FoundSpan:
    """Words that were left out, or that have no source.

    Attributes:
        start: Position of the first word, from 0.
        end: The position after the last word.
        words: The words.
        strength: The sum of their losses, each minus the penalty.
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
    """The findings in a segment.

    Attributes:
        score: At least 0, without a unit; greater if more seems to be missing.
        spans: The spans, from left to right.
        losses: The loss of each word, ``[words]``.
        source_length: Number of words of the source.
        target_length: Number of words of the hypothesis.
        probability: The probability of an error; None if the finder is not calibrated.
        peers: Number of peers that were witnesses in this segment.
    """

    score: float
    spans: tuple[FoundSpan, ...]
    losses: Floats
    source_length: int
    target_length: int
    probability: float | None = None
    peers: int = 0


@dataclass(frozen=True)
class OmissionFinder:
    """Finds omissions, or additions, with a frozen model.

    >>> sources = ["ein haus", "das haus", "ein hund", "das tier"] * 20
    >>> targets = ["a house", "the house", "a dog", "the animal"] * 20
    >>> with Aligner.train(sources, targets) as aligner:
    ...     found = OmissionFinder.of(aligner).find_texts(["the house"], ["das haus ein hund"])
    >>> print(*found[0].spans)
    ein hund at 3-4: 1.70

    Args:
        units: The units, words first.
        side: ``source`` for omissions, ``target`` for additions.
        referenced: Whether references are witnesses.
        calibrations: Calibrations by number of peers; empty for no probabilities.
        peers: Number of witnesses among the peers of a row and then its other hypotheses.
        threshold: The least probability of a segment that counts, or its least score if there are
            no probabilities; None for :data:`DEFAULT_PROBABILITY`, or the threshold of the scan.
    """

    units: tuple[Unit, ...]
    side: str = "source"
    referenced: bool = False
    calibrations: Mapping[int, Calibration] = field(default_factory=dict)
    peers: int = 0
    threshold: float | None = None

    @classmethod
    def of(
        cls, aligner: Aligner, side: str = "source", *, referenced: bool = False, peers: int = 0
    ) -> OmissionFinder:
        """The finder of a model, with the units and calibrations of its file.

        Args:
            aligner: Any model; a model made for omissions finds more.
            side: ``source`` for omissions, ``target`` for additions.
            referenced: Whether references are witnesses, for omissions only.
            peers: Number of peers that are witnesses.

        Raises:
            DataError: Links instead of a model, or a damaged model file.
            ValueError: An unknown side, or additions with references.
        """
        if referenced and side == "target":
            raise ValueError("additions are found without references")
        if side not in SIDES:
            raise ValueError(f"side is one of {', '.join(SIDES)}, not {side!r}")
        require_integer("peers", peers, 0)
        if not aligner.covers:
            raise DataError(
                "omissions need a model or soft links: links from files have no probabilities"
            )
        calibrations = {}
        if isinstance(aligner, ModelAligner):
            for number in range(min(peers, MANY_PEERS) + 1):
                path = aligner.model.attachment(_calibration_name(side, referenced, number))
                if path is not None:
                    calibrations[number] = Calibration.load(path)
        return cls(load_units(aligner, side), side, referenced, calibrations, peers)

    def calibrated(self, calibration: Calibration) -> OmissionFinder:
        """This finder with a calibration, which is also attached to its model."""
        number = min(self.peers, MANY_PEERS)
        name = _calibration_name(self.side, self.referenced, number)
        assert isinstance(self.aligner, ModelAligner)  # soft links belong to one text
        self.aligner.model.attach(name, calibration.save)
        return replace(self, calibrations={**self.calibrations, number: calibration})

    @property
    def calibration(self) -> Calibration | None:
        """The calibration for segments in which all peers are witnesses."""
        return self._calibration(self.peers)

    def _calibration(self, peers: int) -> Calibration | None:
        """The calibration for a number of peers; else the next one for fewer, then for more."""
        known = sorted(self.calibrations)
        if not known:
            return None
        return self.calibrations[max((n for n in known if n <= peers), default=known[0])]

    @property
    def aligner(self) -> Aligner:
        """The model of words, or the soft links."""
        return self.units[0].aligner

    @property
    def scan(self) -> Scan:
        """The constants for scoring with references, or without, in words or letters."""
        if self.referenced:
            return WITH_REFERENCES
        in_letters = self.aligner.source_tokens.name in LETTER_TOKENIZERS
        return LETTERS if in_letters and self.side == "source" else WITHOUT_REFERENCES

    @property
    def least(self) -> float:
        """The least probability of segments that count; without probabilities, the least score."""
        if self.threshold is not None:
            return self.threshold
        return self.scan.threshold if self.calibration is None else DEFAULT_PROBABILITY

    def counts(self, score: float, probability: float | None) -> bool:
        """Whether a segment counts as wrong."""
        return (score if probability is None else probability) >= self.least

    @property
    def settings(self) -> Mapping[str, object]:
        """The aligner's settings without the symmetrisation, then the finder's."""
        aligner = {k: v for k, v in self.aligner.settings.items() if k != "sym"}
        normal = [unit.normal.digest for unit in self.units if unit.normal is not None]
        units = [
            f"{unit.name}:{unit.aligner.settings['model']}" if unit.name != "words" else unit.name
            for unit in self.units
        ]
        return {
            **aligner,
            "dir": SIDES[self.side],
            "units": "+".join(units),
            "normal": ",".join(normal) or None,
            "cal": ",".join(one.digest for _, one in sorted(self.calibrations.items())) or None,
        }

    def find_texts(
        self,
        hypotheses: Sequence[str],
        sources: Sequence[str],
        references: Sequence[str] | None = None,
        peers: Sequence[Sequence[str]] = (),
    ) -> list[FoundSegment]:
        """As :meth:`find`, for lists of segments; warns if texts look wrong."""
        dataset = Dataset.of_lists({ONE_SYSTEM: hypotheses}, references, sources, peers)
        found = list(self.find(dataset.rows()))
        warn_of(check_inputs(dataset, aligner=self.aligner)[0])
        return found

    def find(self, rows: Iterable[Row]) -> Iterator[FoundSegment]:
        """Search segments one by one, in constant memory.

        Args:
            rows: Segments with a source, one hypothesis, and the references and peers that the
                finder was made for.

        Raises:
            DataError: No source, missing or unexpected references, or too few peers.
            AlignerError: The aligner failed.
        """
        for batch in answer_ahead(make_batches(rows), self.requests()):
            if any(bool(row.references) != self.referenced for row in batch.rows):
                raise DataError("the finder was made for rows with references, or without")
            yield from (found for (found,) in self.find_batch(batch))

    def requests(self) -> list[Request]:
        """The coverages by the model of each unit."""
        return [
            unit.aligner.coverages(self.side, references=self.referenced) for unit in self.units
        ]

    def find_batch(self, batch: Batch) -> list[tuple[FoundSegment, ...]]:
        """The findings in each segment of a batch, by system.

        Raises:
            DataError: Missing references, or too few peers.
        """
        units = [batch.get(request) for request in self.requests()]
        return [self._find_row(*item) for item in zip(batch.rows, *units, strict=True)]

    def _find_row(self, row: Row, *units: CoveredRow) -> tuple[FoundSegment, ...]:
        if self.referenced and not row.references:
            raise DataError("the finder was made for rows with references, or without")
        texts = [*row.peers, *row.hypotheses]
        cut = [self.aligner.tokens(text) for text in texts] if self.peers else []
        found = []
        for number, length in enumerate(units[0].lengths):
            own = len(row.peers) + number
            peers = self._peers(row, cut, own)
            words, losses = [], []
            for unit, item in zip(self.units, units, strict=True):
                covered = item.hypotheses[number]
                if self.side == "target":
                    words.append(unit.aligner.tokens(row.hypotheses[number]))
                    loss = _unusual(unit, words[-1], covered)
                    if peers:
                        said = [unit.aligner.tokens(texts[place]) for place in peers]
                        loss += SAID_WEIGHT * (SAID_SHARE - _share(words[-1], said))
                    losses.append(loss)
                    continue
                words.append(item.source)
                others = (*item.peers, *item.hypotheses)
                witnesses = [*item.references, *(others[place] for place in peers)]
                if not witnesses:
                    losses.append(_unusual(unit, item.source, covered))
                    continue
                # Sorted, because the last digits of a sum depend on the order of peers.
                loss = np.mean(np.sort(witnesses, axis=0), axis=0) - covered
                losses.append(loss if self.referenced else loss / PEERS_SPREAD)
            lengths = (len(units[0].source), length)
            found.append(self._found(np.mean(losses, axis=0), words[0], *lengths, len(peers)))
        return tuple(found)

    def _peers(self, row: Row, cut: Sequence[Sequence[str]], own: int) -> list[int]:
        """The witnesses of a hypothesis, as places among the peers and hypotheses of its row."""
        if not self.peers:
            return []
        others = [place for place in range(len(cut)) if place != own][: self.peers]
        if len(others) < self.peers:
            raise DataError(
                f"the finder was made for {self.peers} peers, but there are {len(others)}"
            )
        seen = [cut[own], self.aligner.source_tokens(row.source or "")]
        seen += [self.aligner.tokens(text) for text in row.references if self.referenced]
        found = []
        for place in others:
            if cut[place] not in seen:
                found.append(place)
                seen.append(cut[place])
        return found

    def _found(
        self,
        losses: Floats,
        words: Sequence[str],
        source_length: int,
        target_length: int,
        peers: int,
    ) -> FoundSegment:
        runs = disjoint_runs(losses - self.scan.penalty)
        best = max((run.sum for run in runs), default=0.0)
        score = best + SUM_SHARE * float(np.maximum(0.0, losses).sum())
        calibration = self._calibration(peers)
        probability = None
        if calibration is not None:
            probability = calibration.probability(score, source_length, target_length)
        listed = [run for run in runs if run.sum >= self.scan.least_strength]
        if not listed and len(losses) and self.counts(score, probability):  # list at least one
            word = int(losses.argmax())
            alone = WordRun(word, word + 1, float(losses[word]) - self.scan.penalty)
            listed = [max(runs, key=lambda run: run.sum, default=alone)]
        spans = tuple(
            FoundSpan(run.start, run.end, tuple(words[run.start : run.end]), run.sum)
            for run in listed
        )
        return FoundSegment(score, spans, losses, source_length, target_length, probability, peers)


def _unusual(unit: Unit, words: Sequence[str], covered: Floats) -> Floats:
    """The loss of each word against its normal coverage."""
    if unit.normal is None:
        mean, spread = EXPECTED
        return np.asarray((mean - covered) / (spread + LEAST_SPREAD))
    means, spreads = unit.normal.of(words)
    return np.asarray((means - covered) / (spreads + LEAST_SPREAD))


def _share(words: Sequence[str], said: Sequence[Sequence[str]]) -> Floats:
    """For each word, the share of texts that have it as often as the words up to here do."""
    counts = [Counter(text) for text in said]
    so_far: Counter[str] = Counter()
    shares = np.zeros(len(words))
    for place, word in enumerate(words):
        so_far[word] += 1
        having = sum(count[word] >= so_far[word] for count in counts)
        shares[place] = having / len(counts)
    return shares


def _calibration_name(side: str, referenced: bool, peers: int) -> str:
    witnesses = f"{'.references' if referenced else ''}{f'.peers{peers}' if peers else ''}"
    return f"calibration.{side}{witnesses}.json"


@dataclass(frozen=True)
class Omissions(Metric):
    """Percentage of segments with an omission, by a threshold.

    The score of a segment is the finder's score, not a sum of statistics.

    Args:
        aligner: The model.
        threshold: The least probability of a segment with an omission, or its least score if there
            are no probabilities; None for :data:`DEFAULT_PROBABILITY`, or the finder's threshold.
        referenced: Whether references are witnesses, if there are any.
        peers: How many other outputs are witnesses; None for all given peers, and for all other
            systems if there are at least two.

    Raises:
        DataError: Links instead of a model, or a damaged model file.
    """

    aligner: Aligner
    threshold: float | None = None
    referenced: bool = True
    peers: int | None = None

    name: ClassVar[str] = "Omissions"
    needs: ClassVar[frozenset[str]] = frozenset({"sources", "coverages"})
    evidence_name: ClassVar[str | None] = "spans"
    scores_are_evidence: ClassVar[bool] = True
    higher_is_better: ClassVar[bool] = False
    statistic_names: ClassVar[tuple[str, ...]] = ("segments_found", "segments")
    undefined: ClassVar[str] = "there are no segments"
    limits: ClassVar[str] = (
        "Spans of the source that the output covers less than the reference and other systems do, "
        "or than is normal, under the model's probabilities. A free translation can look so, too; "
        "what all systems leave out is not found by comparing them."
    )
    side: ClassVar[str] = "source"

    def __post_init__(self) -> None:
        _ = self.finder  # raises for links and damaged models

    def for_systems(self, systems: Sequence[str]) -> Omissions:
        """The metric with soft links in the order of the systems."""
        return replace(self, aligner=self.aligner.for_systems(systems))

    @cached_property
    def finder(self) -> OmissionFinder:
        """The finder with these settings."""
        peers = self.peers or 0
        finder = OmissionFinder.of(self.aligner, self.side, referenced=self.referenced, peers=peers)
        return replace(finder, threshold=self.threshold)

    @property
    def caveat(self) -> str | None:
        """That there are neither witnesses nor normal coverages; None if there are."""
        if self.referenced or self.peers or self.finder.units[0].normal is not None:
            return None
        if not isinstance(self.aligner, ModelAligner):
            return (
                "soft links do not tell how far each word is normally covered, so few omissions "
                "are found without a reference or other systems' outputs: give --ref or --peer"
            )
        return (
            "the model was not made for omissions and finds few of them without a reference or "
            "other systems' outputs: train one with 'align train --prepare-for omissions', or give "
            "--ref or --peer"
        )

    def for_texts(self, *, systems: int, references: int, peers: int) -> Omissions:
        """With the witnesses that these texts have.

        Raises:
            DataError: There are fewer peers than were asked for.
        """
        others = systems - 1
        have = peers + others if peers or others >= LEAST_OTHERS else 0
        if self.peers is not None and self.peers > peers + others:
            raise DataError(
                f"{self.name}: {self.peers} peers were asked for as witnesses, but there are "
                f"{peers + others}"
            )
        chosen = have if self.peers is None else self.peers
        return replace(self, referenced=self.referenced and references > 0, peers=chosen)

    def settings(self) -> Mapping[str, object]:
        """The finder's settings, then the threshold."""
        kind = "score" if self.finder.calibration is None else "P"
        return {**self.finder.settings, "at": f"{kind}>={self.finder.least:g}"}

    def sign(self, *, references: int) -> Signature:
        """The signature; if there are several witnesses, ``expect`` names their kinds."""
        looked_at = references if self.referenced else 0
        if looked_at < 2 and not self.peers:
            return Formula.sign(self, references=looked_at)
        kinds = [
            (self.peers, f"peers{self.peers}"),
            (looked_at, "ref" if looked_at < 2 else f"refs{looked_at}"),
        ]
        expect = "+".join(name for count, name in kinds if count)
        return Signature.of(self.name, **self.settings(), expect=expect)

    def formula(self, summed: Statistics) -> Floats:
        """100 · segments found / segments, 0 to 100."""
        return ratio_of_sums(summed)

    def requests(self) -> Sequence[Request]:
        """The coverages that the finder needs."""
        return self.finder.requests()

    def found(self, batch: Batch) -> Sequence[tuple[FoundSegment, ...]]:
        """The findings in each segment of a batch, by system; computed once."""
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
        return self.finder.counts(segment.score, segment.probability)


@dataclass(frozen=True)
class Additions(Omissions):
    """Percentage of segments with words that have no source and that few peers have."""

    referenced: bool = False

    name: ClassVar[str] = "Additions"
    side: ClassVar[str] = "target"
    limits: ClassVar[str] = (
        "Words of the output that the source covers less than is normal, under the model's "
        "probabilities, and that few other systems say. A free translation can look so, too."
    )
