"""Finds source words that a hypothesis leaves out, and hypothesis words without a source.

An output passes four stations:

1. how much less than expected each word is covered, and what its segment scores
   (:mod:`~coverage_eval.coverage.coverage_losses`);
2. *uncovered words*: its score less what complete translations of its length score. Omissions and
   Additions are their sum per 100 words. An output that translates nothing, because it is empty, in
   the source's language or in a third one, leaves all words uncovered;
3. the *probability* of an error, by how rare its best run of losses is in complete translations
   (:mod:`~coverage_eval.coverage.null_scores`);
4. the *flag*: an error is more likely than not, or certain. Marks show the runs that are why.

What peers cover sets only the *ranking* of segments: their mean coverage joins the expected one,
and an addition weighs more if few peers have the word. Peers with the text of the hypothesis count,
too: agreement is evidence.

``notebooks/evidence.md`` tells where the form and the constants come from.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import chain, groupby, islice
from typing import TYPE_CHECKING

import numpy as np

from coverage_eval.align.aligner import Aligner, ModelAligner, check_aligner
from coverage_eval.checks.check import check
from coverage_eval.core.batches import (
    ONE_SYSTEM,
    Batch,
    Row,
    RowSample,
    Texts,
    answer_ahead,
    make_batches,
)
from coverage_eval.core.errors import DataError, require_flag, warn_of
from coverage_eval.core.mark import Mark
from coverage_eval.core.metric import Floats
from coverage_eval.core.tables import is_missing
from coverage_eval.core.texts import numbered
from coverage_eval.core.tokenizers import Span, Words, segment_text
from coverage_eval.coverage.coverage_losses import WordRun, disjoint_runs
from coverage_eval.coverage.null_scores import (
    FLAG_PROBABILITY,
    AdaptedNull,
    Flags,
    are_flagged,
    error_probabilities,
)
from coverage_eval.coverage.omission_model import OmissionModel
from coverage_eval.outputs.output_errors import (
    OutputError,
    OutputErrorFinder,
    is_certain,
    learn_output_errors,
)
from coverage_eval.outputs.untranslated import overlapping

if TYPE_CHECKING:
    import pandas as pd

SourceAndOutput = tuple[str, "str | None"]
"""A source, and an output of it."""

LEFT_OUT, ADDED = "left out", "added"
"""The kinds of marks, on the side of the source and of the target."""

ERRORS = {"source": "omission", "target": "addition"}
"""What an error on each side of a model is called."""

TRANSLATES_NOTHING = {
    "source": frozenset({"empty", "untranslated", "refusal", "wrong-language"}),
    "target": frozenset({"refusal", "wrong-language"}),
}
"""The output errors of outputs that leave all words of a side uncovered, or those in the source's
language."""

CERTAIN = 0.9999
"""The highest probability, that of an output that translates nothing."""

SAMPLE_ROWS = 2000
"""Rows at the beginning of a stream that a finder adapts to."""


@dataclass(frozen=True)
class FoundSegment:
    """What is found in an output of a segment.

    >>> import coverage_eval as ce
    >>> pairs = ["ein haus", "das haus", "ein hund"] * 20, ["a house", "the house", "a dog"] * 20
    >>> with ce.Aligner.train(*pairs) as aligner:
    ...     (found,) = ce.OmissionFinder(aligner).find_texts([""], ["ein haus"])
    >>> found.is_certain
    True

    Attributes:
        score: At least 0; greater if more seems to be missing. It ranks segments, by peers, too.
        uncovered: Words left uncovered beyond what complete translations leave, at least 0.
        probability: The probability of an omission, or of an addition, 0 to 1.
        p_value: The share of complete translations of this length with a run as strong, 0 to 1.
        reasons: Why the output is flagged: its output errors, and ``omission`` or ``addition`` if
            one is probable; empty for an output to keep.
        is_certain: Whether an output error that is no guess is among the reasons.
        marks: The runs that are reasons for the flag, from left to right; a mark's amount is the
            sum of its losses, each minus the penalty.
        words: The words on the side of interest, in the text as the user wrote it.
        losses: The coverage loss of each word by peers, too, ``[words]``.
    """

    score: float
    uncovered: float
    probability: float
    p_value: float
    reasons: tuple[str, ...]
    is_certain: bool
    marks: tuple[Mark, ...]
    words: Words
    losses: Floats = field(compare=False)

    @property
    def is_flagged(self) -> bool:
        """Whether an error is more likely than not, or certain."""
        return bool(self.reasons)

    @property
    def spans(self) -> tuple[Span, ...]:
        """The characters of each mark: where its first word starts and its last word ends."""
        return tuple((mark.spans[0][0], mark.spans[-1][1]) for mark in self.marks)


class FoundSegments(list[FoundSegment]):
    """The findings in a text, a list with a table."""

    def to_frame(self) -> pd.DataFrame:
        """A row per segment, numbered from 1; marks are lists of mappings, characters from 0."""
        import pandas as pd

        return pd.DataFrame(
            {
                "segment": range(1, len(self) + 1),
                "score": [segment.score for segment in self],
                "probability": [segment.probability for segment in self],
                "reason": ["; ".join(segment.reasons) for segment in self],
                "marks": [[mark.to_dict() for mark in segment.marks] for segment in self],
            }
        )


def _row_of(pair: SourceAndOutput) -> Row:
    """The row of a source and an output, which may be missing."""
    source, output = pair
    return Row(("" if is_missing(output) else output,), (), source)  # type: ignore[arg-type]


def sample_of(rows: Sequence[Row]) -> RowSample:
    """A sample of rows with one output each, and at least one row."""
    references, peers = numbered("reference", rows[0].references), numbered("peer", rows[0].peers)
    return RowSample(rows, [ONE_SYSTEM], references, "the source", peers)


def require_model(aligner: Aligner) -> ModelAligner:
    """Raise if this is no model."""
    if not isinstance(aligner, ModelAligner):
        check_aligner(aligner)
        raise DataError("omissions need a model: links from files have no probabilities")
    return aligner


class OmissionFinder:
    """Finds omissions, or additions, with a frozen model.

    >>> from coverage_eval import Aligner
    >>> sources = ["ein haus", "das haus", "ein hund", "das tier"] * 20
    >>> targets = ["a house", "the house", "a dog", "the animal"] * 20
    >>> with Aligner.train(sources, targets) as aligner:
    ...     found = OmissionFinder(aligner).find_texts(["the"], ["das haus ein hund das tier"])
    >>> print(*found[0].marks)
    das haus ein hund das tier at 1-6: 4.14

    Args:
        aligner: Any model; a model made for omissions finds more.
        side: ``source`` for omissions, ``target`` for additions.
        referenced: Whether references show what can be covered, for omissions only.

    Attributes:
        model: What the aligner's file knows, which scores outputs.
        nulls: What complete translations score, adapted to each system of a text; until then,
            one that is as learnt.
        error_finder: Finds errors of whole outputs; None until it is adapted to a text.

    Raises:
        DataError: Links instead of a model, or a damaged model file.
        TypeError: No aligner, or ``referenced`` is neither True nor False.
        ValueError: Additions with references.
    """

    def __init__(self, aligner: Aligner, side: str = "source", *, referenced: bool = False) -> None:
        require_flag("referenced", referenced)
        if referenced and side == "target":
            raise ValueError("additions are found without references")
        self.model = OmissionModel.load(require_model(aligner), side, referenced=referenced)
        self.nulls: tuple[AdaptedNull, ...] = (AdaptedNull(**vars(self.model.null)),)
        self.error_finder: OutputErrorFinder | None = None

    def adapt_to_sample(self, sample: RowSample) -> OmissionFinder:
        """Return this finder, adapted to what outputs of each system score, and to what is usual.

        It adapts to different outputs that are not certainly wrong, so that a text that comes twice
        is judged as one that comes once.

        Raises:
            AlignerError: The aligner failed.
        """
        finder = copy(self)
        finder.error_finder = learn_output_errors(sample, self.model.aligner)
        different: list[dict[Hashable, tuple[float, int]]] = [{} for _ in sample.systems]
        for batch in answer_ahead(sample.batches, self.model.requests()):
            scored, certain = self.model.score(batch), finder._each(batch, is_certain)
            for segment, row in enumerate(batch.rows):
                for n, outputs in enumerate(different):
                    if not certain[n, segment]:
                        key = (segment_text(row.source or ""), segment_text(row.hypotheses[n]))
                        outputs[key] = (scored.strengths[n, segment], scored.sizes[n, segment])
        finder.nulls = tuple(
            self.model.null.adapt(*np.array([*outputs.values()]).reshape(-1, 2).T)
            for outputs in different
        )
        return finder

    def settings(self) -> Mapping[str, object]:
        """The aligner's settings for coverages, then the finder's."""
        # Sorted, so that the order of systems changes nothing.
        factors = sorted(null.factor for null in self.nulls if null.outputs)
        return {
            **self.model.aligner.coverage_settings(self.model.side),
            **self.model.settings,
            "text": ",".join(f"x{n:g}" for n in factors) or None,
            "share": ",".join(f"{100 * n:g}%" for n in sorted(null.share for null in self.nulls)),
        }

    def find_texts(
        self,
        hypotheses: Sequence[str],
        sources: Sequence[str],
        references: Sequence[str] | None = None,
        peers: Sequence[Sequence[str]] = (),
    ) -> FoundSegments:
        """As :meth:`find`, for lists of segments, adapted to them; warns if texts look wrong."""
        test_set = Texts.from_lists({ONE_SYSTEM: hypotheses}, references, sources, peers)
        finder = self if self.error_finder else self.adapt_to_sample(test_set.sample)
        segments = FoundSegments(finder._find(test_set.batches()))
        warn_of(check(test_set.sample, aligner=self.model.aligner))
        return segments

    def find(self, rows: Iterable[Row]) -> Iterator[FoundSegment]:
        """Search segments one by one, in constant memory.

        A finder that is not adapted to a sample adapts to the first :data:`SAMPLE_ROWS` of them.

        Args:
            rows: Segments with a source, one hypothesis, the references that the finder was made
                for, and peers, which rank them.

        Raises:
            DataError: No source, or missing or unexpected references.
            AlignerError: The aligner failed.
        """
        if self.error_finder:
            yield from self._find(make_batches(rows))
            return
        rows = iter(rows)
        if first := list(islice(rows, SAMPLE_ROWS)):
            sample = sample_of(first)
            finder = self.adapt_to_sample(sample)
            yield from finder._find(chain(sample.batches, make_batches(rows)))

    def adapt_to(self, pairs: Iterable[SourceAndOutput]) -> OmissionFinder:
        """Return this finder, adapted to a sample for all calls of :meth:`check` and :meth:`find`.

        Args:
            pairs: Sources and outputs of the kind that will be checked, at least one; the first
                :data:`SAMPLE_ROWS` are used.

        Raises:
            DataError: No pairs.
            AlignerError: The aligner failed.
        """
        rows = list(islice(map(_row_of, pairs), SAMPLE_ROWS))
        if not rows:
            raise DataError("no segments to adapt to")
        return self.adapt_to_sample(sample_of(rows))

    def check(self, pairs: Iterable[SourceAndOutput]) -> Iterator[FoundSegment]:
        """Check outputs against their sources one by one, in constant memory.

        The share of errors, usual lengths and languages are learnt once, from the first
        :data:`SAMPLE_ROWS` pairs of the stream; a finder made by :meth:`adapt_to` learns
        nothing more, so that a call may have one pair. Figures and reasons of a stream of no more
        are those of :meth:`find_texts`, the command and its JSON; of a longer text these learn from
        as many rows, spread over it. Aligners keep running between calls, until the model is closed
        or the process ends.

        Args:
            pairs: Sources and outputs; None and NaN are empty outputs.

        Raises:
            DataError: The finder was made for references.
            AlignerError: The aligner failed.
        """
        for unit in self.model.units:
            unit.aligner.model.keep_running()
        return self.find(map(_row_of, pairs))

    def _find(self, batches: Iterable[Batch]) -> Iterator[FoundSegment]:
        """The findings in the first hypothesis of each row."""
        for batch in answer_ahead(batches, self.model.requests()):
            if any(bool(row.references) != self.model.referenced for row in batch.rows):
                raise DataError("the finder was made for rows with references, or without")
            yield from (found for found, *_ in self.found_segments(batch))

    def found_segments(self, batch: Batch) -> list[tuple[FoundSegment, ...]]:
        """The findings in each segment of a batch, by system."""
        scored, all_errors = self.model.score(batch), self._output_errors(batch)
        uncovered, probabilities = self.uncovered(batch), self.probabilities(batch)
        flags, p_values = self.flags(batch), self.p_values(batch)
        losses, losses_alone = (
            [np.split(own, n.cumsum()[:-1]) for own, n in zip(each, scored.sizes, strict=True)]
            for each in (scored.losses, scored.losses_alone)
        )
        found = []
        for segment, row in enumerate(batch.rows):
            of_row = []
            for n, words in enumerate(self.words_of(row)):
                at, errors, own = (n, segment), all_errors[segment][n], losses[n][segment]
                reasons = list(map(str, errors)) if flags[at] else []
                marks: tuple[Mark, ...] = ()
                if probabilities[at] >= FLAG_PROBABILITY:
                    reasons.append(ERRORS[self.model.side])
                    least = self.nulls[n].min_strength(len(own))
                    marks = self._marks(words, (own, losses_alone[n][segment]), least, errors)
                of_row.append(
                    FoundSegment(
                        score=float(scored.ranks[at]),
                        uncovered=float(uncovered[at]),
                        probability=float(probabilities[at]),
                        p_value=float(p_values[at]),
                        reasons=tuple(reasons),
                        is_certain=is_certain(errors),
                        marks=marks,
                        words=words,
                        losses=own,
                    )
                )
            found.append(tuple(of_row))
        return found

    def uncovered(self, batch: Batch) -> Floats:
        """Words left uncovered beyond what complete translations leave, ``[systems, segments]``."""
        scored = self.model.score(batch)
        sizes = scored.sizes.astype(np.float64)
        found = np.clip(scored.scores - self.model.null.usual_scores(sizes), 0.0, sizes)
        for segment, of_row in enumerate(self._output_errors(batch)):
            for n, errors in enumerate(of_row):
                if not TRANSLATES_NOTHING[self.model.side].isdisjoint(e.kind for e in errors):
                    lost = sizes[n, segment]
                    if spans := [span for error in errors for span in error.source_spans]:
                        words = self.words_of(batch.rows[segment])[n]
                        lost = max(found[n, segment], sum(overlapping(words, spans)))
                    found[n, segment] = lost
        return found

    def p_values(self, batch: Batch) -> Floats:
        """How rare the outputs' strengths are in complete translations, ``[systems, segments]``."""
        scored = self.model.score(batch)
        columns = zip(self.nulls, scored.strengths, scored.sizes, strict=True)
        return np.array([null.p_values(*of_system) for null, *of_system in columns])

    def probabilities(self, batch: Batch) -> Floats:
        """How likely each output of a batch has an error, ``[systems, segments]``.

        It needs a finder that is adapted to its texts.
        """
        pairs = zip(self.nulls, self.p_values(batch), strict=True)
        found = np.array([error_probabilities(values, null.share) for null, values in pairs])
        found = np.minimum(found, CERTAIN)
        kinds = TRANSLATES_NOTHING[self.model.side]
        nothing = self._each(batch, lambda errors: not kinds.isdisjoint(e.kind for e in errors))
        return np.where(nothing, CERTAIN, found)

    def flags(self, batch: Batch) -> Flags:
        """Which outputs of a batch are flagged, ``[systems, segments]``."""
        return are_flagged(self.probabilities(batch), self._each(batch, is_certain))

    def _each(self, batch: Batch, test: Callable[[Sequence[OutputError]], bool]) -> Flags:
        """A test of each output's errors, ``[systems, segments]``."""
        found = [[test(errors) for errors in of_row] for of_row in self._output_errors(batch)]
        return np.array(found).T

    def _output_errors(self, batch: Batch) -> Sequence[Sequence[Sequence[OutputError]]]:
        """The output errors of each output, ``[segments][systems]``."""
        assert self.error_finder is not None
        errors: Sequence[Sequence[Sequence[OutputError]]] = batch.get(self.error_finder.request)
        return errors

    def words_of(self, row: Row) -> list[Words]:
        """The words of the side of interest, by system."""
        aligner = self.model.aligner
        if self.model.side == "target":
            return [aligner.tokenizer.locate(output) for output in row.hypotheses]
        return [aligner.source_tokenizer.locate(row.source or "")] * len(row.hypotheses)

    def _marks(
        self,
        words: Words,
        losses: Sequence[Floats],
        least: float,
        errors: Sequence[OutputError],
    ) -> tuple[Mark, ...]:
        """The runs that are reasons for a flag, and source words that are left untranslated.

        Args:
            words: The words of the side of interest.
            losses: Their losses by peers, and without; these serve where peers show no run.
            least: The strength from which on a run is a reason; the strongest is one anyway.
            errors: The errors of the whole output.
        """
        if not len(words.spans):
            return ()
        side, penalty = self.model.side, self.model.constants.penalty
        kinds = ("source", LEFT_OUT) if side == "source" else ("output", ADDED)
        spans = [span for error in errors for span in error.source_spans]
        is_left = overlapping(words, spans if side == "source" else ())
        strengths = losses[0] - penalty
        marks = []
        for run_is_left, run in groupby(range(len(is_left)), is_left.__getitem__):
            if run_is_left:
                positions = list(run)
                mark = Mark.of(words, positions, *kinds, amount=float(strengths[positions].sum()))
                marks.append(replace(mark, label=f"{mark}: untranslated"))
        runs = disjoint_runs(strengths) or disjoint_runs(losses[1] - penalty)
        # An output without words may lack runs, where no word is normally covered.
        runs = runs or [WordRun(0, len(words.spans), 0.0)]
        if not marks:
            least = min(least, max(run.sum for run in runs))
        for found in runs:
            if found.sum >= least and not any(is_left[found.start : found.end]):
                covered = range(found.start, found.end)
                mark = Mark.of(words, covered, *kinds, amount=found.sum)
                marks.append(replace(mark, label=f"{mark}: {found.sum:.2f}"))
        return tuple(sorted(marks, key=lambda mark: mark.spans))
