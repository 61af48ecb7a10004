"""``coverage-eval audit``."""

from __future__ import annotations

import click

from coverage_eval.cli.options import echo, format_option, output_option, width_option
from coverage_eval.published.catalogue import AUDITS, TABLES_OF_AUDITS, run_audit
from coverage_eval.published.tables import TABLES
from coverage_eval.published.user_scores import compare_scores
from coverage_eval.report.audits import render_audit, render_overview
from coverage_eval.report.user_scores import render_comparison

_NAMES = "\n\n".join(f"{name}: {title}." for name, title in AUDITS.items())


@click.command("audit", epilog=_NAMES)
@click.argument("name", required=False, metavar="[NAME]", type=click.Choice(list(AUDITS)))
@click.option(
    "--scores", metavar="CSV",
    help="Compare your own table with the printed one instead: a file with the columns "
    "system,dataset,metric,value, named in its first line.",
)  # fmt: skip
@width_option
@format_option
@output_option
def command(
    name: str | None, scores: str | None, width: int, output_format: str, output: str | None
) -> None:
    """Check the papers' printed tables and claims.

    Without NAME all audits run, and every claim is one line; with NAME every fact that the claims
    of one audit rest on is shown. A claim that does not hold is a finding: the exit status is 0.

    A table for --scores has the printed names, in lines such as csparsemax,De-En,BLEU,29.85; case,
    spaces and what stands in parentheses do not matter. Shown are the difference of each cell, and
    for each pair of systems and metric whether the better one is the same.
    """
    if scores:
        if name and name not in TABLES_OF_AUDITS:
            raise click.UsageError(f"--scores goes with {', '.join(TABLES_OF_AUDITS)}, or no NAME")
        tables = TABLES_OF_AUDITS[name] if name else TABLES
        text = render_comparison(compare_scores(scores, tables), output_format, width=width)
    elif name:
        text = render_audit(run_audit(name), output_format)
    else:
        text = render_overview([run_audit(each) for each in AUDITS], output_format)
    echo(text, output)
