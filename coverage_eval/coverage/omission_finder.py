"""Finds source words that a hypothesis leaves out, and hypothesis words without a source.

A segment's score is the best run of its words' losses (:mod:`~coverage_eval.coverage.word_losses`),
each minus a penalty, plus a share of the sum of losses:

    score = max over runs of Σ (loss − penalty) + ¼ Σ max(0, loss).

A *flag* is a statement about the best run, its strength: runs as strong are in no more than a share
of complete translations of the same length, the false alarms that the user accepts.
:mod:`~coverage_eval.coverage.null_scores` tells how a model learns this, and how it is adapted to
the text at hand. Where there are outputs of several other systems (peers) and no reference, an
output is flagged only if its score is also above :data:`FLAG_FACTOR` · the median of theirs +
:data:`FLAG_MARGIN`. What all leave uncovered is the segment's doing.

What peers cover sets only the *ranking* of segments: peers show what can be covered, so their mean
coverage joins the expected one, and an addition weighs more if few peers have the word. Peers with
the text of the hypothesis count, too: agreement is evidence. Flags do not use them so, because a
person's translation shares fewer words with systems than they with each other; only where a model
knows no normal coverage, one or more peers are the better expectation.

``notebooks/evidence.md`` tells where the form and the constants come from, and what is lost by
tuning them on one language pair and using them on another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coverage_eval.align.aligner import Aligner, ModelAligner, check_aligner
from coverage_eval.align.checks import AlignedChecks
from coverage_eval.align.rows import SIDES
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
from coverage_eval.core.mark import Mark
from coverage_eval.core.metric import Floats
from coverage_eval.core.tokenizers import Words
from coverage_eval.coverage.null_scores import (
    DEFAULT_FALSE_ALARMS,
    EXPECTED_SHARE,
    LETTER_TOKENIZERS,
    LETTERS,
    WITH_REFERENCES,
    WITHOUT_REFERENCES,
    WordRun,
    disjoint_runs,
    error_probabilities,
)
from coverage_eval.coverage.omission_model import ALONE, REFERENCES, OmissionModel
from coverage_eval.coverage.word_losses import (
    MIN_MEDIAN_TEXTS,
    peer_medians,
    sum_losses,
    text_keys,
    word_losses,
)

if TYPE_CHECKING:
    import pandas as pd

LEFT_OUT = "left out"
ADDED = "added"


MIN_WORDS = 3
"""A source of this many words or more is certainly left out by an output without words."""

CERTAIN = 0.9999
"""The highest probability, that of an output without words, or one that translates none."""

MIN_PEERS = 2
"""From this number on, other systems are peers by default."""

FLAG_FACTOR, FLAG_MARGIN = 1.1, 1.0
"""An output is flagged only if its score is above this factor times the median score of the other
outputs of the segment, plus this margin. Chosen on half of WMT23 en-de with people's labels and on
planted omissions: see ``notebooks/evidence.md``."""


class FoundSegment(NamedTuple):
    """What is found in an output of a segment.

    Attributes:
        words: The words on the side of interest, in the text as the user wrote it.
        losses: The loss of each word by all peers used, ``[words]``; they rank segments and have
            the marks.
        target_length: Number of words of the output.
        score: At least 0, without a unit; greater if more seems to be missing. It ranks segments.
        score_alone: The score without peers.
        strength: The sum of the best run of losses without peers, each minus the penalty.
        peer_median: The median score without peers of other outputs; NaN for too few.
        p_value: The share of complete translations of this length with a run as strong, 0 to 1.
        probability: The probability of an error in a single output with this p-value, 0 to 1.
        is_flagged: Whether an error is stated.
        marks: The runs that are reasons for the flag, from left to right; none without a flag. A
            mark's amount is its strength: the sum of its losses, each minus the penalty.
    """

    words: Words
    losses: Floats
    target_length: int
    score: float
    score_alone: float
    strength: float
    peer_median: float
    p_value: float
    probability: float
    is_flagged: bool
    marks: tuple[Mark, ...]


class FoundSegments(list[FoundSegment]):
    """The findings in a text, a list with a table."""

    def to_frame(self) -> pd.DataFrame:
        """A row per segment, numbered from 1; marks are lists of mappings, characters from 0."""
        import pandas as pd

        return pd.DataFrame(
            {
                "segment": range(1, len(self) + 1),
                "flagged": [segment.is_flagged for segment in self],
                "score": [segment.score for segment in self],
                "probability": [segment.probability for segment in self],
                "p_value": [segment.p_value for segment in self],
                "marks": [[mark.to_dict() for mark in segment.marks] for segment in self],
            }
        )


class ScoredBatch(NamedTuple):
    """The outputs of a batch before they are judged: the systems', then the peers'.

    Attributes:
        losses: The losses of all words of the batch by all peers used, ``[outputs][words]``.
        losses_alone: The losses without peers, which decide the flag.
        sizes: The number of these words, ``[outputs, segments]``.
        lengths: The number of each output's words, ``[outputs, segments]``.
        scores, scores_alone, strengths, peer_medians: As :class:`FoundSegment` has them,
            ``[outputs, segments]``.
    """

    losses: Sequence[Floats]
    losses_alone: Sequence[Floats]
    sizes: NDArray[np.int64]
    lengths: NDArray[np.int64]
    scores: Floats
    scores_alone: Floats
    strengths: Floats
    peer_medians: Floats


def check_finder(aligner: Aligner, false_alarms: float, peers: int | None) -> None:
    """Raise if there can be no finder with these settings; see :class:`OmissionFinder`."""
    if not 0 < false_alarms < 1:
        raise ValueError(f"false_alarms is a share between 0 and 1, not {false_alarms}")
    if peers is not None:
        require_integer("peers", peers, 0)
    if not isinstance(aligner, ModelAligner):
        check_aligner(aligner)
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
        factor: What adapted its rate to a text; None if nothing did.
        error_share: The share of outputs with an error that the text seems to have.
        expects_peers: Whether peers decide flags, because nothing else says what is normally
            covered.
        compares: Whether outputs are flagged against others in segments with enough of them.

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
        self.factor: float | None = None
        self.error_share = EXPECTED_SHARE
        has_normal = self.model.granularities[0].normal is not None
        self.expects_peers = not referenced and peers > 0 and not has_normal
        self.compares = not referenced and peers >= MIN_MEDIAN_TEXTS and not self.expects_peers

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
                texts = {text: n for n, text in enumerate(text_keys(row)) if n not in left_out}
                figures += [
                    (scored.strengths[n, number], scored.sizes[n, number]) for n in texts.values()
                ]
        # Sorted, because the last digits of sums depend on the order of outputs.
        strengths, sizes = np.reshape(sorted(figures), (-1, 2)).T
        finder = copy(self)
        finder.null, finder.factor, finder.error_share = self.null.adapt(strengths, sizes)
        return finder

    def settings(self) -> Mapping[str, object]:
        """The aligner's settings without the symmetrisation, then the finder's."""
        aligner = {k: v for k, v in self.aligner.settings.items() if k != "sym"}
        return {
            **aligner,
            "dir": SIDES[self.side],
            **self.model.settings,
            "text": None if self.factor is None else f"x{self.factor:g}",
            "fa": f"{100 * self.false_alarms:g}%",
            "flag": f"{FLAG_FACTOR:g}*median+{FLAG_MARGIN:g}" if self.compares else None,
        }

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
        found = AlignedChecks(self.aligner).findings(dataset.sample)
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
        for batch in answer_ahead(make_batches(rows), self.requests()):
            if any(bool(row.references) != self.referenced for row in batch.rows):
                raise DataError("the finder was made for rows with references, or without")
            yield batch

    def requests(self) -> list[Request]:
        """The coverages by the model of each granularity."""
        return [
            granularity.aligner.coverages(self.side, references=self.referenced)
            for granularity in self.model.granularities
        ]

    def judge(self, batch: Batch) -> list[tuple[FoundSegment, ...]]:
        """The findings in each segment of a batch, by system, with flags and probabilities.

        Raises:
            DataError: Too few peers.
        """
        scored = self.scored(batch)
        p_values, flags = self.test(scored)
        probabilities = np.minimum(error_probabilities(p_values, self.error_share), CERTAIN)
        words: list[Words] = []
        if self.side == "source":
            words = [self.aligner.source_tokens.locate(row.source or "") for row in batch.rows]
        found = []
        for n, outputs in enumerate(zip(*(row.hypotheses for row in batch.rows), strict=True)):
            if self.side == "target":
                words = list(map(self.aligner.tokens.locate, outputs))
            ends = scored.sizes[n].cumsum()[:-1]
            losses, losses_alone = (
                np.split(each[n], ends) for each in (scored.losses, scored.losses_alone)
            )
            figures = (
                scored.lengths, scored.scores, scored.scores_alone, scored.strengths,
                scored.peer_medians, p_values, probabilities, flags,
            )  # fmt: skip
            marks = (
                self._reasons(*about) if is_flagged else ()
                for is_flagged, *about in zip(
                    flags[n], words, losses, losses_alone, scored.strengths[n], strict=True
                )
            )
            columns = (words, losses, *(each[n].tolist() for each in figures), marks)
            found.append(list(map(FoundSegment, *columns)))
        return list(zip(*found, strict=True))

    def _reasons(
        self, words: Words, losses: Floats, losses_alone: Floats, strength: float
    ) -> tuple[Mark, ...]:
        """The runs that are reasons for a flag: by all peers used, or else without peers."""
        if not len(losses):
            return ()
        found = (disjoint_runs(each - self.scan.penalty) for each in (losses, losses_alone))
        # An output without words may lack runs, where no word is normally covered.
        runs = next(filter(None, found), [WordRun(0, len(losses), float(strength))])
        min_strength = self.null.min_strength(self.false_alarms, len(losses))
        min_strength = min(min_strength, max(run.sum for run in runs))
        side, kind = ("source", LEFT_OUT) if self.side == "source" else ("output", ADDED)
        marks = []
        for run in runs:
            if run.sum >= min_strength:
                mark = Mark.of(words, range(run.start, run.end), side, kind, amount=run.sum)
                marks.append(replace(mark, label=f"{mark}: {run.sum:.2f}"))
        return tuple(marks)

    def test(self, scored: ScoredBatch) -> tuple[Floats, NDArray[np.bool_]]:
        """The p-value of each output of a batch and whether it is flagged, ``[outputs, segments]``.

        The p-value of an output without words is 0.
        """
        p_values = self.null.p_values(scored.strengths, scored.sizes)
        if self.side == "source":
            is_empty = (scored.lengths == 0) & (scored.sizes >= MIN_WORDS)
            p_values = np.where(is_empty, 0.0, p_values)
        # No score is below a median of too few peers, which is NaN.
        is_usual = scored.scores_alone <= FLAG_FACTOR * scored.peer_medians + FLAG_MARGIN
        return p_values, (p_values <= self.false_alarms) & ~(is_usual & (p_values > 0))

    def scored(self, batch: Batch) -> ScoredBatch:
        """The outputs of a batch before they are judged, which are kept with the batch.

        Raises:
            DataError: Too few peers.
        """
        key = ("omissions", id(self.aligner), self.side, self.referenced, self.peers, self.far)
        if key not in batch.computed:
            systems = len(batch.rows[0].hypotheses)
            peers = [self.peers_used(number, batch.rows[0]) for number in range(systems)]
            answers = [batch.get(request) for request in self.requests()]
            pairs = [
                word_losses(granularity, self.side, items, batch.rows, peers)
                for granularity, items in zip(self.model.granularities, answers, strict=True)
            ]
            losses_alone, losses = (
                [np.mean(of_output, axis=0) for of_output in zip(*of_granularities, strict=True)]
                for of_granularities in zip(*pairs, strict=True)
            )
            if self.expects_peers:
                losses_alone[:systems] = losses[:systems]
            lengths = np.array([item.lengths for item in answers[0]]).T
            sizes = lengths
            if self.side == "source":
                sizes = np.broadcast_to([len(item.source) for item in answers[0]], lengths.shape)
            scores_alone, strengths = sum_losses(losses_alone, sizes, self.scan.penalty)
            scores, _ = sum_losses(losses, sizes, self.scan.penalty)
            medians = np.full(lengths.shape, np.nan)
            if self.compares:
                known = np.where(lengths, scores_alone, np.nan)
                medians[:systems] = peer_medians(batch.rows, peers, known)
            scored = ScoredBatch(
                losses, losses_alone, sizes, lengths, scores, scores_alone, strengths, medians
            )
            batch.computed[key] = (scored,)
        found: ScoredBatch = batch.computed[key][0]
        return found

    def peers_used(self, number: int, row: Row) -> list[int]:
        """The peers that show what an output should have: positions among hypotheses, then peers.

        Args:
            number: The output's position among the hypotheses.
            row: Any row of the texts.

        Raises:
            DataError: There are too few peers.
        """
        systems, left_out = len(row.hypotheses), {*self.far} - {number}
        order = (*range(systems, systems + len(row.peers)), *range(systems))  # peers first
        others = [index for index in order if index not in {number, *left_out}][: self.peers]
        if len(others) + len(left_out) < self.peers:
            raise DataError(
                f"the finder was made for {self.peers} peers, but there are {len(others)}"
            )
        return others
