"""DROP-score: source words that the reference translates and the hypothesis does not.

Malaviya, Ferreira and Martins (ACL 2018), section 5: with C(x) the source positions aligned to some
word of x, the percentage of source words in C(reference) that are not in C(hypothesis); for a
corpus, sum over sum. The denominator is a setting, because the paper's text and its published
script differ. With several references, C(reference) is the intersection: only the words that all of
them translate are expected. Soft DROP does the same with probabilities.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from coverage_eval.align.aligner import Aligner, ExternalLinks, check_aligner
from coverage_eval.align.rows import AlignedRow, CoveredRow
from coverage_eval.core.batches import Batch, Request, RowSample
from coverage_eval.core.errors import DataError
from coverage_eval.core.mark import LIST_WORDS, Explanation, Mark, MarkKind
from coverage_eval.core.metric import (
    FittedMetric,
    Floats,
    Metric,
    Presentation,
    Statistics,
    setting,
)
from coverage_eval.core.text_metric import FixedMetric
from coverage_eval.core.tokenizers import StopWords, Words
from coverage_eval.outputs.output_errors import OutputErrorFinder, learn_output_errors
from coverage_eval.outputs.untranslated import overlapping

DENOMINATORS = ("aligned", "source")

_DROPPED = MarkKind(
    "dropped", "source", "dropped", "dropped word", "dropped words",
    "source word that the output drops", "omission", style="dropped", listed=LIST_WORDS,
)  # fmt: skip
_LOST = MarkKind(
    "lost", "source", "lost", "source word that loses coverage", "lost coverage",
    "source word that loses half of its coverage or more", "omission",
    style="lost", error_threshold=0.5,
)  # fmt: skip

_EMPTY_LINE = -1
"""The source position that an empty line of links gives in the published script."""


@dataclass(frozen=True)
class AlignmentMetric(Metric):
    """A metric of the links or coverages between source, reference and hypothesis.

    Args:
        aligner: What makes the links or coverages, and signs them.
        stopwords: Source words that are neither counted nor expected.

    Raises:
        TypeError: ``aligner`` is not an :class:`~coverage_eval.Aligner`, or ``stopwords`` not a
            :class:`~coverage_eval.StopWords`.
    """

    aligner: Aligner
    stopwords: StopWords = field(
        default_factory=StopWords,
        metadata={"help": "Ignore the source words in this file, one per line.", "metavar": "FILE"},
    )

    one_more_error: ClassVar[tuple[float, ...] | None] = (1.0, 1.0)
    """A word that was expected and is lost, so that no interval ends above 100."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_aligner(self.aligner)

    @cached_property
    def stopped(self) -> frozenset[str]:
        """The stop words in the case of the aligner's words."""
        if self.aligner.source_tokenizer.lowercase:
            return frozenset(map(str.lower, self.stopwords))
        return self.stopwords

    def settings(self) -> Mapping[str, object]:
        """The aligner's settings, then the stop words."""
        return {**self.aligner.settings, "stop": self.stopwords}


@dataclass(frozen=True)
class DROP(AlignmentMetric, FixedMetric):
    """DROP-score of hypotheses, by the links of one aligner.

    >>> from coverage_eval import Aligner
    >>> aligner = Aligner.from_links([[(0, 0), (1, 1)]], [[(0, 0)]])
    >>> metric = DROP(aligner)
    >>> float(metric.sentence_score("a", "a house", "ein haus"))
    50.0
    >>> print(*metric.evidence("a", "a house", "ein haus"))
    haus at 2

    Args:
        aligner: What links the source with reference and hypothesis.
        stopwords: Source words that are neither counted nor expected.
        denominator: ``"aligned"`` for a percentage of the source words aligned with the reference,
            as in the authors' script; ``"source"`` for a percentage of all source words.
        compat: ``"acl2018"`` reads files of links and counts an empty line of links as one aligned
            source word, as the published script does by accident; None counts no word.

    Raises:
        ValueError: An unknown denominator or compatibility mode.
    """

    denominator: str = setting(
        "aligned",
        "Divide by the source words aligned with the reference, or by all source words.",
        choices=DENOMINATORS,
    )
    compat: str | None = setting(
        None,
        "Treat blank lines of links as the paper's published script does.",
        flag="--paper",
        choices=("acl2018",),
    )

    presentation: ClassVar[Presentation] = Presentation(
        "DROP",
        higher_is_better=False,
        kinds=(_DROPPED,),
        more_errors="drops more words",
        undefined=(
            "no source word is aligned with the reference, so nothing can have been dropped; "
            "check the links, or the model's language pair"
        ),
        caveat=(
            "DROP rests on word links: a paraphrase that the aligner does not know looks like an "
            "omission, and a wrong link hides one. Only scores whose signatures name the same "
            "model and settings can be compared."
        ),
    )
    needs: ClassVar[frozenset[str]] = frozenset({"references", "links"})
    statistic_names: ClassVar[tuple[str, ...]] = ("dropped_words", "expected_words")

    def settings(self) -> Mapping[str, object]:
        """The aligner's settings, then the metric's."""
        return {
            **self.aligner.settings,
            "denom": self.denominator,
            "stop": self.stopwords,
            "compat": self.compat,
        }

    def fit(self, sample: RowSample) -> DROP:
        """Return this metric; with links by system, one with the links in the systems' order."""
        if not (sample.is_named and isinstance(self.aligner, ExternalLinks)):
            return self
        return replace(self, aligner=self.aligner.for_systems(sample.systems))

    def requests(self) -> Sequence[Request]:
        """The links between source, references and hypotheses."""
        return (self.aligner.links_request(compat=self.compat),)

    def count(self, batch: Batch) -> Statistics:
        """Dropped and expected words of each segment, ``[systems, segments, 2]``.

        Raises:
            DataError: The source is needed and not known.
        """
        counts = []
        for row in batch.get(*self.requests()):
            if row.source is None and (self.stopwords or self.denominator == "source"):
                raise DataError(
                    "the source text is needed for stop words, or all source words as "
                    "denominator; give it with --src"
                )
            expected, dropped = self._dropped(row)
            total = len(expected)
            if self.denominator == "source":
                total = sum(word not in self.stopped for word in row.source)
            counts.append([(len(positions), total) for positions in dropped])
        return np.array(counts, dtype=self.statistic_type).swapaxes(0, 1)

    def explain(self, batch: Batch) -> Iterator[tuple[Explanation, ...]]:
        """The dropped source words of each segment, in the order of the source."""
        for text, row in zip(batch.rows, batch.get(*self.requests()), strict=True):
            expected, dropped = self._dropped(row)
            counted = tuple(sorted(expected - {_EMPTY_LINE}))
            tokenizer, source = self.aligner.source_tokenizer, text.source
            words = None if source is None else tokenizer.locate(source)
            yield tuple(
                Explanation(
                    tuple(
                        _dropped_mark(words, position)
                        for position in sorted(positions - {_EMPTY_LINE})
                    ),
                    words=words,
                    expected=counted,
                )
                for positions in dropped
            )

    @property
    def table_caveat(self) -> str:
        """That joined links hide omissions, and which metrics do not miss them."""
        if not self.aligner.symmetrize.startswith("grow-diag"):
            return ""
        return (
            "DROP misses many omissions, because joining the links of both directions gives "
            "untranslated words a link to a wrong word: read soft DROP or omissions beside it."
        )

    def _dropped(self, row: AlignedRow) -> tuple[set[int], list[set[int]]]:
        """The expected source positions, C(reference), and those that each output drops.

        C(x) are the positions of the source words that count and are aligned to some word; with
        several references, all of them translate the expected ones.
        """
        covered = []
        for links in (*row.references, *row.hypotheses):
            positions = {position for position, _ in links}
            if self.stopwords and row.source is not None:
                positions = {p for p in positions if row.source[p] not in self.stopped}
            covered.append({_EMPTY_LINE} if self.compat and not links else positions)
        split = len(row.references)
        expected = set.intersection(*covered[:split])
        return expected, [expected - positions for positions in covered[split:]]


def _dropped_mark(words: Words | None, position: int) -> Mark:
    """The mark of a dropped source word; without the source's text, only the word's number."""
    if words is not None:
        return Mark.of(words, (position,), "source", "dropped")
    number = position + 1
    return Mark("source", (), "dropped", detail={"word": number}, label=str(number))


@dataclass(frozen=True)
class SoftDROP(AlignmentMetric):
    """Soft DROP: how much coverage of the source a hypothesis loses against the reference.

    DROP asks whether a source word is linked at all; soft DROP asks how much. The coverage of
    source word i by a text is cov_i = min(1, Σ_j p(a_j = i)), the posteriors of the frozen forward
    alignment model summed over the text's words, and

        soft DROP = 100 · Σ_i max(0, cov_i(reference) − cov_i(hypothesis)) / Σ_i cov_i(reference),

    for a corpus, sum over sum. With several references, the smallest coverage is expected. Words
    that an output leaves in the source's language (:mod:`coverage_eval.outputs.untranslated`) cover
    nothing, though the model knows them. This is the project's own metric; the papers have only the
    hard form.

    >>> from coverage_eval import Aligner
    >>> pairs = ["ein haus", "das haus", "ein hund"] * 20, ["a house", "the house", "a dog"] * 20
    >>> with Aligner.train(*pairs) as aligner:
    ...     worst, *_ = SoftDROP(aligner).evidence("a", "a house", "ein haus")
    >>> print(worst)
    haus at 2: 0.93 to 0.00

    Args:
        aligner: The aligner, which must have a model.
        stopwords: Source words that are neither counted nor expected.
    """

    presentation: ClassVar[Presentation] = Presentation(
        "SoftDROP",
        higher_is_better=False,
        kinds=(_LOST,),
        more_errors="loses more of the source",
        undefined=(
            "the reference covers no source word at all, so no coverage can have been lost; check"
            " the files, or the model's language pair"
        ),
        caveat=(
            "Soft DROP rests on a model's probabilities: what the model does not know looks half "
            "lost, even in a good translation. It shows how much coverage is lost, not that a "
            "specific word is lost."
        ),
    )
    needs: ClassVar[frozenset[str]] = frozenset({"references", "sources", "coverages"})
    statistic_names: ClassVar[tuple[str, ...]] = ("lost_coverage", "expected_coverage")
    statistic_type: ClassVar[type[np.generic]] = np.float64

    def settings(self) -> Mapping[str, object]:
        """The aligner's settings for coverages, then the metric's."""
        settings = self.aligner.coverage_settings()
        return {**settings, "untranslated": "lost", "stop": self.stopwords}

    def fit(self, sample: RowSample) -> FittedSoftDROP:
        """This metric with what tells untranslated words."""
        return FittedSoftDROP(self, learn_output_errors(sample, self.aligner))

    def formula(self, summed: Statistics) -> Floats:
        """100 · lost coverage / expected coverage, 0 to 100."""
        lost, expected = np.moveaxis(np.asarray(summed, dtype=np.float64), -1, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            # In this order, rounding never gives more than 100.
            return np.where(expected > 0, 100.0 * (lost / expected), np.nan)


@dataclass(eq=False)
class FittedSoftDROP(FittedMetric):
    """Soft DROP of some texts.

    Attributes:
        metric: The settings.
        error_finder: Finds what the outputs leave untranslated.
    """

    metric: SoftDROP
    error_finder: OutputErrorFinder

    def requests(self) -> Sequence[Request]:
        """Coverages of the source by references and hypotheses, and what is left untranslated."""
        return (self.metric.aligner.coverages_request(), self.error_finder.request)

    def count(self, batch: Batch) -> Statistics:
        """Lost and expected coverage of each segment, ``[systems, segments, 2]``."""
        counts = []
        for row in self._covered(batch):
            is_counted = [word not in self.metric.stopped for word in row.source]
            counted = np.array(is_counted, dtype=bool)
            expected = np.minimum.reduce(row.references)[counted]
            losses = [np.maximum(0.0, expected - covered[counted]) for covered in row.outputs]
            counts.append([(float(loss.sum()), float(expected.sum())) for loss in losses])
        return np.array(counts, dtype=self.metric.statistic_type).swapaxes(0, 1)

    def _covered(self, batch: Batch) -> Iterator[CoveredRow]:
        """Coverages by references and systems, in which untranslated words cover nothing."""
        answers = map(batch.get, self.requests())
        for text, row, output_errors in zip(batch.rows, *answers, strict=True):
            outputs = list(row.outputs[: len(text.hypotheses)])  # without peers
            for system, errors in enumerate(output_errors):
                if spans := [span for error in errors for span in error.source_spans]:
                    words = self.metric.aligner.source_tokenizer.locate(text.source or "")
                    outputs[system] = np.where(overlapping(words, spans), 0.0, outputs[system])
            yield row._replace(outputs=tuple(outputs))

    def explain(self, batch: Batch) -> Iterator[tuple[Explanation, ...]]:
        """The source words of each segment that lose coverage, greatest loss first.

        A mark's amount is the coverage lost, above 0 to 1; ``detail`` has the word's coverage by
        the reference (the smallest of several) and by the hypothesis, 0 to 1.
        """
        for text, row in zip(batch.rows, self._covered(batch), strict=True):
            expected = np.minimum.reduce(row.references)
            words = self.metric.aligner.source_tokenizer.locate(text.source or "")
            yield tuple(self._explained(row, words, expected, item) for item in row.outputs)

    def _explained(
        self, row: CoveredRow, words: Words, expected: Floats, covered: Floats
    ) -> Explanation:
        marks = []
        figures = zip(expected.tolist(), covered.tolist(), strict=True)
        for position, (reference, hypothesis) in enumerate(figures):
            if reference > hypothesis and row.source[position] not in self.metric.stopped:
                detail = {"reference": reference, "hypothesis": hypothesis}
                label = f"{words[position]} at {position + 1}: {reference:.2f} to {hypothesis:.2f}"
                marks.append(
                    Mark.of(
                        words, (position,), "source", "lost",
                        amount=reference - hypothesis, detail=detail, label=label,
                    )
                )  # fmt: skip
        return Explanation(tuple(sorted(marks, key=lambda mark: (-mark.amount, mark.spans))))
