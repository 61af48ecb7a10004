"""The audits of equations and scripts: their verdicts, and Algorithm 1 by hand."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import coverage_eval as ce
from coverage_eval.papers import audit_equations, problems
from coverage_eval.papers.audit_report import LOSSES
from coverage_eval.papers.audit_scripts import rep_of_script
from coverage_eval.papers.audits import run_audit
from coverage_eval.papers.claims import Claim, Verdict

HOLDS, FAILS = Verdict.CONFIRMED, Verdict.CONTRADICTED


@cache
def audited(name: str) -> tuple[Claim, ...]:
    return run_audit(name).claims


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "verdicts"),
    [
        ("proposition1", [HOLDS] * 2),
        ("appendix-a", [FAILS, HOLDS, HOLDS]),  # the sign of eq. 9
        ("reduction", [HOLDS]),
        ("algorithm1", [FAILS, HOLDS, FAILS, Verdict.UNDECIDED, Verdict.UNCHECKED]),
        ("attention", [HOLDS] * 3),
        ("report-equations", [HOLDS, FAILS, HOLDS, HOLDS]),  # the norm in eq. 5
        ("scripts", [HOLDS] * 6),
    ],
)
def test_the_verdicts(name, verdicts):
    assert [claim.verdict for claim in audited(name)] == verdicts


def first_of(claim: Claim) -> list[str]:
    return [fact.computed.split(" against ")[0] for fact in claim.facts]


def last_of(claim: Claim) -> list[str]:
    return [fact.computed.split(" against ")[-1] for fact in claim.facts]


@pytest.mark.slow
def test_the_figures_behind_them():
    printed, _, level, linear, _ = audited("algorithm1")
    assert [(fact.printed, fact.computed) for fact in printed.facts] == [("200", "36")]
    assert level.facts[0].computed == "1"
    assert {fact.computed for fact in linear.facts[:-1]} == {"2.00", "2.01", "2.02"}
    assert linear.facts[-1].holds is None
    assert audited("appendix-a")[0].facts[0].computed == "differ by at most 1.8"
    assert audited("report-equations")[1].facts[0].computed == "differ by at most 0.981"
    rep, denominator, *_, length, gradient = audited("scripts")
    assert last_of(rep) == ["100.00", "0.00", "0.00"]
    assert first_of(denominator) == ["66.67", "40.00", "66.67"]
    assert first_of(length) == ["-6.598", "-7.360", "-6.598"]
    changed = ["97.10", "1.80", "81.50", "0.10", "71.40", "0.10"]
    assert first_of(gradient)[2:] == changed


@pytest.mark.slow
def test_a_wrong_gradient_is_noticed(monkeypatch):
    def without_mean(d_alpha, alpha, u):
        interior = (alpha > 0) & (alpha < u)
        return d_alpha * interior, d_alpha * (alpha == u)

    monkeypatch.setattr(audit_equations, "constrained_sparsemax_vjp", without_mean)
    form, gradients = audit_equations.audit_proposition1()
    assert (form.verdict, gradients.verdict) == (HOLDS, FAILS)


def test_algorithm_1_as_printed_loses_mass():
    # By hand: x = (y, min(y, 1)) and Σ x = 4, so y = 3. The first median from below is 1, where
    # s = 2 ≤ 4: τ_L = 1. That is the second word's bound: the word leaves the working set, and
    # strict inequalities do not count it.
    a, b, c = np.zeros(2), np.array([10.0, 1.0]), np.ones(2)
    assert audit_equations.run_as_printed(a, b, c, 4.0, closed=True)[0] == 3
    assert audit_equations.run_as_printed(a, b, c, 4.0, closed=False)[0] == 4


def test_the_losses_of_the_report_equal_a_value_worked_out_by_hand():
    # z = (1, 0): p = (1, 0), τ = 0; q = (1/2, 1/2): (1 − 0)/2 + 1/4 − 1/2 = 1/4.
    z, q = np.array([1.0, 0.0]), np.array([0.5, 0.5])
    assert [float(loss(z, q)) for loss in LOSSES] == [0.25] * 4


@given(*[st.lists(st.sampled_from("abc"), min_size=1, max_size=9).map(" ".join)] * 2)
def test_the_scripts_formula_of_rep_is_ours(hypothesis, reference):
    found = rep_of_script(hypothesis, reference, 2)
    assert found == pytest.approx(float(ce.rep([hypothesis], [reference])))


NEAR, FAR = ([1.0, 2.0], [1.0, 2.0 + 1e-12]), ([1.0, 2.0], [1.0, 2.5])


def test_the_largest_difference_of_all_pairs_decides():
    agree = problems.agree
    assert agree("a", [NEAR, NEAR]).holds
    fact = agree("a", [NEAR, FAR])
    assert (fact.holds, fact.outcome, fact.computed) == (False, "differs", "differ by at most 0.5")
    assert agree("a", [FAR], limit=0.5).holds
    assert agree("a", [(np.zeros(0), 0)]).computed == "differ by at most 0"


@pytest.mark.parametrize("order", [1, -1])
def test_nan_is_not_equal(order):
    assert not problems.agree("a", [NEAR, ([np.nan], [1.0])][::order]).holds
