"""``coverage-eval demo``."""

from __future__ import annotations

from pathlib import Path

import click

from coverage_eval.cli.click_options import option
from coverage_eval.cli.command import Command
from coverage_eval.cli.options import signature_option
from coverage_eval.cli.output import show
from coverage_eval.cli.output_options import OutputOptions, output_options
from coverage_eval.core.report import Report
from coverage_eval.demonstration import demonstrate


@click.command("demo", cls=Command)
@option("--folder", metavar="FOLDER", type=click.Path(file_okay=False, path_type=Path),
        help="Write texts, model and report here, to try other commands on.  [default: a "
        "temporary folder]")  # fmt: skip
@signature_option
@output_options
def demo(folder: Path | None, signature: bool, output: OutputOptions) -> None:
    """Try coverage-eval on bundled texts with known errors.

    Three commands are shown with their results. The last one writes an HTML report.

    \b
    Example:
      coverage-eval demo --folder trial
    """
    output.require_several("demo")
    show(Report(tuple(demonstrate(folder))), output, signatures=signature)
