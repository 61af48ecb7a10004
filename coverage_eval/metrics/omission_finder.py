"""Finds source words that a hypothesis leaves out, and hypothesis words without a source.

A word's *loss* is its expected coverage minus its coverage. References and outputs of other systems
(peers) are witnesses of what can be covered: their mean coverage of a word is the expected one.
Without witnesses, a word's normal coverage is expected, and the loss is divided by its spread. To
find additions, the loss of a hypothesis word that the source covers too little grows if few peers
have the word, and shrinks if all have it. A segment's score is the best run of losses, each minus a
penalty, plus a share of the sum of losses:

    score = max over runs of Σ (loss − penalty) + ¼ Σ max(0, loss).

The score ranks segments. A *flag* is a statement about the best run alone, its strength: runs as
strong are in no more than a share of complete translations of the same length, the false alarms
that the user accepts. :mod:`~coverage_eval.metrics.null_scores` tells how a model learns this, and
how it is adapted to the text at hand.

An omission that a system shares with all its peers is not found. Peers with the text of the
hypothesis stay witnesses: agreement is evidence.

``notebooks/evidence.md`` tells where the form and the constants come from, and what is lost by
tuning them on one language pair and using them on another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coverage_eval.alignment.aligner import SIDES, Aligner, CoveredRow, ModelAligner, check_aligner
from coverage_eval.arrays import Floats
from coverage_eval.data.dataset import (
    Batch,
    Dataset,
    Request,
    Row,
    answer_ahead,
    make_batches,
)
from coverage_eval.data.input_checks import warn_of
from coverage_eval.errors import DataError, require_flag, require_integer
from coverage_eval.metrics.coverage_losses import (
    NormalCoverage,
    WordRun,
    disjoint_runs,
)
from coverage_eval.metrics.evaluation import ONE_SYSTEM
from coverage_eval.metrics.mark import Mark, places
from coverage_eval.metrics.null_scores import (
    DEFAULT_FALSE_ALARMS,
    NullScores,
    digest_of,
    load_nulls,
    strongest_runs,
)
from coverage_eval.metrics.text_checks import check_inputs

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


def null_name(side: str) -> str:
    """The attachment of a model with what complete translations score."""
    return f"null.{side}.json"


def witnesses(*, referenced: bool, peers: int) -> str:
    """A name of kinds of witnesses, such as ``references.peers2``; ``alone`` for none."""
    kinds = ["references"] * referenced + [f"peers{peers}"] * bool(peers)
    return ".".join(kinds) or "alone"


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

NULL_PEERS = (0, 1, 2, 3, 8)
"""Numbers of peers for which a model learns what complete translations score."""

MIN_OTHERS = 2
"""From this number on, other systems are witnesses by default."""


class Losses(NamedTuple):
    """What a segment seems to lack, before it is judged; see :class:`FoundSegment`."""

    words: Sequence[str]
    losses: Floats
    source_length: int
    target_length: int
    strength: float = 0.0


@dataclass(frozen=True)
class FoundSegment:
    """The findings in a segment.

    Attributes:
        score: At least 0, without a unit; greater if more seems to be missing. It ranks segments.
        strength: The sum of the best run of losses, each minus the penalty, at least 0.
        chance: The share of complete translations of this length with a run as strong, 0 to 1.
        words: The words on the side of interest.
        losses: The loss of each word, ``[words]``.
        source_length: Number of words of the source.
        target_length: Number of words of the hypothesis.
        probability: The probability of an error, 0 to 1.
        peers: Number of peers that were used.
        false_alarms: The greatest chance that is flagged.
        least_strength: The least strength that is flagged at this length.
        penalty: What is subtracted from each loss.
        side: ``source`` for omissions, ``target`` for additions.
    """

    score: float
    strength: float
    chance: float
    words: Sequence[str]
    losses: Floats
    source_length: int
    target_length: int
    probability: float
    peers: int
    false_alarms: float
    least_strength: float
    penalty: float
    side: str

    @property
    def is_flagged(self) -> bool:
        """Whether so strong a run is no more frequent than the false alarms that are accepted."""
        return self.chance <= self.false_alarms

    @cached_property
    def marks(self) -> tuple[Mark, ...]:
        """The runs that are reasons for the flag, from left to right; none without a flag.

        A mark's amount is its strength: the sum of its losses, each minus the penalty.
        """
        if not self.is_flagged or not len(self.losses):
            return ()
        runs = disjoint_runs(self.losses - self.penalty)
        strongest = max((run.sum for run in runs), default=0.0)
        listed = [run for run in runs if run.sum >= min(self.least_strength, strongest)]
        # An output without words may lack runs, where no word is normally covered.
        return tuple(map(self._mark, listed or [WordRun(0, len(self.losses), self.strength)]))

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
        nulls: What complete translations score, by :func:`witnesses`; empty if it is not known.
        false_alarms: The share of complete translations that may be flagged, 0 to 1.
        adapted: What complete translations of the text at hand score, with these witnesses; None
            for what the model has learnt.
    """

    units: tuple[Unit, ...]
    side: str = "source"
    referenced: bool = False
    peers: int = 0
    nulls: Mapping[str, NullScores] = field(default_factory=dict)
    false_alarms: float = DEFAULT_FALSE_ALARMS
    adapted: NullScores | None = None

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
        """What complete translations score with these witnesses."""
        if self.adapted is not None:
            return self.adapted
        learnt = [count for count in NULL_PEERS if count <= self.peers]
        for count in reversed(learnt):
            found = self.nulls.get(witnesses(referenced=self.referenced, peers=count))
            if found is not None:
                return found
        return self.scan.null

    def adapt(self, strengths: Floats, lengths: Floats) -> OmissionFinder:
        """This finder, adapted to a text.

        Args:
            strengths: The strength of each segment by each system, ``[outputs]``.
            lengths: Words on the side of interest, ``[outputs]``.
        """
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
        }

    def find_texts(
        self,
        hypotheses: Sequence[str],
        sources: Sequence[str],
        references: Sequence[str] | None = None,
        peers: Sequence[Sequence[str]] = (),
    ) -> FoundSegments:
        """As :meth:`find`, for lists of segments, adapted to them; warns if texts look wrong."""
        dataset = Dataset.of_lists({ONE_SYSTEM: hypotheses}, references, sources, peers)
        found = list(self.find(dataset.rows()))
        warn_of(check_inputs(dataset, aligner=self.aligner)[0])
        strengths = np.array([one.strength for one in found])
        lengths = np.array([len(one.losses) for one in found])
        return FoundSegments(self.adapt(strengths, lengths).judge(found))

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
        return self.judge_rows(self.score_batch(batch))

    def score_batch(self, batch: Batch) -> list[tuple[Losses, ...]]:
        """The findings of :meth:`find_batch`, to be judged.

        Raises:
            DataError: Missing references, or too few peers.
        """
        units = [batch.get(request) for request in self.requests()]
        drafts = self.losses(batch.rows, *units)
        strengths = strongest_runs([draft.losses for draft in drafts], self.scan.penalty)
        pairs = zip(drafts, strengths.tolist(), strict=True)
        found = (draft._replace(strength=strength) for draft, strength in pairs)
        return [tuple(islice(found, len(row.hypotheses))) for row in batch.rows]

    def judge_rows(self, rows: Sequence[tuple[Losses, ...]]) -> list[tuple[FoundSegment, ...]]:
        """As :meth:`judge`, for each segment by system."""
        judged = iter(self.judge(chain.from_iterable(rows)))
        return [tuple(islice(judged, len(row))) for row in rows]

    def judge(self, segments: Iterable[Losses | FoundSegment]) -> list[FoundSegment]:
        """Segments with their scores, chances and probabilities by this finder."""
        segments = list(segments)
        if not segments:
            return []
        strengths = np.array([one.strength for one in segments])
        lengths = np.array([len(one.losses) for one in segments])
        is_empty = np.array(
            [one.target_length == 0 and one.source_length >= MIN_WORDS for one in segments]
        ) & (self.side == "source")
        chances = np.where(is_empty, 0.0, self.null.chances(strengths, lengths))
        probabilities = self.null.probabilities(chances)
        probabilities = np.where(is_empty, CERTAIN, np.minimum(probabilities, CERTAIN))
        judged = zip(segments, chances.tolist(), probabilities.tolist(), strict=True)
        return [
            FoundSegment(
                one.strength + SUM_SHARE * float(np.maximum(0.0, one.losses).sum()),
                one.strength, chance, one.words, one.losses, one.source_length, one.target_length,
                probability, self.peers, self.false_alarms,
                self.null.least_strength(self.false_alarms, len(one.losses)),
                self.scan.penalty, self.side,
            )
            for one, chance, probability in judged
        ]  # fmt: skip

    def losses(self, rows: Sequence[Row], *units: Sequence[CoveredRow]) -> list[Losses]:
        """The losses of each segment by each system, row by row.

        Args:
            rows: The segments.
            units: What covers their words, for each unit.

        Raises:
            DataError: Missing references, or too few peers.
        """
        drafts: list[Losses] = []
        alone: list[list[tuple[Sequence[str], Floats]]] = [[] for _ in units]
        for row, *items in zip(rows, *units, strict=True):
            if self.referenced and not row.references:
                raise DataError("the finder was made for rows with references, or without")
            for number, length in enumerate(items[0].lengths):
                peers = self._peers(row, number)
                words: list[Sequence[str]] = []
                losses = []
                for place, (unit, item) in enumerate(zip(self.units, items, strict=True)):
                    covered = item.hypotheses[number]
                    if self.side == "target":
                        words.append(unit.aligner.tokens(row.hypotheses[number]))
                        alone[place].append((words[-1], covered))
                        if peers:
                            texts = [*row.peers, *row.hypotheses]
                            said = [unit.aligner.tokens(texts[other]) for other in peers]
                            losses.append(SAID_WEIGHT * (SAID_SHARE - _share(words[-1], said)))
                        continue
                    words.append(item.source)
                    others = (*item.peers, *item.hypotheses)
                    seen = [*item.references, *(others[other] for other in peers)]
                    if not seen:
                        alone[place].append((item.source, covered))
                        continue
                    # Sorted, because the last digits of a sum depend on the order of peers.
                    loss = np.mean(np.sort(seen, axis=0), axis=0) - covered
                    losses.append(loss if self.referenced else loss / PEERS_SPREAD)
                lost = np.mean(losses, axis=0) if losses else np.zeros(len(words[0]))
                drafts.append(Losses(words[0], lost, len(items[0].source), length))
        if not alone[0]:
            return drafts
        # Words without witnesses, or of outputs, lose against their normal coverage.
        unusual = np.mean([_unusual(*pair) for pair in zip(self.units, alone, strict=True)], axis=0)
        ends = np.cumsum([len(draft.losses) for draft in drafts])[:-1]
        return [
            draft._replace(losses=draft.losses + more)
            for draft, more in zip(drafts, np.split(unusual, ends), strict=True)
        ]

    def _peers(self, row: Row, number: int) -> list[int]:
        """The witnesses of a hypothesis, as places among the peers and hypotheses of its row."""
        own = len(row.peers) + number
        every = range(len(row.peers) + len(row.hypotheses))
        far = {place for place in every if place in row.far and place != own}
        others = [place for place in every if place != own and place not in far][: self.peers]
        if len(others) + len(far) < self.peers:
            raise DataError(
                f"the finder was made for {self.peers} peers, but there are {len(others)}"
            )
        return others


def _unusual(unit: Unit, segments: Sequence[tuple[Sequence[str], Floats]]) -> Floats:
    """The loss of each word of some segments against its normal coverage, in one array."""
    covered = np.concatenate([coverages for _, coverages in segments])
    if unit.normal is None:
        mean, spread = EXPECTED
        return np.asarray((mean - covered) / (spread + MIN_SPREAD))
    means, spreads = unit.normal.of(list(chain.from_iterable(words for words, _ in segments)))
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
