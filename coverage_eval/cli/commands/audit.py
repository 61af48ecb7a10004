"""``coverage-eval audit``."""

from __future__ import annotations

import click

from coverage_eval.cli.command import Command
from coverage_eval.cli.help import option
from coverage_eval.cli.output import show
from coverage_eval.cli.output_options import Output, output_options
from coverage_eval.cli.parameters import InputFile
from coverage_eval.papers.audit_tables import AUDITS, TABLES_OF_AUDITS, run_audit, run_audits
from coverage_eval.papers.claims import audit_report, audits_report
from coverage_eval.papers.printed import TABLES, compare_scores


@click.command("audit", cls=Command, lists={"Audits": AUDITS})
@click.argument("name", required=False, metavar="[NAME]", type=click.Choice(list(AUDITS)))
@option(
    "--scores", metavar="FILE", type=InputFile(),
    help="Compare your own table with the printed one: a CSV file whose first line is "
    "system,dataset,metric,value.",
)  # fmt: skip
@output_options
def audit(name: str | None, scores: str | None, output: Output) -> None:
    """Check the papers' printed tables and claims.

    Without NAME all audits run, and the claims that do not hold are printed. With NAME the command
    prints the claims of one audit, and the facts against them; -f csv and -f json have every fact.
    The verdicts are confirmed, contradicted, not decidable and not checked. What is claimed on
    average or in general is confirmed in spite of exceptions; a contradicted claim is a finding, so
    the exit status is 0. With -b it prints for each claim the number of facts that do not hold.

    A table for --scores has the printed names, in lines such as csparsemax,De-En,BLEU,29.85. The
    command prints the difference of each cell, and for each pair of systems and each metric whether
    the same system is better.

    \b
    Example:
      coverage-eval audit table1
      coverage-eval audit table1 --scores ours.csv
    """
    if scores and name not in {*TABLES_OF_AUDITS, None}:
        raise click.UsageError(f"--scores goes with {', '.join(TABLES_OF_AUDITS)}, or no NAME")
    if scores:
        tables = TABLES_OF_AUDITS[name] if name else TABLES
        show(compare_scores(scores, tables), output)
    elif name:
        show(audit_report(run_audit(name)), output)
    else:
        show(audits_report(list(run_audits().values())), output)
