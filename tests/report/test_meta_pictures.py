"""The picture of a meta-evaluation."""

from __future__ import annotations

import pytest

from coverage_eval.report.meta import draw_meta
from coverage_eval.testbed.evaluation import Evaluating, MetaEvaluation, meta_evaluate
from coverage_eval.testbed.labels import Judgement, Labels
from coverage_eval.testbed.matching import match
from coverage_eval.testbed.score_files import ScoreColumn


def evaluated(names: str, resamples: int, *, probabilities: bool = False) -> MetaEvaluation:
    """Scores of three systems' translations of ten sources, every third with an error."""
    items, scores = [], {}
    for number in range(1, 11):
        for place, system in enumerate("stu"):
            wrong = (number + place) % 3 == 0
            items.append(Judgement(number, wrong, float(wrong), system=system, source=number))
            scores[system, number] = 0.9 * wrong + number / 100
    columns = [ScoreColumn(name, name, scores, probability=probabilities) for name in names]
    return meta_evaluate(match(Labels("l", tuple(items)), columns), Evaluating(resamples=resamples))


@pytest.mark.parametrize("probabilities", [False, True])
def test_panels_stand_side_by_side(probabilities: bool) -> None:
    figure = draw_meta(evaluated("x", 0, probabilities=probabilities))
    figure.draw_without_rendering()
    labels = ["false positive rate", "recall", *(["probability"] if probabilities else [])]
    assert [ax.get_xlabel() for ax in figure.axes] == labels
    grids = [ax.get_subplotspec().get_gridspec().ncols for ax in figure.axes]
    assert grids == [len(labels)] * len(labels)
    places = [ax.get_position().x0 for ax in figure.axes]
    assert places == sorted(places)
