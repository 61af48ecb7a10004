"""All audits by name."""

from __future__ import annotations

from coverage_eval.papers.claims import Audit

AUDITS = {
    "table1": "What section 5 claims about Table 1 (Malaviya et al. 2018), checked on its figures",
    "table2": "PREDICTED fertilities in Table 2, and its agreement with Table 1",
    "appendix-b": "Which outputs of Appendix B repeat words, by REP",
    "figure2": "Whether csparsemax fixed the repetitions of Figure 2, by REP",
    "figure1": "The attention values of Figure 1, to the printed digits",
    "attention": "What sections 3 and 4 say of the transformations (eqs. 3 to 5, credit, sink)",
    "proposition1": "Form of the solution, gradients and their cost (Proposition 1)",
    "appendix-a": "The Lagrangian and its sign, the threshold, the Jacobians (Appendix A)",
    "reduction": "Constrained sparsemax as the canonical problem (eqs. 17 to 22)",
    "algorithm1": "Algorithm 1 as printed, and how its work grows",
    "scripts": "Where the text and the published scripts differ, with both computed",
    "report-equations": "Algorithms, Jacobian and losses of the sparsemax report, section 2",
    "report-statements": "What the sparsemax report says of sorting, gradients and stability",
    "report-tables": "Claims about Tables 2 to 4 of the sparsemax report (Madsen et al. 2017)",
}
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
    from coverage_eval.papers import audit_equations as equations
    from coverage_eval.papers import audit_scripts as scripts
    from coverage_eval.papers import audit_statements as statements
    from coverage_eval.papers import audit_tables as tables

    audits = {
        "table1": tables.audit_table1,
        "table2": tables.audit_table2,
        "appendix-b": tables.audit_appendix_b,
        "figure2": tables.audit_figure2,
        "figure1": equations.audit_figure1,
        "attention": statements.audit_attention,
        "proposition1": equations.audit_proposition1,
        "appendix-a": equations.audit_appendix_a,
        "reduction": equations.audit_reduction,
        "algorithm1": equations.audit_algorithm1,
        "scripts": scripts.audit_scripts,
        "report-equations": equations.audit_report_equations,
        "report-statements": statements.audit_report_statements,
        "report-tables": tables.audit_report_tables,
    }
    return Audit(name, AUDITS[name], audits[name]())


def run_audits(*names: str) -> dict[str, Audit]:
    """Run some audits, or all of them if you name none.

    >>> audit = run_audits("figure1")["figure1"]
    >>> [claim.verdict.value for claim in audit.claims]
    ['holds', 'holds']
    >>> audit.to_frame().columns.to_list()
    ['claim', 'verdict', 'fact', 'printed', 'against', 'outcome', 'holds', 'decisive']

    Args:
        *names: Names of :data:`AUDITS`.

    Raises:
        ValueError: There is no audit with that name.
    """
    return {name: run_audit(name) for name in names or AUDITS}
