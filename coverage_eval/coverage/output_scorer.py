"""Scores how much each output of a batch seems to leave out, or to add, by a frozen model.

:mod:`~coverage_eval.coverage.omission_finder` says what a score is, and which are flagged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coverage_eval.align.aligner import ModelAligner
from coverage_eval.core.batches import Batch, Request, Row
from coverage_eval.core.errors import DataError
from coverage_eval.core.metric import Floats
from coverage_eval.coverage.coverage_losses import (
    MIN_MEDIAN_TEXTS,
    by_length,
    coverage_losses,
    peer_medians,
    sum_losses,
)
from coverage_eval.coverage.null_scores import (
    LETTER_TOKENIZERS,
    LETTERS,
    WITH_REFERENCES,
    WITHOUT_REFERENCES,
    NullScores,
    ScoringConstants,
)
from coverage_eval.coverage.omission_model import ALONE, REFERENCES, OmissionModel


class ScoredBatch(NamedTuple):
    """What the outputs of a batch score: the systems', then the peers'.

    Attributes:
        losses: The losses of all words of the batch by all peers used, ``[outputs][words]``.
        losses_alone: The losses without peers, which decide the flag.
        sizes: The number of these words, ``[outputs, segments]``.
        lengths: The number of each output's words, ``[outputs, segments]``.
        scores, scores_alone, strengths: As a ``FoundSegment`` has them, ``[outputs, segments]``.
        peer_medians: Likewise, ``[systems, segments]``.
    """

    losses: Sequence[Floats]
    losses_alone: Sequence[Floats]
    sizes: NDArray[np.int64]
    lengths: NDArray[np.int64]
    scores: Floats
    scores_alone: Floats
    strengths: Floats
    peer_medians: Floats


@dataclass(eq=False)
class OutputScorer:
    """Scores outputs by what a model says of their words, and by what other outputs have.

    The first six attributes are its settings, as of
    :class:`~coverage_eval.coverage.omission_finder.OmissionFinder`; the others follow from them.

    Attributes:
        aligner, side, referenced, peers, outliers: Likewise.
        model: What the aligner's file knows of omissions, or of additions.
        constants: The constants of scores with references, or without, of words or letters.
        null: What complete translations score, as the model has learnt it.
        expects_peers: Whether peers decide flags, because nothing else says what is normally
            covered.
        may_compare: Whether scores of three other outputs may decide flags.
    """

    aligner: ModelAligner
    side: str
    model: OmissionModel
    referenced: bool = False
    peers: int = 0
    outliers: tuple[int, ...] = ()
    constants: ScoringConstants = field(init=False)
    null: NullScores = field(init=False)
    expects_peers: bool = field(init=False)
    may_compare: bool = field(init=False)

    def __post_init__(self) -> None:
        if self.referenced:
            self.constants = WITH_REFERENCES
        elif self.side == "source" and self.aligner.source_tokenizer.name in LETTER_TOKENIZERS:
            self.constants = LETTERS
        else:
            self.constants = WITHOUT_REFERENCES
        learnt = REFERENCES if self.referenced else ALONE
        self.null = self.model.nulls.get(learnt, self.constants.null)
        has_normal = self.model.units[0].normal is not None
        self.expects_peers = not self.referenced and self.peers > 0 and not has_normal
        has_peers = self.peers >= MIN_MEDIAN_TEXTS
        self.may_compare = not (self.referenced or self.expects_peers) and has_peers

    def requests(self) -> list[Request]:
        """The coverages by the model of words and that of stems."""
        return [
            unit.aligner.coverages_request(self.side, references=self.referenced)
            for unit in self.model.units
        ]

    def score(self, batch: Batch) -> ScoredBatch:
        """What the outputs of a batch score, which is kept with the batch.

        Raises:
            DataError: Too few peers.
        """
        key = ("omissions", id(self.aligner), self.side, self.referenced, self.peers, self.outliers)
        if key not in batch.computed:
            systems = len(batch.rows[0].hypotheses)
            peers = [self.peers_used(number, batch.rows[0]) for number in range(systems)]
            answers = [batch.get(request) for request in self.requests()]
            pairs = [
                coverage_losses(unit, self.side, items, batch.rows, peers)
                for unit, items in zip(self.model.units, answers, strict=True)
            ]
            losses_alone, losses = (
                [np.mean(of_output, axis=0) for of_output in zip(*of_units, strict=True)]
                for of_units in zip(*pairs, strict=True)
            )
            if self.expects_peers:
                losses_alone[:systems] = losses[:systems]
            lengths = np.array([item.lengths for item in answers[0]]).T
            sizes = lengths
            if self.side == "source":
                sizes = np.broadcast_to([len(item.source) for item in answers[0]], lengths.shape)
            scores_alone, strengths = sum_losses(losses_alone, sizes, self.constants.penalty)
            scores, _ = sum_losses(losses, sizes, self.constants.penalty)
            if self.side == "source" and self.peers >= MIN_MEDIAN_TEXTS:
                usual = np.array([np.median(lengths[others], axis=0) for others in peers])
                scores[:systems] = by_length(scores[:systems], lengths[:systems], usual)
            medians = np.full((systems, len(batch.rows)), np.nan)
            if self.may_compare:
                medians, usual = peer_medians(batch.rows, peers, scores_alone, lengths)
                if self.side == "source":
                    alone = scores_alone[:systems]
                    scores_alone[:systems] = by_length(alone, lengths[:systems], usual)
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
        systems, left_out = len(row.hypotheses), {*self.outliers} - {number}
        order = (*range(systems, systems + len(row.peers)), *range(systems))  # peers first
        others = [index for index in order if index not in {number, *left_out}][: self.peers]
        if len(others) + len(left_out) < self.peers:
            raise DataError(
                f"the finder was made for {self.peers} peers, but there are {len(others)}"
            )
        return others
