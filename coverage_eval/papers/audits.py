"""Every audit of the two papers by its name: tables, figures, equations, text against scripts."""

from __future__ import annotations

from coverage_eval.papers.audit_equations import (
    audit_algorithm1,
    audit_appendix_a,
    audit_attention,
    audit_proposition1,
    audit_reduction,
)
from coverage_eval.papers.audit_figures import audit_appendix_b, audit_figure1, audit_figure2
from coverage_eval.papers.audit_report import audit_report_equations
from coverage_eval.papers.audit_scripts import audit_scripts
from coverage_eval.papers.audit_tables import (
    audit_report_tables,
    audit_table1,
    audit_table2,
)
from coverage_eval.papers.claims import Audit

_AUDITS = {
    "table1": (audit_table1, "What section 5 says about Table 1 (Malaviya et al. 2018)"),
    "table2": (audit_table2, "PREDICTED fertilities in Table 2, and its agreement with Table 1"),
    "appendix-b": (audit_appendix_b, "Which outputs of Appendix B repeat words, by REP"),
    "figure2": (audit_figure2, "Whether csparsemax fixed the repetitions of Figure 2, by REP"),
    "figure1": (audit_figure1, "The attention values of Figure 1, to the printed digits"),
    "proposition1": (
        audit_proposition1,
        "The form of constrained sparsemax and its gradients, Proposition 1",
    ),
    "appendix-a": (audit_appendix_a, "The derivation of Proposition 1 in Appendix A"),
    "reduction": (audit_reduction, "The reduction to the canonical problem, eqs. 17 to 22"),
    "algorithm1": (audit_algorithm1, "Algorithm 1 as printed, and how its work grows"),
    "attention": (audit_attention, "What sections 3 and 4 say about the transformations"),
    "scripts": (audit_scripts, "Where the text and the authors' published scripts differ"),
    "report-tables": (
        audit_report_tables,
        "Tables 2 to 4 of the sparsemax report (Madsen et al. 2017)",
    ),
    "report-equations": (audit_report_equations, "Section 2 of the sparsemax report"),
}
"""The function of each audit, and what it checks."""

AUDITS = {name: title for name, (_, title) in _AUDITS.items()}
"""What each audit checks."""

TABLES_OF_AUDITS = {
    "table1": ("table1",),
    "table2": ("table2",),
    "report-tables": ("report_table2", "report_table3", "report_table4"),
}
"""The audits of whole tables, which accept a user's own table."""


def run_audit(name: str) -> Audit:
    """Run one audit.

    Args:
        name: One of :data:`AUDITS`.

    Raises:
        ValueError: There is no audit with that name.
    """
    if name not in AUDITS:
        raise ValueError(f"unknown audit {name!r}; one of {', '.join(AUDITS)}")
    make_claims, title = _AUDITS[name]
    return Audit(name, title, make_claims())


def run_audits(*names: str) -> dict[str, Audit]:
    """Run some audits, or all of them if you name none.

    >>> audit = run_audits("figure1")["figure1"]
    >>> [claim.verdict.value for claim in audit.claims]
    ['confirmed', 'confirmed']
    >>> audit.to_frame().columns.to_list()
    ['claim', 'verdict', 'fact', 'printed', 'computed', 'outcome', 'holds', 'decisive', 'gain']

    Args:
        *names: Names of :data:`AUDITS`.

    Raises:
        ValueError: There is no audit with that name.
    """
    return {name: run_audit(name) for name in names or AUDITS}
