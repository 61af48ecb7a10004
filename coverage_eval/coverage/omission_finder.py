"""Finds source words that a hypothesis leaves out, and hypothesis words without a source.

A segment's score is the best run of its words' coverage losses
(:mod:`~coverage_eval.coverage.coverage_losses`), each minus a penalty, plus a share of their sum:

    score = max over runs of Σ (loss − penalty) + ¼ Σ max(0, loss).

The *probability* of an error follows from the best run, its strength: from how rare runs as strong
are in complete translations of the same length, and from the share of errors that the text at hand
seems to have (:mod:`~coverage_eval.coverage.null_scores`). An output is *flagged* if an error is
more likely than not (:data:`FLAG_PROBABILITY`), or if it has an output error that leaves no room
for doubt, such as being the source itself. Where there are at least three different outputs of
other systems (peers) in a segment, and no reference, an output is flagged instead if its score
without peers is above :data:`FLAG_FACTOR` · the median of theirs + :data:`FLAG_MARGIN`: what all
leave uncovered is the segment's doing. Shorter outputs than theirs score higher: 1 + the
score of an omission is divided by the output's length over their median length.

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
from itertools import chain, groupby, islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coverage_eval.align.checks import AlignmentChecks
from coverage_eval.core.batches import (
    ONE_SYSTEM,
    Batch,
    Row,
    RowSample,
    Texts,
    answer_ahead,
    make_batches,
)
from coverage_eval.core.checks import combine_findings
from coverage_eval.core.errors import DataError, warn_of
from coverage_eval.core.mark import Mark
from coverage_eval.core.metric import Floats
from coverage_eval.core.tables import is_missing
from coverage_eval.core.texts import numbered
from coverage_eval.core.tokenizers import Words
from coverage_eval.coverage.found_segments import Checked, FoundSegment, FoundSegments
from coverage_eval.coverage.null_scores import (
    FLAG_PROBABILITY,
    WordRun,
    disjoint_runs,
    error_probabilities,
    p_value_of,
)
from coverage_eval.coverage.output_scorer import OutputScorer
from coverage_eval.outputs.output_errors import (
    OutputError,
    OutputErrorFinder,
    is_certain,
    learn_output_errors,
)
from coverage_eval.outputs.untranslated import overlapping

SourceAndOutput = tuple[str, "str | None"]
"""A source, and an output of it."""

LEFT_OUT = "left out"
ADDED = "added"


CERTAIN = 0.9999
"""The highest probability, that of an output that translates nothing."""

CERTAIN_KINDS: Mapping[str, frozenset[str]] = {
    "source": frozenset({"empty", "untranslated", "refusal", "wrong-language"}),
    "target": frozenset({"refusal", "wrong-language"}),
}
"""The output errors of whole outputs in which all words are left out, or added, by the side."""

MIN_PEERS = 2
"""From this number on, other systems are peers by default."""

FLAG_FACTOR, FLAG_MARGIN = 1.5, 1.0
"""Among systems, an output is flagged if its score is above this factor times the median score of
the other outputs of the segment, plus this margin. Chosen on WMT23 en-de and zh-en with people's
labels: see ``notebooks/evidence.md``."""

MIN_COMPARED = 0.1
"""Systems are compared by flags if this share of their outputs or more has enough others."""

SAMPLE_ROWS = 2000
"""Rows at the beginning of a stream that a finder adapts to."""

_ERRORS = {"source": "omission", "target": "addition"}
"""What an error is called, by the side."""


class Judged(NamedTuple):
    """What is said of the systems' outputs of a batch, ``[systems, segments]`` each.

    Attributes:
        p_values, probabilities, flags: As :class:`FoundSegment` has them.
        errors: The output errors of each output, ``[segments][systems]``.
    """

    p_values: Floats
    probabilities: Floats
    flags: NDArray[np.bool_]
    errors: Sequence[Sequence[Sequence[OutputError]]]


def _row_of(pair: SourceAndOutput) -> Row:
    """The row of a source and an output, which may be missing."""
    source, output = pair
    return Row(("" if is_missing(output) else output,), (), source)  # type: ignore[arg-type]


def sample_of(rows: Sequence[Row]) -> RowSample:
    """A sample of rows with one output each, and at least one row."""
    references, peers = numbered("reference", rows[0].references), numbered("peer", rows[0].peers)
    return RowSample(rows, [ONE_SYSTEM], references, "the source", peers)


class OmissionFinder(OutputScorer):
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
        peers: Number of outputs used, of the peers of a row and then its other hypotheses.
        outliers: Positions, among hypotheses and then peers, of outputs that do not show what
            others should have.
        model: What the model's file knows; by default it is read.

    Attributes:
        scan: The constants for scoring with references, or without, in words or letters.
        null: What complete translations score, as the model has learnt it.
        adaptations: This, adapted to each system of a text; until then, one that is as learnt.
        error_finder: Finds errors of whole outputs; None until it is adapted to a text.
        expects_peers: Whether peers decide flags, because nothing else says what is normally
            covered.
        compares: Whether outputs are flagged against others in segments with enough of them. It is
            so for a text in which a tenth of the outputs have three different others.

    Raises:
        DataError: Links instead of a model, or a damaged model file.
        TypeError: No aligner, or ``referenced`` is neither True nor False.
        ValueError: An unknown side, or additions with references.
    """

    error_finder: OutputErrorFinder | None = None

    def adapt_to_sample(self, sample: RowSample) -> OmissionFinder:
        """Return this finder, adapted to what outputs of each system score, and to what is usual.

        Raises:
            AlignerError: The aligner failed.
        """
        strengths, sizes, medians = [], [], []
        for batch in answer_ahead(sample.batches, self.requests()):
            scored = self.scored(batch)
            strengths.append(scored.strengths)
            sizes.append(scored.sizes)
            medians.append(scored.peer_medians)
        systems, finder = len(sample.systems), copy(self)
        outputs = zip(np.hstack(strengths)[:systems], np.hstack(sizes)[:systems], strict=True)
        finder.adaptations = tuple(self.null.adapt(*of_system) for of_system in outputs)
        is_compared = ~np.isnan(np.hstack(medians))
        finder.compares = bool(is_compared.mean() >= MIN_COMPARED)
        finder.error_finder = learn_output_errors(sample, self.aligner)
        return finder

    def settings(self) -> Mapping[str, object]:
        """The aligner's settings for coverages, then the finder's."""
        of_length = "/length" if self.side == "source" else ""
        above = f"score{of_length}>{FLAG_FACTOR:g}*median+{FLAG_MARGIN:g}"
        # Sorted, so that the order of systems changes nothing.
        factors = sorted(adapted.factor for adapted in self.adaptations if adapted.outputs)
        return {
            **self.aligner.coverage_settings(self.side),
            **self.model.settings,
            "text": ",".join(f"x{n:g}" for n in factors) or None,
            "share": ",".join(f"{100 * n:g}%" for n in sorted(a.share for a in self.adaptations)),
            "of": above if self.compares else "probability",
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
        finder = self if self.error_finder else self.adapt_to_sample(dataset.sample)
        segments = FoundSegments(finder._find(dataset.batches()))
        found = AlignmentChecks(self.aligner).findings(dataset.sample)
        warn_of(combine_findings(found, dataset.sample.source))
        return segments

    def find(self, rows: Iterable[Row]) -> Iterator[FoundSegment]:
        """Search segments one by one, in constant memory.

        A finder that is not adapted to a sample adapts to the first :data:`SAMPLE_ROWS` of them.

        Args:
            rows: Segments with a source, one hypothesis, and the references and peers that the
                finder was made for.

        Raises:
            DataError: No source, missing or unexpected references, or too few peers.
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

    def check(self, pairs: Iterable[SourceAndOutput]) -> Iterator[Checked]:
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
            DataError: The finder was made for references or peers.
            AlignerError: The aligner failed.
        """
        for unit in self.model.units:
            unit.aligner.model.keep_running()
        for found in self.find(map(_row_of, pairs)):
            spans = tuple((mark.spans[0][0], mark.spans[-1][1]) for mark in found.marks)
            yield Checked(found.probability, found.reasons, spans)

    def _find(self, batches: Iterable[Batch]) -> Iterator[FoundSegment]:
        """The findings in the first hypothesis of each row."""
        for batch in answer_ahead(batches, self.requests()):
            if any(bool(row.references) != self.referenced for row in batch.rows):
                raise DataError("the finder was made for rows with references, or without")
            yield from (found for found, *_ in self.found_segments(batch))

    def found_segments(self, batch: Batch) -> list[tuple[FoundSegment, ...]]:
        """The findings in each segment of a batch, by system, with flags and probabilities.

        Raises:
            DataError: Too few peers.
        """
        scored, judged = self.scored(batch), self.test(batch)
        words: list[Words] = []
        if self.side == "source":
            words = [self.aligner.source_tokenizer.locate(row.source or "") for row in batch.rows]
        found = []
        for n, outputs in enumerate(zip(*(row.hypotheses for row in batch.rows), strict=True)):
            if self.side == "target":
                words = list(map(self.aligner.tokenizer.locate, outputs))
            errors = [of_outputs[n] for of_outputs in judged.errors]
            ends = scored.sizes[n].cumsum()[:-1]
            losses, losses_alone = (
                np.split(each[n], ends) for each in (scored.losses, scored.losses_alone)
            )
            figures = (
                scored.lengths, scored.scores, scored.scores_alone, scored.strengths,
                scored.peer_medians, judged.p_values, judged.probabilities, judged.flags,
            )  # fmt: skip
            marks = (
                self._marks(n, *about) if is_flagged else ()
                for is_flagged, *about in zip(
                    judged.flags[n], words, losses, losses_alone, scored.strengths[n], errors,
                    strict=True,
                )
            )  # fmt: skip
            reasons = map(self._reasons, errors, judged.flags[n].tolist())
            columns = (
                words, losses, *(each[n].tolist() for each in figures), marks, reasons,
                map(is_certain, errors),
            )  # fmt: skip
            found.append(list(map(FoundSegment, *columns)))
        return list(zip(*found, strict=True))

    def _reasons(self, errors: Sequence[OutputError], is_flagged: bool) -> tuple[str, ...]:
        """Why an output is more likely wrong than not; empty if it is not."""
        if not (is_flagged or is_certain(errors)):
            return ()
        return (*map(str, errors), *([_ERRORS[self.side]] if is_flagged else []))

    def _marks(
        self,
        system: int,
        words: Words,
        losses: Floats,
        losses_alone: Floats,
        strength: float,
        errors: Sequence[OutputError],
    ) -> tuple[Mark, ...]:
        """The runs that are reasons for a flag: by all peers used, or else without peers.

        Source words that are left untranslated are marked, too, whatever their losses.
        """
        if not len(losses):
            return ()
        spans = [span for error in errors for span in error.source_spans]
        is_left = overlapping(words, spans if self.side == "source" else ())
        found = (disjoint_runs(each - self.constants.penalty) for each in (losses, losses_alone))
        # An output without words may lack runs, where no word is normally covered.
        runs = next(filter(None, found), [WordRun(0, len(losses), float(strength))])
        adapted = self.adaptations[system]
        even_p_value = p_value_of(FLAG_PROBABILITY, adapted.share)
        min_strength = adapted.null.min_strength(even_p_value, len(losses))
        if not any(is_left):
            min_strength = min(min_strength, max(run.sum for run in runs))
        side, kind = ("source", LEFT_OUT) if self.side == "source" else ("output", ADDED)
        marks = _untranslated_marks(words, is_left, losses - self.constants.penalty)
        for run in runs:
            if run.sum >= min_strength and not any(is_left[run.start : run.end]):
                mark = Mark.of(words, range(run.start, run.end), side, kind, amount=run.sum)
                marks.append(replace(mark, label=f"{mark}: {run.sum:.2f}"))
        return tuple(sorted(marks, key=lambda mark: mark.spans))

    def test(self, batch: Batch) -> Judged:
        """How likely the outputs of a batch have an error, and which are flagged.

        It needs a finder that is adapted to its texts.

        Raises:
            DataError: Too few peers.
        """
        systems, scored = len(batch.rows[0].hypotheses), self.scored(batch)
        sizes = scored.sizes[:systems]
        strengths, alone = scored.strengths[:systems], scored.scores_alone[:systems]
        assert self.error_finder is not None
        errors = batch.get(self.error_finder.request)
        is_error = np.array(
            [[not CERTAIN_KINDS[self.side].isdisjoint(e.kind for e in found) for found in row]
             for row in errors]
        ).T  # fmt: skip
        p_values = np.array([
            item.null.p_values(*of_system)
            for item, *of_system in zip(self.adaptations, strengths, sizes, strict=True)
        ])  # fmt: skip
        shares = np.array([[item.share] for item in self.adaptations])
        probabilities = np.minimum(error_probabilities(p_values, shares), CERTAIN)
        probabilities[is_error] = CERTAIN
        medians = scored.peer_medians if self.compares else np.full_like(p_values, np.nan)
        is_above = alone > FLAG_FACTOR * medians + FLAG_MARGIN
        flags = np.where(np.isnan(medians), probabilities >= FLAG_PROBABILITY, is_above | is_error)
        return Judged(p_values, probabilities, flags, errors)


def _untranslated_marks(words: Words, is_left: Sequence[bool], strengths: Floats) -> list[Mark]:
    """The runs of source words that are left untranslated, given whether each is."""
    marks = []
    for run_is_left, run in groupby(range(len(is_left)), is_left.__getitem__):
        if run_is_left:
            positions = list(run)
            amount = float(strengths[positions].sum())
            mark = Mark.of(words, positions, "source", LEFT_OUT, amount=amount)
            marks.append(replace(mark, label=f"{mark}: untranslated"))
    return marks
