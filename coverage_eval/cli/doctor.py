"""``coverage-eval doctor``."""

from __future__ import annotations

import click

from coverage_eval.cli.output import Output, output_options, show
from coverage_eval.cli.overwriting import Command
from coverage_eval.diagnosis import diagnose
from coverage_eval.report.installation import present_findings


@click.command("doctor", cls=Command)
@output_options(figures=False)
def command(output: Output) -> None:
    """Show what is installed, what is missing, and the command that adds it.

    \b
    Example:
      coverage-eval doctor
    """
    show(present_findings(diagnose()), output)
