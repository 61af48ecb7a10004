"""``coverage-eval report``."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from coverage_eval.cli.click_options import option
from coverage_eval.cli.command import Command
from coverage_eval.cli.commands.attention import read_maps
from coverage_eval.cli.commands.compare import comparison_options, run_comparison
from coverage_eval.cli.messages import wrap
from coverage_eval.cli.output import print_lines, refuse_fatal, show, warn
from coverage_eval.cli.output_options import OutputOptions, output_to
from coverage_eval.cli.parameters import NamedText, by_name
from coverage_eval.comparison.report.html import make_report
from coverage_eval.core.errors import DataError
from coverage_eval.core.files import Text
from coverage_eval.core.report import Report, Table


@click.command("report", cls=Command, endings=(".html",))
@comparison_options
@option(
    "--attention", "maps", metavar="[NAME=]MAPS", multiple=True,
    type=NamedText(allow_table=True), callback=by_name,
    help="Show the attention of this system, from a file of 'attention convert'.",
)  # fmt: skip
@option("--title", metavar="TEXT", help="Title of the report.")
@output_to("Write the report to this file.")
def report(
    *, maps: dict[str, Text], title: str | None, strict: bool, output: str, **asked: Any
) -> None:
    """Write an HTML report: which system is worse, by how much, and where.

    Each FILE is the output of a system, and the report has the figures of 'compare'. Open it in a
    browser; it needs neither server nor network. The command prints its statements. With
    --attention it shows each segment's attention beside the marks of the scores.

    \b
    Example:
      coverage-eval report --ref ref.txt --src src.txt \\
        --model model a=a.txt b=b.txt -o report.html
    """
    files = _by_system(maps, list(asked["systems"])) if maps else {}
    attention = {name: read_maps(file) for name, file in files.items()}
    comparison = run_comparison(keep_texts=True, every_output=True, **asked)
    refuse_fatal(comparison.result.findings, strict=strict)
    try:
        command = shlex.join(["coverage-eval", *(click.get_current_context().obj or ())])
        page = make_report(comparison, title=title, command=command, attention=attention)
    except ValueError as error:  # maps of other segments
        raise DataError(str(error)) from error
    print_lines([page.html], output, as_is=True)
    if output != "-":
        show(Report((Table((), (), notes=comparison.statements.write()),)), OutputOptions())
        if not sys.stderr.isatty():  # where every command says it
            print_lines([wrap(f"→ {output}", sys.stdout)])
    warn(comparison.result.findings)


def _by_system(maps: Mapping[str, Text], systems: Sequence[str]) -> Mapping[str, str]:
    """The file of attention of each system; a single system needs no name."""
    files = {name: str(file) for name, file in maps.items()}
    if len(files) == len(systems) == 1:
        return dict(zip(systems, files.values(), strict=True))
    if unknown := [file for name, file in files.items() if name not in systems]:
        raise click.UsageError(
            f"--attention {unknown[0]}: name its system, as NAME=FILE; the systems are "
            f"{', '.join(systems)}"
        )
    return files
