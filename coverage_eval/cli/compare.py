"""``coverage-eval compare``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import click

from coverage_eval.cli.comparison_files import ComparisonFiles, comparison_files
from coverage_eval.cli.comparison_options import (
    Columns,
    ComparisonOptions,
    comparison_options,
)
from coverage_eval.cli.messages import say
from coverage_eval.cli.options import (
    FiniteRange,
    WholeRange,
    given_options,
    parse_differences,
    parse_list,
)
from coverage_eval.cli.output import Output, output_options, show
from coverage_eval.cli.overwriting import Command, NoFile
from coverage_eval.cli.warnings import warn
from coverage_eval.comparison.breakdowns import BREAKDOWNS, DEFAULT_TOP, Options, break_down
from coverage_eval.comparison.comparison import SIGNIFICANT, Comparison, compare_result
from coverage_eval.comparison.gate import Gate, Worsening, find_worse, gate_as_dict, least_resamples
from coverage_eval.comparison.presentation import present_comparison
from coverage_eval.data.files import check_source
from coverage_eval.errors import DataError
from coverage_eval.metrics.registry import METRICS, metric_class
from coverage_eval.metrics.significance import MOST_RESAMPLES

WORSE = 3
"""The exit status where a system is worse than the baseline."""


@click.command("compare", cls=Command)
@comparison_options
@click.option(
    "--breakdown", metavar="LIST", callback=parse_list("breakdown", ("all", *BREAKDOWNS)),
    help=f"Show these further tables, separated by commas, of: all, {', '.join(BREAKDOWNS)}.",
)  # fmt: skip
@click.option(
    "--top", default=DEFAULT_TOP, show_default=True, type=WholeRange(1),
    help="List so many words, n-grams or segments in a breakdown.",
)  # fmt: skip
@comparison_files
@click.option(
    "--fail-if-worse", "guarded", metavar="LIST", type=NoFile(), callback=parse_differences,
    help="End with exit status 3 if a system is significantly worse than the baseline by one of "
    "these metrics, separated by commas; by at least so much of those with a number, as in "
    "rep,drop=0.5.",
)  # fmt: skip
@click.option(
    "--level", default=SIGNIFICANT, show_default=True,
    type=FiniteRange(1 / MOST_RESAMPLES, 1, max_open=True),
    help="With --fail-if-worse, take a difference as one if its p is below this.",
)  # fmt: skip
@output_options
def command(
    options: ComparisonOptions,
    breakdown: list[str] | None,
    top: int,
    files: ComparisonFiles,
    guarded: dict[str, float] | None,
    level: float,
    output: Output,
) -> None:
    """Compare systems: scores, intervals and paired tests in one table.

    Each FILE is the output of a system, a text file with one segment a line ('-' reads standard
    input, .gz and .zst are unpacked); NAME=FILE names the system otherwise than its file. Texts may
    also be columns of a table: --from. The table has a row for each system and a column for each
    metric, as Table 1 of the paper.

    \b
    Example:
      coverage-eval compare --ref ref.txt --src src.txt --model de-en.model a=a.txt b=b.txt
    """
    files.check()
    options.check()
    gate = _make_gate(guarded, level, options)
    asked = breakdown or []
    if asked:
        output.require_several("--breakdown")
        check_source(options.frequencies or options.alignment.train_src)
    _check_breakdowns(asked, options.columns)
    result = options.measure(evidence=bool(asked or files.details))
    comparison = compare_result(result, baseline=options.baseline, testing=options.testing)
    tables = []
    if asked:
        chosen = Options(top, options.count_frequencies(result), comparison.baseline)
        tables = break_down(result, None if "all" in asked else asked, chosen)
    printout = present_comparison(comparison, tables)
    worse = _find_worse(comparison, gate) if gate else []
    if gate:
        outcome = {"gate": gate_as_dict(gate, worse)}
        printout = replace(printout, data=printout.data | outcome)
    show(warn(printout, result.findings, result.unknown_words, strict=options.strict), output)
    files.write(comparison)
    for item in worse:  # so that a release stops
        say(item.describe(comparison.baseline, output.width), "worse")
    if worse:
        click.get_current_context().exit(WORSE)


def _make_gate(
    guarded: Mapping[str, float] | None, level: float, options: ComparisonOptions
) -> Gate | None:
    """What must not be worse; a usage error if it could not be found, however bad it is."""
    if guarded is None:
        if "level" in given_options():
            raise click.UsageError("--level goes with --fail-if-worse")
        return None
    unknown = [name for name in guarded if name not in options.columns.names]
    if unknown:
        raise click.UsageError(f"--fail-if-worse {unknown[0]}: it is not among the --metrics")
    others = len(options.systems) - 1
    if not others:
        raise click.UsageError("--fail-if-worse needs a system beside the baseline")
    least = least_resamples(others, level)
    if options.resamples < least:
        raise click.UsageError(
            f"--resamples {options.resamples} cannot show p < {level:g}: draw {least} or more"
        )
    return Gate(guarded, level)


def _find_worse(comparison: Comparison, gate: Gate) -> list[Worsening]:
    try:
        return find_worse(comparison, gate)
    except ValueError as error:  # a metric was left out, as it does not fit the texts
        raise DataError(f"--fail-if-worse: {error}; name it in --metrics") from error


def _check_breakdowns(asked: Sequence[str], columns: Columns) -> None:
    """Refuse breakdowns that the columns do not allow, before any file is read."""
    has_evidence = {metric_class(name).evidence_name for name in columns.names}
    for name in asked:
        item = BREAKDOWNS.get(name)
        if item and item.needs and item.needs not in has_evidence:
            able = [n for n in METRICS if metric_class(n).evidence_name == item.needs]
            raise click.UsageError(f"--breakdown {name} needs metric {' or '.join(able)}")
        if item and item.needs_source and columns.alignment.src is None:
            raise click.UsageError(f"--breakdown {name} needs --src")
