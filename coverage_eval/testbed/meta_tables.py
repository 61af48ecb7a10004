"""Tables and pictures of a meta-evaluation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from coverage_eval.metrics.score import interval_ends
from coverage_eval.tables.table import Cell, Printable, ScoreCell, Table, tables_as_dicts
from coverage_eval.testbed.detection import (
    Estimate,
    Ranking,
    precision_recall_curve,
    reliability_curve,
    roc_curve,
)
from coverage_eval.testbed.meta_evaluation import MetaEvaluation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_RECORDS = ("score", "figure", "value", "low", "high", "p", "p_holm")
_MAX_DRAWN = 10
"""Curves in a panel; each has a colour of its own."""

_MIN_DRAWN = 4
"""With fewer scores that were asked for, the best baselines are drawn, too."""


def present_meta(evaluation: MetaEvaluation, kind: str) -> Printable:
    """The figures of every score; figures of words and of systems have their own tables.

    Args:
        evaluation: The figures.
        kind: The kind of error.
    """
    tables = tuple(table for table in _tables(evaluation, kind) if table is not None)
    return Printable(
        tables,
        records=Table(_RECORDS, tuple(_records(evaluation))),
        data={"kind": kind, **_as_dict(evaluation), "tables": tables_as_dicts(tables)},
        numbers=tuple(score.auroc.value for score in evaluation.scores),
    )


def present_kinds(evaluations: Mapping[str, MetaEvaluation]) -> Printable:
    """The AUROC of every score, which are the columns, for each kind of error.

    Intervals and tests are in CSV and JSON only: with them the table would be too wide.

    Args:
        evaluations: By kind; all of the same scores.
    """
    first = next(iter(evaluations.values()))
    names = [score.name.removeprefix("−") for score in first.scores]
    rows: list[tuple[Cell, ...]] = [
        (kind, *(replace(cell, low=None, high=None, p=None) for cell in _areas(evaluation)))
        for kind, evaluation in evaluations.items()
    ]
    sizes = (_size(evaluation, kind) for kind, evaluation in evaluations.items())
    table = Table(("AUROC", *names), tuple(rows), notes=tuple(sizes))
    records = [(kind, *record) for kind, item in evaluations.items() for record in _records(item)]
    return Printable(
        (table,),
        records=Table(("kind", *_RECORDS), tuple(records)),
        data={"kinds": [{"kind": kind, **_as_dict(item)} for kind, item in evaluations.items()]},
    )


def _areas(evaluation: MetaEvaluation) -> list[ScoreCell]:
    best = max(score.auroc.value for score in evaluation.scores)
    return [
        _measured(score.auroc, p=score.adjusted, best=score.auroc.value == best)
        for score in evaluation.scores
    ]


def _measured(estimate: Estimate, p: float | None = None, *, best: bool = False) -> ScoreCell:
    return ScoreCell(estimate.value, *interval_ends(estimate.interval), p, best)


def _cell(estimate: Estimate | None) -> Cell:
    return None if estimate is None else _measured(estimate)


def _tables(evaluation: MetaEvaluation, kind: str) -> Iterator[Table]:
    """The main table, and the tables of words and systems unless they are empty."""
    recall = f"P at R {evaluation.settings.recall:g}"
    header = ("score", "AUROC", "AP", recall, "r_pb", "τ", "within source", "one rater", "ECE")
    rows: list[tuple[Cell, ...]] = [
        (
            score.name, area, *map(_cell, (score.average_precision, score.precision_at_recall)),
            score.point_biserial, score.kendall,
            *map(_cell, (score.within_source, score.one_rater, score.calibration_error)),
        )
        for score, area in zip(evaluation.scores, _areas(evaluation), strict=True)
    ]  # fmt: skip
    if evaluation.ceiling:
        rows.append(("other raters", *[None] * 6, _measured(evaluation.ceiling), None))
    notes = (_size(evaluation, kind), *evaluation.matched.notes, *_explanations(evaluation))
    yield Table(header, tuple(rows), notes=notes)
    words = [
        (s.name, *map(_cell, (s.word_precision, s.word_recall, s.word_auroc)))
        for s in evaluation.scores
        if s.word_auroc
    ]
    if words:
        title = "Source words that scores point at, and those that errors concern"
        yield Table(("score", "precision", "recall", "AUROC"), tuple(words), title, "words")
    systems = len(evaluation.matched.systems)
    if systems > 2:
        means = [(s.name, s.system_kendall, s.system_pearson) for s in evaluation.scores]
        title = f"Means of {systems} systems: scores against labels"
        yield Table(("score", "τ", "r"), tuple(means), title, "systems")
    if evaluation.task:
        yield _task_table(evaluation)


def _task_table(evaluation: MetaEvaluation) -> Table:
    def cell(value: float | None, p: float | None) -> Cell:
        return None if value is None else ScoreCell(value, p=p)

    rows: list[tuple[Cell, ...]] = [
        (
            one.name, cell(one.accuracy, one.accuracy_p), one.epsilon,
            cell(one.pearson, one.pearson_p), one.soft_pairwise,
        )
        for one in evaluation.task
    ]  # fmt: skip
    drawn = evaluation.settings.resamples
    notes = [
        "acc_eq: share of pairs of translations of one source that score and grade order alike; "
        "differences up to ε are ties.",
        "SPA: soft pairwise accuracy of systems, by the p-values of their differences.",
    ]
    if drawn and len(rows) > 1:
        notes.append(
            f"p: whether it agrees better than {evaluation.task[0].name} (PERM-BOTH, one-sided, "
            f"{drawn:,} permutations, not corrected)."
        )
    title = f"Measures of the WMT metrics task, by the grade ({evaluation.matched.grade})"
    return Table(("score", "acc_eq", "ε", "r", "SPA"), tuple(rows), title, "task", tuple(notes))


def _size(evaluation: MetaEvaluation, kind: str) -> str:
    matched = evaluation.matched
    translations, sources = len(matched.judgements), len(set(matched.sources.tolist()))
    of = "" if sources == translations else f" of {sources:,} sources"
    return f"{translations:,} translations{of}, {int(matched.positive.sum()):,} with {kind}."


def _explanations(evaluation: MetaEvaluation) -> Iterator[str]:
    """Notes that explain the columns."""
    scores = evaluation.scores
    yield "AUROC: chance that a translation with an error scores higher than one without."
    yield (
        "r_pb: point-biserial correlation with the label; τ: Kendall's τ-b with its grade "
        f"({evaluation.matched.grade})."
    )
    if any(score.name.startswith("−") for score in scores):
        yield "−: low values point at errors."
    if any(score.within_source for score in scores):
        yield "within source: AUROC of translations of the same source."
    if evaluation.ceiling:
        yield (
            "one rater: AUROC against what one rater marked; other raters: of the share of the "
            "others who marked an error."
        )
    if any(score.calibration_error for score in scores):
        yield "ECE: expected calibration error of a probability, 10 bins."
    how = evaluation.settings
    if how.resamples:
        drawn = f"{how.resamples:,} resamples of sources, seed {how.seed}"
        yield f"[low, high]: 95% interval (percentile bootstrap, {drawn})."
    if how.resamples and len(scores) > 1:
        others = len(scores) - 1
        corrected = f"Holm-corrected over {others} scores" if others > 1 else "one score"
        yield (
            f"p: AUROC against that of {scores[0].name} (bootstrap of the difference, the same "
            f"resamples; {corrected})."
        )


def _records(evaluation: MetaEvaluation) -> Iterator[tuple[Cell, ...]]:
    for score in evaluation.scores:
        for name, figure in score.figures.items():
            if figure is None:
                continue
            p = (score.p_value, score.adjusted) if name == "auroc" else (None, None)
            yield (score.name, name, *_value(figure), *p)
    if evaluation.ceiling:
        yield ("other raters", "one_rater", *_value(evaluation.ceiling), None, None)
    for one in evaluation.task:
        yield (one.name, "acc_eq", one.accuracy, None, None, one.accuracy_p, None)
        yield (one.name, "epsilon", one.epsilon, None, None, None, None)
        yield (one.name, "graded_pearson", one.pearson, None, None, one.pearson_p, None)
        yield (one.name, "soft_pairwise", one.soft_pairwise, None, None, None, None)


def _value(figure: Estimate | float) -> tuple[float, float | None, float | None]:
    if not isinstance(figure, Estimate):
        return figure, None, None
    return figure.value, *interval_ends(figure.interval)


def _as_dict(evaluation: MetaEvaluation) -> dict[str, Any]:
    """The evaluation as plain values."""
    matched, how = evaluation.matched, evaluation.settings
    columns = ("value", "low", "high")
    scores = [
        {
            "score": score.name,
            "p_value": score.p_value,
            "p_value_holm": score.adjusted,
            **{
                name: None if figure is None else dict(zip(columns, _value(figure), strict=True))
                for name, figure in score.figures.items()
            },
        }
        for score in evaluation.scores
    ]
    ceiling = evaluation.ceiling
    return {
        "translations": len(matched.judgements),
        "sources": len(set(matched.sources.tolist())),
        "with_error": int(matched.positive.sum()),
        "baseline": evaluation.scores[0].name,
        "recall": how.recall,
        "resamples": how.resamples,
        "seed": how.seed,
        "notes": list(matched.notes),
        "other_raters": ceiling and dict(zip(columns, _value(ceiling), strict=True)),
        "scores": scores,
        "task": [asdict(one) for one in evaluation.task],
    }


def draw_meta(evaluation: MetaEvaluation) -> Figure:
    """ROC and precision–recall curves, and the reliability of probabilities.

    The scores that were asked for come first, in their order, then baselines, the best first, as
    far as there is room. A line of the picture names the scores that are left out.
    """
    from coverage_eval.plotting import precision_recall_curves, reliability_diagram, roc_curves
    from coverage_eval.plotting.canvas import new_figure

    matched = evaluation.matched
    pairs = list(zip(matched.scores, evaluation.scores, strict=True))
    asked = [pair for pair in pairs if pair[0].asked]
    others = [pair for pair in pairs if not pair[0].asked]
    others.sort(key=lambda pair: -pair[1].auroc.value)
    drawn = [*asked, *others[: max(0, _MIN_DRAWN - len(asked))]][:_MAX_DRAWN]
    left_out = [figures.name for _, figures in [*asked, *others] if figures.name not in
                {item.name for _, item in drawn}]  # fmt: skip
    scores = [score for score, _ in drawn]
    found = {s.name: Ranking(matched.positive, s.suspicion).detect() for s in scores}
    bins = {s.name: reliability_curve(matched.positive, s.suspicion)
            for s in scores if s.probability}  # fmt: skip
    panels = 3 if bins else 2
    figure = new_figure(3.4 * panels, 3.8 + 0.2 * len(scores))
    axes = [figure.add_subplot(1, panels, n + 1) for n in range(panels)]
    areas = {score.name: figures.auroc.value for score, figures in drawn}
    averages = {
        score.name: figures.average_precision.value
        for score, figures in drawn
        if figures.average_precision is not None
    }
    roc_curves({name: roc_curve(item) for name, item in found.items()}, areas=areas, ax=axes[0])
    precision_recall_curves(
        {name: precision_recall_curve(item) for name, item in found.items()},
        share=float(matched.positive.mean()),
        areas=averages,
        ax=axes[1],
    )
    if bins:
        curves = {name: (promised, share) for name, (promised, share, _) in bins.items()}
        counts = {name: count for name, (_, _, count) in bins.items()}
        reliability_diagram(curves, counts=counts, ax=axes[2])
    for ax in axes:  # below the axes, where no curve is
        handles, labels = ax.get_legend_handles_labels()
        ax.legend(handles, labels, frameon=False, fontsize=7, loc="upper left",
                  bbox_to_anchor=(-0.02, -0.18), borderaxespad=0)  # fmt: skip
    if left_out:
        figure.suptitle(f"Not drawn, but in the table: {', '.join(left_out)}", fontsize=8)
    return figure
