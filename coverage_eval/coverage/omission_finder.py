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
from copy import copy
from dataclasses import dataclass
from itertools import chain
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coverage_eval.align.aligner import SIDES, Aligner, CoveredRow, ModelAligner, check_aligner
from coverage_eval.align.checks import check_aligned
from coverage_eval.core.batches import (
    ONE_SYSTEM,
    Batch,
    Request,
    Row,
    Texts,
    answer_ahead,
    make_batches,
)
from coverage_eval.core.checks import combine_findings
from coverage_eval.core.errors import DataError, require_flag, require_integer, warn_of
from coverage_eval.core.mark import Mark, places
from coverage_eval.core.metric import Floats
from coverage_eval.coverage.null_scores import (
    ALONE,
    DEFAULT_FALSE_ALARMS,
    REFERENCES,
    NullScores,
    OmissionModel,
    Unit,
    WordRun,
    disjoint_runs,
    strongest_runs,
)

if TYPE_CHECKING:
    import pandas as pd

LEFT_OUT = "left out"
ADDED = "added"

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


class FoundSegment(NamedTuple):
    """What is found in an output of a segment.

    Attributes:
        words: The words on the side of interest, as the user wrote them.
        losses: The loss of each word by all witnesses, ``[words]``; they rank segments and have the
            marks.
        target_length: Number of words of the output.
        score: At least 0, without a unit; greater if more seems to be missing. It ranks segments.
        level: The score without peers.
        strength: The sum of the best run of losses without peers, each minus the penalty.
        usual: The median level of other outputs of the segment; NaN for too few.
        chance: The share of complete translations of this length with a run as strong, 0 to 1.
        probability: The probability of an error in a single output with this chance, 0 to 1.
        is_flagged: Whether an error is stated.
        marks: The runs that are reasons for the flag, from left to right; none without a flag. A
            mark's amount is its strength: the sum of its losses, each minus the penalty.
    """

    words: Sequence[str]
    losses: Floats
    target_length: int
    score: float
    level: float
    strength: float
    usual: float
    chance: float
    probability: float
    is_flagged: bool
    marks: tuple[Mark, ...]


class FoundSegments(list[FoundSegment]):
    """The findings in a text, a list with a table."""

    def to_frame(self) -> pd.DataFrame:
        """A row per segment, numbered from 1; marks are lists of mappings, positions from 0."""
        import pandas as pd

        return pd.DataFrame(
            {
                "segment": range(1, len(self) + 1),
                "flagged": [segment.is_flagged for segment in self],
                "score": [segment.score for segment in self],
                "probability": [segment.probability for segment in self],
                "chance": [segment.chance for segment in self],
                "marks": [[mark.to_dict() for mark in segment.marks] for segment in self],
            }
        )


class ScoredBatch(NamedTuple):
    """The outputs of a batch before they are judged: the systems', then the peers'.

    Attributes:
        losses: The losses of all words of the batch by all witnesses, ``[outputs][words]``.
        own: The same without peers; they decide the flag.
        sizes: The number of these words, ``[outputs, segments]``.
        lengths: The number of each output's words, ``[outputs, segments]``.
        scores, levels, strengths, usual: As :class:`FoundSegment` has them,
            ``[outputs, segments]``.
    """

    losses: Sequence[Floats]
    own: Sequence[Floats]
    sizes: NDArray[np.int64]
    lengths: NDArray[np.int64]
    scores: Floats
    levels: Floats
    strengths: Floats
    usual: Floats


def check_finder(aligner: Aligner, false_alarms: float, peers: int | None) -> None:
    """Raise if there can be no finder with these settings; see :class:`OmissionFinder`."""
    if not 0 < false_alarms < 1:
        raise ValueError(f"false_alarms is a share between 0 and 1, not {false_alarms}")
    if peers is not None:
        require_integer("peers", peers, 0)
    check_aligner(aligner)
    if not isinstance(aligner, ModelAligner):
        raise DataError("omissions need a model: links from files have no probabilities")


class OmissionFinder:
    """Finds omissions, or additions, with a frozen model.

    >>> sources = ["ein haus", "das haus", "ein hund", "das tier"] * 20
    >>> targets = ["a house", "the house", "a dog", "the animal"] * 20
    >>> with Aligner.train(sources, targets) as aligner:
    ...     found = OmissionFinder(aligner).find_texts(["the house"], ["das haus ein hund"])
    >>> print(*found[0].marks)
    ein hund at 3-4: 1.90

    Args:
        aligner: Any model; a model made for omissions finds more.
        side: ``source`` for omissions, ``target`` for additions.
        referenced: Whether references show what can be covered, for omissions only.
        peers: Number of outputs used, of the peers of a row and then its other hypotheses.
        false_alarms: The share of complete translations that may be flagged, 0 to 1.
        far: Positions, among hypotheses and then peers, of outputs that do not show what others
            should have.
        model: What the model's file knows; by default it is read.

    Attributes:
        scan: The constants for scoring with references, or without, in words or letters.
        null: What complete translations score: as the model has learnt it, or adapted to a text.
        is_adapted: Whether it is adapted.

    Raises:
        DataError: Links instead of a model, or a damaged model file.
        TypeError: No aligner, or ``referenced`` is neither True nor False.
        ValueError: An unknown side, additions with references, or an impossible share.
    """

    def __init__(
        self,
        aligner: Aligner,
        side: str = "source",
        *,
        referenced: bool = False,
        peers: int = 0,
        false_alarms: float = DEFAULT_FALSE_ALARMS,
        far: Sequence[int] = (),
        model: OmissionModel | None = None,
    ) -> None:
        if side not in SIDES:
            raise ValueError(f"side is one of {', '.join(SIDES)}, not {side!r}")
        require_flag("referenced", referenced)
        if referenced and side == "target":
            raise ValueError("additions are found without references")
        check_finder(aligner, false_alarms, peers)
        assert isinstance(aligner, ModelAligner)
        self.aligner, self.side = aligner, side
        self.referenced, self.peers, self.far = referenced, peers, tuple(far)
        self.false_alarms = false_alarms
        self.model = model or OmissionModel.load(aligner, side)
        self.scan = WITH_REFERENCES if referenced else WITHOUT_REFERENCES
        if not referenced and side == "source" and aligner.source_tokens.name in LETTER_TOKENIZERS:
            self.scan = LETTERS
        self.null = self.model.nulls.get(REFERENCES if referenced else ALONE, self.scan.null)
        self.is_adapted = False

    def adapted(self, batches: Iterable[Batch]) -> OmissionFinder:
        """This finder, adapted to what the outputs of a text score.

        Equal outputs of a segment count once.
        """
        figures = []
        for batch in batches:
            scored, left_out = self.scored(batch), set(self.far)
            if self.expects_peers:  # theirs are scores without peers
                left_out |= set(range(len(batch.rows[0].hypotheses), len(scored.scores)))
            for number, row in enumerate(batch.rows):
                texts = {text: n for n, text in enumerate(_keys(row)) if n not in left_out}
                figures += [
                    (scored.strengths[n, number], scored.sizes[n, number]) for n in texts.values()
                ]
        strengths, sizes = np.reshape(figures, (-1, 2)).T
        finder = copy(self)
        finder.null, finder.is_adapted = self.null.fit(strengths, sizes), True
        return finder

    def settings(self) -> Mapping[str, object]:
        """The aligner's settings without the symmetrisation, then the finder's."""
        aligner = {k: v for k, v in self.aligner.settings.items() if k != "sym"}
        return {
            **aligner,
            "dir": SIDES[self.side],
            **self.model.settings,
            "text": f"x{self.null.factor:g}" if self.is_adapted else None,
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
        return not self.referenced and self.peers > 0 and self.model.units[0].normal is None

    def find_texts(
        self,
        hypotheses: Sequence[str],
        sources: Sequence[str],
        references: Sequence[str] | None = None,
        peers: Sequence[Sequence[str]] = (),
    ) -> FoundSegments:
        """As :meth:`find`, for lists of segments, adapted to them; warns if texts look wrong."""
        dataset = Texts.from_lists({ONE_SYSTEM: hypotheses}, references, sources, peers)
        segments = self.find_adapted(dataset.rows())
        found, _ = check_aligned(dataset.sample, self.aligner)
        warn_of(combine_findings(found, dataset.sample.source))
        return segments

    def find_adapted(self, rows: Iterable[Row]) -> FoundSegments:
        """As :meth:`find`, adapted to these segments."""
        batches = list(self._covered(rows))
        finder = self.adapted(batches)
        return FoundSegments(found for batch in batches for found, *_ in finder.judge(batch))

    def find(self, rows: Iterable[Row]) -> Iterator[FoundSegment]:
        """Search segments one by one, in constant memory.

        Args:
            rows: Segments with a source, one hypothesis, and the references and peers that the
                finder was made for.

        Raises:
            DataError: No source, missing or unexpected references, or too few peers.
            AlignerError: The aligner failed.
        """
        for batch in self._covered(rows):
            yield from (found for found, *_ in self.judge(batch))

    def _covered(self, rows: Iterable[Row]) -> Iterator[Batch]:
        """The rows in batches, with what covers their words."""
        for batch in answer_ahead(make_batches(rows), self.coverages()):
            if any(bool(row.references) != self.referenced for row in batch.rows):
                raise DataError("the finder was made for rows with references, or without")
            yield batch

    def coverages(self) -> list[Request]:
        """The coverages by the model of each unit."""
        return [
            unit.aligner.coverages(self.side, references=self.referenced)
            for unit in self.model.units
        ]

    def judge(self, batch: Batch) -> list[tuple[FoundSegment, ...]]:
        """The findings in each segment of a batch, by system, with flags and probabilities.

        Raises:
            DataError: Too few peers.
        """
        scored, flags = self.scored(batch), self.flags(batch)
        chances = self._chances(scored)
        probabilities = np.minimum(self.null.probabilities(chances), CERTAIN)
        sources = [row.source or "" for row in batch.rows]
        of_source = self.side == "source"
        tokens = self.aligner.source_tokens if of_source else self.aligner.tokens
        found = []
        for n, outputs in enumerate(zip(*(row.hypotheses for row in batch.rows), strict=True)):
            words = list(map(tokens.as_written, sources if of_source else outputs))
            ends = scored.sizes[n].cumsum()[:-1]
            losses, own = np.split(scored.losses[n], ends), np.split(scored.own[n], ends)
            figures = (
                scored.lengths, scored.scores, scored.levels, scored.strengths, scored.usual,
                chances, probabilities, flags,
            )  # fmt: skip
            marks = (
                self._reasons(*about) if is_flagged else ()
                for is_flagged, *about in zip(
                    flags[n], words, losses, own, scored.strengths[n], strict=True
                )
            )
            columns = (words, losses, *(each[n].tolist() for each in figures), marks)
            found.append(list(map(FoundSegment, *columns)))
        return list(zip(*found, strict=True))

    def _reasons(
        self, words: Sequence[str], losses: Floats, own: Floats, strength: float
    ) -> tuple[Mark, ...]:
        """The runs that are reasons for a flag: by all witnesses, or else without peers."""
        if not len(losses):
            return ()
        found = (disjoint_runs(each - self.scan.penalty) for each in (losses, own))
        # An output without words may lack runs, where no word is normally covered.
        runs = next(filter(None, found), [WordRun(0, len(losses), float(strength))])
        least = self.null.least_strength(self.false_alarms, len(losses))
        least = min(least, max(run.sum for run in runs))
        side, kind = ("source", LEFT_OUT) if self.side == "source" else ("output", ADDED)
        marks = []
        for run in runs:
            if run.sum >= least:
                positions = tuple(range(run.start, run.end))
                text = " ".join(words[run.start : run.end])
                said = f"{text} at {places(positions)}: {run.sum:.2f}"
                marks.append(Mark(side, positions, kind, text, run.sum, said=said))
        return tuple(marks)

    def _chances(self, scored: ScoredBatch) -> Floats:
        """The chance of each output of each segment; 0 for an output without words."""
        chances = self.null.chances(scored.strengths, scored.sizes)
        is_empty = (scored.lengths == 0) & (scored.sizes >= MIN_WORDS)
        return np.where(is_empty, 0.0, chances) if self.side == "source" else chances

    def flags(self, batch: Batch) -> NDArray[np.bool_]:
        """Whether an error is stated in each segment of a batch, ``[systems, segments]``.

        Raises:
            DataError: Too few peers.
        """
        scored = self.scored(batch)
        chances = self._chances(scored)
        # Where others tell no usual level, which is NaN then, none is below it.
        is_usual = scored.levels <= FLAG_FACTOR * scored.usual + FLAG_MARGIN
        flags = (chances <= self.false_alarms) & ~(is_usual & (chances > 0))
        return flags[: len(batch.rows[0].hypotheses)]

    def scored(self, batch: Batch) -> ScoredBatch:
        """The outputs of a batch before they are judged, which are kept with the batch.

        Raises:
            DataError: Too few peers.
        """
        key = ("omissions", id(self.aligner), self.side, self.referenced, self.peers, self.far)
        if key not in batch.computed:
            batch.computed[key] = (self._score(batch),)
        scored: ScoredBatch = batch.computed[key][0]
        return scored

    def _score(self, batch: Batch) -> ScoredBatch:
        units = [batch.get(request) for request in self.coverages()]
        systems = len(batch.rows[0].hypotheses)
        witnesses = [self.peers_used(number, batch.rows[0]) for number in range(systems)]
        by_unit = [
            self._losses(*unit, batch.rows, witnesses)
            for unit in zip(self.model.units, units, strict=True)
        ]
        own, losses = (list(map(_mean, *side)) for side in zip(*by_unit, strict=True))
        if self.expects_peers:
            own[:systems] = losses[:systems]
        lengths = np.array([item.lengths for item in units[0]]).T
        sizes = lengths
        if self.side == "source":
            sizes = np.broadcast_to([len(item.source) for item in units[0]], lengths.shape)
        levels, strengths = self._sums(own, sizes)
        scores, _ = self._sums(losses, sizes)
        usual = self._usual_levels(batch.rows, witnesses, np.where(lengths, levels, np.nan))
        return ScoredBatch(losses, own, sizes, lengths, scores, levels, strengths, usual)

    def _sums(self, losses: Sequence[Floats], sizes: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """The scores by the words' losses, and the strengths, ``[outputs, segments]``."""
        outputs = list(zip(losses, sizes, strict=True))
        strengths = np.array([strongest_runs(*each, self.scan.penalty) for each in outputs])
        sums = [
            [part.sum() for part in np.split(np.maximum(0.0, each), lengths.cumsum()[:-1])]
            for each, lengths in outputs
        ]
        return strengths + SUM_SHARE * np.array(sums), strengths

    def _usual_levels(
        self, rows: Sequence[Row], witnesses: Sequence[list[int]], levels: Floats
    ) -> Floats:
        """The median level of the different texts beside each output; NaN for too few.

        Levels are NaN for outputs without words, which say nothing.
        """
        usual = np.full(levels.shape, np.nan)
        for segment, row in enumerate(rows if self.compares else ()):
            texts = _keys(row)
            for place, others in enumerate(witnesses):
                different = {
                    texts[other]: levels[other, segment]
                    for other in others
                    if texts[other] != texts[place] and not np.isnan(levels[other, segment])
                }
                if len(different) >= MIN_MEDIAN:
                    usual[place, segment] = median(different.values())
        return usual

    def _losses(
        self,
        unit: Unit,
        items: Sequence[CoveredRow],
        rows: Sequence[Row],
        witnesses: Sequence[list[int]],
    ) -> tuple[list[Floats], list[Floats]]:
        """The losses of words in each output, ``[words]``: without peers, and by all witnesses.

        Words of outputs that few peers have weigh more.
        """
        given = _together(item.references for item in items)
        covered = _together(item.outputs for item in items)
        words: list[list[Sequence[str]]] = []
        if given:
            own = list(np.mean(np.sort(given, axis=0), axis=0) - covered)
        elif self.side == "source":
            own = list(_unusual(unit, (item.source for item in items), np.array(covered)))
        else:
            texts = zip(*(row.hypotheses + row.peers for row in rows), strict=True)
            words = [list(map(unit.aligner.tokens, column)) for column in texts]
            own = [_unusual(unit, *pair) for pair in zip(words, covered, strict=True)]
        losses = list(own)
        for number, others in enumerate(witnesses):
            if others and self.side == "source":
                # Sorted, because the last digits of a sum depend on the order of peers.
                seen = np.sort([*given, *(covered[other] for other in others)], axis=0)
                loss = np.mean(seen, axis=0) - covered[number]
                losses[number] = loss if given else loss / PEERS_SPREAD
            elif others:
                peers = zip(*(words[other] for other in others), strict=True)
                said = np.concatenate(list(map(_share, words[number], peers)))
                losses[number] = own[number] + SAID_WEIGHT * (SAID_SHARE - said)
        return own, losses

    def peers_used(self, number: int, row: Row) -> list[int]:
        """The witnesses of a system, as places among the hypotheses and then the peers of a row.

        Raises:
            DataError: There are too few peers.
        """
        if not self.peers:
            return []
        systems, left_out = len(row.hypotheses), {*self.far} - {number}
        order = (*range(systems, systems + len(row.peers)), *range(systems))  # given peers first
        others = [place for place in order if place not in {number, *left_out}][: self.peers]
        if len(others) + len(left_out) < self.peers:
            raise DataError(
                f"the finder was made for {self.peers} peers, but there are {len(others)}"
            )
        return others


def _keys(row: Row) -> list[Hashable]:
    """The outputs of a segment, the systems' and then the peers', to tell equal ones."""
    texts = row.hypotheses + row.peers
    return [text if isinstance(text, str) else tuple(text) for text in texts]


def _together(rows: Iterable[Sequence[Floats]]) -> list[Floats]:
    """The coverages by each text, ``[words]`` of a batch, from those of each segment."""
    return [np.concatenate(segments) for segments in zip(*rows, strict=True)]


def _mean(*losses: Floats) -> Floats:
    """The mean of the losses by several units; NumPy's takes ten times as long for two."""
    return sum(losses[1:], losses[0]) / len(losses)


def _unusual(unit: Unit, segments: Iterable[Sequence[str]], covered: Floats) -> Floats:
    """The loss of each word against its normal coverage, ``[…, words]``."""
    words = list(chain.from_iterable(segments))
    mean, spread = EXPECTED if unit.normal is None else unit.normal.of(words)
    return np.asarray((mean - covered) / (spread + MIN_SPREAD))


def _share(words: Sequence[str], others: Sequence[Sequence[str]]) -> Floats:
    """For each word, the share of texts that have it as often as the words up to here do."""
    counts = [Counter(text) for text in others]
    so_far: Counter[str] = Counter()
    shares = np.zeros(len(words))
    for position, word in enumerate(words):
        so_far[word] += 1
        shares[position] = sum(count[word] >= so_far[word] for count in counts) / len(counts)
    return shares
