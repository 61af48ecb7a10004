"""Tables and pictures of a meta-evaluation."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest

from coverage_eval.metrics.score import Interval
from coverage_eval.tables.formats import render
from coverage_eval.testbed.detection import Estimate
from coverage_eval.testbed.labels import Judgement, Labels
from coverage_eval.testbed.matching import Matched, match
from coverage_eval.testbed.meta_evaluation import (
    MetaEvaluation,
    MetaSettings,
    ScoreFigures,
    meta_evaluate,
)
from coverage_eval.testbed.meta_tables import draw_meta, present_kinds, present_meta
from coverage_eval.testbed.score_files import ScoreColumn
from coverage_eval.testbed.wmt_measures import TaskFigures


def about(value: float, *, resamples: int = 100) -> Estimate:
    interval = Interval(value - 0.1, value + 0.1, 0.95, resamples, 7) if resamples else None
    return Estimate(value, np.array([]), interval)


FIRST = ScoreFigures("one", about(0.7), about(0.5), about(0.4), 0.3, 0.2)
SECOND = ScoreFigures("−two", about(0.8), p_value=0.01, adjusted=0.02)
JUDGEMENTS = tuple(
    Judgement(1, system == "b", 0.0, system=system, source=1) for system in ("a", "b")
)
PLAIN = MetaEvaluation(
    (FIRST, SECOND), Matched(JUDGEMENTS, (), "points", ("A note.",)), MetaSettings(0.5, 100, 7)
)


def test_the_table_of_scores_with_its_notes():
    assert render(present_meta(PLAIN, "omission")) == (
        "score    AUROC         AP            P at R 0.5      r_pb     τ\n"
        "-------  ------------  ------------  ------------  ------  ----\n"
        "one      0.70          0.50          0.40            0.30  0.20\n"
        "         [0.60, 0.80]  [0.40, 0.60]  [0.30, 0.50]\n"
        "−two     0.80*\n"
        "         [0.70, 0.90]\n"
        "         p = 0.020\n"
        "\n"
        "*: p < 0.05.\n"
        "2 translations of 1 sources, 1 with omission.\n"
        "A note.\n"
        "AUROC: chance that a translation with an error scores higher than one without.\n"
        "r_pb: point-biserial correlation with the label; τ: Kendall's τ-b with its grade "
        "(points).\n"
        "−: low values point at errors.\n"
        "[low, high]: 95% interval (percentile bootstrap, 100 resamples of sources, seed 7).\n"
        "p: AUROC against that of one (bootstrap of the difference, the same resamples; one "
        "score)."
    )
    best = [row[1].best for row in present_meta(PLAIN, "x").tables[0].rows]  # type: ignore[union-attr]
    assert best == [False, True]
    assert render(present_meta(PLAIN, "x"), score_only=True) == "0.70\n0.80"


def test_every_figure_has_a_column_or_a_table_and_a_note():
    rich = replace(
        FIRST, within_source=about(0.6), one_rater=about(0.9), calibration_error=about(0.1),
        word_precision=about(0.1), word_recall=about(0.2), word_auroc=about(0.3),
        system_kendall=0.25, system_pearson=0.75,
    )  # fmt: skip
    judgements = tuple(
        Judgement(1, system == "b", 0.0, system=system, source=number)
        for number, system in enumerate("abc")
    )
    task = (
        TaskFigures("one", 0.5, 0.125, 0.25, 0.75),
        TaskFigures("−two", 0.625, 1.0, None, 0.5, 0.01, 0.2),
    )
    found = MetaEvaluation(
        (rich, SECOND, replace(SECOND, name="three")), Matched(judgements, ()),
        MetaSettings(0.5, 1000), about(0.95), task,
    )  # fmt: skip
    shown = present_meta(found, "omission")
    main, words, systems, _ = shown.tables
    assert main.header[6:] == ("within source", "one rater", "ECE")
    assert [cell.value for cell in main.rows[0][6:]] == [0.6, 0.9, 0.1]  # type: ignore[union-attr]
    assert main.rows[-1][0] == "other raters"
    assert [getattr(cell, "value", cell) for cell in main.rows[-1][1:]] == [*[None] * 6, 0.95, None]
    assert main.notes[0] == "3 translations, 1 with omission."
    assert [note.partition(":")[0] for note in main.notes[1:]] == [
        "AUROC", "r_pb", "−", "within source", "one rater", "ECE", "[low, high]", "p",
    ]  # fmt: skip
    assert main.notes[-1].endswith("the same resamples; Holm-corrected over 2 scores).")
    assert [[row[0], *(cell.value for cell in row[1:])] for row in words.rows] == [  # type: ignore[union-attr]
        ["one", 0.1, 0.2, 0.3]
    ]
    assert systems.title == "Means of 3 systems: scores against labels"
    assert systems.rows[0] == ("one", 0.25, 0.75)
    text = render(shown)
    assert text.partition("by the grade (label)\n\n")[2].startswith(
        "score    acc_eq        ε  r       SPA\n"
        "-------  ---------  ----  ----  -----\n"
        "one      0.50       0.12  0.25   0.75\n"
        "−two     0.62*      1.00         0.50\n"
        "         p = 0.010\n"
        "\n"
    )
    assert text.endswith("one (PERM-BOTH, one-sided, 1,000 permutations, not corrected).")
    records = list(csv.DictReader(io.StringIO(render(shown, "csv"))))
    by_name = {(row["score"], row["figure"]): row for row in records}
    assert by_name["one", "point_biserial"]["low"] == ""
    assert by_name["one", "auroc"]["p"] == ""
    assert (by_name["'−two", "auroc"]["p"], by_name["'−two", "auroc"]["p_holm"]) == ("0.01", "0.02")
    assert by_name["other raters", "one_rater"]["value"] == "0.95"
    assert by_name["'−two", "acc_eq"]["p"] == "0.01"
    assert by_name["'−two", "graded_pearson"]["p"] == "0.2"
    data = json.loads(render(shown, "json"))
    assert (data["translations"], data["sources"], data["with_error"]) == (3, 3, 1)
    assert (data["baseline"], data["recall"], data["resamples"]) == ("one", 0.5, 1000)
    assert data["other_raters"]["value"] == 0.95
    assert [table["name"] for table in data["tables"][1:]] == ["words", "systems", "task"]


def test_notes_on_tests_are_left_out_where_nothing_was_tested():
    task = (TaskFigures("one", 0.5, 0.125, 0.25, 0.75),)

    def notes(found: MetaEvaluation) -> str:
        return " ".join(note for table in present_meta(found, "x").tables for note in table.notes)

    alone = notes(replace(PLAIN, scores=(FIRST,), task=task))
    assert "[low, high]" in alone
    assert "p: " not in alone
    untested = notes(replace(PLAIN, settings=MetaSettings(resamples=0), task=task * 2))
    assert "[low, high]" not in untested
    assert "p: " not in untested
    tested = notes(replace(PLAIN, task=task * 2))
    assert tested.count("p: ") == 2
    assert {"words", "systems", "task"} & {t.name for t in present_meta(PLAIN, "x").tables} == set()


def test_kinds_of_errors_are_rows_and_scores_are_columns():
    shown = present_kinds({"omission": PLAIN, "addition": PLAIN})
    assert render(shown) == (
        "AUROC     one    two\n"
        "--------  -----  -----\n"
        "omission  0.70   0.80\n"
        "addition  0.70   0.80\n"
        "\n"
        "2 translations of 1 sources, 1 with omission.\n"
        "2 translations of 1 sources, 1 with addition."
    )
    rows = list(csv.DictReader(io.StringIO(render(shown, "csv"))))
    assert [row["kind"] for row in rows if row["score"] == "'−two"] == ["omission", "addition"]
    assert json.loads(render(shown, "json"))["kinds"][1]["kind"] == "addition"


@pytest.mark.parametrize("probabilities", [False, True])
def test_curves_of_all_scores_stand_side_by_side(probabilities):
    """Three systems translate ten sources, every third translation with an error."""
    items = [
        Judgement(number, not (number + place) % 3, 0.0, system=system, source=number)
        for number in range(1, 11)
        for place, system in enumerate("stu")
    ]
    columns = [  # most scores find errors less well than the next
        ScoreColumn(
            str(noise), "", {i.key: 0.1 * i.positive + i.segment / 100 * noise for i in items},
            probability=probabilities and noise == 2,
        )
        for noise in (8, 7, 6, 5, 4, 3, 2)
    ]  # fmt: skip
    found = meta_evaluate(match(Labels("l", tuple(items)), columns), MetaSettings(resamples=0))
    figure = draw_meta(found)
    figure.draw_without_rendering()
    best = found.scores  # all that were asked for, in their order
    legends = [
        [text.get_text() for text in ax.get_legend().get_texts()]  # type: ignore[union-attr]
        for ax in figure.axes
    ]
    assert legends[0] == [f"{score.name} (AUROC {score.auroc.value:.3f})" for score in best]
    precisions = [score.average_precision for score in best]
    assert legends[1] == [
        f"{score.name} (AP {precision.value:.3f})"
        for score, precision in zip(best, precisions, strict=True)
        if precision is not None
    ]
    assert list(figure.axes[1].lines[-1].get_ydata()) == pytest.approx([1 / 3, 1 / 3])
    if probabilities:
        assert legends[2] == ["2"]
        assert len(set(figure.axes[2].collections[0].get_sizes())) > 1
    labels = ["false positive rate", "recall", *(["probability"] if probabilities else [])]
    assert [ax.get_xlabel() for ax in figure.axes] == labels
    grids = [ax.get_subplotspec().get_geometry()[:2] for ax in figure.axes]
    assert grids == [(1, len(labels))] * len(labels)
    assert tuple(figure.get_size_inches()) == pytest.approx((3.4 * len(labels), 5.2))
    places = [ax.get_position().x0 for ax in figure.axes]
    assert places == sorted(places)
