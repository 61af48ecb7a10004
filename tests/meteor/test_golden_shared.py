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
from coverage_eval.metrics.meteor.counting import MatchOptions, count_batch, prepare_index
from coverage_eval.metrics.meteor.statistics import FIELDS, score_parts
from tests.meteor.counts import count

CONFIGURATIONS = [("full", "full", (0, 1, 2, 3)), ("exact-stem", "exact_stem", (0, 1))]


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


@pytest.mark.parametrize(("variant", "column", "modules"), CONFIGURATIONS)
def test_segments(golden: Path, variant: str, column: str, modules: tuple[int, ...]) -> None:
    rows = list(
        zip(read_segments(golden / "hyp.txt"), read_segments(golden / "ref.txt"), strict=True)
    )
    options = MatchOptions(modules)
    pairs = [(hypothesis, [reference]) for hypothesis, reference in rows]
    counts = count_batch(pairs, options, prepare_index(options))
    expected = table(golden / f"stats_{column}.tsv")
    assert len(expected) == len(rows) == 200
    for row, line in zip(counts.tolist(), expected, strict=True):
        assert dict(zip(FIELDS, row, strict=True)) == {f: int(float(line[f])) for f in FIELDS}
    scores = [float(line[f"meteor_{column}"]) for line in table(golden / "scores.tsv")]
    np.testing.assert_allclose(score_parts(counts).score, scores, rtol=0, atol=1e-9)
    metric = METEOR(variant=variant, scale=1)
    np.testing.assert_allclose(metric.formula(count(metric, rows)), scores, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("variant", "column", "modules"), CONFIGURATIONS)
def test_corpus(golden: Path, variant: str, column: str, modules: tuple[int, ...]) -> None:
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


@pytest.mark.parametrize(("variant", "column", "modules"), CONFIGURATIONS)
def test_edge_cases(golden: Path, variant: str, column: str, modules: tuple[int, ...]) -> None:
    lines = (golden / "edge_cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [json.loads(line) for line in lines]
    metric = METEOR(variant=variant, scale=1)
    counts = metric.statistics([c["hyp"] for c in cases], [c["ref"] for c in cases])
    for case, score in zip(cases, metric.segment_scores(counts), strict=True):
        assert score == pytest.approx(case[f"meteor_{column}"], abs=1e-9), case["case"]
