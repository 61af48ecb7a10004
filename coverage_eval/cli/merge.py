"""``coverage-eval merge``."""

from __future__ import annotations

import click

from coverage_eval.cli.comparison_files import ComparisonFiles, comparison_files
from coverage_eval.cli.output import Output, output_options, show
from coverage_eval.cli.overwriting import Command
from coverage_eval.cli.presenters import presenter
from coverage_eval.cli.warnings import warn
from coverage_eval.errors import DataError
from coverage_eval.scale.part_files import join_parts


@click.command("merge", cls=Command)
@click.argument("parts", nargs=-1, required=True, metavar="PART...")
@comparison_files
@output_options
def command(parts: tuple[str, ...], files: ComparisonFiles, output: Output) -> None:
    """Join the parts that --shard wrote, and print what one run would have printed.

    All parts of one command line are needed, in any order: the scores, intervals, tests and
    breakdowns that it asked for are those of the whole text, to the last digit. --plot and
    --details are for parts of 'compare', and --details for those with a --breakdown, which have the
    texts.

    \b
    Example:
      coverage-eval rep hyp.txt ref.txt --confidence --shard 1/2 -o 1.part
      coverage-eval rep hyp.txt ref.txt --confidence --shard 2/2 -o 2.part
      coverage-eval merge 1.part 2.part
    """
    files.check()
    whole = join_parts(parts)
    results = whole.results
    if (files.plot or files.details) and whole.command != "compare":
        raise DataError(f"--plot and --details are of a comparison, and not of {whole.command}")
    if files.details and not results.records:
        raise DataError("--details needs the texts: make the parts with --breakdown")
    printable = presenter(whole.command)(results)
    show(warn(printable, results.findings, dict(results.figures), strict=False), output)
    if whole.command == "compare":
        from coverage_eval.cli.compare import make_comparison

        files.write(lambda: make_comparison(results))
