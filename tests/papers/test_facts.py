"""Facts hold where they should, and only there."""

from __future__ import annotations

import numpy as np
import pytest

from coverage_eval.papers.claims import agree, as_said, better, differ, disagree, equal
from coverage_eval.papers.printed import load_table

NEAR, FAR = ([1.0, 2.0], [1.0, 2.0 + 1e-12]), ([1.0, 2.0], [1.0, 2.5])


def test_the_largest_difference_of_all_pairs_decides() -> None:
    assert agree("a", [NEAR, NEAR]).holds
    fact = agree("a", [NEAR, FAR])
    assert (fact.holds, fact.outcome, fact.against) == (False, "differs", "differ by at most 0.5")
    assert disagree("a", [NEAR, FAR]).holds
    assert not disagree("a", [NEAR, NEAR]).holds
    assert agree("a", [FAR], limit=0.5).holds


@pytest.mark.parametrize("order", [1, -1])
def test_what_is_no_number_is_neither_equal_nor_different(order: int) -> None:
    pairs = [NEAR, ([np.nan], [1.0])][::order]
    assert not agree("a", pairs).holds
    assert not disagree("a", pairs).holds


def test_arrays_without_numbers_are_equal() -> None:
    assert agree("a", [(np.zeros(0), 0)]).against == "differ by at most 0"


def test_numbers() -> None:
    assert equal("a", 0.1 + 0.2, 0.3).holds
    assert differ("a", 1.0, 1.001).holds
    assert not differ("a", np.inf, np.inf).holds
    assert [as_said("a", "error", word).holds for word in ("error", "none")] == [True, False]


def test_better_heeds_the_direction_of_the_metric() -> None:
    table = load_table("table1")
    for metric, higher in (("BLEU", True), ("REP", False)):
        facts = [better(table, metric, "a", *f, decisive=True) for f in ((2, 1.5), (1.5, 2))]
        assert [fact.holds for fact in facts] == [higher, not higher]
        assert sorted(fact.outcome for fact in facts) == ["better by 0.50", "worse by 0.50"]
    fact = better(table, "BLEU", "a", 0.1 + 0.2, 0.3, decisive=True)
    assert (fact.outcome, fact.holds) == ("equal", False)
