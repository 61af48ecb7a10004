"""Audits against independent oracles; wrong equations and wrong figures are noticed."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import coverage_eval as ce
from coverage_eval.errors import MissingDependencyError
from coverage_eval.papers import (
    audit_equations,
    audit_scripts,
    audit_statements,
    audit_tables,
    printed,
)
from coverage_eval.papers.audits import AUDITS, run_audit
from coverage_eval.papers.claims import Audit, Claim, Verdict, present_audit, present_audits
from coverage_eval.papers.printed import PrintedCell, PrintedTable, load_figure1, load_table
from coverage_eval.tables.formats import FORMATS, render

Vector = NDArray[np.float64]
SPARSE = ("sparsemax + COVPENALTY", "sparsemax + COVVECTOR", "csparsemax")


@cache
def audited(name: str) -> Audit:
    """An audit, run once for all tests that only read it."""
    return run_audit(name)


@pytest.mark.parametrize("name", AUDITS)
def test_every_audit_names_its_places_and_facts_and_can_be_printed(name):
    audit = audited(name)
    assert audit.name == name
    assert audit.claims
    for claim in audit.claims:
        assert claim.text
        assert claim.place
        names = [fact.what for fact in claim.facts]
        assert len(set(names)) == len(names)
    for form in FORMATS:
        assert render(present_audit(audit), form)


def test_an_unknown_audit_is_refused():
    with pytest.raises(ValueError, match="figure1"):
        run_audit("figure9")


def bisected(z: Vector, u: Vector, *, exponential: bool) -> Vector:
    """Constrained sparsemax (α = clip(z − τ, 0, u)) or softmax (min(u, e^(z − τ))) by bisection."""
    low, high = -60.0, 60.0
    for _ in range(200):
        tau = (low + high) / 2
        alpha = np.minimum(np.exp(z - tau), u) if exponential else np.clip(z - tau, 0, u)
        low, high = (tau, high) if alpha.sum() >= 1 else (low, tau)
    return alpha


@pytest.mark.parametrize("name", ["softmax", "sparsemax", "csoftmax", "csparsemax"])
def test_figure_1_agrees_with_bisection(name):
    figure = load_figure1()
    cumulative = np.zeros(3)
    for scores, digits in zip(figure.scores, figure.attention[name], strict=True):
        z = np.array(scores, dtype=float)
        u = 1 - cumulative if name.startswith("c") else np.full(3, np.inf)
        alpha = bisected(z, u, exponential=name.endswith("softmax"))
        cumulative += alpha
        assert [f"{value:.2f}" for value in alpha] == [f"{float(text):.2f}" for text in digits]


def test_figure_1_prints_twelve_equal_triples():
    attention, credit = audited("figure1").claims
    assert [fact.outcome for fact in attention.facts] == ["equal"] * 12
    assert attention.verdict is Verdict.HOLDS
    assert credit.verdict is Verdict.HOLDS


def test_a_wrong_digit_of_figure_1_is_noticed(monkeypatch):
    figure = load_figure1()
    rows = figure.attention["csoftmax"]
    wrong = {**figure.attention, "csoftmax": (*rows[:2], ("0.12", "0.22", "0.66"))}
    monkeypatch.setattr(audit_equations, "load_figure1", lambda: replace(figure, attention=wrong))
    claim = audit_equations.audit_figure1()[0]
    assert claim.verdict is Verdict.FAILS
    assert [fact.what for fact in claim.exceptions] == ["csoftmax, round 3, u = (0.12, 0.21, 0.67)"]


def test_proposition_1_and_the_reduction_hold():
    claims = (*audited("proposition1").claims, *audited("reduction").claims)
    assert {claim.verdict for claim in claims} == {Verdict.HOLDS}


def test_a_wrong_gradient_is_noticed(monkeypatch):
    def without_mean(d_alpha: Vector, alpha: Vector, u: Vector) -> tuple[Vector, Vector]:
        interior = (alpha > 0) & (alpha < u)
        return d_alpha * interior, d_alpha * (alpha == u)

    monkeypatch.setattr(audit_equations, "constrained_sparsemax_vjp", without_mean)
    form, gradients, sublinear = audit_equations.audit_proposition1()
    assert form.verdict is Verdict.HOLDS
    assert gradients.verdict is Verdict.FAILS
    assert sublinear.verdict is Verdict.FAILS


def test_only_the_sign_of_eq_9_is_wrong_in_appendix_a():
    sign, threshold, jacobians = audited("appendix-a").claims
    assert sign.verdict is Verdict.FAILS
    assert [fact.what for fact in sign.exceptions] == [sign.facts[0].what]
    assert "−½‖α‖² as printed" in sign.facts[0].what
    assert sign.facts[0].against == "differ by at most 1.8"
    assert threshold.verdict is jacobians.verdict is Verdict.HOLDS


def test_the_losses_of_the_report_equal_a_value_worked_out_by_hand():
    # z = (1, 0): p = (1, 0), τ = 0; q = (1/2, 1/2): (1 − 0)/2 + 1/4 − 1/2 = 1/4.
    losses = [float(loss([1.0, 0.0], [0.5, 0.5])) for loss in audit_equations.LOSSES]
    assert losses == [0.25] * 4


def test_the_reports_equations():
    algorithms, product, losses, gradient = audited("report-equations").claims
    assert algorithms.verdict is losses.verdict is gradient.verdict is Verdict.HOLDS
    assert product.verdict is Verdict.FAILS
    assert [fact.what for fact in product.exceptions] == [product.facts[0].what]
    assert product.facts[0].against == "differ by at most 0.981"


def test_algorithm_1_fails_as_printed_and_holds_corrected():
    printed, corrected, level, linear = audited("algorithm1").claims
    assert printed.verdict is Verdict.FAILS
    assert corrected.verdict is Verdict.HOLDS
    assert linear.verdict is Verdict.HOLDS
    assert [(fact.printed, fact.against) for fact in printed.facts] == [("200", "36")]
    assert [fact.against for fact in linear.facts] == ["2.02", "2.00", "2.00", "2.00"]
    # Work is counted in steps, not in seconds, so a second audit gives the same claims.
    assert audit_equations.audit_algorithm1() == (printed, corrected, level, linear)
    # By hand: x = (y, min(y, 1)) with y = 3 lies above the second word's interval [0, 1].
    assert level.verdict is Verdict.FAILS
    assert level.facts[0].against == "1"


def test_algorithm_1_as_printed_loses_mass():
    # By hand: x = (y, min(y, 1)) and Σ x = 4, so y = 3. The first median from below is 1, where
    # s = 2 ≤ 4: τ_L = 1. That is the second word's bound: the word leaves the working set, and
    # strict inequalities do not count it.
    a, b, c = np.zeros(2), np.array([10.0, 1.0]), np.ones(2)
    assert audit_equations.run_as_printed(a, b, c, 4.0, closed=True)[0] == 3
    assert audit_equations.run_as_printed(a, b, c, 4.0, closed=False)[0] == 4


NUMBERS = st.integers(-20, 20).map(lambda n: n / 4)


@given(st.lists(st.tuples(NUMBERS, st.integers(0, 12)), min_size=1, max_size=6), st.floats(0, 1))
def test_the_corrected_algorithm_solves_random_problems(pairs, share):
    a = np.array([low for low, _ in pairs])
    b = a + np.array([width / 4 for _, width in pairs])
    d = float(a.sum() + share * (b - a).sum())
    level, _ = audit_equations.run_as_printed(a, b, np.ones(len(a)), d, closed=True)
    if level is not None:  # None: no word is between its bounds, and line 14 divides by zero
        assert np.clip(level, a, b).sum() == pytest.approx(d, abs=1e-9)


def test_sections_3_and_4_hold():
    claims = audited("attention").claims
    assert {claim.verdict for claim in claims} == {Verdict.HOLDS}
    assert len(claims) == 6


def test_a_projection_without_bounds_is_noticed(monkeypatch):
    """Constrained softmax that clips and normalises keeps within bounds, but is not closest."""

    def clipped(z: Vector, u: Vector) -> Vector:
        alpha = np.minimum(np.exp(z) / np.exp(z).sum(), u)
        return alpha / alpha.sum()

    monkeypatch.setattr(audit_statements, "constrained_softmax", clipped)
    projection, divergence, *_ = audit_statements.audit_attention()
    assert projection.verdict is Verdict.HOLDS
    assert divergence.verdict is Verdict.FAILS


def test_the_reports_statements():
    parallel, odd_even, indicator, convex, stable = audited("report-statements").claims
    assert parallel.verdict is Verdict.FAILS
    # Batcher (1968): log₂ K (log₂ K + 1) / 2 rounds.
    assert [fact.against for fact in parallel.facts] == ["6", "21", "45", "78"]
    assert {claim.verdict for claim in (odd_even, indicator, convex)} == {Verdict.HOLDS}
    assert stable.verdict is Verdict.EXCEPTIONS
    assert ["log-sum-exp" in fact.what for fact in stable.exceptions] == [True]


def test_all_19_differences_between_text_and_scripts_are_shown():
    claims = audited("scripts").claims
    numbers = [int(claim.text.partition(".")[0]) for claim in claims]
    assert numbers == list(range(1, 20))
    unchecked = [n for n, c in zip(numbers, claims, strict=True) if c.verdict is not Verdict.HOLDS]
    assert unchecked == [16]
    assert claims[15].verdict is Verdict.UNCHECKED
    number = re.compile(r"(?<!most )(?<!\S)(-?[\d.]+|-?inf|nan)(?!\S)")
    figures = {
        place: " ".join(number.findall(" ".join(f"{f.printed} {f.against}" for f in claim.facts)))
        for place, claim in enumerate(claims, start=1)
    }
    assert figures == {
        1: "100.00 100.00 0.00 0.00 100.00 0.00",
        2: "66.67 66.67 40.00 40.00 66.67 40.00",
        3: "33.33 33.33 33.33 50.00 0.00 100.00 1 1",
        4: "74.26 74.26 74.26 48.83",
        5: "23.88 100.00 16.33 100.00",
        6: "4.02",
        7: "",
        8: "0 0 2",
        9: "0.40 0.40 0.20 0.20 inf 0.00 0.20 0.00",
        10: "3 3 1 1 1 1 1 1 3 2 3 3 2.75 1.75 2.75 2.75",
        11: "50.00 50.00 0.00 0.00",
        12: "1.8",
        13: "-2.9957 -2.9957 -2.9957 -inf",
        14: "0.207",
        15: "-6.598 -6.598 -7.360 -7.360 -6.598 -7.360",
        16: "",
        17: "1.00 1.00 1.00 3.00",
        18: "0.00 0.20 0.126",
        19: "1.67",
    }, "both sides of each fact, as printed"


@given(*[st.lists(st.sampled_from("abc"), min_size=1, max_size=9).map(" ".join)] * 2)
def test_row_1s_formula_of_rep_is_ours(hypothesis, reference):
    found = audit_scripts.rep_of_script(hypothesis, reference, 2)
    assert found == pytest.approx(float(ce.rep([hypothesis], [reference])))


def test_row_10_shows_that_the_scripts_add_1_and_our_code_does_not():
    (row,) = [claim for claim in audited("scripts").claims if claim.text.startswith("10.")]
    outcomes = [(fact.what.split(",")[0], fact.outcome) for fact in row.facts]
    assert outcomes == [("GUIDED", "equal")] * 4 + [
        (strategy, outcome)
        for strategy in ("ACTUAL", "PREDICTED")
        for outcome in ("differs", "equal")
    ]
    assert "bare" in row.note


def test_random_problems_are_the_same_each_time_and_feasible():
    first, second = (list(audit_equations.bounded_problems(20, margin=1e-3)) for _ in range(2))
    for (z, u), (same_z, same_u) in zip(first, second, strict=True):
        assert np.array_equal(z, same_z)
        assert np.array_equal(u, same_u)
        assert u.sum() > 1


def test_without_the_meteor_extra_one_row_is_not_checked(monkeypatch):
    def missing(*_: object, **__: object) -> None:
        raise MissingDependencyError("METEOR needs its extra; pip install 'coverage-eval[meteor]'")

    monkeypatch.setattr(audit_scripts, "METEOR", missing)
    audit = Audit("scripts", "title", audit_scripts.audit_scripts())
    row, _ = [claim for claim in audit.claims if claim.verdict is not Verdict.HOLDS]
    assert row.text.startswith("5. METEOR")
    assert row.verdict is Verdict.UNCHECKED
    for form in ("text", "csv", "json"):
        assert "coverage-eval[meteor]" in render(present_audits([audit]), form)
        assert "not checked" in render(present_audit(audit), form)


def array(name: str) -> tuple[list[str], NDArray[np.float64]]:
    """The names of the systems, and the figures [systems, data sets, metrics]."""
    table = load_table(name)
    figures = [
        [[table.value(s, d, m) for m in table.metrics] for d in table.datasets]
        for s in table.systems
    ]
    return list(table.systems), np.array(figures)


def changed(table: PrintedTable, changes: dict[tuple[str, str, str], float]) -> PrintedTable:
    cells = {key: PrintedCell(f"{value:.2f}", value) for key, value in changes.items()}
    return replace(table, cells={**table.cells, **cells})


def test_sparse_models_are_better_on_average_with_exceptions():
    claim = audited("table1").claims[0]
    systems, figures = array("table1")
    sparse = np.isin(systems, SPARSE)
    gap = figures[sparse].mean(axis=0) - figures[~sparse].mean(axis=0)
    assert (gap.mean(axis=0)[:2] > 0).all()  # BLEU and METEOR: the claim
    assert claim.verdict is Verdict.EXCEPTIONS
    named = {fact.what for fact in claim.exceptions}
    for place, dataset in enumerate(("De-En", "Ja-En", "Ro-En")):
        for metric, name in enumerate(("BLEU", "METEOR")):
            exception = f"{name}, {dataset}: sparse models, others" in named
            assert exception == (gap[place, metric] <= 0)
    means = figures.mean(axis=1)
    losses = {
        f"{name}, all pairs: {one}, {other}"
        for m, name in enumerate(("BLEU", "METEOR"))
        for i, one in enumerate(systems)
        for j, other in enumerate(systems)
        if one in SPARSE and other not in SPARSE and means[i, m] <= means[j, m] + 1e-9
    }
    assert {what for what in named if "all pairs" in what} == losses


def test_sparse_models_repeat_and_drop_less_with_five_exceptions():
    claim = audited("table1").claims[1]
    systems, figures = array("table1")
    wins = {}
    for m, name in ((2, "REP"), (3, "DROP")):
        rows = [figures[systems.index(s), :, m] for s in SPARSE]
        others = [figures[systems.index(s), :, m] for s in ("softmax", "csoftmax")]
        wins[name] = sum(int((row < other).sum()) for row in rows for other in others)
    assert [fact.against for fact in claim.facts[:2]] == [f"{n} of 18" for n in wins.values()]
    assert len(claim.exceptions) == 36 - sum(wins.values()) == 5
    assert claim.verdict is Verdict.EXCEPTIONS


def test_csparsemax_is_better_everywhere():
    assert audited("table1").claims[2].verdict is Verdict.HOLDS


def test_wrong_figures_of_table_1_are_noticed(monkeypatch):
    wrong = {("csparsemax", d, "BLEU"): 20.0 for d in ("De-En", "Ja-En", "Ro-En")}
    wrong[("csparsemax", "Ro-En", "DROP")] = 5.60
    table = changed(load_table("table1"), wrong)
    monkeypatch.setattr(audit_tables, "load_table", lambda _: table)
    quality, coverage, best = audit_tables.audit_table1()
    assert quality.verdict is Verdict.FAILS
    assert coverage.verdict is Verdict.EXCEPTIONS
    assert best.verdict is Verdict.FAILS
    assert [fact.what for fact in best.exceptions] == ["DROP, Ro-En: csparsemax, softmax"]


def test_table_2_has_one_exception_and_a_wrong_figure_is_noticed(monkeypatch):
    best, same = audited("table2").claims
    assert best.verdict is Verdict.EXCEPTIONS
    assert [fact.what for fact in best.exceptions] == ["METEOR: PREDICTED c = 0, CONSTANT f = 2"]
    assert same.verdict is Verdict.HOLDS
    wrong = {("PREDICTED c = 0.2", "De-En", "BLEU"): 29.60}
    table = changed(load_table("table2"), wrong)
    first = load_table("table1")
    monkeypatch.setattr(
        audit_tables, "load_table", lambda name: first if name == "table1" else table
    )
    assert [claim.verdict for claim in audit_tables.audit_table2()] == [
        Verdict.FAILS,
        Verdict.FAILS,
    ]


def by_text(claims: tuple[Claim, ...], part: str) -> Claim:
    (claim,) = [claim for claim in claims if part in claim.text]
    return claim


def test_verdicts_on_the_tables_of_the_report():
    claims = audited("report-tables").claims
    verdicts = {
        "very much alike": Verdict.EXCEPTIONS,
        "improved performance": Verdict.HOLDS,
        "single flower": Verdict.HOLDS,
        "significantly outperforms": Verdict.HOLDS,
        "runs significantly slower": Verdict.HOLDS,
        "outperform both": Verdict.HOLDS,
        "not by much": Verdict.EXCEPTIONS,
        "is the fastest": Verdict.FAILS,
    }
    assert {part: by_text(claims, part).verdict for part in verdicts} == verdicts
    fastest = by_text(claims, "is the fastest").facts
    assert [fact.decisive for fact in fastest] == [True] * 2 + [False] * 4
    # 3.73 against 3.30 seconds.
    assert by_text(claims, "not by much").facts[0].outcome == "1.13 times"


def test_overlapping_intervals_of_the_report_are_noticed(monkeypatch):
    table = load_table("report_table2")
    cell = PrintedCell("0.12 ± 0.022", 0.12, 0.022)
    key = ("sparsemax", "Iris", "cross-validation JS")
    wide = replace(table, cells={**table.cells, key: cell})
    monkeypatch.setattr(
        audit_tables, "load_table", lambda n: wide if n == "report_table2" else load_table(n)
    )
    claims = audit_tables.audit_report_tables()
    assert by_text(claims, "very much alike").verdict is Verdict.HOLDS
    assert by_text(claims, "improved performance").verdict is Verdict.FAILS


def test_repetitions_in_appendix_b_equal_a_count_by_hand():
    avoids, others = audited("appendix-b").claims
    assert avoids.verdict is Verdict.EXCEPTIONS
    assert [fact.what for fact in avoids.exceptions] == ["example 8, csparsemax"]
    # By hand: the sum of σ over the examples, divided by the 151 words of the references. Softmax:
    # ", you" and "you know" (1 + 1), "contempt" twice (2), "that" twice (2), "don't have" (2),
    # "in the" (1); csparsemax: "in the" (1).
    words = sum(len(text.split()) for text in printed.load_appendix_b().references)
    assert words == 151
    assert avoids.facts[0].against == f"{100 * 9 / words:.2f}"
    assert avoids.facts[0].printed == f"{100 * 1 / words:.2f}"
    assert others.verdict is Verdict.HOLDS
    assert "contempt contempt (1x)" in others.facts[0].against
    systems = ("softmax", "sparsemax", "csoftmax")
    assert [fact.what for fact in others.facts[:3]] == [f"outputs of {name}" for name in systems]
    # By hand, example 1, "leave that up to us .": softmax lacks leave, that, up, to; its second
    # lacks "like that"; and so on.
    assert [fact.against for fact in others.facts[3:]] == ["35 of 71", "31 of 71", "33 of 71"]
    assert "csparsemax lacks 22" in others.note
    found = [(fact.printed, fact.against, fact.outcome) for fact in avoids.facts[3:]]
    silent = ("does not repeat", "nothing", "does not repeat")
    assert found == [silent] * 7 + [("does not repeat", "in the (2x)", "repeats")]


def test_csparsemax_fixes_figure_2_and_swapped_outputs_are_noticed(monkeypatch):
    (claim,) = audited("figure2").claims
    assert claim.verdict is Verdict.HOLDS
    examples = printed.load_figure2()
    swapped = replace(
        examples,
        examples=tuple(
            replace(e, outputs=dict(zip(e.outputs, reversed(e.outputs.values()), strict=True)))
            for e in examples.examples
        ),
    )
    monkeypatch.setattr(audit_tables, "load_figure2", lambda: swapped)
    (claim,) = audit_tables.audit_figure2()
    assert claim.verdict is Verdict.FAILS
    assert len(claim.exceptions) == 4
