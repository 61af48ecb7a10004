"""``coverage-eval merge``."""

from __future__ import annotations

import click

from coverage_eval.cli.output import Output, output_options, show
from coverage_eval.cli.overwriting import Command
from coverage_eval.cli.presenters import presenter
from coverage_eval.cli.warnings import warn
from coverage_eval.scale.part_files import join_parts


@click.command("merge", cls=Command)
@click.argument("parts", nargs=-1, required=True, metavar="PART...")
@output_options
def command(parts: tuple[str, ...], output: Output) -> None:
    """Join the parts that --shard wrote, and print what one run would have printed.

    All parts of one command line are needed, in any order: the scores, intervals, tests and
    breakdowns that it asked for are those of the whole text, to the last digit.

    \b
    Example:
      coverage-eval rep hyp.txt ref.txt --confidence --shard 1/2 -o 1.part
      coverage-eval rep hyp.txt ref.txt --confidence --shard 2/2 -o 2.part
      coverage-eval merge 1.part 2.part
    """
    whole = join_parts(parts)
    results = whole.results
    printout = presenter(whole.command)(results)
    show(warn(printout, results.findings, dict(results.figures), strict=False), output)
