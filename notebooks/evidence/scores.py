"""The scores that are compared, by their names in the tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from areas import Areas, area
from kinds import KINDS
from numpy.typing import NDArray

from coverage_eval.align.aligner import ModelAligner
from coverage_eval.core.batches import Batch, Request, Row, Texts
from coverage_eval.core.counting import count_fitted
from coverage_eval.core.metric import Metric, Presentation, Statistics
from coverage_eval.core.text_metric import FixedMetric
from coverage_eval.core.tokenizers import tokenize
from coverage_eval.coverage.drop import DROP, AlignmentMetric, SoftDROP
from coverage_eval.coverage.omissions import Omissions
from coverage_eval.quality.sacre import BLEU, CHRF
from coverage_eval.repetition.other_metrics import SeqRep
from coverage_eval.repetition.rep import REP, LetterREP, LetterRepetition
from tests.planting import CleanSegment, Injection, WordPool


@dataclass(frozen=True)
class UncoveredSource(AlignmentMetric, FixedMetric):
    """1 − Σ |C(hypothesis)| / Σ |source|, in percent: source words without any link.

    C(x) are the source positions aligned to some word of x. Without a reference, it also counts
    words that no translation expresses, so compare systems, not languages. Stop words are ignored.
    """

    presentation: ClassVar[Presentation] = Presentation(
        "uncovered-source", higher_is_better=False, undefined="the source has no words at all"
    )
    needs: ClassVar[frozenset[str]] = frozenset({"sources", "links"})
    statistic_names: ClassVar[tuple[str, ...]] = ("numerator", "denominator")

    def requests(self) -> Sequence[Request]:
        """The links between the source and all texts."""
        return (self.aligner.links_request(),)

    def count(self, batch: Batch) -> Statistics:
        """Source words without a link, and source words."""
        counts = []
        for row in batch.get(*self.requests()):
            source = enumerate(row.source or ())
            counted = {position for position, word in source if word not in self.stopwords}
            linked = [{position for position, _ in links} for links in row.hypotheses]
            counts.append([(len(counted - covered), len(counted)) for covered in linked])
        return np.array(counts).swapaxes(0, 1)


RATE = 0.05
"""Share of the words with an error."""

Scorers = Mapping[str, Metric]


def by(aligner: ModelAligner, symmetrize: str) -> ModelAligner:
    """The same model with another symmetrisation."""
    return ModelAligner(aligner.model, symmetrize=symmetrize)


def drop_scores(aligner: ModelAligner) -> Scorers:
    """DROP by its default and by forward links, soft DROP, and uncovered source words."""
    forward = by(aligner, "forward")
    return {
        "DROP": DROP(aligner),
        "DROP forward": DROP(forward),
        "soft DROP": SoftDROP(aligner),
        "uncovered source": UncoveredSource(forward),
    }


def omission_scores(aligner: ModelAligner) -> Scorers:
    """The scores of DROP, and the omission finder with and without the reference."""
    return {
        **drop_scores(aligner),
        "omissions": Omissions(aligner),
        "omissions, no ref.": Omissions(aligner, referenced=False),
    }


def repetition_scores() -> Scorers:
    """REP as in the paper and in letters, with and without the reference, and seq-rep-1."""
    return {
        "REP": REP(),
        "REP-letters": LetterREP(),
        "REP-letters, no ref.": LetterRepetition(),
        "seq-rep-1": SeqRep(n=1),
    }


def all_scores(aligner: ModelAligner) -> Scorers:
    """The scores for repetitions and for omissions."""
    return {**repetition_scores(), **omission_scores(aligner)}


@dataclass(frozen=True)
class Spoilt:
    """Correct translations with injected errors.

    Attributes:
        rows: The translations, with reference and source.
        labels: Whether each row has an error.
        lost: Whether each has an error that concerns source words; all False without an aligner.
        kind: The kind of error.
    """

    rows: list[Row]
    labels: NDArray[np.bool_]
    lost: NDArray[np.bool_]
    kind: str

    @classmethod
    def of(
        cls,
        rows: Sequence[Row],
        kind: str = "omission-phrase",
        repair: str = "none",
        aligner: ModelAligner | None = None,
        rate: float = RATE,
    ) -> Spoilt:
        """Put errors of a kind into correct translations; some kinds need an aligner."""
        clean = list(_clean(rows, aligner))
        pool = WordPool.of(segment.words for segment in clean)
        injection = Injection(kind, rate, pool, 7, repair, KINDS)
        spoilt = [injection.corrupt(segment) for segment in clean]
        texts = [
            row._replace(
                hypotheses=(" ".join(found.words),), references=row.references or row.hypotheses
            )
            for row, found in zip(rows, spoilt, strict=True)
        ]
        lost = [any(error.source for error in found.errors) for found in spoilt]
        labels = [bool(found.errors) for found in spoilt]
        return cls(texts, np.array(labels), np.array(lost), kind)

    @property
    def is_mixed(self) -> bool:
        """Whether some translations have an error and some have none."""
        return bool(self.labels.any() and not self.labels.all())

    def seen_as(self, split: Callable[[str], str]) -> Spoilt:
        """The same errors, with all texts changed by a function."""
        rows = [
            Row(
                *(tuple(split(str(text)) for text in side) for side in row[:2]),
                split(str(row.source)),
            )
            for row in self.rows
        ]
        return replace(self, rows=rows)

    def areas(self, scorers: Scorers, *, baselines: bool = False) -> dict[str, Areas]:
        """Score → AUROC; an undefined score is the least suspicious."""
        outputs, references, sources = zip(
            *((row.hypotheses[0], row.references[0], row.source) for row in self.rows), strict=True
        )
        dataset = Texts.from_lists({"output": outputs}, references, sources)
        fitted = {name: metric.fit(dataset.sample) for name, metric in scorers.items()}
        result = count_fitted(dataset, fitted, keep_texts=True)
        found = {}
        for name, metric in result.metrics.items():
            sign = -1.0 if metric.presentation.higher_is_better is not False else 1.0
            found[name] = self._area(result.segment_scores(name, "output"), sign)
        return found | (self._baselines() if baselines else {})

    def _area(self, scores: Sequence[float | None], sign: float) -> Areas:
        values = [-np.inf if score is None else sign * score for score in scores]
        lowest = min((value for value in values if value > -np.inf), default=0.0) - 1.0
        return area(self.labels, np.maximum(values, lowest))

    def _baselines(self) -> dict[str, Areas]:
        """What knows nothing about coverage: lengths, BLEU and chrF.

        Low ratios of lengths are suspicious if the kind of error shortens translations.
        """
        sign = -1.0 if self.kind.startswith(("omission", "early-stop")) else 1.0
        lengths, source, reference = (
            np.array([len(str(text).split()) for text in texts], dtype=np.float64)
            for texts in zip(
                *((r.hypotheses[0], r.source, r.references[0]) for r in self.rows), strict=True
            )
        )
        columns: dict[str, tuple[Sequence[float | None], float]] = {
            "hyp/src length": ((lengths / np.maximum(1, source)).tolist(), sign),
            "source length": (source.tolist(), 1.0),
            "hyp/ref length": ((lengths / np.maximum(1, reference)).tolist(), sign),
        }
        for metric in (BLEU(tokenize="none"), CHRF()):
            scores = metric.scores_of(metric.count(Batch(self.rows))[0])
            columns[metric.presentation.name] = (
                [score or 0.0 for score in scores],
                -1.0,
            )  # too short for BLEU: 0
        return {name: self._area(*column) for name, column in columns.items()}


def _clean(rows: Sequence[Row], aligner: ModelAligner | None) -> Iterator[CleanSegment]:
    """Rows with one hypothesis as words, linked with their source if there is an aligner."""
    if aligner is None:
        for row in rows:
            yield CleanSegment(tokenize(row.hypotheses[0]), tokenize(row.source or ""))
        return
    target, source = (
        replace(tokens, lowercase=False, stem=0)
        for tokens in (aligner.tokenizer, aligner.source_tokenizer)
    )
    bare = [row._replace(references=()) for row in rows]
    for row, aligned in zip(rows, aligner.align(bare), strict=True):
        words = target(row.hypotheses[0])
        yield CleanSegment(words, source(row.source or ""), aligned.hypotheses[0])
