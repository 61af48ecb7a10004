"""All audits by name."""

from __future__ import annotations

from coverage_eval.papers.claims import Audit

AUDITS = {
    "table1": "What section 5 claims about Table 1 (Malaviya et al. 2018), checked on its figures",
    "table2": "PREDICTED fertilities in Table 2, and its agreement with Table 1",
    "appendix-b": "Which outputs of Appendix B repeat words, by REP",
    "figure2": "Whether csparsemax fixed the repetitions of Figure 2, by REP",
    "figure1": "The attention values of Figure 1, to the printed digits",
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
    from coverage_eval.papers import audit_tables as tables

    claims = getattr(tables, f"audit_{name.replace('-', '_')}")()
    return Audit(name, AUDITS[name], claims)


def run_audits(*names: str) -> dict[str, Audit]:
    """Run some audits, or all of them if you name none.

    >>> audit = run_audits("figure1")["figure1"]
    >>> [claim.verdict.value for claim in audit.claims]
    ['confirmed', 'confirmed']
    >>> audit.to_frame().columns.to_list()
    ['claim', 'verdict', 'fact', 'printed', 'against', 'outcome', 'holds', 'decisive']

    Args:
        *names: Names of :data:`AUDITS`.

    Raises:
        ValueError: There is no audit with that name.
    """
    return {name: run_audit(name) for name in names or AUDITS}
