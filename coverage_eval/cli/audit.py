"""``coverage-eval audit``."""

from __future__ import annotations

import click

from coverage_eval.cli.options import echo, format_option, output_option
from coverage_eval.published.registry import AUDITS, run_audit
from coverage_eval.report.audits import render_audit, render_overview

_NAMES = "\n\n".join(f"{name}: {title}." for name, title in AUDITS.items())


@click.command("audit", epilog=_NAMES)
@click.argument("name", required=False, metavar="[NAME]", type=click.Choice(list(AUDITS)))
@format_option
@output_option
def command(name: str | None, output_format: str, output: str | None) -> None:
    """Check the papers' printed tables and claims.

    Without NAME all audits run, and every claim is one line; with NAME every fact that the claims
    of one audit rest on is shown. A claim that does not hold is a finding: the exit status is 0.
    """
    if name:
        text = render_audit(run_audit(name), output_format)
    else:
        text = render_overview([run_audit(each) for each in AUDITS], output_format)
    echo(text, output)
