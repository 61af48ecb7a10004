"""Agreement with the Meteor 1.5 jar's figures for text of our own, which the repository carries."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from coverage_eval.data.dataset import Batch, Row
from coverage_eval.data.files import read_segments
from coverage_eval.metrics.meteor import METEOR
from coverage_eval.metrics.meteor.statistics import score_parts
from tests.metrics.meteor.counts import count
from tests.metrics.meteor.jar import as_added_up

FOLDER = Path(__file__).parents[2] / "golden" / "meteor"

CONFIGURATIONS = {
    "full": (METEOR(), 1),
    "exact-stem": (METEOR(variant="exact-stem"), 1),
    "lower": (METEOR(lower=True), 1),
    "norm": (METEOR(norm=True), 1),
    "two-references": (METEOR(), 2),
    "two-references-norm-exact-stem": (METEOR(variant="exact-stem", norm=True), 2),
}


def rows(references: int) -> list[Row]:
    """The text, with this number of references a segment."""
    hypotheses = read_segments(FOLDER / "hypotheses.txt")
    columns = [read_segments(FOLDER / f"references{n + 1}.txt") for n in range(references)]
    references_of = zip(*columns, strict=True)
    return [Row((text,), several) for text, several in zip(hypotheses, references_of, strict=True)]


@pytest.fixture(scope="module", params=CONFIGURATIONS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_statistics_and_scores(name: str) -> None:
    metric, references = CONFIGURATIONS[name]
    expected = np.loadtxt(FOLDER / f"{name}.statistics.txt")
    assert expected.shape == (43, 23)
    counts = metric.count(Batch(rows(references)))[0]
    np.testing.assert_array_equal(counts, as_added_up(expected))
    printed = (FOLDER / f"{name}.scores.txt").read_text(encoding="utf-8")
    scores = [float(score) for score in re.findall(r"^Segment \d+ score:\t(.*)", printed, re.M)]
    np.testing.assert_allclose(score_parts(counts).score, scores, rtol=0, atol=1e-12)
    (final,) = re.findall(r"^Final score: *(.*)", printed, re.M)
    assert float(score_parts(counts.sum(axis=0)).score) == pytest.approx(float(final), abs=1e-12)
    assert f"Eval ID:        {metric.eval_id}\n" in printed


def test_the_metric_gives_these_scores(name: str) -> None:
    """Through the functions that users call, with tokens too, segment by segment and in all."""
    metric, references = CONFIGURATIONS[name]
    texts = [(*row.hypotheses, *row.references) for row in rows(references)]
    columns = list(zip(*texts, strict=True))
    statistics = metric.statistics(
        columns[0], columns[1] if references == 1 else list(map(list, columns[1:]))
    )
    np.testing.assert_array_equal(statistics, count(metric, texts))
    if not metric.norm:
        tokens = [tuple(re.split("[ \t]+", text) for text in row) for row in texts]
        np.testing.assert_array_equal(count(metric, tokens), statistics)


def test_the_second_reference_is_often_the_better_one() -> None:
    """Else the figures above would say little of the choice."""
    one, two = (METEOR().count(Batch(rows(n)))[0] for n in (1, 2))
    better = score_parts(two).score > score_parts(one).score
    assert 8 <= better.sum() <= 35
    same = (two == one).all(axis=1)
    assert (better | same).all()


def test_evidence_is_that_of_the_best_reference() -> None:
    matches = METEOR().evidence("a cat", ["the dog", "a cats", "a cat"])
    assert [match.kind for match in matches] == ["exact", "exact"]
    (first,) = METEOR().evidence("cat", ["x cat", "cat y"])
    assert first.reference_start == 1
