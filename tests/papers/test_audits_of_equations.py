"""Audits of equations and algorithms, against independent oracles; wrong equations are noticed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from coverage_eval.errors import MissingDependencyError
from coverage_eval.papers import audit_equations, audit_scripts
from coverage_eval.papers.claims import Audit, Verdict, present_audit, present_audits
from coverage_eval.papers.printed import load_figure1
from coverage_eval.tables.formats import render

Vector = NDArray[np.float64]


def bisected(z: Vector, u: Vector, *, exponential: bool) -> Vector:
    """Constrained sparsemax (α = clip(z − τ, 0, u)) or softmax (min(u, e^(z − τ))) by bisection."""
    low, high = -60.0, 60.0
    for _ in range(200):
        tau = (low + high) / 2
        alpha = np.minimum(np.exp(z - tau), u) if exponential else np.clip(z - tau, 0, u)
        low, high = (tau, high) if alpha.sum() >= 1 else (low, tau)
    return alpha


@pytest.mark.parametrize("name", ["softmax", "sparsemax", "csoftmax", "csparsemax"])
def test_figure_1_agrees_with_bisection(name: str) -> None:
    figure = load_figure1()
    cumulative = np.zeros(3)
    for scores, printed in zip(figure.scores, figure.attention[name], strict=True):
        z = np.array(scores, dtype=float)
        u = 1 - cumulative if name.startswith("c") else np.full(3, np.inf)
        alpha = bisected(z, u, exponential=name.endswith("softmax"))
        cumulative += alpha
        assert [f"{value:.2f}" for value in alpha] == [f"{float(text):.2f}" for text in printed]


def test_figure_1_prints_twelve_equal_triples() -> None:
    attention, credit = audit_equations.audit_figure1()
    assert [fact.outcome for fact in attention.facts] == ["equal"] * 12
    assert attention.verdict is Verdict.HOLDS
    assert credit.verdict is Verdict.HOLDS


def test_a_wrong_digit_of_figure_1_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    figure = load_figure1()
    rows = figure.attention["csoftmax"]
    wrong = {**figure.attention, "csoftmax": (*rows[:2], ("0.12", "0.22", "0.66"))}
    monkeypatch.setattr(audit_equations, "load_figure1", lambda: replace(figure, attention=wrong))
    claim = audit_equations.audit_figure1()[0]
    assert claim.verdict is Verdict.FAILS
    assert [fact.what for fact in claim.exceptions] == ["csoftmax, round 3, u = (0.12, 0.21, 0.67)"]


def test_proposition_1_and_the_reduction_hold() -> None:
    claims = (*audit_equations.audit_proposition1(), *audit_equations.audit_reduction())
    assert {claim.verdict for claim in claims} == {Verdict.HOLDS}


def test_a_wrong_gradient_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_mean(d_alpha: Vector, alpha: Vector, u: Vector) -> tuple[Vector, Vector]:
        interior = (alpha > 0) & (alpha < u)
        return d_alpha * interior, d_alpha * (alpha == u)

    monkeypatch.setattr(audit_equations, "constrained_sparsemax_vjp", without_mean)
    form, gradients, sublinear = audit_equations.audit_proposition1()
    assert form.verdict is Verdict.HOLDS
    assert gradients.verdict is Verdict.FAILS
    assert sublinear.verdict is Verdict.FAILS


def test_only_the_sign_of_eq_9_is_wrong_in_appendix_a() -> None:
    sign, threshold, jacobians = audit_equations.audit_appendix_a()
    assert sign.verdict is Verdict.FAILS
    assert [fact.what for fact in sign.exceptions] == [sign.facts[0].what]
    assert "−½‖α‖² as printed" in sign.facts[0].what
    assert threshold.verdict is jacobians.verdict is Verdict.HOLDS


def test_the_losses_of_the_report_equal_a_value_worked_out_by_hand() -> None:
    # z = (1, 0): p = (1, 0), τ = 0; q = (1/2, 1/2): (1 − 0)/2 + 1/4 − 1/2 = 1/4.
    losses = [float(loss([1.0, 0.0], [0.5, 0.5])) for loss in audit_equations.LOSSES]
    assert losses == [0.25] * 4


def test_the_reports_equations() -> None:
    algorithms, product, losses, gradient = audit_equations.audit_report_equations()
    assert algorithms.verdict is losses.verdict is gradient.verdict is Verdict.HOLDS
    assert product.verdict is Verdict.FAILS
    assert [fact.what for fact in product.exceptions] == [product.facts[0].what]


def test_algorithm_1_fails_as_printed_and_holds_corrected() -> None:
    printed, corrected, linear = audit_equations.audit_algorithm1()
    assert printed.verdict is Verdict.FAILS
    assert corrected.verdict is Verdict.HOLDS
    assert linear.verdict is Verdict.HOLDS
    # Work is counted in steps, not in seconds, so a second audit gives the same claims.
    assert audit_equations.audit_algorithm1() == (printed, corrected, linear)


def test_algorithm_1_as_printed_loses_mass() -> None:
    # By hand: x = (y, min(y, 1)) and Σ x = 4, so y = 3. The first median from below is 1, where
    # s = 2 ≤ 4: τ_L = 1. That is the second word's bound: the word leaves the working set, and
    # strict inequalities do not count it.
    a, b, c = np.zeros(2), np.array([10.0, 1.0]), np.ones(2)
    assert audit_equations.run_as_printed(a, b, c, 4.0, closed=True)[0] == 3
    assert audit_equations.run_as_printed(a, b, c, 4.0, closed=False)[0] == 4


NUMBERS = st.integers(-20, 20).map(lambda n: n / 4)


@given(
    st.lists(st.tuples(NUMBERS, st.integers(0, 12)), min_size=1, max_size=6),
    st.floats(0, 1),
)
def test_the_corrected_algorithm_solves_random_problems(
    pairs: list[tuple[float, int]], share: float
) -> None:
    a = np.array([low for low, _ in pairs])
    b = a + np.array([width / 4 for _, width in pairs])
    d = float(a.sum() + share * (b - a).sum())
    level, _ = audit_equations.run_as_printed(a, b, np.ones(len(a)), d, closed=True)
    if level is not None:  # None: no word is between its bounds, and line 14 divides by zero
        assert np.clip(level, a, b).sum() == pytest.approx(d, abs=1e-9)


def test_all_18_differences_between_text_and_scripts_are_shown() -> None:
    claims = audit_scripts.audit_scripts()
    numbers = [int(claim.text.partition(".")[0]) for claim in claims]
    assert numbers == list(range(1, 19))
    assert {claim.verdict for claim in claims} == {Verdict.HOLDS}


def test_row_10_shows_that_the_scripts_add_1_and_our_code_does_not() -> None:
    (row,) = [claim for claim in audit_scripts.audit_scripts() if claim.text.startswith("10.")]
    outcomes = [(fact.what.split(",")[0], fact.outcome) for fact in row.facts]
    assert outcomes == [("GUIDED", "equal")] * 4 + [
        (strategy, outcome)
        for strategy in ("ACTUAL", "PREDICTED")
        for outcome in ("differs", "equal")
    ]
    assert "bare" in row.note


def test_random_problems_are_the_same_each_time_and_feasible() -> None:
    first, second = (list(audit_equations.bounded_problems(20, margin=1e-3)) for _ in range(2))
    for (z, u), (same_z, same_u) in zip(first, second, strict=True):
        assert np.array_equal(z, same_z)
        assert np.array_equal(u, same_u)
        assert u.sum() > 1


def test_without_the_meteor_extra_one_row_is_not_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object, **__: object) -> None:
        raise MissingDependencyError("METEOR needs its extra; pip install 'coverage-eval[meteor]'")

    monkeypatch.setattr(audit_scripts, "METEOR", missing)
    audit = Audit("scripts", "title", audit_scripts.audit_scripts())
    (row,) = [claim for claim in audit.claims if claim.verdict is not Verdict.HOLDS]
    assert row.text.startswith("5. METEOR")
    assert row.verdict is Verdict.UNCHECKED
    for form in ("text", "csv", "json"):
        assert "coverage-eval[meteor]" in render(present_audits([audit]), form)
        assert "not checked" in render(present_audit(audit), form)
