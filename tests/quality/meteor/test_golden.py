"""METEOR against figures of the Meteor 1.5 jar, for our own text and for shared text.

The shared figures are of pycocoevalcap 1.2 and OpenJDK 17 with the locale en/US, made with
``java -jar Meteor-1.5.jar hyp.txt ref.txt -l en -a paraphrase-en.gz`` and, for the second
configuration, ``-m "exact stem"``; the statistics with ``-ssOut``.
"""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from coverage_eval.core.batches import Row
from coverage_eval.core.texts import read_segments
from coverage_eval.quality.meteor import METEOR
from coverage_eval.quality.meteor.metric import FIELDS, score_parts
from tests.quality.meteor.texts import count
from tests.rows import statistics_of

FOLDER = Path(__file__).parents[2] / "golden" / "meteor"

CONFIGURATIONS = {
    "full": (METEOR(), 1),
    "exact-stem": (METEOR(variant="exact-stem"), 1),
    "lower": (METEOR(lower=True), 1),
    "norm": (METEOR(norm=True), 1),
    "two-references": (METEOR(), 2),
    "two-references-norm-exact-stem": (METEOR(variant="exact-stem", norm=True), 2),
}


def as_added_up(printed: NDArray[np.int64]) -> NDArray[np.int64]:
    """Printed counts ``[rows, 23]`` as Meteor adds them up, without the chunk of perfect segments.

    A segment is perfect if both of its sides are matched as a whole in one chunk.
    """
    counts = printed.copy()
    perfect = (counts[:, 20] == 1) & (counts[:, 21:] == counts[:, :2]).all(axis=1)
    counts[perfect, 20] = 0
    return counts


def rows(references: int) -> list[Row]:
    """The segments with this number of references."""
    hypotheses = read_segments(FOLDER / "hypotheses.txt")
    columns = [read_segments(FOLDER / f"references{n + 1}.txt") for n in range(references)]
    references_of = zip(*columns, strict=True)
    return [Row((text,), several) for text, several in zip(hypotheses, references_of, strict=True)]


@pytest.fixture(scope="module", params=CONFIGURATIONS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_statistics_and_scores(name):
    metric, references = CONFIGURATIONS[name]
    expected = np.loadtxt(FOLDER / f"{name}.statistics.txt")
    assert expected.shape == (43, 23)
    counts = count(metric, [(row.hypotheses[0], *row.references) for row in rows(references)])
    np.testing.assert_array_equal(counts, as_added_up(expected))
    printed = (FOLDER / f"{name}.scores.txt").read_text(encoding="utf-8")
    scores = [float(score) for score in re.findall(r"^Segment \d+ score:\t(.*)", printed, re.M)]
    np.testing.assert_allclose(score_parts(counts).score, scores, rtol=0, atol=1e-12)
    (final,) = re.findall(r"^Final score: *(.*)", printed, re.M)
    assert float(score_parts(counts.sum(axis=0)).score) == pytest.approx(float(final), abs=1e-12)
    assert f"Eval ID:        {metric.eval_id}\n" in printed


def test_evidence_is_that_of_the_best_reference():
    matches = METEOR().evidence("a cat", ["the dog", "a cats", "a cat"])
    assert [match.kind for match in matches] == ["exact", "exact"]
    (first,) = METEOR().evidence("cat", ["x cat", "cat y"])
    assert (first.reference_span, first.numbers) == ((2, 5), (1, 2))


SHARED_CONFIGURATIONS = [("full", "full"), ("exact-stem", "exact_stem")]


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


@pytest.mark.parametrize(("variant", "column"), SHARED_CONFIGURATIONS)
def test_statistics_and_scores_of_the_shared_corpus(golden, variant, column):
    texts = list(
        zip(read_segments(golden / "hyp.txt"), read_segments(golden / "ref.txt"), strict=True)
    )
    metric = METEOR(variant=variant, scale=1)
    counts = count(metric, texts)
    lines = table(golden / f"stats_{column}.tsv")
    printed = np.array([[int(float(line[name])) for name in FIELDS] for line in lines])
    assert len(printed) == len(texts) == 200
    np.testing.assert_array_equal(counts, as_added_up(printed))
    scores = [float(line[f"meteor_{column}"]) for line in table(golden / "scores.tsv")]
    np.testing.assert_allclose(score_parts(counts).score, scores, rtol=0, atol=1e-9)
    np.testing.assert_allclose(metric.formula(counts), scores, rtol=0, atol=1e-9)
    (expected,) = [
        line for line in table(golden / "corpus.tsv") if line["configuration"] == f"meteor_{column}"
    ]
    score = metric.score(counts)
    assert score.score == pytest.approx(float(expected["corpus_score"]), abs=1e-12)
    mean = float(expected["mean_segment_score"])
    assert np.mean(metric.scores_of(counts)) == pytest.approx(mean, abs=1e-11)
    assert f"|id:{expected['eval_id']}|" in str(score.signature)


@pytest.mark.parametrize(("variant", "column"), SHARED_CONFIGURATIONS)
def test_scores_of_edge_cases(golden, variant, column):
    lines = (golden / "edge_cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [json.loads(line) for line in lines]
    metric = METEOR(variant=variant, scale=1)
    counts = statistics_of(metric, [c["hyp"] for c in cases], [c["ref"] for c in cases])
    for case, score in zip(cases, metric.scores_of(counts), strict=True):
        # The jar splits at ASCII's spaces only; here a no-break space separates words, too.
        if not {*case["hyp"], *case["ref"]} & {"\u00a0", "\u3000"}:
            assert score == pytest.approx(case[f"meteor_{column}"], abs=1e-9), case["case"]
