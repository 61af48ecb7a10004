"""What a model's file knows of omissions or additions, and what outputs score by it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coverage_eval.align.aligner import ModelAligner
from coverage_eval.core.batches import Batch, Request, Row
from coverage_eval.core.metric import Floats
from coverage_eval.coverage.coverage_losses import (
    NormalCoverage,
    UnitModel,
    coverage_losses,
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

STEMS = "stems.model"
"""The attachment of a model with the model of stems."""

NORMAL, NULL = "normal.{name}.{side}.json", "null.{side}.json"
"""The attachments with normal coverages, and with what complete translations score."""

REFERENCES, ALONE = "references", "alone"
"""Names of the distributions of complete translations, with references and without."""

MIN_PEERS = 2
"""From this number on, other systems are peers."""


def save_figures(figures: object, path: Path) -> None:
    """Write what a model keeps, as JSON."""
    path.write_text(json.dumps(figures, sort_keys=True), encoding="utf-8")


class ScoredBatch(NamedTuple):
    """What the outputs of the systems score in a batch.

    Attributes:
        losses: The losses of all words of the batch by peers, too, ``[systems][words]``.
        losses_alone: The losses without peers.
        sizes: The number of these words, ``[systems, segments]``.
        lengths: The number of each output's words, ``[systems, segments]``.
        ranks: The scores by peers, too, which rank segments, ``[systems, segments]``.
        scores: The scores without peers, likewise.
        strengths: The best run of losses without peers, each minus the penalty, likewise.
    """

    losses: Sequence[Floats]
    losses_alone: Sequence[Floats]
    sizes: NDArray[np.int64]
    lengths: NDArray[np.int64]
    ranks: Floats
    scores: Floats
    strengths: Floats


@dataclass(frozen=True)
class OmissionModel:
    """What a model's file knows of omissions, or of additions.

    Attributes:
        side: ``source`` for omissions, ``target`` for additions.
        referenced: Whether references show what can be covered.
        units: The model of words, and that of stems if the model was made for omissions.
        constants: The constants of scores.
        nulls: What complete translations score, with ``references`` and ``alone``; empty if it is
            not known.
        settings: What signatures say of it.
    """

    side: str
    referenced: bool
    units: tuple[UnitModel, ...]
    constants: ScoringConstants
    nulls: Mapping[str, NullScores] = field(default_factory=dict)
    settings: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def load(cls, aligner: ModelAligner, side: str, *, referenced: bool = False) -> OmissionModel:
        """Read what a model of words has attached.

        Raises:
            AlignerError, DataError: A damaged model file.
        """
        aligners, names = {"words": aligner}, ["words"]
        stems = aligner.model.attached_model(STEMS)
        if stems is not None:
            # It was trained with the tokenisers of the words, so positions agree.
            aligners["stems"] = ModelAligner(stems, sink=aligner.sink)
            names.append(f"stems:{stems.manifest.hash[:12]}")
        attachments = [*(NORMAL.format(name=name, side=side) for name in aligners)]
        attachments.append(NULL.format(side=side))
        figures, digests = [], []
        for attachment in attachments:
            path = aligner.model.attachment(attachment)
            text = "" if path is None else path.read_text(encoding="utf-8").strip()
            figures.append(json.loads(text or "null"))
            digests.append(sha256(text.encode()).hexdigest()[:8] if text else "")
        *normals, nulls = figures
        return cls(
            side,
            referenced,
            tuple(
                UnitModel(model, NormalCoverage(**normal) if normal else None)
                for model, normal in zip(aligners.values(), normals, strict=True)
            ),
            constants_for(aligner, side, referenced=referenced),
            # Models of earlier versions lack the usual scores, and are as if they had learnt none.
            {
                name: NullScores(**{key: _as_tuple(value) for key, value in null.items()})
                for name, null in (nulls or {}).items()
                if "usual" in null
            },
            {
                "units": "+".join(names),
                "normal": ",".join(filter(None, digests[:-1])) or None,
                "null": digests[-1] or "assumed",
            },
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """It is pickled as the model, whose file has everything."""
        return partial(OmissionModel.load, referenced=self.referenced), (self.aligner, self.side)

    @property
    def aligner(self) -> ModelAligner:
        """The model of words."""
        return self.units[0].aligner

    @property
    def is_prepared(self) -> bool:
        """Whether the model was made for omissions."""
        return self.units[0].normal is not None

    @property
    def null(self) -> NullScores:
        """What complete translations score, as the model has learnt it."""
        return self.nulls.get(REFERENCES if self.referenced else ALONE, self.constants.null)

    def requests(self) -> list[Request]:
        """The coverages by the model of words and that of stems."""
        return [
            unit.aligner.coverages_request(self.side, references=self.referenced)
            for unit in self.units
        ]

    def score(self, batch: Batch) -> ScoredBatch:
        """What the outputs of a batch score, which is kept with the batch."""
        key = ("omissions", id(self.aligner), self.side, self.referenced)
        if key not in batch.computed:
            systems, penalty = len(batch.rows[0].hypotheses), self.constants.penalty
            answers = [batch.get(request) for request in self.requests()]
            pairs = [
                coverage_losses(unit, self.side, items, batch.rows, peers_of(batch.rows[0]))
                for unit, items in zip(self.units, answers, strict=True)
            ]
            losses_alone, losses = (
                [np.mean(of_output, axis=0) for of_output in zip(*of_units, strict=True)][:systems]
                for of_units in zip(*pairs, strict=True)
            )
            lengths = np.array([item.lengths[:systems] for item in answers[0]]).T
            sizes = lengths
            if self.side == "source":
                sizes = np.broadcast_to([len(item.source) for item in answers[0]], lengths.shape)
            scores, strengths = sum_losses(losses_alone, sizes, penalty)
            ranks, _ = sum_losses(losses, sizes, penalty)
            scored = ScoredBatch(losses, losses_alone, sizes, lengths, ranks, scores, strengths)
            batch.computed[key] = (scored,)
        found: ScoredBatch = batch.computed[key][0]
        return found


def constants_for(aligner: ModelAligner, side: str, *, referenced: bool) -> ScoringConstants:
    """The constants of scores by a model of words."""
    if referenced:
        return WITH_REFERENCES
    if side == "source" and aligner.source_tokenizer.name in LETTER_TOKENIZERS:
        return LETTERS
    return WITHOUT_REFERENCES


def peers_of(row: Row) -> list[list[int]]:
    """The other outputs that show what an output should have, by system.

    They are positions among hypotheses and then peers. A single other system is no peer.
    """
    outputs = range(len(row.hypotheses) + len(row.peers))
    if not row.peers and len(row.hypotheses) <= MIN_PEERS:
        return [[] for _ in row.hypotheses]
    return [[other for other in outputs if other != n] for n in range(len(row.hypotheses))]


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
