"""Percentage of segments in which something is left out, or added, by a finder's flags."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from coverage_eval.core.batches import Batch, Request, Row, RowSample, answer_ahead
from coverage_eval.core.errors import Finding
from coverage_eval.core.mark import Explanation, Mark, MarkKind, Wording, places
from coverage_eval.core.measure import TextMetric
from coverage_eval.core.metric import Floats, Formula, Measure, Signature, Statistics
from coverage_eval.coverage.omission_finder import (
    ADDED,
    CERTAIN,
    LEFT_OUT,
    MIN_OTHERS,
    FoundSegment,
    OmissionFinder,
)
from coverage_eval.documents.metrics import (
    EXTRA_KINDS,
    MISSING_KINDS,
    SENTENCE,
    extra_marks,
    match_of,
    missing_marks,
)
from coverage_eval.outputs.habits import find_far_outputs
from coverage_eval.outputs.named import NamedErrors, learn_named

_LOSS_DIGITS = 4


@dataclass(frozen=True)
class Omissions(OmissionFinder, TextMetric):
    """Percentage of segments that are flagged for an omission, or that translate nothing.

    Outputs without words, copies of the source, refusals and other languages count, whatever their
    words cover. The score of a segment is the finder's score, not a sum of statistics.

    Args:
        aligner: The model.
        false_alarms: The share of complete translations that may be flagged, 0 to 1.
        referenced: Whether to use references, if there are any.
        peers: How many other outputs to use; None for all given peers, and for all other
            systems if there are at least two. Without a reference, three or more decide the flags,
            too.
        side, adapted, far, loaded: As of :class:`OmissionFinder`; :meth:`fit` sets them.
        named: Finds the errors of whole outputs; :meth:`fit` sets it.
        far_remarks: What to say of outputs that are far from the others; :meth:`fit` sets them.
    """

    referenced: bool = True
    named: NamedErrors | None = field(default=None, repr=False, compare=False)
    far_remarks: tuple[Finding, ...] = field(default=(), repr=False, compare=False)

    name: ClassVar[str] = "Omissions"
    measures: ClassVar[Measure] = Measure.OMISSIONS
    can_recommend: ClassVar[bool] = True
    model_purpose: ClassVar[str] = "omissions"
    model_fields: ClassVar[frozenset[str]] = frozenset({"aligner", "loaded"})
    needs: ClassVar[frozenset[str]] = frozenset({"sources", "coverages", "named errors"})
    kinds: ClassVar[tuple[MarkKind, ...]] = (
        MarkKind(
            LEFT_OUT, "source", "suspected", "suspected omission", "suspected omissions",
            "source word that seems to be left out", "omission", amount="strength",
        ),
        *MISSING_KINDS,
    )  # fmt: skip
    wording: ClassVar[Wording | None] = Wording(
        "leaves less out", "leaves text out", of_segments=True
    )
    higher_is_better: ClassVar[bool] = False
    statistic_names: ClassVar[tuple[str, ...]] = ("segments_found", "segments")
    undefined: ClassVar[str] = "there are no segments"
    limits: ClassVar[str] = (
        "Spans of the source that the output covers less than the reference and other systems do, "
        "or than is normal, under the model's probabilities. A free translation, another domain "
        "than the model's, or names left as they are can look so, too; what all systems leave out "
        "is not found by comparing them."
    )
    ranking: ClassVar[str] = (
        "Flags of omissions and additions do not rank systems by quality: a free translation, such "
        "as a person's, is flagged more often, and so are names left as they are."
    )
    certain: ClassVar[frozenset[str]] = frozenset({"empty", "copy", "refusal", "wrong-language"})

    def fit(self, sample: RowSample) -> Omissions:
        """This metric for the witnesses that these texts have, adapted to the outputs' strengths.

        Raises:
            DataError: Too few peers.
            AlignerError: The aligner failed.
        """
        if self.adapted is not None:
            return self
        model = self.model.units[0].aligner
        far, remarks = sample.once(("far", id(model)), lambda: find_far_outputs(sample, model))
        peers, outputs = len(sample.peers), len(sample.peers) + len(sample.systems)
        others, are_far = outputs - len(far) - 1, sum(place < peers for place in far)
        witnesses = others if peers > are_far or others >= MIN_OTHERS else 0
        metric = replace(
            self,
            referenced=self.referenced and bool(sample.references),
            peers=witnesses if self.peers is None else self.peers,
            far=tuple((place - peers) % outputs for place in far),  # after the systems
            far_remarks=tuple(remarks),
        )
        if not sample.rows:
            return metric
        batches = answer_ahead(sample.batches, metric.coverages())
        named = learn_named(sample, self.aligner)
        return replace(metric, adapted=metric.null_of(batches), named=named)

    def caveat(self, others: Collection[str]) -> str:  # noqa: ARG002 (whatever they are)
        """That its flags are no ranking of systems."""
        return self.ranking

    @property
    def remarks(self) -> Sequence[Finding]:
        """What the model lacks, and which outputs are far from the others."""
        lacks = ""
        if self.model.units[0].normal is None:
            if not (self.referenced or self.peers):
                lacks = (
                    "the model was not made for omissions and finds few of them without a "
                    "reference or other systems' outputs: train one with 'align train "
                    "--prepare-for omissions', or give --ref or --peer"
                )
        elif not self.model.nulls:
            lacks = (
                "the model has not learnt how high complete translations score (its training text "
                "was short, or an earlier version made it), so false alarms are assumed to be "
                "those of captions: train it again with 'align train --prepare-for omissions'"
            )
        return [*self.far_remarks, *([Finding("caveat", lacks)] if lacks else [])]

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

    def requests(self) -> Sequence[Request]:
        """The coverages that the finder needs, and the errors of whole outputs."""
        return [*self.coverages(), *([self.named.request] if self.named else [])]

    def _certain(self, batch: Batch) -> Iterator[list[bool]]:
        """Whether each output of each segment has an error that is one for certain."""
        if self.named is None:
            yield from ([False] * len(row.hypotheses) for row in batch.rows)
            return
        for row in batch.get(self.named.request):
            yield [any(error.kind in self.certain for error in errors) for errors in row]

    def count(self, batch: Batch) -> Statistics:
        """Whether each segment is flagged, and 1; ``[systems, segments, 2]``.

        A copy, a refusal or another language translates nothing, or adds all that it says.
        """
        flags = self.flags(batch) | np.array(list(self._certain(batch)), dtype=bool).T
        return np.stack([flags, np.ones_like(flags)], axis=-1).astype(np.int64)

    def rank(self, batch: Batch) -> Floats:
        """The finder's scores, ``[systems, segments]``."""
        return self.scored(batch).scores[: len(batch.rows[0].hypotheses)]

    def explain(self, batch: Batch) -> Iterator[tuple[Explanation, ...]]:
        """The score, the probability, marks, the chance, and each word's loss.

        An empty translation has one mark of kind :data:`~coverage_eval.documents.metrics.SENTENCE`,
        whatever its words' losses are, or of the passage that it is part of.
        """
        segments = zip(batch.rows, self.judge(batch), self._certain(batch), strict=True)
        for texts, row, certain in segments:
            yield tuple(
                Explanation(
                    self._marks(texts, number, found),
                    found.score,
                    CERTAIN if is_certain else found.probability,
                    {
                        "chance": (found.chance,),
                        "losses": tuple(found.losses.round(_LOSS_DIGITS).tolist()),
                    },
                )
                for number, (found, is_certain) in enumerate(zip(row, certain, strict=True))
            )

    def _marks(self, texts: Row, number: int, found: FoundSegment) -> tuple[Mark, ...]:
        """The marks of an output, or the mark of the line that it leaves out."""
        if found.target_length or not found.words:
            return found.marks
        match = match_of(texts.hypotheses[number])
        if match and (passages := missing_marks(found.words, match)):
            return passages
        positions = tuple(range(len(found.words)))
        text = " ".join(found.words)
        said = f"{text} at {places(positions)}: {found.strength:.2f}, the whole line"
        return (Mark("source", positions, SENTENCE, text, found.strength, said=said),)


@dataclass(frozen=True)
class Additions(Omissions):
    """Percentage of segments with words that have no source and that few peers have."""

    referenced: bool = False
    side: str = "target"

    name: ClassVar[str] = "Additions"
    measures: ClassVar[Measure] = Measure.ADDITIONS
    kinds: ClassVar[tuple[MarkKind, ...]] = (
        MarkKind(
            ADDED, "output", "added", "suspected addition", "suspected additions",
            "word that seems to have no source", "addition", amount="strength",
        ),
        *EXTRA_KINDS,
    )  # fmt: skip
    wording: ClassVar[Wording | None] = None
    certain: ClassVar[frozenset[str]] = frozenset({"refusal", "wrong-language"})
    limits: ClassVar[str] = (
        "Words of the output that the source covers less than is normal, under the model's "
        "probabilities, and that few other systems say. A free translation can look so, too."
    )
    ranking: ClassVar[str] = (
        "Flags of additions are uncertain: against people's labels of WMT23 their AUROC is 0.59 "
        "for English–German and 0.65 for Chinese–English. Read the marks; a count proves nothing."
    )
    decides_verdicts: ClassVar[bool] = False
    can_recommend: ClassVar[bool] = False

    def _marks(self, texts: Row, number: int, found: FoundSegment) -> tuple[Mark, ...]:
        """The marks of an output, then of text beside it that belongs to no line."""
        match = match_of(texts.hypotheses[number])
        return (*found.marks, *(extra_marks(match) if match else ()))
