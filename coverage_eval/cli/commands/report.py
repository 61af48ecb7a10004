"""``coverage-eval report``."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence

import click

from coverage_eval.cli import options
from coverage_eval.cli.commands.attention import read_maps
from coverage_eval.cli.commands.compare import ComparisonOptions, comparison_options
from coverage_eval.cli.help import option
from coverage_eval.cli.messages import wrap
from coverage_eval.cli.output import echo_findings, print_lines
from coverage_eval.comparison.report.html import make_report
from coverage_eval.core.errors import DataError
from coverage_eval.core.escapes import escape_controls


@click.command("report", cls=options.Command, endings=(".html",))
@comparison_options
@option(
    "--attention", "maps", metavar="[NAME=]MAPS", multiple=True,
    callback=options.parse_named_files,
    help="Show the attention of this system, from a file of 'attention convert'.",
)  # fmt: skip
@option("--title", metavar="TEXT", help="Title of the report.")
@options.output_to("Write the report to this file.")
def report(asked: ComparisonOptions, maps: dict[str, str], title: str | None, output: str) -> None:
    """Write an HTML report: which system is worse, by how much, and where.

    Each FILE is the output of a system, and the report has the figures of 'compare'. Open it in a
    browser; it needs neither server nor network. The command prints its verdict. With
    --attention it shows each segment's attention beside the marks of the scores.

    \b
    Example:
      coverage-eval report --ref ref.txt --src src.txt --model de-en.model a=a.txt b=b.txt \\
        -o report.html
    """
    files = _by_system(maps, list(asked.texts.systems))
    asked.check()
    attention = {name: read_maps(file) for name, file in files.items()}
    comparison = asked.compare(evidence=True)
    echo_findings(comparison.measured.findings, strict=asked.strict)
    try:
        command = shlex.join(["coverage-eval", *(click.get_current_context().obj or ())])
        page = make_report(comparison, title=title, command=command, attention=attention)
    except ValueError as error:  # maps of other segments
        raise DataError(str(error)) from error
    print_lines([page.html], output, as_is=True)
    if output != "-":
        told = [*map(escape_controls, comparison.verdict_sentences), f"→ {output}"]
        print_lines(wrap(sentence, sys.stdout) for sentence in told)


def _by_system(files: Mapping[str, str], systems: Sequence[str]) -> Mapping[str, str]:
    """Files of attention by system; a single system needs no name."""
    if len(files) == len(systems) == 1:
        return dict(zip(systems, files.values(), strict=True))
    if unknown := [file for name, file in files.items() if name not in systems]:
        raise click.UsageError(
            f"--attention {unknown[0]}: name its system, as NAME=FILE; the systems are "
            f"{', '.join(systems)}"
        )
    return files
