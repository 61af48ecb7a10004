"""The audits of ``notebooks/audit_text.py``: their verdicts, and Algorithm 1 by hand."""

from __future__ import annotations

import sys
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import coverage_eval as ce
from coverage_eval.papers.claims import Claim, Verdict
from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "notebooks"))

import audit_text

HOLDS, FAILS = Verdict.CONFIRMED, Verdict.CONTRADICTED


@cache
def audited(name: str) -> tuple[Claim, ...]:
    return audit_text.AUDITS[name]()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "verdicts"),
    [
        ("proposition1", [HOLDS] * 2),
        ("appendix-a", [FAILS, HOLDS, HOLDS]),  # the sign of eq. 9
        ("reduction", [HOLDS]),
        ("algorithm1", [FAILS, HOLDS, FAILS, HOLDS]),
        ("attention", [HOLDS] * 3),
        ("report-equations", [HOLDS, FAILS, HOLDS, HOLDS]),  # the norm in eq. 5
        ("scripts", [HOLDS] * 6),
    ],
)
def test_the_verdicts(name, verdicts):
    assert [claim.verdict for claim in audited(name)] == verdicts


@pytest.mark.slow
def test_the_figures_behind_them():
    printed, _, level, linear = audited("algorithm1")
    assert [(fact.printed, fact.against) for fact in printed.facts] == [("200", "36")]
    assert level.facts[0].against == "1"
    assert [fact.against for fact in linear.facts] == ["2.02", "2.00", "2.00"]
    assert audited("appendix-a")[0].facts[0].against == "differ by at most 1.8"
    assert audited("report-equations")[1].facts[0].against == "differ by at most 0.981"
    rep, denominator, *_, length, gradient = audited("scripts")
    assert [fact.against for fact in rep.facts] == ["100.00", "0.00", "0.00"]
    assert [fact.printed for fact in denominator.facts] == ["66.67", "40.00", "66.67"]
    assert [fact.printed for fact in length.facts] == ["-6.598", "-7.360", "-6.598"]
    changed = ["97.10", "1.80", "81.50", "0.10", "71.40", "0.10"]
    assert [fact.printed for fact in gradient.facts[2:]] == changed


@pytest.mark.slow
def test_a_wrong_gradient_is_noticed(monkeypatch):
    def without_mean(d_alpha, alpha, u):
        interior = (alpha > 0) & (alpha < u)
        return d_alpha * interior, d_alpha * (alpha == u)

    monkeypatch.setattr(audit_text, "constrained_sparsemax_vjp", without_mean)
    form, gradients = audit_text.audit_proposition1()
    assert (form.verdict, gradients.verdict) == (HOLDS, FAILS)


def test_algorithm_1_as_printed_loses_mass():
    # By hand: x = (y, min(y, 1)) and Σ x = 4, so y = 3. The first median from below is 1, where
    # s = 2 ≤ 4: τ_L = 1. That is the second word's bound: the word leaves the working set, and
    # strict inequalities do not count it.
    a, b, c = np.zeros(2), np.array([10.0, 1.0]), np.ones(2)
    assert audit_text.run_as_printed(a, b, c, 4.0, closed=True)[0] == 3
    assert audit_text.run_as_printed(a, b, c, 4.0, closed=False)[0] == 4


def test_the_losses_of_the_report_equal_a_value_worked_out_by_hand():
    # z = (1, 0): p = (1, 0), τ = 0; q = (1/2, 1/2): (1 − 0)/2 + 1/4 − 1/2 = 1/4.
    z, q = np.array([1.0, 0.0]), np.array([0.5, 0.5])
    assert [float(loss(z, q)) for loss in audit_text.LOSSES] == [0.25] * 4


@given(*[st.lists(st.sampled_from("abc"), min_size=1, max_size=9).map(" ".join)] * 2)
def test_the_scripts_formula_of_rep_is_ours(hypothesis, reference):
    found = audit_text.rep_of_script(hypothesis, reference, 2)
    assert found == pytest.approx(float(ce.rep([hypothesis], [reference])))


NEAR, FAR = ([1.0, 2.0], [1.0, 2.0 + 1e-12]), ([1.0, 2.0], [1.0, 2.5])


def test_the_largest_difference_of_all_pairs_decides():
    agree = audit_text.agree
    assert agree("a", [NEAR, NEAR]).holds
    fact = agree("a", [NEAR, FAR])
    assert (fact.holds, fact.outcome, fact.against) == (False, "differs", "differ by at most 0.5")
    assert agree("a", [FAR], limit=0.5).holds
    assert agree("a", [(np.zeros(0), 0)]).against == "differ by at most 0"


@pytest.mark.parametrize("order", [1, -1])
def test_nan_is_not_equal(order):
    assert not audit_text.agree("a", [NEAR, ([np.nan], [1.0])][::order]).holds
