"""The gate for releases: which systems count as worse, and the message about them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coverage_eval.comparison.compare import compare
from coverage_eval.comparison.gate import find_worse, gate_as_dict
from coverage_eval.comparison.table import Comparison
from coverage_eval.core.report import DECISIVE
from coverage_eval.core.significance import SignificanceTest
from coverage_eval.repetition.rep import REP
from tests.comparison.systems import damaged
from tests.grammar import generate
from tests.rows import segment_scores_of

REFERENCES = [" ".join(pair.target) for pair in generate(100, seed=4)]
BETTER = damaged(REFERENCES, 1, repeated=0.02, omitted=0.02)
WORSE = damaged(REFERENCES, 2, repeated=0.20, omitted=0.20)


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    systems = {"base": BETTER, "worse": WORSE, "same": BETTER, "perfect": REFERENCES}
    return compare(systems, REFERENCES, metrics=["rep", "bleu"], resamples=400)


def found(comparison: Comparison, **smallest: float) -> list[tuple[str, str]]:
    return [(item.system, item.metric) for item in find_worse(comparison, smallest)]


def test_worse_is_higher_by_rep_and_lower_by_bleu(comparison):
    assert found(comparison, rep=0, bleu=0) == [("worse", "REP"), ("worse", "BLEU")]
    assert comparison.rows["perfect"]["bleu"].adjusted is not None  # significantly better
    assert comparison.rows["perfect"]["bleu"].adjusted < 0.05


@pytest.mark.parametrize("name", ["rep", "bleu"])
def test_a_difference_below_the_margin_passes(comparison, name):
    difference = comparison.rows["worse"][name].difference
    assert difference is not None
    metric = comparison.metrics[name].name
    assert found(comparison, **{name: abs(difference)}) == [("worse", metric)]
    assert found(comparison, **{name: abs(difference) * 1.001}) == []


def test_a_difference_that_is_not_significant_passes():
    systems = {"base": BETTER[:9], "worse": [*BETTER[:8], "a a a"]}
    comparison = compare(systems, REFERENCES[:9], metrics=["rep"], resamples=100)
    cell = comparison.rows["worse"]["rep"]
    assert cell.difference is not None
    assert cell.difference > 0
    assert found(comparison, rep=0) == []


@pytest.mark.parametrize(
    ("difference", "p_value", "is_worse"),
    [(0.0, 0.001, False), (1e-9, 0.001, True), (-1e-9, 0.001, False),
     (0.1, DECISIVE, False), (0.1, 0.0299, True)],
)  # fmt: skip
def test_a_gate_of_zero_needs_a_difference_below_the_level(
    comparison, difference, p_value, is_worse
):
    """An equal system passes, whatever its p-value."""
    cell = replace(comparison.rows["same"]["rep"], difference=difference, adjusted=p_value)
    rows = {**comparison.rows, "same": {**comparison.rows["same"], "rep": cell}}
    assert (("same", "REP") in found(replace(comparison, rows=rows), rep=0)) == is_worse


def test_the_segments_that_worsened_most_are_named(comparison):
    rep, bleu = find_worse(comparison, {"rep": 0.0, "bleu": 0.0})
    for item, sign in ((rep, 1), (bleu, -1)):
        worsened = [sign * (segment.score - segment.baseline) for segment in item.segments]
        assert worsened == sorted(worsened, reverse=True)
        assert min(worsened) > 0
    ours, theirs = (segment_scores_of(REP(), texts, REFERENCES) for texts in (WORSE, BETTER))
    expected = sorted(range(100), key=lambda i: theirs[i] - ours[i])[:5]
    assert [(s.segment, s.score, s.baseline) for s in rep.segments] == [
        (i + 1, ours[i], theirs[i]) for i in expected
    ]


def test_the_message_of_the_gate(comparison):
    gate = {"rep": 0.5}
    (item,) = worse = find_worse(comparison, gate)
    line = item.describe("base")
    assert line.startswith("worse is worse than base by REP: ")
    assert "(+" in line
    assert f"most in segments {item.segments[0].segment}, " in line
    assert "(+0.25)" in replace(item, difference=0.25).describe("base")
    assert "(-0.25)" in replace(item, difference=-0.25).describe("base").replace("−", "-")
    outcome = gate_as_dict(gate, worse)
    assert outcome["passed"] is False
    assert outcome["level"] == DECISIVE
    assert outcome["smallest_difference"] == {"rep": 0.5}
    assert outcome["worse"][0]["segments"][0]["segment"] == item.segments[0].segment
    assert gate_as_dict(gate, [])["passed"] is True


def test_a_gate_that_cannot_fail_is_refused(comparison):
    few = replace(comparison, test=SignificanceTest(resamples=40))
    with pytest.raises(ValueError, match="40 resamples cannot show a difference: draw 400 or more"):
        find_worse(few, {"rep": 0.0})
    with pytest.raises(ValueError, match="metric 'drop' is not one of rep, bleu"):
        find_worse(comparison, {"drop": 0.0})
