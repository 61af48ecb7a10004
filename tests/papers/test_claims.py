"""Facts, the verdicts that follow from them, and how a notebook shows an audit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coverage_eval.papers.claims import (
    Audit,
    Claim,
    Fact,
    Verdict,
    agree,
    as_said,
    better,
    differ,
    disagree,
    equal,
    present_audits,
)
from coverage_eval.papers.printed import load_table

FACTS = st.lists(
    st.builds(
        Fact,
        what=st.just("a"),
        printed=st.just("b"),
        against=st.just("c"),
        outcome=st.just("d"),
        holds=st.booleans(),
        decisive=st.booleans(),
    ),
    min_size=1,
    max_size=5,
)


@given(FACTS)
def test_the_verdict_follows_from_the_facts(facts):
    claim = Claim("text", "place", tuple(facts))
    if all(fact.holds for fact in facts):
        assert claim.verdict is Verdict.HOLDS
    elif any(fact.decisive for fact in facts if not fact.holds):
        assert claim.verdict is Verdict.FAILS
    else:
        assert claim.verdict is Verdict.EXCEPTIONS
    assert sum(fact.holds for fact in facts) + len(claim.exceptions) == len(facts)


def test_a_claim_without_facts_is_refused():
    with pytest.raises(ValueError, match="without facts"):
        Claim("text", "place", ())


def test_an_audit_shows_itself_in_a_notebook():
    fact = Fact("a < b", "1", "2", "no", holds=False)
    page = Audit("x", "T & U", (Claim("z", "p. 1", (fact,)),))._repr_html_()
    assert "<caption>x: T &amp; U</caption>" in page
    assert "<td>z</td><td>does not hold</td><td>a &lt; b: 1 / 2</td><td>p. 1</td>" in page


def test_the_first_exception_and_the_number_of_all_are_shown():
    for number, cell in enumerate(["", "1 of 2: a", "2 of 3: a; …", "3 of 4: a; …"]):
        facts = [Fact(what, "1", "2", "no", holds=False) for what in "abc"[:number]]
        good = Fact("good", "1", "1", "equal", holds=True)
        shown = present_audits([Audit("x", "t", (Claim("z", "p. 1", (good, *facts)),))])
        assert shown.tables[0].rows[0][-1] == cell
        assert shown.records is not None
        assert shown.records.rows[0][3:] == (
            cell.replace("a; …", "; ".join("abc"[:number])),
            "p. 1",
        )
        assert shown.numbers == (number,)


NEAR, FAR = ([1.0, 2.0], [1.0, 2.0 + 1e-12]), ([1.0, 2.0], [1.0, 2.5])


def test_the_largest_difference_of_all_pairs_decides():
    assert agree("a", [NEAR, NEAR]).holds
    fact = agree("a", [NEAR, FAR])
    assert (fact.holds, fact.outcome, fact.against) == (False, "differs", "differ by at most 0.5")
    assert disagree("a", [NEAR, FAR]).holds
    assert not disagree("a", [NEAR, NEAR]).holds
    assert agree("a", [FAR], limit=0.5).holds


@pytest.mark.parametrize("order", [1, -1])
def test_nan_is_neither_equal_nor_different(order):
    pairs = [NEAR, ([np.nan], [1.0])][::order]
    assert not agree("a", pairs).holds
    assert not disagree("a", pairs).holds


def test_empty_arrays_are_equal():
    assert agree("a", [(np.zeros(0), 0)]).against == "differ by at most 0"


def test_numbers_are_equal_up_to_rounding():
    assert equal("a", 0.1 + 0.2, 0.3).holds
    assert differ("a", 1.0, 1.001).holds
    assert not differ("a", np.inf, np.inf).holds
    assert [as_said("a", "error", word).holds for word in ("error", "none")] == [True, False]


def test_better_follows_the_direction_of_the_metric():
    table = load_table("table1")
    for metric, higher in (("BLEU", True), ("REP", False)):
        facts = [better(table, metric, "a", *f, decisive=True) for f in ((2, 1.5), (1.5, 2))]
        assert [fact.holds for fact in facts] == [higher, not higher]
        assert sorted(fact.outcome for fact in facts) == ["better by 0.50", "worse by 0.50"]
    fact = better(table, "BLEU", "a", 0.1 + 0.2, 0.3, decisive=True)
    assert (fact.outcome, fact.holds) == ("equal", False)
