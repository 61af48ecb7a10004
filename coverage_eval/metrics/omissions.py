"""Finds the source words that a hypothesis leaves out, or hypothesis words without a source.

A word's *loss* is the coverage to be expected less the coverage found. References, and outputs of
other systems (peers), are witnesses of what can be covered: a word is expected to be covered as
they cover it on average. Where there are none, it is expected to be covered as it normally is, and
the loss is divided by its spread. The loss of a word that may be added, which the source covers
too little, is greater where few peers say the word, and less where all do. A segment's score is the
best run of losses, each less a penalty, and a share of the sum of all:

    score = max over runs of Σ (loss − penalty) + ¼ Σ max(0, loss).

What a system leaves out like all its peers is not found by them. In each segment, a peer counts if
it is neither the hypothesis nor the source, and once however many peers say the same: who repeats
the hypothesis has seen nothing more, and where all do, what is normal decides.

Where the form and the constants come from is in ``notebooks/evidence.md``: what the score is made
of, and what is lost by tuning it on one pair of languages and using it on the other.
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
    aligner: Aligner
    normal: NormalCoverage | None


def load_units(aligner: Aligner, side: str = "source") -> tuple[Unit, ...]:
    """The units that a model file has: words alone, unless it was made for omissions.

    Args:
        aligner: The model of words, or other soft links, which are of words alone.
        side: One of :data:`SIDES`.

    Raises:
        AlignerError, DataError: A damaged model file.
    """
    if not isinstance(aligner, ModelAligner):
        return (Unit("words", aligner, None),)
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
LETTERS = Scan(penalty=0.1, least_strength=2.0, threshold=5.0)
"""Without references, for sources cut into letters, which share the loss of a word. On Japanese
without spaces the AUROC is .70 with this penalty and .68 with the one for words. As few correct
segments are listed (16%) and counted (2%) as with words."""

LETTER_TOKENIZERS = ("char", "zh")
"""Tokenisers that cut text into letters."""

SUM_SHARE = 0.25
"""Share of the sum of losses in the score."""

LEAST_SPREAD = 0.3
"""Added to a word's spread, by which its loss is divided where there are no references."""

PEERS_SPREAD = 0.375
"""What losses against peers are divided by where there are no references: segments in which all
peers agree with the hypothesis are scored by normal coverage, on the same scale."""

SAID_WEIGHT, SAID_SHARE = 0.5, 0.7
"""How much it counts whether peers say a word that may be added, and the share of them that say a
usual word."""

MANY_PEERS = 3
"""As many peers, and more, have one calibration."""

DEFAULT_PROBABILITY = 0.5
"""Where segments begin to count, if there are probabilities."""

LEAST_OTHERS = 2
"""As many other systems, and more, are witnesses by themselves."""


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
        peers: Peers that were witnesses here.
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
        referenced: Whether references are witnesses.
        calibrations: What makes probabilities of scores, by the number of peers; empty for no
            probabilities.
        peers: Number of witnesses among the peers of a row and its other hypotheses, taken in this
            order.
        threshold: Segments with at least this probability count, or score if there are no
            probabilities; None for :data:`DEFAULT_PROBABILITY`, or the threshold of the scan.
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
        """The finder that a model file makes, with what the file has.

        Args:
            aligner: A model; any will do, one made for omissions does better.
            side: As above.
            referenced: As above; additions need none.
            peers: As above.

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
        """This finder with probabilities, which are kept with its model from now on."""
        number = min(self.peers, MANY_PEERS)
        name = _calibration_name(self.side, self.referenced, number)
        assert isinstance(self.aligner, ModelAligner)  # what is given is of one text
        self.aligner.model.attach(name, calibration.save)
        return replace(self, calibrations={**self.calibrations, number: calibration})

    @property
    def calibration(self) -> Calibration | None:
        """What makes a probability of a segment's score where all peers are witnesses."""
        return self._calibration(self.peers)

    def _calibration(self, peers: int) -> Calibration | None:
        """The calibration for a number of peers, or else for fewer, or else for more."""
        known = sorted(self.calibrations)
        if not known:
            return None
        return self.calibrations[max((n for n in known if n <= peers), default=known[0])]

    @property
    def aligner(self) -> Aligner:
        """The model of words, or what else covers them."""
        return self.units[0].aligner

    @property
    def scan(self) -> Scan:
        """The constants that go with references, or without, for words or letters."""
        if self.referenced:
            return WITH_REFERENCES
        in_letters = self.aligner.source_tokens.name in LETTER_TOKENIZERS
        return LETTERS if in_letters and self.side == "source" else WITHOUT_REFERENCES

    @property
    def least(self) -> float:
        """The probability from which segments count, or the score if there are no probabilities."""
        if self.threshold is not None:
            return self.threshold
        return self.scan.threshold if self.calibration is None else DEFAULT_PROBABILITY

    def counts(self, score: float, probability: float | None) -> bool:
        """Whether a segment counts as one with an error."""
        return (score if probability is None else probability) >= self.least

    @property
    def settings(self) -> Mapping[str, object]:
        """The aligner's settings but for the symmetrisation, then the finder's."""
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
        """As :meth:`find`, of lists of segments, each peer one; warns of texts that look wrong."""
        dataset = Dataset.of_lists({ONE_SYSTEM: hypotheses}, references, sources, peers)
        found = list(self.find(dataset.rows()))
        warn_of(check_inputs(dataset, aligner=self.aligner)[0])
        return found

    def find(self, rows: Iterable[Row]) -> Iterator[FoundSegment]:
        """Look through segments one by one; memory does not grow with the text.

        Args:
            rows: Segments with their source and one hypothesis, all with references or none, and
                with as many peers as the finder was made for.

        Raises:
            DataError: No source; references that are expected and not there, or the reverse; too
                few peers.
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
                # In one order, so that the order of peers does not move the last digit.
                loss = np.mean(np.sort(witnesses, axis=0), axis=0) - covered
                losses.append(loss if self.referenced else loss / PEERS_SPREAD)
            lengths = (len(units[0].source), length)
            found.append(self._found(np.mean(losses, axis=0), words[0], *lengths, len(peers)))
        return tuple(found)

    def _peers(self, row: Row, cut: Sequence[Sequence[str]], own: int) -> list[int]:
        """Places, among the peers and hypotheses of a row, of the witnesses of one hypothesis."""
        if not self.peers:
            return []
        others = [place for place in range(len(cut)) if place != own][: self.peers]
        if len(others) < self.peers:
            raise DataError(
                f"the finder was made for {self.peers} peers, and there are {len(others)}"
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
        if not listed and len(losses) and self.counts(score, probability):  # it shows where
            word = int(losses.argmax())
            alone = WordRun(word, word + 1, float(losses[word]) - self.scan.penalty)
            listed = [max(runs, key=lambda run: run.sum, default=alone)]
        spans = tuple(
            FoundSpan(run.start, run.end, tuple(words[run.start : run.end]), run.sum)
            for run in listed
        )
        return FoundSegment(score, spans, losses, source_length, target_length, probability, peers)


def _unusual(unit: Unit, words: Sequence[str], covered: Floats) -> Floats:
    """The loss of each word where no witness says what is expected."""
    if unit.normal is None:
        mean, spread = EXPECTED
        return np.asarray((mean - covered) / (spread + LEAST_SPREAD))
    means, spreads = unit.normal.of(words)
    return np.asarray((means - covered) / (spreads + LEAST_SPREAD))


def _share(words: Sequence[str], said: Sequence[Sequence[str]]) -> Floats:
    """The share of some texts that have each word at least as often as it stands here so far."""
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
    """Percentage of segments with an omission, as a threshold decides.

    A segment's own score is the finder's, which no sum of statistics gives.

    Args:
        aligner: The model.
        threshold: Segments with at least this probability have one; where there are no
            probabilities, those with at least this score. None for :data:`DEFAULT_PROBABILITY`, or
            the finder's own threshold.
        referenced: Whether references are witnesses, where there are some.
        peers: How many other outputs are witnesses; None for all peers that are given, and all
            other systems if these are at least two.

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
        _ = self.finder  # which refuses links and damaged models

    def for_systems(self, systems: Sequence[str]) -> Omissions:
        """The metric with the soft links of the systems in their order."""
        return replace(self, aligner=self.aligner.for_systems(systems))

    @cached_property
    def finder(self) -> OmissionFinder:
        """What finds them, and signs."""
        peers = self.peers or 0
        finder = OmissionFinder.of(self.aligner, self.side, referenced=self.referenced, peers=peers)
        return replace(finder, threshold=self.threshold)

    @property
    def caveat(self) -> str | None:
        """That the model was not made for omissions, where there are no witnesses instead."""
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
                f"{self.name}: {self.peers} peers are to be witnesses, and there are "
                f"{peers + others}"
            )
        chosen = have if self.peers is None else self.peers
        return replace(self, referenced=self.referenced and references > 0, peers=chosen)

    def settings(self) -> Mapping[str, object]:
        """The finder's settings, then the threshold."""
        kind = "score" if self.finder.calibration is None else "P"
        return {**self.finder.settings, "at": f"{kind}>={self.finder.least:g}"}

    def sign(self, *, references: int) -> Signature:
        """As of any metric, but references that are not looked at are not named.

        Of several witnesses, ``expect`` names the kinds: what is expected is their mean.
        """
        looked_at = references if self.referenced else 0
        if looked_at < 2 and not self.peers:
            return super().sign(references=looked_at)
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
        return self.finder.counts(segment.score, segment.probability)


@dataclass(frozen=True)
class Additions(Omissions):
    """Percentage of segments with words that have no source, and that few peers say."""

    referenced: bool = False

    name: ClassVar[str] = "Additions"
    side: ClassVar[str] = "target"
    limits: ClassVar[str] = (
        "Words of the output that the source covers less than is normal, under the model's "
        "probabilities, and that few other systems say. A free translation can look so, too."
    )
