"""Finds source words that a hypothesis leaves out, and hypothesis words without a source.

A word's *loss* is its expected coverage minus its coverage: what references cover, on average, is
expected; without references, a word's normal coverage, and the loss is divided by its spread. A
segment's score is the best run of losses, each minus a penalty, plus a share of the sum of losses:

    score = max over runs of Σ (loss − penalty) + ¼ Σ max(0, loss).

A *flag* is a statement about the best run, its strength: runs as strong are in no more than a share
of complete translations of the same length, the false alarms that the user accepts.
:mod:`~coverage_eval.coverage.null_scores` tells how a model learns this, and how it is adapted to
the text at hand. Where there are outputs of several other systems (peers) and no reference, an
output is flagged only if its score is also above :data:`FLAG_FACTOR` · the median of theirs +
:data:`FLAG_MARGIN`. What all leave uncovered is the segment's doing.

What peers cover sets only the *ranking* of segments: peers are witnesses of what can be covered, so
their mean coverage joins the expected one, and an addition weighs more if few peers have the word.
Peers with the text of the hypothesis stay witnesses: agreement is evidence. Flags do not use them
so, because a person's translation shares fewer words with systems than they with each other; only
where a model knows no normal coverage, one or more peers are the better expectation.

``notebooks/evidence.md`` tells where the form and the constants come from, and what is lost by
tuning them on one language pair and using them on another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain, islice
from statistics import median
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from coverage_eval.align.aligner import SIDES, Aligner, CoveredRow, ModelAligner, check_aligner
from coverage_eval.align.checks import check_inputs
from coverage_eval.core.checks import warn_of
from coverage_eval.core.dataset import (
    ONE_SYSTEM,
    Batch,
    Dataset,
    Request,
    Row,
    answer_ahead,
    make_batches,
)
from coverage_eval.core.errors import DataError, require_flag, require_integer
from coverage_eval.core.mark import Mark, places
from coverage_eval.core.score import Floats
from coverage_eval.coverage.losses import (
    NormalCoverage,
    WordRun,
    disjoint_runs,
)
from coverage_eval.coverage.null_scores import (
    DEFAULT_FALSE_ALARMS,
    NullScores,
    digest_of,
    load_nulls,
    strongest_runs,
)
from fast_align_wrapper.text import Segment

if TYPE_CHECKING:
    import pandas as pd

LEFT_OUT = "left out"
ADDED = "added"

STEMS = "stems.model"
"""The attachment of a model with the model of stems."""


@dataclass(frozen=True)
class Unit:
    """Words or stems, with a model trained on them.

    Attributes:
        name: ``words`` or ``stems``.
        aligner: The model.
        normal: The normal coverage of words on the side of interest; None if the model has none.
    """

    name: str
    aligner: ModelAligner
    normal: NormalCoverage | None


def load_units(aligner: ModelAligner, side: str = "source") -> tuple[Unit, ...]:
    """The units of a model file: only words, unless it was made for omissions.

    Args:
        aligner: The model of words.
        side: One of :data:`SIDES`.

    Raises:
        AlignerError, DataError: A damaged model file.
    """
    found = [Unit("words", aligner, _load_normal(aligner, "words", side))]
    stems = aligner.model.attached_model(STEMS)
    if stems is not None:
        # The tokenisers of the words, so positions agree.
        names = (aligner.tokens.name, aligner.source_tokens.name)
        cut = ModelAligner(stems, tokenize=names[0], src_tokenize=names[1], sink=aligner.sink)
        found.append(Unit("stems", cut, _load_normal(aligner, "stems", side)))
    return tuple(found)


def _load_normal(aligner: ModelAligner, unit: str, side: str) -> NormalCoverage | None:
    path = aligner.model.attachment(normal_name(unit, side))
    return None if path is None else NormalCoverage.load(path)


def normal_name(unit: str, side: str) -> str:
    """The attachment of a model with normal coverages."""
    return f"normal.{unit}.{side}.json"


REFERENCES, ALONE = "references", "alone"
"""Names of the distributions of complete translations, with references and without."""


def null_name(side: str) -> str:
    """The attachment of a model with what complete translations score."""
    return f"null.{side}.json"


EXPECTED = (0.75, 0.3)
"""Normal coverage and spread of every word, for models without normal coverages."""


@dataclass(frozen=True)
class Scan:
    """Constants of the scan.

    Attributes:
        penalty: Subtracted from each word's loss.
        null: False alarms of models that have not learnt them: those of captions.
    """

    penalty: float
    null: NullScores


WITH_REFERENCES = Scan(penalty=0.1, null=NullScores(0.1, 2.5))
WITHOUT_REFERENCES = Scan(penalty=0.3, null=NullScores(0.2, 1.7))
LETTERS = Scan(penalty=0.1, null=NullScores(0.2, 1.2))
"""Without references, for sources cut into letters, which share the loss of a word. On Japanese
without spaces the AUROC is .70 with this penalty and .68 with the one for words."""

LETTER_TOKENIZERS = ("char", "zh")
"""Tokenisers that cut text into letters."""

SUM_SHARE = 0.25
"""The share of the sum of losses that is added to the score."""

MIN_SPREAD = 0.3
"""Added to a word's spread before its loss is divided by it, without references."""

PEERS_SPREAD = 0.375
"""Divisor of losses against peers, without references: it puts them on the scale of normal
coverage, which scores segments in which all peers agree with the hypothesis."""

SAID_WEIGHT, SAID_SHARE = 0.5, 0.7
"""For additions: the weight of the share of peers that have a word, and this share for a usual
word."""

MIN_WORDS = 3
"""A source of this many words or more is certainly left out by an output without words."""

CERTAIN = 0.9999
"""The highest probability, that of an output without words, or one that translates none."""

MIN_OTHERS = 2
"""From this number on, other systems are witnesses by default."""

FLAG_FACTOR, FLAG_MARGIN = 1.1, 1.0
"""An output is flagged only if its score is above this factor times the median score of the other
outputs of the segment, plus this margin. Chosen on half of WMT23 en-de with people's labels and on
planted omissions: see ``notebooks/evidence.md``."""

MIN_MEDIAN = 3
"""Different texts of others from which on their median says what a segment leaves uncovered. With
two others, the median says too little."""


class Losses(NamedTuple):
    """What an output seems to lack, before it is judged; see :class:`FoundSegment`.

    Attributes:
        text: The output, which tells equal ones.
        words: The words on the side of interest, as the user wrote them.
        losses: Their losses by all witnesses, ``[words]``; they rank segments and have the marks.
        own: Their losses without peers, ``[words]``; they decide the flag.
        source_length: Number of words of the source.
        target_length: Number of words of the output.
        is_far: Whether the output is so far from the others that it says nothing of usual ones.
        score: The score by ``losses``.
        level: The score by ``own``.
        strength: The sum of the best run of ``own``, each minus the penalty, at least 0.
        usual: The median ``level`` of other outputs of the segment; None for too few.
    """

    text: Segment
    words: Sequence[str]
    losses: Floats
    own: Floats
    source_length: int
    target_length: int
    is_far: bool = False
    score: float = 0.0
    level: float = 0.0
    strength: float = 0.0
    usual: float | None = None


ScoredRow: TypeAlias = "list[Losses]"
"""What each output of a segment seems to lack: the systems', then the peers'."""


@dataclass(frozen=True)
class FoundSegment:
    """The findings in a segment.

    Attributes:
        score: At least 0, without a unit; greater if more seems to be missing. It ranks segments.
        strength: The sum of the best run of losses without peers, each minus the penalty.
        chance: The share of complete translations of this length with a run as strong, 0 to 1.
        probability: The probability of an error in a single output with this chance, 0 to 1.
        is_flagged: Whether an error is stated.
        words: The words on the side of interest.
        losses: The loss of each word, ``[words]``.
        own: The same without peers.
        source_length: Number of words of the source.
        target_length: Number of words of the hypothesis.
        least_strength: The least strength that is flagged at this length in a single output.
        penalty: What is subtracted from each loss.
        side: ``source`` for omissions, ``target`` for additions.
    """

    score: float
    strength: float
    chance: float
    probability: float
    is_flagged: bool
    words: Sequence[str]
    losses: Floats
    own: Floats
    source_length: int
    target_length: int
    least_strength: float
    penalty: float
    side: str

    @cached_property
    def marks(self) -> tuple[Mark, ...]:
        """The runs that are reasons for the flag, from left to right; none without a flag.

        A mark's amount is its strength: the sum of its losses, each minus the penalty.
        """
        if not self.is_flagged or not len(self.losses):
            return ()
        found = (disjoint_runs(losses - self.penalty) for losses in (self.losses, self.own))
        # An output without words may lack runs, where no word is normally covered.
        runs = next(filter(None, found), [WordRun(0, len(self.losses), self.strength)])
        least = min(self.least_strength, max(run.sum for run in runs))
        return tuple(self._mark(run) for run in runs if run.sum >= least)

    def _mark(self, run: WordRun) -> Mark:
        positions = tuple(range(run.start, run.end))
        text = " ".join(self.words[run.start : run.end])
        side, kind = ("source", LEFT_OUT) if self.side == "source" else ("output", ADDED)
        said = f"{text} at {places(positions)}: {run.sum:.2f}"
        return Mark(side, positions, kind, text, run.sum, said=said)


class FoundSegments(list[FoundSegment]):
    """The findings in a text, a list with a table."""

    def to_frame(self) -> pd.DataFrame:
        """A row per segment, numbered from 1; marks are lists of mappings, positions from 0."""
        import pandas as pd

        return pd.DataFrame(
            {
                "segment": range(1, len(self) + 1),
                "flagged": [one.is_flagged for one in self],
                "score": [one.score for one in self],
                "probability": [one.probability for one in self],
                "chance": [one.chance for one in self],
                "marks": [[mark.to_dict() for mark in one.marks] for one in self],
            }
        )


@dataclass(frozen=True)
class OmissionFinder:
    """Finds omissions, or additions, with a frozen model.

    >>> sources = ["ein haus", "das haus", "ein hund", "das tier"] * 20
    >>> targets = ["a house", "the house", "a dog", "the animal"] * 20
    >>> with Aligner.train(sources, targets) as aligner:
    ...     found = OmissionFinder.of(aligner).find_texts(["the house"], ["das haus ein hund"])
    >>> print(*found[0].marks)
    ein hund at 3-4: 1.90

    Args:
        units: The units, words first.
        side: ``source`` for omissions, ``target`` for additions.
        referenced: Whether references show what can be covered.
        peers: Number of outputs used, of the peers of a row and then its other hypotheses.
        nulls: What complete translations score, with ``references`` and ``alone``; empty if it is
            not known.
        false_alarms: The share of complete translations that may be flagged, 0 to 1.
        adapted: What complete translations of the text at hand score; None for what the model has
            learnt.
        far: Places, among peers and then hypotheses, of outputs that are no witnesses of what
            others should have.
    """

    units: tuple[Unit, ...]
    side: str = "source"
    referenced: bool = False
    peers: int = 0
    nulls: Mapping[str, NullScores] = field(default_factory=dict)
    false_alarms: float = DEFAULT_FALSE_ALARMS
    adapted: NullScores | None = None
    far: tuple[int, ...] = ()

    @classmethod
    def of(
        cls,
        aligner: Aligner,
        side: str = "source",
        *,
        referenced: bool = False,
        peers: int = 0,
        false_alarms: float = DEFAULT_FALSE_ALARMS,
        units: tuple[Unit, ...] | None = None,
    ) -> OmissionFinder:
        """The finder of a model, with the units of its file.

        Args:
            aligner: Any model; a model made for omissions finds more.
            side: ``source`` for omissions, ``target`` for additions.
            referenced: Whether to use references, for omissions only.
            peers: Number of peers to use.
            false_alarms: The share of complete translations that may be flagged, 0 to 1.
            units: The units, if they are loaded already.

        Raises:
            DataError: Links instead of a model, or a damaged model file.
            TypeError: No aligner, or ``referenced`` is neither True nor False.
            ValueError: An unknown side, additions with references, or an impossible share.
        """
        if referenced and side == "target":
            raise ValueError("additions are found without references")
        if side not in SIDES:
            raise ValueError(f"side is one of {', '.join(SIDES)}, not {side!r}")
        if not 0 < false_alarms < 1:
            raise ValueError(f"false_alarms is a share between 0 and 1, not {false_alarms}")
        require_integer("peers", peers, 0)
        require_flag("referenced", referenced)
        check_aligner(aligner)
        if not isinstance(aligner, ModelAligner):
            raise DataError("omissions need a model: links from files have no probabilities")
        path = aligner.model.attachment(null_name(side))
        nulls: Mapping[str, NullScores] = {} if path is None else load_nulls(path)
        units = load_units(aligner, side) if units is None else units
        return cls(units, side, referenced, peers, nulls, false_alarms)

    @property
    def null(self) -> NullScores:
        """What complete translations score, with references or without."""
        learnt = self.nulls.get(REFERENCES if self.referenced else ALONE, self.scan.null)
        return self.adapted or learnt

    def adapt(self, rows: Iterable[ScoredRow]) -> OmissionFinder:
        """This finder, adapted to a text by its outputs; equal outputs of a segment count once."""
        outputs = [
            one
            for row in rows
            for one in {_key(one.text): one for one in row if not one.is_far}.values()
        ]
        strengths = np.array([one.strength for one in outputs])
        lengths = np.array([len(one.own) for one in outputs])
        return replace(self, adapted=replace(self, adapted=None).null.fit(strengths, lengths))

    @property
    def aligner(self) -> ModelAligner:
        """The model of words."""
        return self.units[0].aligner

    @property
    def scan(self) -> Scan:
        """The constants for scoring with references, or without, in words or letters."""
        if self.referenced:
            return WITH_REFERENCES
        in_letters = self.aligner.source_tokens.name in LETTER_TOKENIZERS
        return LETTERS if in_letters and self.side == "source" else WITHOUT_REFERENCES

    @property
    def settings(self) -> Mapping[str, object]:
        """The aligner's settings without the symmetrisation, then the finder's."""
        aligner = {k: v for k, v in self.aligner.settings.items() if k != "sym"}
        normal = [unit.normal.digest for unit in self.units if unit.normal is not None]
        units = [
            f"{unit.name}:{unit.aligner.settings['model']}" if unit.name != "words" else unit.name
            for unit in self.units
        ]
        fitted = None if self.adapted is None else f"x{self.adapted.factor:g}"
        return {
            **aligner,
            "dir": SIDES[self.side],
            "units": "+".join(units),
            "normal": ",".join(normal) or None,
            "null": digest_of(self.nulls) if self.nulls else "assumed",
            "text": fitted,
            "fa": f"{100 * self.false_alarms:g}%",
            "flag": f"{FLAG_FACTOR:g}*median+{FLAG_MARGIN:g}" if self.compares else None,
        }

    @property
    def compares(self) -> bool:
        """Whether outputs are flagged against others in segments with enough of them."""
        return not self.referenced and self.peers >= MIN_MEDIAN and not self.expects_peers

    @property
    def expects_peers(self) -> bool:
        """Whether peers decide flags because nothing else says what is normally covered."""
        return not self.referenced and self.peers > 0 and self.units[0].normal is None

    def find_texts(
        self,
        hypotheses: Sequence[str],
        sources: Sequence[str],
        references: Sequence[str] | None = None,
        peers: Sequence[Sequence[str]] = (),
    ) -> FoundSegments:
        """As :meth:`find`, for lists of segments, adapted to them; warns if texts look wrong."""
        dataset = Dataset.of_lists({ONE_SYSTEM: hypotheses}, references, sources, peers)
        found = self.find_adapted(dataset.rows())
        warn_of(check_inputs(dataset.sample, aligner=self.aligner)[0])
        return FoundSegments(found)

    def find_adapted(self, rows: Iterable[Row]) -> list[FoundSegment]:
        """As :meth:`find`, adapted to these segments."""
        scored = list(self._scored(rows))
        return self.adapt(scored).judge([row[0] for row in scored])

    def find(self, rows: Iterable[Row]) -> Iterator[FoundSegment]:
        """Search segments one by one, in constant memory.

        Args:
            rows: Segments with a source, one hypothesis, and the references and peers that the
                finder was made for.

        Raises:
            DataError: No source, missing or unexpected references, or too few peers.
            AlignerError: The aligner failed.
        """
        for row in self._scored(rows):
            yield from self.judge(row[:1])

    def _scored(self, rows: Iterable[Row]) -> Iterator[ScoredRow]:
        """The outputs of each segment, of which one is a hypothesis, in constant memory."""
        for batch in answer_ahead(make_batches(rows), self.requests()):
            if any(bool(row.references) != self.referenced for row in batch.rows):
                raise DataError("the finder was made for rows with references, or without")
            yield from self.score_batch(batch)

    def requests(self) -> list[Request]:
        """The coverages by the model of each unit; for additions, peers' words, too."""
        aligners = [unit.aligner for unit in self.units]
        if self.side == "source":
            return [one.coverages(self.side, references=self.referenced) for one in aligners]
        return [
            Request(("covered outputs", id(one)), partial(_cover_outputs, one)) for one in aligners
        ]

    def find_batch(self, batch: Batch) -> list[tuple[FoundSegment, ...]]:
        """The findings in each segment of a batch, by system.

        Raises:
            DataError: Missing references, or too few peers.
        """
        return self.judge_rows(batch.rows, self.score_batch(batch))

    def judge_rows(
        self, rows: Sequence[Row], scored: Sequence[ScoredRow]
    ) -> list[tuple[FoundSegment, ...]]:
        """As :meth:`judge`, for each segment by system."""
        sizes = [len(row.hypotheses) for row in rows]
        systems = (found[:size] for found, size in zip(scored, sizes, strict=True))
        judged = iter(self.judge(list(chain.from_iterable(systems))))
        return [tuple(islice(judged, size)) for size in sizes]

    def score_batch(self, batch: Batch) -> list[ScoredRow]:
        """The outputs of each segment, to be judged by :meth:`judge_rows`.

        Raises:
            DataError: Missing references, or too few peers.
        """
        units = [batch.get(request) for request in self.requests()]
        scored = [self._losses(row, items) for row, *items in zip(batch.rows, *units, strict=True)]
        outputs = list(chain.from_iterable(scored))
        levels, strengths = self._scores([one.own for one in outputs])
        scores = levels
        if self.peers:
            scores, _ = self._scores([one.losses for one in outputs])
        columns = zip(outputs, scores, levels, strengths, strict=True)
        found = (
            one._replace(score=score, level=level, strength=strength)
            for one, score, level, strength in columns
        )
        rows = [list(islice(found, len(row))) for row in scored]
        if self.compares:
            return [self._compared(*pair) for pair in zip(batch.rows, rows, strict=True)]
        return rows

    def _scores(self, losses: Sequence[Floats]) -> tuple[list[float], list[float]]:
        """Scores and strengths."""
        strengths = strongest_runs(losses, self.scan.penalty)
        sums = [float(np.maximum(0.0, one).sum()) for one in losses]
        return (strengths + SUM_SHARE * np.array(sums)).tolist(), strengths.tolist()

    def _compared(self, row: Row, outputs: ScoredRow) -> ScoredRow:
        """The outputs of a segment with the median of the others; peers are not judged."""
        found = []
        for number, own in enumerate(outputs[: len(row.hypotheses)]):
            others = (outputs[place] for place in self._peers(row, number))
            levels = {_key(one.text): one.level for one in others if one.target_length}
            levels.pop(_key(own.text), None)
            enough = len(levels) >= MIN_MEDIAN
            found.append(own._replace(usual=median(levels.values()) if enough else None))
        return [*found, *outputs[len(row.hypotheses) :]]

    def judge(self, outputs: Sequence[Losses]) -> list[FoundSegment]:
        """Outputs with their flags, chances and probabilities by this finder."""
        strengths = np.array([one.strength for one in outputs])
        lengths = np.array([len(one.own) for one in outputs])
        is_empty = [
            self.side == "source" and one.target_length == 0 and one.source_length >= MIN_WORDS
            for one in outputs
        ]
        chances = np.where(is_empty, 0.0, self.null.chances(strengths, lengths))
        probabilities = np.minimum(self.null.probabilities(chances), CERTAIN)
        judged = zip(outputs, chances.tolist(), probabilities.tolist(), strict=True)
        return [
            FoundSegment(
                one.score, one.strength, chance, probability, self._is_flagged(one, chance),
                one.words, one.losses, one.own, one.source_length, one.target_length,
                self.null.least_strength(self.false_alarms, len(one.own)),
                self.scan.penalty, self.side,
            )
            for one, chance, probability in judged
        ]  # fmt: skip

    def _is_flagged(self, one: Losses, chance: float) -> bool:
        is_rare = chance <= self.false_alarms
        if one.usual is None or chance == 0:
            return is_rare
        return is_rare and one.level > FLAG_FACTOR * one.usual + FLAG_MARGIN

    def own_losses(self, rows: Sequence[Row], *units: Sequence[CoveredRow]) -> list[Floats]:
        """The losses without peers of the first output of each segment, ``[words]``.

        Args:
            rows: The segments.
            units: What covers their words, for each unit.
        """
        return [self._losses(row, items)[0].own for row, *items in zip(rows, *units, strict=True)]

    def _losses(self, row: Row, items: Sequence[CoveredRow]) -> ScoredRow:
        """The losses of each output of a segment."""
        if self.referenced and not row.references:
            raise DataError("the finder was made for rows with references, or without")
        texts = (*row.hypotheses, *row.peers)
        lengths = [len(self.aligner.tokens(text)) for text in texts]
        peers = [self._peers(row, number) for number in range(len(row.hypotheses))]
        if self.side == "source":
            find = self._of_source
            words = [self.aligner.source_tokens.as_written(row.source or "")] * len(texts)
        else:
            find = partial(self._of_outputs, texts)
            words = list(map(self.aligner.tokens.as_written, texts))
        found = [find(unit, item, peers) for unit, item in zip(self.units, items, strict=True)]
        own, losses = (
            [np.mean(several, axis=0) for several in zip(*kind, strict=True)]
            for kind in zip(*((one.own, one.losses) for one in found), strict=True)
        )
        length = len(items[0].source)
        far = self._far_places(row)
        if self.expects_peers:
            own[: len(peers)] = losses[: len(peers)]
            far |= set(range(len(peers), len(texts)))
        columns = zip(texts, words, losses, own, lengths, strict=True)
        return [
            Losses(text, words, loss, mine, length, size, is_far=place in far)
            for place, (text, words, loss, mine, size) in enumerate(columns)
        ]

    def _of_source(self, unit: Unit, item: CoveredRow, peers: Sequence[list[int]]) -> _UnitLosses:
        """The losses of source words in each output."""
        covered = np.array([*item.hypotheses, *item.peers])
        given = list(item.references)
        if self.referenced:
            own = np.mean(np.sort(given, axis=0), axis=0) - covered
        else:
            own = _unusual(unit, item.source, covered)
        losses = list(own)
        for number, others in enumerate(peers):
            if others:
                # Sorted, because the last digits of a sum depend on the order of peers.
                seen = np.sort([*given, *covered[others]], axis=0)
                loss = np.mean(seen, axis=0) - covered[number]
                losses[number] = loss if self.referenced else loss / PEERS_SPREAD
        return _UnitLosses(list(own), losses)

    def _of_outputs(
        self, texts: Sequence[Segment], unit: Unit, item: CoveredRow, peers: Sequence[list[int]]
    ) -> _UnitLosses:
        """The losses of each output's words; those that few peers have weigh more."""
        words = [unit.aligner.tokens(text) for text in texts]
        own = [_unusual(unit, *pair) for pair in zip(words, item.hypotheses, strict=True)]
        losses = list(own)
        for number, others in enumerate(peers):
            if others:
                said = _share(words[number], [words[other] for other in others])
                losses[number] = own[number] + SAID_WEIGHT * (SAID_SHARE - said)
        return _UnitLosses(own, losses)

    def _peers(self, row: Row, number: int) -> list[int]:
        """The witnesses of a hypothesis, as places among the hypotheses and peers of its row."""
        systems, peers = len(row.hypotheses), len(row.peers)
        far = self._far_places(row) - {number}
        every = [*range(systems, systems + peers), *range(systems)]
        others = [place for place in every if place != number and place not in far][: self.peers]
        if len(others) + len(far) < self.peers:
            raise DataError(
                f"the finder was made for {self.peers} peers, but there are {len(others)}"
            )
        return others

    def _far_places(self, row: Row) -> set[int]:
        """The far outputs, as places among the hypotheses of a row and then its peers."""
        systems, peers = len(row.hypotheses), len(row.peers)
        return {place - peers if place >= peers else place + systems for place in self.far}


class _UnitLosses(NamedTuple):
    """By one unit, the losses of each output's words without peers and with them."""

    own: Sequence[Floats]
    losses: Sequence[Floats]


def _cover_outputs(aligner: Aligner, rows: Iterable[Row]) -> Iterator[CoveredRow]:
    """How far the source covers the words of hypotheses and then peers."""
    outputs = (row._replace(hypotheses=row.hypotheses + row.peers, peers=()) for row in rows)
    return aligner.cover(outputs, "target")


def _key(text: Segment) -> Hashable:
    return text if isinstance(text, str) else tuple(text)


def _unusual(unit: Unit, words: Sequence[str], covered: Floats) -> Floats:
    """The loss of each word against its normal coverage, ``[…, words]``."""
    if unit.normal is None:
        mean, spread = EXPECTED
        return np.asarray((mean - covered) / (spread + MIN_SPREAD))
    means, spreads = unit.normal.of(words)
    return np.asarray((means - covered) / (spreads + MIN_SPREAD))


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
