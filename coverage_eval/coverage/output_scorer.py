"""Scores how much each output of a batch seems to leave out, or to add, by a frozen model.

:mod:`~coverage_eval.coverage.omission_finder` says what a score is, and judges it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coverage_eval.align.aligner import Aligner, ModelAligner, check_aligner
from coverage_eval.align.rows import SIDES
from coverage_eval.core.batches import Batch, Request, Row
from coverage_eval.core.errors import DataError, require_flag, require_integer
from coverage_eval.core.metric import Floats
from coverage_eval.coverage.coverage_losses import (
    MIN_MEDIAN_TEXTS,
    by_length,
    coverage_losses,
    peer_medians,
    sum_losses,
)
from coverage_eval.coverage.null_scores import (
    EXPECTED_SHARE,
    LETTER_TOKENIZERS,
    LETTERS,
    WITH_REFERENCES,
    WITHOUT_REFERENCES,
    Adapted,
)
from coverage_eval.coverage.omission_model import ALONE, REFERENCES, OmissionModel


class ScoredBatch(NamedTuple):
    """The outputs of a batch before they are judged: the systems', then the peers'.

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


def check_finder(aligner: Aligner, peers: int | None) -> None:
    """Raise if there can be no finder with these settings; see :class:`OutputScorer`."""
    if peers is not None:
        require_integer("peers", peers, 0)
    if not isinstance(aligner, ModelAligner):
        check_aligner(aligner)
        raise DataError("omissions need a model: links from files have no probabilities")


class OutputScorer:
    """Scores outputs by what a model says of their words, and by what other outputs have.

    Arguments and errors are those of
    :class:`~coverage_eval.coverage.omission_finder.OmissionFinder`.

    Attributes:
        scan, null, adaptations, expects_peers, compares: Likewise.
        may_compare: Whether scores of three other outputs may decide flags.
    """

    def __init__(
        self,
        aligner: Aligner,
        side: str = "source",
        *,
        referenced: bool = False,
        peers: int = 0,
        outliers: Sequence[int] = (),
        model: OmissionModel | None = None,
    ) -> None:
        if side not in SIDES:
            raise ValueError(f"side is one of {', '.join(SIDES)}, not {side!r}")
        require_flag("referenced", referenced)
        if referenced and side == "target":
            raise ValueError("additions are found without references")
        check_finder(aligner, peers)
        assert isinstance(aligner, ModelAligner)
        self.aligner, self.side = aligner, side
        self.referenced, self.peers, self.outliers = referenced, peers, tuple(outliers)
        self.model = model or OmissionModel.load(aligner, side)
        self.constants = WITH_REFERENCES if referenced else WITHOUT_REFERENCES
        if (
            not referenced
            and side == "source"
            and aligner.source_tokenizer.name in LETTER_TOKENIZERS
        ):
            self.constants = LETTERS
        self.null = self.model.nulls.get(REFERENCES if referenced else ALONE, self.constants.null)
        self.adaptations: tuple[Adapted, ...] = (Adapted(self.null, 1.0, EXPECTED_SHARE, 0),)
        has_normal = self.model.units[0].normal is not None
        self.expects_peers = not referenced and peers > 0 and not has_normal
        self.may_compare = not (referenced or self.expects_peers) and peers >= MIN_MEDIAN_TEXTS
        self.compares = self.may_compare

    def requests(self) -> list[Request]:
        """The coverages by the model of words and that of stems."""
        return [
            unit.aligner.coverages_request(self.side, references=self.referenced)
            for unit in self.model.units
        ]

    def scored(self, batch: Batch) -> ScoredBatch:
        """The outputs of a batch before they are judged, which are kept with the batch.

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
                [np.mean(of_output, axis=0) for of_output in zip(*of_granularities, strict=True)]
                for of_granularities in zip(*pairs, strict=True)
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
