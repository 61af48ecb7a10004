"""Words that are left uncovered, of the source or of the output, per 100 words."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from coverage_eval.align.aligner import Aligner
from coverage_eval.core.batches import Batch, Request, Row, RowSample
from coverage_eval.core.errors import Finding
from coverage_eval.core.mark import Explanation, Mark, MarkKind
from coverage_eval.core.metric import FittedMetric, Floats, Metric, Presentation, Statistics
from coverage_eval.core.score import Signature
from coverage_eval.core.tokenizers import Segment
from coverage_eval.coverage.omission_finder import (
    ADDED,
    LEFT_OUT,
    FoundSegment,
    OmissionFinder,
    require_model,
)
from coverage_eval.coverage.omission_model import peers_of
from coverage_eval.documents.metrics import (
    EXTRA_KINDS,
    MISSING_KINDS,
    SENTENCE,
    extra_marks,
    match_of,
    missing_marks,
)

_SUSPECTED = MarkKind(
    LEFT_OUT, "source", "suspected", "suspected omission", "suspected omissions",
    "source word that seems to be left out", "omission", style="suspected",
)  # fmt: skip
_ADDED = MarkKind(
    ADDED, "output", "added", "suspected addition", "suspected additions",
    "word that seems to have no source", "addition", style="added",
)  # fmt: skip

_LOSS_DIGITS = 4

_NOT_PREPARED = (
    "the model was not made for omissions and finds few of them without a reference: train one "
    "with 'align train --prepare-for omissions', or give --ref"
)
_NO_NULLS = (
    "the model has not learnt how high complete translations score (its training text was short, "
    "or an earlier version made it), so they are assumed to score as captions do: train it "
    "again with 'align train --prepare-for omissions'"
)
_TOO_LONG = (
    "{} of {} segments have more words than the longest complete text that the model knows ({:,}), "
    "so their probabilities are extrapolated: give a sentence or a paragraph a line"
)

MAX_LONGER = 0.02
"""Share of segments that may be longer than all that a model knows."""


@dataclass(frozen=True)
class UncoveredWords(Metric):
    """Words that a finder finds uncovered beyond what complete translations leave, per 100 words.

    With the score of a segment and what complete translations of its length score, as
    :mod:`~coverage_eval.coverage.omission_finder` defines both,

        100 · Σ max(0, score − usual score) / Σ words,

    where all words count of an output that translates nothing. Neither other outputs nor the text
    at hand change it. The score of a segment, its strength, is no formula of statistics: peers set
    it, too, and it ranks segments that all have 0.

    Args:
        aligner: The model.
    """

    aligner: Aligner

    side: ClassVar[str]
    """The side whose words are found: ``source`` or ``target``."""
    referenced = False
    """Whether to use references, if there are any."""
    model_purpose: ClassVar[str] = "omissions"
    needs: ClassVar[frozenset[str]] = frozenset({"sources", "coverages"})
    one_more_error: ClassVar[tuple[float, ...] | None] = (1.0, 1.0, 1.0)
    """A word, in a flagged output."""
    statistic_names: ClassVar[tuple[str, ...]] = ("uncovered_words", "flagged", "words")
    statistic_type: ClassVar[type[np.generic]] = np.float64
    footnote: ClassVar[str]
    """What the figure is, in a footnote of tables."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_model(self.aligner)

    def settings(self) -> Mapping[str, object]:
        """The aligner's settings for coverages.

        What the model has learnt and the texts adapt is only in the signature of what is fitted.
        """
        return self.aligner.coverage_settings(self.side)

    @abstractmethod
    def marks(self, output: Segment, found: FoundSegment) -> tuple[Mark, ...]:
        """The marks of an output, given what the finder found in it."""

    def check(self, sample: RowSample) -> Sequence[Finding]:
        """What the model lacks, and segments that are longer than any that it knows."""
        finder = self._find_by(sample)
        model = finder.model
        if not model.is_prepared:
            return [] if model.referenced else [Finding(_NOT_PREPARED)]
        if not model.nulls:
            return [Finding(_NO_NULLS)]
        sizes = [max(map(len, finder.words_of(row))) for row in sample.rows]
        longer = sum(size > model.null.longest for size in sizes)
        if longer <= MAX_LONGER * len(sizes):
            return []
        message = _TOO_LONG.format(longer, len(sizes), model.null.longest)
        return [Finding(message, sample=len(sizes) if len(sizes) < sample.size else 0)]

    def _find_by(self, sample: RowSample) -> OmissionFinder:
        referenced = self.referenced and bool(sample.references)
        return OmissionFinder(self.aligner, self.side, referenced=referenced)

    def fit(self, sample: RowSample) -> FittedFinder:
        """Return the finder, adapted to the texts.

        Raises:
            AlignerError: The aligner failed.
        """
        finder = self._find_by(sample).adapt_to_sample(sample)
        row = Row(("",) * len(sample.systems), (), None, ("",) * len(sample.peers))
        return FittedFinder(self, finder, len(peers_of(row)[0]))


@dataclass(eq=False)
class FittedFinder(FittedMetric):
    """A finder of omissions or additions for some texts.

    Attributes:
        metric: The settings.
        finder: The finder, adapted to the texts.
        peers: Number of other outputs that rank segments.
    """

    metric: UncoveredWords
    finder: OmissionFinder
    peers: int

    has_segment_scores: ClassVar[bool] = True

    def signature_for(self, *, references: int) -> Signature:
        """The signature; ``rank`` names the peers, which change only the strengths of segments."""
        used = {"refs": references} if references and self.finder.model.referenced else {}
        rank = {"rank": f"peers{self.peers}"} if self.peers else {}
        return Signature.of(self.metric.presentation.name, **used, **self.finder.settings(), **rank)

    @property
    def footnote(self) -> str:
        """What the figure is."""
        return self.metric.footnote

    def requests(self) -> Sequence[Request]:
        """The coverages that the finder needs, and the errors of whole outputs."""
        assert self.finder.error_finder is not None
        return [*self.finder.model.requests(), self.finder.error_finder.request]

    def count(self, batch: Batch) -> Statistics:
        """Uncovered words, whether the output is flagged, and words, ``[systems, segments, 3]``."""
        sizes = self.finder.model.score(batch).sizes
        counts = [self.finder.uncovered(batch), self.finder.flags(batch), sizes]
        return np.stack(counts, axis=-1).astype(np.float64)

    def segment_scores(self, batch: Batch) -> Floats:
        """The finder's scores by peers, too, ``[systems, segments]``."""
        return self.finder.model.score(batch).ranks

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
class Omissions(UncoveredWords):
    """Source words that are left out per 100, as :class:`UncoveredWords` counts them.

    Args:
        aligner: The model.
        referenced: Whether to use references, if there are any.
    """

    referenced: bool = True

    presentation: ClassVar[Presentation] = Presentation(
        "Omissions",
        higher_is_better=False,
        segment_unit="strength",
        kinds=(_SUSPECTED, *MISSING_KINDS),
        more_errors="leaves out more",
        undefined="the source has no words",
        caveat=(
            "Spans of the source that the output covers less than the reference does, or than is "
            "normal, under the model's probabilities. A free translation, another domain than the "
            "model's, or names left as they are can look so, too."
        ),
    )
    side: ClassVar[str] = "source"
    footnote: ClassVar[str] = (
        "source words left uncovered, beyond what complete translations leave, per 100"
    )
    table_caveat = (
        "Omissions do not rank systems by quality: a free translation, such as a person's, covers "
        "the source's words less, and so do names left as they are."
    )

    def marks(self, output: Segment, found: FoundSegment) -> tuple[Mark, ...]:
        """The marks of an output, or the mark of the line that it leaves out.

        An empty translation has one mark of kind :data:`~coverage_eval.documents.metrics.SENTENCE`,
        whatever its words' losses are, or of the passage that it is part of.
        """
        if not any(reason.startswith("empty") for reason in found.reasons):
            return found.marks
        match = match_of(output)
        if match and (passages := missing_marks(found.words, match)):
            return passages
        everything = range(len(found.words))
        amount = found.uncovered
        mark = Mark.of(found.words, everything, "source", SENTENCE, amount=amount)
        return (replace(mark, label=f"{mark}: the whole line"),)


@dataclass(frozen=True)
class Additions(UncoveredWords):
    """Words of the output without a source per 100, as :class:`UncoveredWords` counts them.

    Args:
        aligner: The model.
    """

    presentation: ClassVar[Presentation] = Presentation(
        "Additions",
        higher_is_better=False,
        segment_unit="strength",
        kinds=(_ADDED, *EXTRA_KINDS),
        more_errors="adds more",
        undefined="the output has no words",
        caveat=(
            "Words of the output that the source covers less than is normal, under the model's "
            "probabilities, and that few other systems say. A free translation can look so, too."
        ),
    )
    side: ClassVar[str] = "target"
    footnote: ClassVar[str] = (
        "words of the output without a source, beyond what complete translations have, per 100"
    )
    table_caveat = (
        "Flags of additions are uncertain: against people's labels of WMT23 their AUROC is 0.59 "
        "for English–German and 0.65 for Chinese–English. Read the marks; a count proves nothing."
    )

    def marks(self, output: Segment, found: FoundSegment) -> tuple[Mark, ...]:
        """The marks of an output, then of text beside it that belongs to no line."""
        match = match_of(output)
        return (*found.marks, *(extra_marks(match) if match else ()))
