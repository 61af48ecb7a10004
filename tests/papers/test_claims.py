"""How a verdict follows from facts, and that all audits name what they rest on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coverage_eval.papers.audits import AUDITS, run_audit
from coverage_eval.papers.claims import Audit, Claim, Fact, Verdict, present_audit
from coverage_eval.tables.formats import FORMATS, render

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
def test_the_verdict_follows_from_the_facts(facts: list[Fact]) -> None:
    claim = Claim("text", "place", tuple(facts))
    if all(fact.holds for fact in facts):
        assert claim.verdict is Verdict.HOLDS
    elif any(fact.decisive for fact in facts if not fact.holds):
        assert claim.verdict is Verdict.FAILS
    else:
        assert claim.verdict is Verdict.EXCEPTIONS
    assert sum(fact.holds for fact in facts) + len(claim.exceptions) == len(facts)


def test_a_claim_without_facts_is_refused() -> None:
    with pytest.raises(ValueError, match="without facts"):
        Claim("text", "place", ())


@pytest.mark.parametrize("name", AUDITS)
def test_every_audit_runs_and_names_places_and_facts(name: str) -> None:
    audit = run_audit(name)
    assert audit.name == name
    assert audit.claims
    for claim in audit.claims:
        assert claim.text
        assert claim.place
        names = [fact.what for fact in claim.facts]
        assert len(set(names)) == len(names)
    for form in FORMATS:
        assert render(present_audit(audit), form)


def test_an_unknown_audit_is_refused() -> None:
    with pytest.raises(ValueError, match="figure1"):
        run_audit("figure9")


def test_an_audit_shows_itself_in_a_notebook() -> None:
    fact = Fact("a < b", "1", "2", "no", holds=False)
    page = Audit("x", "T & U", (Claim("z", "p. 1", (fact,)),))._repr_html_()
    assert "<caption>x: T &amp; U</caption>" in page
    assert "<td>z</td><td>does not hold</td><td>a &lt; b: 1 / 2</td><td>p. 1</td>" in page
