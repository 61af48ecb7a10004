"""Documents: the share of the source in missing lines, and of the output that belongs to no line.

Both count what :mod:`coverage_eval.documents.segment` found when it cut the outputs, so a
passage counts by its words, wherever it stands.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from typing import ClassVar

import numpy as np

from coverage_eval.core.batches import Batch, Row
from coverage_eval.core.errors import DataError
from coverage_eval.core.mark import Explanation, Mark, MarkKind
from coverage_eval.core.metric import Presentation, Statistics
from coverage_eval.core.text_metric import FixedMetric
from coverage_eval.core.tokenizers import Segment, Tokenizer, Words
from coverage_eval.documents.matched_line import LineMatch, MatchedLine

SENTENCE, PASSAGE, CONTINUED = "sentence", "passage", "passage continued"
ADDED, AGAIN = "added passage", "repeated passage"

MISSING_KINDS = tuple(
    MarkKind(
        name, "source", "missing-text", one, many,
        "source word of a line that has no translation", "omission", style="dropped",
    )
    for name, one, many in (
        (SENTENCE, "missing line", "missing lines"),
        (PASSAGE, "missing passage", "missing lines"),
        (CONTINUED, "line of a missing passage", "missing lines"),
    )
)  # fmt: skip
"""Kinds of marks of missing lines: one alone; the first of several, which tells of all; others."""

EXTRA_KINDS = (
    MarkKind(
        ADDED, "output", "added-text", "added passage", "added passages",
        "passage of the output that belongs to no line", "addition", style="added",
    ),
    MarkKind(
        AGAIN, "output", "repeated-text", "repeated passage", "repeated passages",
        "passage of the output that translates a line again", "repetition", style="repeated",
    ),
)  # fmt: skip
"""Kinds of marks of text that belongs to no line, and so is at no place in one."""


def match_of(output: Segment) -> LineMatch | None:
    """What was found in a line of an output; None if outputs were not matched with the source."""
    return output.match if isinstance(output, MatchedLine) else None


def missing_marks(words: Words, match: LineMatch) -> tuple[Mark, ...]:
    """The mark of a line without translation; none if it has one.

    Neighbouring lines are one passage, whose mark is in the first of them: ``detail`` has the
    document, the first and the last line (from 1) and the number of words of all.

    Args:
        words: The line's words.
        match: What was found in the line.
    """
    passage = match.passage
    if passage is None:
        return ()
    everything = range(len(words))
    if match.line > passage.first:
        label = f"line {match.line} of lines {passage.lines}"
        return (Mark.of(words, everything, "source", CONTINUED, amount=0.0, label=label),)
    amount, detail, label = float(passage.words), passage._asdict(), str(passage)
    return (
        Mark.of(
            words, everything, "source", passage.kind, amount=amount, detail=detail, label=label
        ),
    )


def extra_marks(match: LineMatch) -> Iterator[Mark]:
    """The marks of text that belongs to no line, beside the line that it stands behind.

    ``detail`` has the positions of its characters in the whole output, from 0, and the line from 1
    that it ``repeats``, or None.
    """
    for piece in match.extra:
        kind, whole = ADDED if piece.repeats is None else AGAIN, piece.to_dict()
        detail = {name: whole[name] for name in ("start", "end", "repeats")}
        label = f"{piece.text} ({piece.place})"
        yield Mark("output", (), kind, piece.text, float(piece.words), detail=detail, label=label)


@dataclass(frozen=True)
class DocumentShare(FixedMetric):
    """A share of words that cutting documents found, with their marks.

    Args:
        source_tokenizer: The tokeniser of the source, whose words are marked.
    """

    source_tokenizer: Tokenizer = field(default_factory=Tokenizer)

    needs: ClassVar[frozenset[str]] = frozenset({"documents"})
    one_more_error: ClassVar[tuple[float, ...] | None] = (10.0, 10.0)  # a short line or passage

    def settings(self) -> dict[str, object]:
        """None: how outputs were cut is added to the signature of every score."""
        return {}

    def count(self, batch: Batch) -> Statistics:
        """Words concerned and words of each line, ``[systems, segments, 2]``.

        Raises:
            DataError: The outputs were not cut.
        """
        figures = attrgetter(*self.statistic_names)
        counts = [[figures(match) for match in self._matches(row)] for row in batch.rows]
        return np.array(counts, dtype=np.int64).swapaxes(0, 1)

    def explain(self, batch: Batch) -> Iterator[tuple[Explanation, ...]]:
        """The marks of each line that are of the metric's kinds."""
        kinds = {kind.name for kind in self.presentation.kinds}
        for row in batch.rows:
            words = self.source_tokenizer.locate(row.source or "")
            marks = (
                (*missing_marks(words, match), *extra_marks(match)) for match in self._matches(row)
            )
            yield tuple(Explanation(tuple(m for m in own if m.kind in kinds)) for own in marks)

    def _matches(self, row: Row) -> list[LineMatch]:
        """What was found in each system's line."""
        matches = [match for match in map(match_of, row.hypotheses) if match]
        if not matches:
            raise DataError(
                f"{self.presentation.name} is for documents whose lines do not match: give "
                "--unaligned, or unaligned=True"
            )
        return matches


@dataclass(frozen=True)
class MissingLines(DocumentShare):
    """100 · source words in lines without any translation / source words, 0 to 100."""

    presentation: ClassVar[Presentation] = Presentation(
        "MissingLines",
        higher_is_better=False,
        kinds=MISSING_KINDS,
        more_errors="leaves out more lines",
        undefined="the source has no words",
        caveat=(
            "Lines that have nothing in the output, by the model's word probabilities. A short "
            "line whose words its neighbours have, too, may be joined to them."
        ),
    )
    statistic_names: ClassVar[tuple[str, ...]] = ("missing_words", "source_words")


@dataclass(frozen=True)
class ExtraText(DocumentShare):
    """100 · output words that belong to no source line / output words, 0 to 100."""

    presentation: ClassVar[Presentation] = Presentation(
        "ExtraText",
        higher_is_better=False,
        kinds=EXTRA_KINDS,
        more_errors="adds more text",
        undefined="the outputs have no words",
        caveat=(
            "Prefaces, notes and lines that are translated again, by the model's word "
            "probabilities. Such text counts in no other column."
        ),
    )
    statistic_names: ClassVar[tuple[str, ...]] = ("extra_words", "output_words")
