"""Agreement with figures of the Meteor 1.5 jar (pycocoevalcap 1.2, OpenJDK 17, en/US locale).

Made with ``java -jar Meteor-1.5.jar hyp.txt ref.txt -l en -a paraphrase-en.gz`` and, for the second
configuration, ``-m "exact stem"``; the statistics with ``-ssOut``.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from coverage_eval.data.files import read_segments
from coverage_eval.metrics.meteor import METEOR
from coverage_eval.metrics.meteor.statistics import FIELDS, score_parts
from tests.metrics.meteor.counts import count
from tests.metrics.meteor.jar import as_added_up

CONFIGURATIONS = [("full", "full"), ("exact-stem", "exact_stem")]


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


@pytest.mark.parametrize(("variant", "column"), CONFIGURATIONS)
def test_segments(golden: Path, variant: str, column: str) -> None:
    rows = list(
        zip(read_segments(golden / "hyp.txt"), read_segments(golden / "ref.txt"), strict=True)
    )
    metric = METEOR(variant=variant, scale=1)
    counts = count(metric, rows)
    lines = table(golden / f"stats_{column}.tsv")
    printed = np.array([[int(float(line[name])) for name in FIELDS] for line in lines])
    assert len(printed) == len(rows) == 200
    np.testing.assert_array_equal(counts, as_added_up(printed))
    scores = [float(line[f"meteor_{column}"]) for line in table(golden / "scores.tsv")]
    np.testing.assert_allclose(score_parts(counts).score, scores, rtol=0, atol=1e-9)
    np.testing.assert_allclose(metric.formula(counts), scores, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("variant", "column"), CONFIGURATIONS)
def test_corpus(golden: Path, variant: str, column: str) -> None:
    metric = METEOR(variant=variant, scale=1)
    statistics = metric.statistics(
        read_segments(golden / "hyp.txt"), read_segments(golden / "ref.txt")
    )
    (expected,) = [
        line for line in table(golden / "corpus.tsv") if line["configuration"] == f"meteor_{column}"
    ]
    score = metric.score(statistics)
    assert score.score == pytest.approx(float(expected["corpus_score"]), abs=1e-12)
    assert np.mean(metric.segment_scores(statistics)) == pytest.approx(
        float(expected["mean_segment_score"]), abs=1e-11
    )
    assert f"|id:{expected['eval_id']}|" in str(score.signature)


@pytest.mark.parametrize(("variant", "column"), CONFIGURATIONS)
def test_edge_cases(golden: Path, variant: str, column: str) -> None:
    lines = (golden / "edge_cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [json.loads(line) for line in lines]
    metric = METEOR(variant=variant, scale=1)
    counts = metric.statistics([c["hyp"] for c in cases], [c["ref"] for c in cases])
    for case, score in zip(cases, metric.segment_scores(counts), strict=True):
        assert score == pytest.approx(case[f"meteor_{column}"], abs=1e-9), case["case"]
