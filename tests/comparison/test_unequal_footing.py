"""Comparisons that would be no comparisons: other segments, other names, one source."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import coverage_eval as ce
from coverage_eval.comparison.external_scores import MIN_PAIRED, ExternalScores
from coverage_eval.comparison.table import Comparison
from coverage_eval.core.batches import Texts
from coverage_eval.core.errors import DataError, Finding

SEGMENTS = 200


def compare(values: dict[str, list[float | None]]) -> ce.Comparison:
    texts = {name: [f"a {number}" for number in range(len(own))] for name, own in values.items()}
    metric = ExternalScores("comet", values)
    return ce.compare(texts, next(iter(texts.values())), metrics=[metric])


def scores_findings(comparison: Comparison) -> Sequence[Finding]:
    result = comparison.result
    return result.metrics["comet"].check(result.texts.sample)


@pytest.mark.filterwarnings("ignore")
def test_scores_with_gaps_are_compared_where_both_have_one():
    chance = np.random.default_rng(1)
    own = chance.random(SEGMENTS).round(3).tolist()
    # The better half of the segments lacks a score of b, whose other scores are those of a.
    gaps = [None if value > 0.5 else value for value in own]
    comparison = compare({"a": own, "b": gaps})
    (cell,), (first,) = comparison.rows["b"].values(), comparison.rows["a"].values()
    assert cell.score.score == first.score.score == pytest.approx(np.mean([g for g in gaps if g]))
    assert cell.p_value == 1
    (finding,) = scores_findings(comparison)
    assert (
        f"{sum(g is not None for g in gaps)} of 200 segments have a score of every"
        in finding.message
    )
    assert not scores_findings(compare({"a": own, "b": own}))


@pytest.mark.filterwarnings("ignore")
def test_too_few_common_scores_are_not_compared():
    values: dict[str, list[float | None]] = {
        "a": [1.0] * 10, "b": [1.0] * (MIN_PAIRED - 1) + [None] * (11 - MIN_PAIRED)
    }  # fmt: skip
    with pytest.raises(DataError, match="only 4 of 10 segments have a score of every system"):
        compare(values)
    assert compare({"a": [1.0, 2.0], "b": [1.0, 3.0]}).rows["b"]  # of a text that has no more
    sample = Texts.from_lists({"a": ["b", "c"]}).sample
    alone = ExternalScores("comet", {"a": [1.0, None]}).check(sample)
    said = "the given scores: 1 of 2 segments have a score; only these count for comet"
    assert [finding.message for finding in alone] == [said]
