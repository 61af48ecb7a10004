"""``coverage-eval audit``."""

from __future__ import annotations

import click

from coverage_eval.cli.output import Output, output_options, show
from coverage_eval.cli.overwriting import Command
from coverage_eval.published.catalogue import AUDITS, TABLES_OF_AUDITS, run_audit, run_audits
from coverage_eval.published.tables import TABLES
from coverage_eval.published.user_scores import compare_scores
from coverage_eval.report.audits import present_audit, present_audits
from coverage_eval.report.user_scores import present_user_scores

_NAMES = "\n\n".join(f"{name}: {title}." for name, title in AUDITS.items())


@click.command("audit", cls=Command, epilog=_NAMES)
@click.argument("name", required=False, metavar="[NAME]", type=click.Choice(list(AUDITS)))
@click.option(
    "--scores", metavar="FILE",
    help="Compare your own table with the printed one instead: a CSV file with the columns "
    "system,dataset,metric,value, named in its first line.",
)  # fmt: skip
@output_options
def command(name: str | None, scores: str | None, output: Output) -> None:
    """Check the papers' printed tables and claims.

    Without NAME all audits run, and every claim is one line; with NAME every fact that the claims
    of one audit rest on is shown. A claim that does not hold is a finding: the exit status is 0.
    With -b the numbers are of facts that do not hold, one a claim.

    A table for --scores has the printed names, in lines such as csparsemax,De-En,BLEU,29.85; case,
    spaces and what stands in parentheses do not matter. Shown are the difference of each cell, and
    for each pair of systems and metric whether the better one is the same.

    \b
    Example:
      coverage-eval audit table1
      coverage-eval audit table1 --scores ours.csv
    """
    if scores:
        if name and name not in TABLES_OF_AUDITS:
            raise click.UsageError(f"--scores goes with {', '.join(TABLES_OF_AUDITS)}, or no NAME")
        tables = TABLES_OF_AUDITS[name] if name else TABLES
        show(present_user_scores(compare_scores(scores, tables)), output)
    elif name:
        show(present_audit(run_audit(name)), output)
    else:
        show(present_audits(list(run_audits().values())), output)
