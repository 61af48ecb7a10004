"""``coverage-eval demo``."""

from __future__ import annotations

from pathlib import Path
from tempfile import mkdtemp

import click

from coverage_eval.cli.help import option
from coverage_eval.cli.options import Command, Output, output_options
from coverage_eval.cli.output import show
from coverage_eval.compare.report.html import make_report
from coverage_eval.compare.table import Comparison
from coverage_eval.core.show.table import Printable
from coverage_eval.demonstration import demonstrate
from coverage_eval.papers.audit_tables import score_appendix_b


@click.command("demo", cls=Command)
@option("--folder", metavar="FOLDER", type=click.Path(file_okay=False, path_type=Path),
        help="Write texts, model and report here, to try other commands on.")  # fmt: skip
@output_options
def command(folder: Path | None, output: Output) -> None:
    """Try coverage-eval on bundled texts with known errors.

    It also writes an HTML report of the outputs, and prints its path.

    \b
    Example:
      coverage-eval demo --folder trial
    """
    output.require_several("demo")
    report = (folder or Path(mkdtemp(prefix="coverage-eval-demo-"))) / "report.html"

    def write(comparison: Comparison, path: Path) -> None:
        make_report(comparison, title="Three outputs with known errors").save(path)

    show(Printable((score_appendix_b(), *demonstrate(folder, report, write))), output)
