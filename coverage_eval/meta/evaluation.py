"""What scores see of known errors: figures of each, with intervals and tests between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from coverage_eval.meta.correlation import kendall, pearson
from coverage_eval.meta.detection import (
    Ranking,
    auroc,
    average_precision,
    precision_at_recall,
    ratio,
)
from coverage_eval.meta.matching import Matched, MatchedScore
from coverage_eval.meta.resampling import Estimate, Figures, difference_p_value, estimate
from coverage_eval.meta.within_source import compare_within_sources
from coverage_eval.meta.word_spans import collect_words
from coverage_eval.metrics.significance import DEFAULT_RESAMPLES, DEFAULT_SEED, holm
from coverage_eval.omissions.reliability import calibration_error, reliability_statistics

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Evaluating:
    """How scores are evaluated.

    Attributes:
        recall: The share of errors that must be found where precision is read.
        resamples: Bootstrap resamples of the sources; 0 for no intervals and tests.
        seed: Their seed.
    """

    recall: float = 0.5
    resamples: int = DEFAULT_RESAMPLES
    seed: int = DEFAULT_SEED

    def __post_init__(self) -> None:
        if not 0 < self.recall <= 1:
            raise ValueError(f"recall must be above 0 and at most 1, not {self.recall}")


@dataclass(frozen=True)
class WordFigures:
    """How well a score points at the source words that errors concern.

    Attributes:
        precision: Share of the words pointed at that are concerned; None if none is pointed at.
        recall: Share of the words concerned that are pointed at.
        auroc: AUROC of the strengths with which it points at all source words.
    """

    precision: Estimate | None
    recall: Estimate | None
    auroc: Estimate | None


@dataclass(frozen=True)
class ScoreFigures:
    """What one score sees; None where a figure does not exist.

    Attributes:
        name: The score's name.
        auroc: Area under the ROC curve, of all translations.
        average_precision: Area under the precision–recall curve.
        precision: Precision at the fixed recall.
        point_biserial: Correlation of the score with the label.
        kendall: Kendall's τ-b of the score and the grade of the label.
        within_source: AUROC of pairs of translations of the same source.
        one_rater: AUROC against what a single rater marked.
        calibration: Expected calibration error of a probability.
        words: Figures of the source words that it points at.
        system_kendall: Kendall's τ-b of the systems' means of score and grade.
        system_pearson: Pearson's r of the same.
        p_value: Of the difference of AUROC from the first score's.
        adjusted: The same, by Holm over all scores.
    """

    name: str
    auroc: Estimate
    average_precision: Estimate | None = None
    precision: Estimate | None = None
    point_biserial: float | None = None
    kendall: float | None = None
    within_source: Estimate | None = None
    one_rater: Estimate | None = None
    calibration: Estimate | None = None
    words: WordFigures | None = None
    system_kendall: float | None = None
    system_pearson: float | None = None
    p_value: float | None = None
    adjusted: float | None = None


@dataclass(frozen=True)
class MetaEvaluation:
    """Figures of all scores of the same translations.

    Attributes:
        scores: One a score; the others are tested against the first.
        matched: What they are figures of.
        evaluating: How they were made.
        ceiling: AUROC of what other raters marked against what a rater marked; None without
            several raters a translation.
    """

    scores: tuple[ScoreFigures, ...]
    matched: Matched
    evaluating: Evaluating
    ceiling: Estimate | None = None


def meta_evaluate(matched: Matched, evaluating: Evaluating | None = None) -> MetaEvaluation:
    """Evaluate scores against labels.

    Args:
        matched: Translations with labels and scores.
        evaluating: How; by default with 1,000 resamples.

    Raises:
        DataError: All labels are equal, or a score points at words that a source does not have.
    """
    how = evaluating or Evaluating()
    bench = _Bench(matched, how)
    scores = [bench.figures_of(score) for score in matched.scores]
    return MetaEvaluation(tuple(_tested(scores)), matched, how, bench.by_one_rater())


def _tested(scores: Sequence[ScoreFigures]) -> list[ScoreFigures]:
    """The figures with p-values of AUROC against the first score's."""
    first, *others = scores
    p_values = [difference_p_value(score.auroc, first.auroc) for score in others]
    known = [p for p in p_values if p is not None]
    if len(known) < len(others):  # without resamples there is none at all
        return list(scores)
    tested = zip(others, known, holm(known), strict=True)
    return [first, *(replace(score, p_value=p, adjusted=q) for score, p, q in tested)]


class _Bench:
    """The labels, and how figures of any score against them are estimated."""

    def __init__(self, matched: Matched, how: Evaluating) -> None:
        self.judgements = matched.judgements
        self.systems = matched.systems.values()
        self.how = how
        self.positive = matched.positive
        self.grades = matched.grades
        self.sources = matched.sources
        self.number = int(self.sources.max()) + 1

    def figures_of(self, score: MatchedScore) -> ScoreFigures:
        """All figures of one score."""
        area, precision, at_recall = self._ranked(self.positive, score.suspicion, self.sources)
        assert area is not None  # labels are not all equal
        within = compare_within_sources(self.positive, score.suspicion, self.sources)
        graded = [self.grades[own].mean() for own in self.systems]
        suspected = [score.suspicion[own].mean() for own in self.systems]
        return ScoreFigures(
            name=score.name,
            auroc=area,
            average_precision=precision,
            precision=at_recall,
            point_biserial=pearson(self.positive, score.suspicion),
            kendall=kendall(self.grades, score.suspicion),
            within_source=self._summed(within, _ratio),
            one_rater=self.by_one_rater(score.suspicion),
            calibration=self._calibration(score),
            words=self._words(score),
            system_kendall=kendall(graded, suspected) if len(graded) > 2 else None,
            system_pearson=pearson(graded, suspected) if len(graded) > 2 else None,
        )

    def by_one_rater(self, suspicion: Floats | None = None) -> Estimate | None:
        """AUROC against the marks of one rater, over all raters of translations with several.

        Args:
            suspicion: The score; None for the share of the other raters who marked an error.
        """
        marks, scores, rated = [], [], []
        for number, item in enumerate(self.judgements):
            for mark in item.raters if len(item.raters) > 1 else ():
                others = (sum(item.raters) - mark) / (len(item.raters) - 1)
                marks.append(mark)
                scores.append(others if suspicion is None else suspicion[number])
                rated.append(number)
        if len(set(marks)) < 2:
            return None
        area, *_ = self._ranked(np.array(marks), np.array(scores), self.sources[rated])
        return area

    def _calibration(self, score: MatchedScore) -> Estimate | None:
        if not score.probability:
            return None
        statistics = reliability_statistics(self.positive, score.suspicion)
        by_source = np.zeros((self.number, *statistics.shape[1:]))
        np.add.at(by_source, self.sources, statistics)
        return self._summed(by_source, calibration_error)

    def _words(self, score: MatchedScore) -> WordFigures | None:
        pointed = score.words
        found = pointed and collect_words(self.judgements, pointed, self.sources)
        if not found:
            return None
        right, pointed_at, concerned = found.counts(self.number).T
        area, *_ = self._ranked(found.gold, found.strength, found.sources)
        return WordFigures(
            self._summed(np.stack([right, pointed_at], axis=-1), _ratio),
            self._summed(np.stack([right, concerned], axis=-1), _ratio),
            area,
        )

    def _ranked(
        self, labels: NDArray[np.bool_], scores: Floats, sources: NDArray[np.intp]
    ) -> list[Estimate | None]:
        """AUROC, average precision, and precision at the recall."""
        ranking = Ranking(labels, scores)

        def figures(weights: Floats) -> Floats:
            found = ranking.detect(weights[..., sources])
            at_recall = precision_at_recall(found, self.how.recall)
            return np.stack([auroc(found), average_precision(found), at_recall], axis=-1)

        return self._estimate(figures, len(labels))

    def _summed(self, by_source: Floats, formula: Callable[[Floats], Floats]) -> Estimate | None:
        """A figure of sums over sources."""

        def figures(weights: Floats) -> Floats:
            return formula(np.tensordot(weights, by_source, axes=1))[..., None]

        (found,) = self._estimate(figures, len(by_source))
        return found

    def _estimate(self, figures: Figures, weights: int) -> list[Estimate | None]:
        how = self.how
        return estimate(figures, self.number, how.resamples, how.seed, weights=weights)


def _ratio(summed: Floats) -> Floats:
    return ratio(summed[..., 0], summed[..., 1])
