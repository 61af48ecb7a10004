"""Facts, the verdicts that follow from them, and how a notebook shows an audit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coverage_eval.core.formats import numbers
from coverage_eval.papers.claims import (
    Audit,
    Claim,
    Fact,
    Verdict,
    audit_report,
    audits_report,
    better,
)
from coverage_eval.papers.printed import load_table

FACTS = st.lists(
    st.builds(
        Fact,
        what=st.just("a"),
        printed=st.just("b"),
        computed=st.just("c"),
        outcome=st.just("d"),
        holds=st.sampled_from([True, False, None]),
        decisive=st.booleans(),
    ),
    min_size=1,
    max_size=5,
)


@given(FACTS)
def test_the_verdict_follows_from_the_facts_that_decide(facts):
    decided = [fact.holds for fact in facts if fact.decisive]
    if not decided:
        with pytest.raises(ValueError, match="without facts that decide"):
            Claim("text", "place", tuple(facts))
        return
    claim = Claim("text", "place", tuple(facts))
    if False in decided:
        assert claim.verdict is Verdict.CONTRADICTED
    elif None in decided:
        assert claim.verdict is Verdict.UNDECIDED
    else:
        assert claim.verdict is Verdict.CONFIRMED
    assert sum(fact.holds is True for fact in facts) + len(claim.exceptions) == len(facts)


def test_the_table_of_facts_says_what_each_one_shows():
    for holds, shown in ((True, "yes"), (False, "no"), (None, "cannot tell")):
        claim = Claim("z", "p. 1", (Fact("a < b", "1", "2", "so", holds=holds),))
        *_, records, _ = audit_report(Audit("x", "t", (claim,))).tables
        assert records.rows[0][-1] == shown
    assert Claim("z", "p. 1", (), unchecked="no data").verdict is Verdict.UNCHECKED


def test_all_exceptions_and_their_number_are_in_csv():
    for number, cell in enumerate(["", "1 of 2: a", "2 of 3: a; b", "3 of 4: a; b; c"]):
        facts = [Fact(what, "1", "2", "no", holds=False) for what in "abc"[:number]]
        good = Fact("good", "1", "1", "equal", holds=True)
        shown = audits_report([Audit("x", "t", (Claim("z", "p. 1", (good, *facts)),))])
        *_, records, _ = shown.tables
        assert records.rows[0][3:] == (cell, "p. 1", "no")
        assert list(numbers(shown, 2)) == [str(number)]


def test_better_follows_the_direction_of_the_metric():
    table = load_table("table1")
    for metric, higher in (("BLEU", True), ("REP", False)):
        facts = [better(table, metric, "a", *f, decisive=True) for f in ((2, 1.5), (1.5, 2))]
        assert [fact.holds for fact in facts] == [higher, not higher]
        assert sorted(fact.outcome for fact in facts) == ["better by 0.50", "worse by 0.50"]
    fact = better(table, "BLEU", "a", 0.1 + 0.2, 0.3, decisive=True)
    assert (fact.outcome, fact.holds) == ("equal", None)
