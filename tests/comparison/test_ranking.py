"""Ranks and the chosen system agree with the comparison's own tests of every pair."""

from __future__ import annotations

from itertools import permutations

import pytest

import coverage_eval as ce
from coverage_eval.comparison.comparison import Comparison
from coverage_eval.comparison.ranking import rank_systems
from coverage_eval.metrics.significance import holm
from tests.data.spoil import confuse
from tests.grammar import generate

pytestmark = pytest.mark.filterwarnings("ignore::coverage_eval.data.files.CorpusWarning")

PAIRS = generate(200, seed=4)
REF = [" ".join(pair.target) for pair in PAIRS]
TOKENS = [line.split() for line in REF]
SYSTEMS = {
    "good": REF,
    "fair": [" ".join(row) for row in confuse(TOKENS, 0.1)],
    "loops": [f"{line} and {line}" if i % 3 == 0 else line for i, line in enumerate(REF)],
    "poor": [" ".join(row) for row in confuse(TOKENS, 0.5)],
}


def compared(names: tuple[str, ...] = tuple(SYSTEMS), **settings: object) -> Comparison:
    systems = {name: SYSTEMS[name] for name in names}
    return ce.compare(systems, REF, metrics=["bleu", "rep"], resamples=200, **settings)  # type: ignore[arg-type]


def test_pairs_are_those_of_comparisons_with_each_baseline():
    """The oracle: one comparison for each baseline, then Holm over all pairs of a metric."""
    ranking = rank_systems(compared())
    assert ranking is not None
    baselines = {name: compared(baseline=name) for name in SYSTEMS}
    for metric in ("bleu", "rep"):
        found = {frozenset(p[1:3]): p for p in ranking.pairs if p.metric == metric}
        names = list(SYSTEMS)
        pairs = [(a, b) for a, b in permutations(names, 2) if names.index(a) < names.index(b)]
        raw = [baselines[a].rows[b][metric].p_value for a, b in pairs]
        for (a, b), p in zip(pairs, holm([value or 0.0 for value in raw]), strict=True):
            pair = found[frozenset((a, b))]
            assert pair.p == pytest.approx(p)
            one, two = (baselines[a].rows[s][metric].score for s in (pair.better, pair.worse))
            assert (one.score >= two.score) == one.higher_is_better or one.score == two.score


def test_two_systems_have_the_p_value_of_their_comparison():
    comparison = compared(("good", "poor"))
    ranking = rank_systems(comparison)
    assert ranking is not None
    adjusted = {p.metric: p.p for p in ranking.pairs}
    assert adjusted == {m: comparison.rows["poor"][m].adjusted for m in ("bleu", "rep")}


def test_the_best_system_is_chosen_whatever_the_order_and_the_baseline():
    names = tuple(SYSTEMS)
    for order in (names, names[::-1], names[2:] + names[:2], (names[1], names[3], *names[::2])):
        ranking = rank_systems(compared(order))
        assert ranking is not None
        assert ranking.chosen == "good"
        assert str(ranking.ranks("bleu", "good")) == "1"
        assert ranking.ranks("bleu", "poor") in {(3, 3), (3, 4), (4, 4)}
        assert ranking.ranks("rep", "loops") == (4, 4)


def test_ranks_count_significant_wins_and_losses():
    ranking = rank_systems(compared())
    assert ranking is not None
    for metric in ranking.metrics:
        for system in ranking.systems:
            told = [p for p in ranking.pairs if p.metric == metric and p.significant]
            found = ranking.ranks(metric, system)
            assert found is not None
            assert found.first == 1 + sum(p.worse == system for p in told)
            assert found.last == 4 - sum(p.better == system for p in told)


def test_equal_systems_are_not_told_apart():
    ranking = rank_systems(ce.compare({"a": REF, "b": REF}, REF, metrics=["rep"], resamples=50))
    assert ranking is not None
    assert (ranking.chosen, ranking.equals) == ("a", ["b"])


def test_nothing_is_ranked_without_two_systems_or_a_better_side():
    assert rank_systems(ce.compare({"a": REF}, REF, metrics=["rep"], resamples=50)) is None
    sources = [" ".join(pair.source) for pair in PAIRS]
    lengths = {"metrics": ["length-ratio"], "resamples": 50}
    alone = ce.compare(SYSTEMS, REF, sources, **lengths)  # type: ignore[arg-type]
    assert rank_systems(alone) is None
    untested = rank_systems(ce.compare({"a": REF, "b": REF}, REF, metrics=["rep"], resamples=0))
    assert untested is not None
    assert untested.ranks("rep", "a") is None
