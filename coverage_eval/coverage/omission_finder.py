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
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from coverage_eval.align.aligner import Aligner, ModelAligner, check_aligner
from coverage_eval.align.rows import SIDES
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
from coverage_eval.core.errors import DataError, require_flag, require_integer, warn_of
from coverage_eval.core.mark import Mark
from coverage_eval.core.metric import Floats
from coverage_eval.core.tables import is_missing
from coverage_eval.core.texts import numbered
from coverage_eval.core.tokenizers import Words
from coverage_eval.coverage.found_segments import Checked, FoundSegment, FoundSegments
from coverage_eval.coverage.null_scores import (
    EXPECTED_SHARE,
    FLAG_PROBABILITY,
    Adapted,
    WordRun,
    disjoint_runs,
    error_probabilities,
    p_value_of,
)
from coverage_eval.coverage.omission_marks import SIDE_ERRORS, run_mark, untranslated_marks
from coverage_eval.coverage.omission_model import OmissionModel
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

CERTAIN = 0.9999
"""The highest probability, that of an output that translates nothing."""

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


def _row_of(pair: SourceAndOutput) -> Row:
    """The row of a source and an output, which may be missing."""
    source, output = pair
    return Row(("" if is_missing(output) else output,), (), source)  # type: ignore[arg-type]


def sample_of(rows: Sequence[Row]) -> RowSample:
    """A sample of rows with one output each, and at least one row."""
    references, peers = numbered("reference", rows[0].references), numbered("peer", rows[0].peers)
    return RowSample(rows, [ONE_SYSTEM], references, "the source", peers)


def check_finder(aligner: Aligner, peers: int | None) -> None:
    """Raise if there can be no finder with these settings; see :class:`OmissionFinder`."""
    if peers is not None:
        require_integer("peers", peers, 0)
    if not isinstance(aligner, ModelAligner):
        check_aligner(aligner)
        raise DataError("omissions need a model: links from files have no probabilities")


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
        peers: Number of outputs used, of the peers of a row and then its other hypotheses.
        outliers: Positions, among hypotheses and then peers, of outputs that do not show what
            others should have.

    Attributes:
        scorer: Scores outputs, by these arguments and what the model's file knows.
        adaptations: What complete translations score, adapted to each system of a text; until then,
            one that is as learnt.
        error_finder: Finds errors of whole outputs; None until it is adapted to a text.
        compares: Whether outputs are flagged against others in segments with enough of them. It is
            so for a text in which a tenth of the outputs have three different others.

    Raises:
        DataError: Links instead of a model, or a damaged model file.
        TypeError: No aligner, or ``referenced`` is neither True nor False.
        ValueError: An unknown side, or additions with references.
    """

    def __init__(
        self,
        aligner: Aligner,
        side: str = "source",
        *,
        referenced: bool = False,
        peers: int = 0,
        outliers: Sequence[int] = (),
    ) -> None:
        if side not in SIDES:
            raise ValueError(f"side is one of {', '.join(SIDES)}, not {side!r}")
        require_flag("referenced", referenced)
        if referenced and side == "target":
            raise ValueError("additions are found without references")
        check_finder(aligner, peers)
        assert isinstance(aligner, ModelAligner)
        model = OmissionModel.load(aligner, side)
        self.scorer = OutputScorer(aligner, side, model, referenced, peers, tuple(outliers))
        self.adaptations: tuple[Adapted, ...] = (Adapted(self.scorer.null, 1.0, EXPECTED_SHARE, 0),)
        self.compares = self.scorer.may_compare
        self.error_finder: OutputErrorFinder | None = None

    def adapt_to_sample(self, sample: RowSample) -> OmissionFinder:
        """Return this finder, adapted to what outputs of each system score, and to what is usual.

        Raises:
            AlignerError: The aligner failed.
        """
        strengths, sizes, medians = [], [], []
        for batch in answer_ahead(sample.batches, self.scorer.requests()):
            scored = self.scorer.score(batch)
            strengths.append(scored.strengths)
            sizes.append(scored.sizes)
            medians.append(scored.peer_medians)
        systems, finder = len(sample.systems), copy(self)
        outputs = zip(np.hstack(strengths)[:systems], np.hstack(sizes)[:systems], strict=True)
        finder.adaptations = tuple(self.scorer.null.adapt(*of_system) for of_system in outputs)
        is_compared = ~np.isnan(np.hstack(medians))
        finder.compares = bool(is_compared.mean() >= MIN_COMPARED)
        finder.error_finder = learn_output_errors(sample, self.scorer.aligner)
        return finder

    def settings(self) -> Mapping[str, object]:
        """The aligner's settings for coverages, then the finder's."""
        scorer = self.scorer
        of_length = "/length" if scorer.side == "source" else ""
        above = f"score{of_length}>{FLAG_FACTOR:g}*median+{FLAG_MARGIN:g}"
        # Sorted, so that the order of systems changes nothing.
        factors = sorted(adapted.factor for adapted in self.adaptations if adapted.outputs)
        return {
            **scorer.aligner.coverage_settings(scorer.side),
            **scorer.model.settings,
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
        test_set = Texts.from_lists({ONE_SYSTEM: hypotheses}, references, sources, peers)
        finder = self if self.error_finder else self.adapt_to_sample(test_set.sample)
        segments = FoundSegments(finder._find(test_set.batches()))
        warn_of(check(test_set.sample, aligner=self.scorer.aligner))
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
        for unit in self.scorer.model.units:
            unit.aligner.model.keep_running()
        for found in self.find(map(_row_of, pairs)):
            spans = tuple((mark.spans[0][0], mark.spans[-1][1]) for mark in found.marks)
            yield Checked(found.probability, found.reasons, spans)

    def _find(self, batches: Iterable[Batch]) -> Iterator[FoundSegment]:
        """The findings in the first hypothesis of each row."""
        for batch in answer_ahead(batches, self.scorer.requests()):
            if any(bool(row.references) != self.scorer.referenced for row in batch.rows):
                raise DataError("the finder was made for rows with references, or without")
            yield from (found for found, *_ in self.found_segments(batch))

    def found_segments(self, batch: Batch) -> list[tuple[FoundSegment, ...]]:
        """The findings in each segment of a batch, by system, with flags and probabilities.

        Raises:
            DataError: Too few peers.
        """
        scored, systems = self.scorer.score(batch), range(len(batch.rows[0].hypotheses))
        losses, losses_alone = (
            [np.split(of_words[n], scored.sizes[n].cumsum()[:-1]) for n in systems]
            for of_words in (scored.losses, scored.losses_alone)
        )
        p_values, probabilities = self.p_values(batch), self.probabilities(batch)
        flags, all_errors = self.flags(batch), self._output_errors(batch)
        found = []
        for segment, row in enumerate(batch.rows):
            of_row = []
            for n, words in enumerate(self._words(row)):
                at, errors = (n, segment), all_errors[segment][n]
                is_flagged, strength = bool(flags[at]), float(scored.strengths[at])
                own, alone = losses[n][segment], losses_alone[n][segment]
                marks: tuple[Mark, ...] = ()
                if is_flagged:
                    marks = self._marks(n, words, own, alone, strength, errors)
                of_row.append(
                    FoundSegment(
                        words=words,
                        losses=own,
                        target_length=int(scored.lengths[at]),
                        score=float(scored.scores[at]),
                        score_alone=float(scored.scores_alone[at]),
                        strength=strength,
                        peer_median=float(scored.peer_medians[at]),
                        p_value=float(p_values[at]),
                        probability=float(probabilities[at]),
                        is_flagged=is_flagged,
                        marks=marks,
                        reasons=self._reasons(errors, is_flagged),
                        is_certain=is_certain(errors),
                    )
                )
            found.append(tuple(of_row))
        return found

    def _words(self, row: Row) -> list[Words]:
        """The words of the side of interest, by system."""
        aligner = self.scorer.aligner
        if self.scorer.side == "target":
            return [aligner.tokenizer.locate(output) for output in row.hypotheses]
        return [aligner.source_tokenizer.locate(row.source or "")] * len(row.hypotheses)

    def _reasons(self, errors: Sequence[OutputError], is_flagged: bool) -> tuple[str, ...]:
        """Why an output is more likely wrong than not; empty if it is not."""
        if not (is_flagged or is_certain(errors)):
            return ()
        return (*map(str, errors), *([SIDE_ERRORS[self.scorer.side].name] if is_flagged else []))

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
        side, penalty = self.scorer.side, self.scorer.constants.penalty
        spans = [span for error in errors for span in error.source_spans]
        is_left = overlapping(words, spans if side == "source" else ())
        found = (disjoint_runs(each - penalty) for each in (losses, losses_alone))
        # An output without words may lack runs, where no word is normally covered.
        runs = next(filter(None, found), [WordRun(0, len(losses), strength)])
        adapted = self.adaptations[system]
        even_p_value = p_value_of(FLAG_PROBABILITY, adapted.share)
        min_strength = adapted.null.min_strength(even_p_value, len(losses))
        if not any(is_left):
            min_strength = min(min_strength, max(run.sum for run in runs))
        marks = untranslated_marks(words, is_left, losses - penalty)
        for run in runs:
            if run.sum >= min_strength and not any(is_left[run.start : run.end]):
                marks.append(run_mark(words, run, SIDE_ERRORS[side]))
        return tuple(sorted(marks, key=lambda mark: mark.spans))

    def p_values(self, batch: Batch) -> Floats:
        """How rare the outputs' strengths are in complete translations, ``[systems, segments]``.

        It needs a finder that is adapted to its texts, as :meth:`probabilities` and :meth:`flags`.

        Raises:
            DataError: Too few peers.
        """
        scored, systems = self.scorer.score(batch), len(batch.rows[0].hypotheses)
        of_systems = zip(
            self.adaptations, scored.strengths[:systems], scored.sizes[:systems], strict=True
        )
        return np.array([adapted.null.p_values(*figures) for adapted, *figures in of_systems])

    def probabilities(self, batch: Batch) -> Floats:
        """How likely each output of a batch has an error, ``[systems, segments]``.

        Raises:
            DataError: Too few peers.
        """
        shares = np.array([[adapted.share] for adapted in self.adaptations])
        found = np.minimum(error_probabilities(self.p_values(batch), shares), CERTAIN)
        found[self._is_wholly_wrong(batch)] = CERTAIN
        return found

    def flags(self, batch: Batch) -> NDArray[np.bool_]:
        """Which outputs of a batch are stated to have an error, ``[systems, segments]``.

        Raises:
            DataError: Too few peers.
        """
        is_probable = self.probabilities(batch) >= FLAG_PROBABILITY
        if not self.compares:
            return is_probable
        scored = self.scorer.score(batch)
        medians = scored.peer_medians
        is_above = scored.scores_alone[: len(medians)] > FLAG_FACTOR * medians + FLAG_MARGIN
        is_above |= self._is_wholly_wrong(batch)
        return np.where(np.isnan(medians), is_probable, is_above)

    def _is_wholly_wrong(self, batch: Batch) -> NDArray[np.bool_]:
        """Whether an output error concerns all words of each output, ``[systems, segments]``."""
        kinds = SIDE_ERRORS[self.scorer.side].of_all_words
        found = [
            [not kinds.isdisjoint(error.kind for error in errors) for errors in of_row]
            for of_row in self._output_errors(batch)
        ]
        return np.array(found).T

    def _output_errors(self, batch: Batch) -> Sequence[Sequence[Sequence[OutputError]]]:
        """The output errors of each output, ``[segments][systems]``."""
        assert self.error_finder is not None
        errors: Sequence[Sequence[Sequence[OutputError]]] = batch.get(self.error_finder.request)
        return errors
