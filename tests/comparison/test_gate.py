"""The gate for releases: which systems count as worse, and the message about them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coverage_eval.comparison.compare import compare
from coverage_eval.comparison.external_scores import ExternalScores
from coverage_eval.comparison.gate import describe_worse, find_worse, gate_as_dict
from coverage_eval.comparison.table import Comparison
from coverage_eval.core.report import SIGNIFICANT
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
    metric = comparison.metrics[name].presentation.name
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
     (0.1, SIGNIFICANT, False), (0.1, 0.0499, True)],
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
    """The worse columns, then the better ones; differences are those of the printed figures."""
    gate = {"rep": 0.5}
    (item,) = worse = find_worse(comparison, gate)
    (line,) = describe_worse(comparison, worse)
    assert line.startswith("worse is worse than base: REP ")
    assert "better" not in line
    assert line.endswith(f"; most in segments {', '.join(str(s.segment) for s in item.segments)}")
    both = find_worse(comparison, {"bleu": 0.0, "rep": 0.0})
    changed = [
        replace(both[0], score=80.764, baseline=86.236),
        replace(both[1], score=8.02, baseline=2.334),
    ]
    (line,) = describe_worse(comparison, changed)
    assert "BLEU 80.76 against 86.24 (-5.48, p = " in line.replace("−", "-")
    assert "REP 8.02 against 2.33 (+5.69, p = " in line
    outcome = gate_as_dict(gate, worse)
    assert outcome["passed"] is False
    assert outcome["smallest_difference"] == {"rep": 0.5}
    assert outcome["worse"][0]["segments"][0]["segment"] == item.segments[0].segment
    assert gate_as_dict(gate, [])["passed"] is True


def test_what_got_better_follows_what_got_worse():
    """An output with repetitions is worse by REP, and better by the scores of another program."""
    comet = ExternalScores("comet", {"base": [0.1, 0.2] * 50, "new": [0.8, 0.9] * 50})
    systems = {"base": BETTER, "new": WORSE}
    found = compare(systems, REFERENCES, metrics=["rep", comet], resamples=400)
    (line,) = describe_worse(found, find_worse(found, {"rep": 0.0, "comet": 0.0}))
    worse, better, _ = line.split("; ")
    assert worse.startswith("new is worse than base: REP ")
    assert better.startswith("better: comet 0.85 against 0.15 (+0.70, p = ")


def test_a_gate_that_cannot_fail_is_refused(comparison):
    with pytest.raises(ValueError, match="metric 'drop' is not one of rep, bleu"):
        find_worse(comparison, {"drop": 0.0})
    untested = compare({"a": BETTER, "b": WORSE}, REFERENCES, metrics=["rep"], resamples=0)
    with pytest.raises(ValueError, match="cannot close: Nothing was tested"):
        find_worse(untested, {"rep": 0.0})
