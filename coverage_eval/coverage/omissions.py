"""Percentage of segments in which something is left out, or added, by what a finder finds."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from coverage_eval.align.aligner import Aligner, ModelAligner
from coverage_eval.core.batches import Batch, Request, Row, RowSample
from coverage_eval.core.errors import Finding
from coverage_eval.core.mark import Explanation, Mark, MarkKind
from coverage_eval.core.metric import Fitted, Floats, Metric, Presentation, Statistics
from coverage_eval.core.score import Signature
from coverage_eval.core.tokenizers import Segment
from coverage_eval.coverage.found_segments import FoundSegment
from coverage_eval.coverage.omission_finder import (
    FLAG_FACTOR,
    FLAG_MARGIN,
    MIN_PEERS,
    OmissionFinder,
    check_finder,
)
from coverage_eval.coverage.omission_marks import ADDED, LEFT_OUT
from coverage_eval.documents.metrics import (
    EXTRA_KINDS,
    MISSING_KINDS,
    SENTENCE,
    extra_marks,
    match_of,
    missing_marks,
)
from coverage_eval.outputs.outlier_systems import find_outlier_systems
from coverage_eval.outputs.output_errors import learn_output_errors

_LOSS_DIGITS = 4

_NOT_PREPARED = (
    "the model was not made for omissions and finds few of them without a reference or other "
    "systems' outputs: train one with 'align train --prepare-for omissions', or give --ref or "
    "--peer"
)
_NO_NULLS = (
    "the model has not learnt how high complete translations score (its training text was short, "
    "or an earlier version made it), so they are assumed to score as captions do: train it "
    "again with 'align train --prepare-for omissions'"
)


@dataclass(frozen=True)
class FlaggedSegments(Metric):
    """Percentage of segments in which a finder finds an error.

    It is the mean probability of an error: the share of segments that can be expected to have one.
    Where, without a reference, segments have at least three different outputs of others to be
    compared with, it is the share of segments that are flagged. The score of a segment is the
    finder's score, not a sum of statistics.

    Args:
        aligner: The model.
        peers: How many other outputs to use; None for all peers, and for all other systems if
            there are at least two. Without a reference, three or more decide the flags.
    """

    aligner: Aligner
    peers: int | None = field(default=None, kw_only=True)

    side: ClassVar[str]
    """The side whose words are found: ``source`` or ``target``."""
    referenced = False
    """Whether to use references, if there are any."""
    model_purpose: ClassVar[str] = "omissions"
    needs: ClassVar[frozenset[str]] = frozenset({"sources", "coverages"})
    one_more_error: ClassVar[tuple[float, ...] | None] = (1.0, 1.0)  # a segment
    min_difference: ClassVar[float] = 1.0  # small ones of mean probabilities are in every segment
    statistic_names: ClassVar[tuple[str, ...]] = ("errors", "segments")
    statistic_type: ClassVar[type[np.generic]] = np.float64

    def __post_init__(self) -> None:
        super().__post_init__()
        check_finder(self.aligner, self.peers)

    def settings(self) -> Mapping[str, object]:
        """The aligner's settings for coverages.

        What the model has learnt and the texts adapt is only in the signature of what is fitted.
        """
        return self.aligner.coverage_settings(self.side)

    @abstractmethod
    def marks(self, output: Segment, found: FoundSegment) -> tuple[Mark, ...]:
        """The marks of an output, given what the finder found in it."""

    def _make_finder(self, sample: RowSample) -> tuple[OmissionFinder, list[Finding]]:
        """The finder for the other outputs that these texts have, and what it lacks."""
        aligner = self.aligner
        assert isinstance(aligner, ModelAligner)
        outliers, findings = sample.cached(
            ("outliers", id(aligner)), lambda: find_outlier_systems(sample, aligner)
        )
        peers, outputs = len(sample.peers), len(sample.peers) + len(sample.systems)
        others, outlying_peers = (
            outputs - len(outliers) - 1,
            sum(index < peers for index in outliers),
        )
        used = others if peers > outlying_peers or others >= MIN_PEERS else 0
        finder = OmissionFinder(
            aligner,
            self.side,
            referenced=self.referenced and bool(sample.references),
            peers=used if self.peers is None else self.peers,
            outliers=[(index - peers) % outputs for index in outliers],  # after the systems
        )
        findings, model = list(findings), finder.scorer.model
        if model.units[0].normal is None:
            if not (finder.scorer.referenced or finder.scorer.peers):
                findings.append(Finding(_NOT_PREPARED))
        elif not model.nulls:
            findings.append(Finding(_NO_NULLS))
        return finder, findings

    def check(self, sample: RowSample) -> Sequence[Finding]:
        """Which outputs are far from the others, and what the model lacks."""
        return self._make_finder(sample)[1]

    def fit(self, sample: RowSample) -> FittedFlags:
        """Return the finder for the other outputs that these texts have, adapted to the texts.

        Raises:
            DataError: Too few peers.
            AlignerError: The aligner failed.
        """
        finder, _ = self._make_finder(sample)
        if sample.rows:
            finder = finder.adapt_to_sample(sample)
        else:
            nothing = RowSample([Row(("",) * len(sample.systems))], sample.systems)
            finder.error_finder = learn_output_errors(nothing, self.aligner)
            finder.adaptations *= len(sample.systems)
        return FittedFlags(self, finder)


@dataclass(eq=False)
class FittedFlags(Fitted):
    """A finder of omissions or additions for some texts.

    Attributes:
        metric: The settings.
        finder: The finder, adapted to the texts.
    """

    metric: FlaggedSegments
    finder: OmissionFinder

    def signature_for(self, *, references: int) -> Signature:
        """The signature; ``expect`` names the kinds of several texts that show what is covered."""
        name, settings, scorer = (
            self.metric.presentation.name,
            self.finder.settings(),
            self.finder.scorer,
        )
        peers, used = scorer.peers, references if scorer.referenced else 0
        if used < 2 and not peers:
            counted = {"refs": used} if used else {}
            return Signature.of(name, **counted, **settings)
        kinds = [(peers, f"peers{peers}"), (used, "ref" if used < 2 else f"refs{used}")]
        return Signature.of(
            name, **settings, expect="+".join(kind for count, kind in kinds if count)
        )

    has_segment_scores: ClassVar[bool] = True

    @property
    def footnote(self) -> str:
        """Whether a figure counts flags, or what can be expected."""
        if rule := self.flag_rule:
            return f"% of outputs with {rule}"
        error = self.metric.presentation.kinds[0].error
        return f"% of outputs that can be expected to have an {error}"

    @property
    def flag_rule(self) -> str:
        """By how much a strength is above those of the other outputs, if they decide."""
        if not self.finder.compares:
            return ""
        figure = self.metric.presentation.segment_unit
        return f"a {figure} above {FLAG_FACTOR:g} times the others' median plus {FLAG_MARGIN:g}"

    def requests(self) -> Sequence[Request]:
        """The coverages that the finder needs, and the errors of whole outputs."""
        assert self.finder.error_finder is not None
        return [*self.finder.scorer.requests(), self.finder.error_finder.request]

    def count(self, batch: Batch) -> Statistics:
        """The probability of an error or its flag, and 1, ``[systems, segments, 2]``."""
        finder = self.finder
        found = finder.flags(batch) if finder.compares else finder.probabilities(batch)
        return np.stack([found, np.ones_like(found)], axis=-1).astype(np.float64)

    def segment_scores(self, batch: Batch) -> Floats:
        """The finder's scores, ``[systems, segments]``."""
        return self.finder.scorer.score(batch).scores[: len(batch.rows[0].hypotheses)]

    def explain(self, batch: Batch) -> Iterator[tuple[Explanation, ...]]:
        """The score, the probability, marks, reasons, and each word's loss and characters."""
        found_segments = self.finder.found_segments(batch)
        for row, found_of_outputs in zip(batch.rows, found_segments, strict=True):
            yield tuple(
                Explanation(
                    self.metric.marks(output, found),
                    found.score,
                    found.probability,
                    {
                        "reason": "; ".join(found.reasons),
                        "is_certain": (found.is_certain,),
                        "losses": tuple(found.losses.round(_LOSS_DIGITS).tolist()),
                        "word_spans": found.words.spans,
                    },
                )
                for output, found in zip(row.hypotheses, found_of_outputs, strict=True)
            )


@dataclass(frozen=True)
class Omissions(FlaggedSegments):
    """Percentage of segments with an omission, as :class:`FlaggedSegments` counts them.

    Outputs without words, copies of the source, refusals and other languages count, whatever their
    words cover.

    Args:
        aligner: The model.
        referenced: Whether to use references, if there are any.
        peers: As of :class:`FlaggedSegments`.
    """

    referenced: bool = True

    presentation: ClassVar[Presentation] = Presentation(
        "Omissions",
        higher_is_better=False,
        segment_unit="strength",
        kinds=(
            MarkKind(
                LEFT_OUT,
                "source",
                "suspected",
                "suspected omission",
                "suspected omissions",
                "source word that seems to be left out",
                "omission",
                style="suspected",
            ),
            *MISSING_KINDS,
        ),
        more_errors="leaves out more",
        undefined="there are no segments",
        caveat=(
            "Spans of the source that the output covers less than the reference and other systems"
            " do, or than is normal, under the model's probabilities. A free translation, another"
            " domain than the model's, or names left as they are can look so, too; what all "
            "systems leave out is not found by comparing them."
        ),
    )
    side: ClassVar[str] = "source"
    table_caveat = (
        "Flags of omissions and additions do not rank systems by quality: a free translation, such "
        "as a person's, is flagged more often, and so are names left as they are."
    )

    def marks(self, output: Segment, found: FoundSegment) -> tuple[Mark, ...]:
        """The marks of an output, or the mark of the line that it leaves out.

        An empty translation has one mark of kind :data:`~coverage_eval.documents.metrics.SENTENCE`,
        whatever its words' losses are, or of the passage that it is part of.
        """
        if found.target_length or not found.words:
            return found.marks
        match = match_of(output)
        if match and (passages := missing_marks(found.words, match)):
            return passages
        everything = range(len(found.words))
        mark = Mark.of(found.words, everything, "source", SENTENCE, amount=found.strength)
        return (replace(mark, label=f"{mark}: {found.strength:.2f}, the whole line"),)


@dataclass(frozen=True)
class Additions(FlaggedSegments):
    """Percentage of segments with words that have no source and that few peers have.

    Arguments are those of :class:`FlaggedSegments`.
    """

    presentation: ClassVar[Presentation] = Presentation(
        "Additions",
        higher_is_better=False,
        segment_unit="strength",
        kinds=(
            MarkKind(
                ADDED,
                "output",
                "added",
                "suspected addition",
                "suspected additions",
                "word that seems to have no source",
                "addition",
                style="added",
            ),
            *EXTRA_KINDS,
        ),
        more_errors="adds more",
        undefined="there are no segments",
        caveat=(
            "Words of the output that the source covers less than is normal, under the model's "
            "probabilities, and that few other systems say. A free translation can look so, too."
        ),
    )
    side: ClassVar[str] = "target"
    table_caveat = (
        "Flags of additions are uncertain: against people's labels of WMT23 their AUROC is 0.59 "
        "for English–German and 0.65 for Chinese–English. Read the marks; a count proves nothing."
    )

    def marks(self, output: Segment, found: FoundSegment) -> tuple[Mark, ...]:
        """The marks of an output, then of text beside it that belongs to no line."""
        match = match_of(output)
        return (*found.marks, *(extra_marks(match) if match else ()))
