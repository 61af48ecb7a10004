"""Meta-evaluation: how well scores find known errors, with intervals and tests of differences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from coverage_eval.arrays import Floats
from coverage_eval.data.dataset import Batch, Dataset, Row
from coverage_eval.data.files import Text, read_segments, source_name
from coverage_eval.data.mqm import Key
from coverage_eval.data.tokenizers import Tokenizer
from coverage_eval.errors import DataError
from coverage_eval.metrics.sacrebleu_adapters import BLEU, CHRF
from coverage_eval.metrics.significance import (
    DEFAULT_RESAMPLES,
    DEFAULT_SEED,
    MAX_RESAMPLES,
    holm,
)
from coverage_eval.settings import setting
from coverage_eval.testbed.detection import (
    Estimate,
    Ranking,
    auroc,
    average_precision,
    calibration_error,
    compare_within_sources,
    difference_p_value,
    estimate,
    kendall,
    pearson,
    precision_at_recall,
    ratio,
    reliability_statistics,
)
from coverage_eval.testbed.labels import Labels
from coverage_eval.testbed.matching import BASELINES, Matched, MatchedScore, match
from coverage_eval.testbed.score_files import ScoreColumn
from coverage_eval.testbed.wmt_measures import TaskFigures, task_figures


@dataclass(frozen=True)
class MetaSettings:
    """Settings of the evaluation.

    Attributes:
        recall: The recall at which precision is measured, above 0 to 1.
        resamples: Bootstrap resamples of the sources; 0 for no intervals and tests.
        seed: Their seed.
    """

    recall: float = setting(
        0.5, "Show precision where this share of the errors is found.", min=0, max=1, min_open=True
    )
    resamples: int = setting(
        DEFAULT_RESAMPLES,
        "Number of resamples of the sources for intervals and tests; 0 for neither.",
        min=0,
        max=MAX_RESAMPLES,
        group="Statistics",
    )
    seed: int = setting(DEFAULT_SEED, "Seed of the resampling.", min=0, group="Statistics")

    def __post_init__(self) -> None:
        if not 0 < self.recall <= 1:
            raise ValueError(f"recall must be above 0 and at most 1, not {self.recall}")


@dataclass(frozen=True)
class ScoreFigures:
    """The figures of one score; None for an undefined figure.

    Attributes:
        name: The score's name.
        auroc: Area under the ROC curve, over all translations.
        average_precision: Area under the precision–recall curve.
        precision_at_recall: Precision at the recall of the settings.
        point_biserial: Correlation of the score with the label.
        kendall: Kendall's τ-b of the score and the label's grade.
        within_source: AUROC over pairs of translations of the same source.
        one_rater: AUROC against the marks of a single rater.
        calibration_error: Expected calibration error of a probability.
        word_precision: Among the source words that the score points at, the share with an error.
        word_recall: Among the source words with an error, the share that the score points at.
        word_auroc: AUROC of its strengths over all source words.
        system_kendall: Kendall's τ-b of the systems' mean scores and mean grades.
        system_pearson: Pearson's r of the systems' mean scores and mean grades.
        p_value: p-value of the difference of AUROC from the first score's.
        adjusted: The p-value, Holm-corrected over all scores.
    """

    name: str
    auroc: Estimate
    average_precision: Estimate | None = None
    precision_at_recall: Estimate | None = None
    point_biserial: float | None = None
    kendall: float | None = None
    within_source: Estimate | None = None
    one_rater: Estimate | None = None
    calibration_error: Estimate | None = None
    word_precision: Estimate | None = None
    word_recall: Estimate | None = None
    word_auroc: Estimate | None = None
    system_kendall: float | None = None
    system_pearson: float | None = None
    p_value: float | None = None
    adjusted: float | None = None

    @property
    def figures(self) -> dict[str, Estimate | float | None]:
        """All figures by name."""
        others = {"name", "p_value", "adjusted"}
        names = (item.name for item in fields(self))
        return {name: getattr(self, name) for name in names if name not in others}


@dataclass(frozen=True)
class MetaEvaluation:
    """The figures of several scores for the same translations.

    Attributes:
        scores: The figures of each score; all are tested against the first.
        matched: The translations with labels and scores.
        settings: The settings.
        ceiling: How well raters predict each other: AUROC of the other raters' marks against one
            rater's; None unless translations have several raters.
        task: The WMT metrics task's figures of each score; empty unless there are several systems.
    """

    scores: tuple[ScoreFigures, ...]
    matched: Matched
    settings: MetaSettings
    ceiling: Estimate | None = None
    task: tuple[TaskFigures, ...] = ()


def meta_evaluate(matched: Matched, settings: MetaSettings | None = None) -> MetaEvaluation:
    """Evaluate scores against labels.

    Args:
        matched: Translations with labels and scores.
        settings: Settings; by default with 1,000 resamples.

    Raises:
        DataError: All labels are equal, or a label or score points past the end of a source.
    """
    how = settings or MetaSettings()
    bench = _Bench(matched, how)
    scores = [bench.figures_of(score) for score in matched.scores]
    p_values = [difference_p_value(score.auroc, scores[0].auroc) for score in scores[1:]]
    known = [p for p in p_values if p is not None]  # all, or none without resamples
    for number, (p, adjusted) in enumerate(zip(known, holm(known), strict=True), start=1):
        scores[number] = replace(scores[number], p_value=p, adjusted=adjusted)
    return MetaEvaluation(tuple(scores), matched, how, bench.by_one_rater())


class _Bench:
    """The labels, and the estimates of any score's figures."""

    def __init__(self, matched: Matched, how: MetaSettings) -> None:
        self.judgements = matched.judgements
        for item in self.judgements:
            last = max(item.words or (), default=-1)
            if item.source_words is not None and last >= item.source_words:
                place = f"line {item.line}: " if item.line else ""
                raise DataError(
                    f"the labels: {place}word {last + 1:,} of segment {item.segment}, whose source "
                    f"has {item.source_words}"
                )
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
        calibration = None
        if score.probability:
            statistics = reliability_statistics(self.positive, score.suspicion)
            by_source = np.zeros((self.number, *statistics.shape[1:]))
            np.add.at(by_source, self.sources, statistics)
            calibration = self._summed(by_source, calibration_error)
        return ScoreFigures(
            score.name,
            area,
            precision,
            at_recall,
            pearson(self.positive, score.suspicion),
            kendall(self.grades, score.suspicion),
            self._summed(within),
            self.by_one_rater(score.suspicion),
            calibration,
            *self._of_words(score.words),
            kendall(graded, suspected) if len(graded) > 2 else None,
            pearson(graded, suspected) if len(graded) > 2 else None,
        )

    def by_one_rater(self, suspicion: Floats | None = None) -> Estimate | None:
        """AUROC against the marks of one rater, over all raters of translations with several.

        Args:
            suspicion: The score; None for the share of other raters who marked an error.
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
        return self._ranked(np.array(marks), np.array(scores), self.sources[rated])[0]

    def _of_words(
        self, pointed: Sequence[Mapping[int, float]] | None
    ) -> tuple[Estimate | None, Estimate | None, Estimate | None]:
        """Precision, recall and AUROC of the source words that a score points at.

        Only translations with annotated words count. The figures are None if there are no such
        words, or if a source's number of words is unknown.
        """
        known = [n for n, item in enumerate(self.judgements) if item.words is not None]
        if pointed is None or any(self.judgements[n].source_words is None for n in known):
            return None, None, None
        gold, strength, sources = [], [], []
        for n in known:
            item = self.judgements[n]
            words = item.source_words or 0
            for position in (*(item.words or ()), *pointed[n]):
                if position >= words:
                    raise DataError(
                        f"segment {item.segment}: a score or label names word {position + 1}, but "
                        f"the source has {words}; name the tokeniser of the scores' signature with "
                        "--tokenize"
                    )
            gold += [position in (item.words or ()) for position in range(words)]
            strength += [pointed[n].get(position, 0.0) for position in range(words)]
            sources += [self.sources[n]] * words
        if not any(gold):
            return None, None, None
        concerned, strengths = np.array(gold), np.array(strength)
        hit = strengths > 0
        right, pointed_at, wanted = (
            np.bincount(sources, weights=kind, minlength=self.number)
            for kind in (hit & concerned, hit, concerned)
        )
        return (
            self._summed(np.stack([right, pointed_at], axis=-1)),
            self._summed(np.stack([right, wanted], axis=-1)),
            self._ranked(concerned, strengths, np.array(sources))[0],
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

        how = self.how
        return estimate(figures, self.number, how.resamples, how.seed, weights=len(labels))

    def _summed(
        self,
        by_source: Floats,
        formula: Callable[[Floats], Floats] = lambda sums: ratio(sums[..., 0], sums[..., 1]),
    ) -> Estimate | None:
        """A figure of sums over sources; by default the quotient of two sums."""

        def figures(weights: Floats) -> Floats:
            return formula(np.tensordot(weights, by_source, axes=1))[..., None]

        return estimate(figures, self.number, self.how.resamples, self.how.seed)[0]


def evaluate_labelled(
    labels: Labels,
    columns: Sequence[ScoreColumn],
    kind: str,
    *,
    source: Text | None = None,
    hypothesis: Text | None = None,
    reference: Text | None = None,
    tokens: Tokenizer | None = None,
    settings: MetaSettings | None = None,
) -> MetaEvaluation:
    """Evaluate scores, and the baselines that the texts allow, against labels.

    The labels refer to lines of the three texts by the segment's number.

    Args:
        labels: The labels.
        columns: The scores.
        kind: The labels' kind of error.
        source: The sources.
        hypothesis: The translations, for labels without texts.
        reference: The references.
        tokens: Splits the texts into words; by default at spaces.
        settings: Settings.

    Raises:
        DataError: No scores and no baselines, or as :func:`~coverage_eval.testbed.matching.match`
            and :func:`meta_evaluate`.
    """
    words = tokens or Tokenizer()
    if hypothesis is None:
        rows = _judged_rows(labels, reference)
    else:
        references = [] if reference is None else [reference]
        dataset = Dataset.of_files({source_name(hypothesis): hypothesis}, references, source)
        rows = {("", number): row for number, row in enumerate(dataset.rows(), start=1)}
    baselines = baseline_scores(list(rows.values()), words, kind, list(rows)) if rows else []
    if not (columns or baselines):
        raise DataError(
            f"{labels.name}: no scores, and no texts for baselines; name files of scores"
        )
    matched = match(labels, [*columns, *baselines])
    if source is not None:
        matched = matched.with_source_words(list(read_segments(source)), words)
    evaluation = meta_evaluate(matched, settings)
    how = evaluation.settings
    return replace(evaluation, task=task_figures(matched, how.resamples, how.seed))


def _judged_rows(labels: Labels, reference: Text | None) -> dict[Key, Row]:
    """The labels' own texts, with lines of the reference; empty if the labels have no texts."""
    references = None if reference is None else list(read_segments(reference))
    rows = {}
    for item in labels.judgements:
        if item.source_text is None or item.target_text is None:
            return {}
        if references is not None and item.segment > len(references):
            raise DataError(
                f"{labels.name}: line {item.line}: segment {item.segment} is beyond the end of the "
                f"reference, which has {len(references):,} lines"
            )
        own = () if references is None else (references[item.segment - 1],)
        rows[item.key] = Row((item.target_text,), own, item.source_text)
    return rows


def baseline_scores(
    rows: Sequence[Row], tokens: Tokenizer, kind: str, keys: Sequence[Key]
) -> list[ScoreColumn]:
    """Baselines that know nothing about coverage.

    They are the ratios of a translation's length to those of the source and the reference, the
    source's length, BLEU and chrF. Low ratios are suspicious if the kind of error shortens
    translations; otherwise high ratios are. An empty text counts as one word.

    Args:
        rows: Translations, with their source and references, if any.
        tokens: Splits them into words.
        kind: The kind of error.
        keys: System and segment of each row.
    """
    shortened = kind.startswith(("omission", "early-stop"))
    lengths = [len(tokens(row.hypotheses[0])) for row in rows]

    def ratios(others: Sequence[int]) -> list[float | None]:
        return [own / max(1, other) for own, other in zip(lengths, others, strict=True)]

    columns: dict[str, tuple[list[float | None], bool]] = {}
    if all(row.source is not None for row in rows):
        sources = [len(tokens(row.source or "")) for row in rows]
        columns["hyp/src length"] = ratios(sources), shortened
        columns["source length"] = list(map(float, sources)), False
    if all(row.references for row in rows):
        columns["hyp/ref length"] = (
            ratios([len(tokens(row.references[0])) for row in rows]), shortened
        )  # fmt: skip
        for metric in (BLEU(tokenize=tokens.name, lowercase=tokens.lowercase), CHRF()):
            columns[metric.name] = metric.segment_scores(metric.count(Batch(rows))[0]), True
    return [
        ScoreColumn(name, BASELINES, dict(zip(keys, values, strict=True)), higher)
        for name, (values, higher) in columns.items()
    ]
