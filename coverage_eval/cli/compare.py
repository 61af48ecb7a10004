"""``coverage-eval compare``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, cast

import click
import numpy as np

from coverage_eval.cli.comparison_files import ComparisonFiles, comparison_files
from coverage_eval.cli.comparison_options import (
    Columns,
    ComparisonOptions,
    Outcome,
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
from coverage_eval.cli.output import Output, output_options
from coverage_eval.cli.overwriting import Command, NoFile
from coverage_eval.cli.sharding import Sharding, shard_option
from coverage_eval.comparison.breakdown import BREAKDOWNS, DEFAULT_TOP, Options, break_down
from coverage_eval.comparison.gate import Gate, Worsening, find_worse, gate_as_dict, least_resamples
from coverage_eval.comparison.presentation import present_comparison
from coverage_eval.comparison.systems import Counted, TestSet
from coverage_eval.comparison.table import Comparison, compare_statistics
from coverage_eval.comparison.testing import SIGNIFICANT
from coverage_eval.errors import DataError
from coverage_eval.metrics.base import Metric
from coverage_eval.metrics.registry import METRICS, metric_class
from coverage_eval.metrics.significance import MOST_RESAMPLES
from coverage_eval.scale.results import Results
from coverage_eval.tables.table import Printable, Table

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
@shard_option
@output_options
def command(
    options: ComparisonOptions,
    breakdown: list[str] | None,
    top: int,
    files: ComparisonFiles,
    guarded: dict[str, float] | None,
    level: float,
    sharding: Sharding,
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
    sharding.check(output)
    asked = breakdown or []
    if asked and sharding.shard is None:
        output.require_several("--breakdown")
    _check_breakdowns(asked, options.columns)
    sharding.check_target(output)
    found = options.count(counts_frequencies=bool(asked), sharding=sharding)
    facts = {
        "systems": tuple(options.systems),
        "references": len(options.ref),
        "baseline": options.baseline,
        "testing": options.testing,
        "breakdown": tuple(asked),
        "gate": gate,
        "top": top,
        "frequencies": found.frequencies,
    }
    results = _results(found, facts, with_texts=bool(asked) or sharding.shard is None)
    sharding.finish("compare", results, present, output, strict=options.strict)
    files.write(lambda: make_comparison(results))
    if gate:
        _close(gate, make_comparison(results), output)


def _close(gate: Gate, comparison: Comparison, output: Output) -> None:
    """Say which systems are worse, and end so that a release stops."""
    worse = _find_worse(comparison, gate)
    for item in worse:
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


def _results(found: Outcome, facts: dict[str, Any], *, with_texts: bool) -> Results:
    """What was counted, with the texts and what the metrics observed if breakdowns need them."""
    counted, texts = found.counted, found.counted.texts
    blocks = {name: np.stack(list(by.values())) for name, by in counted.statistics.items()}
    records: dict[str, Sequence[Any]] = {}
    if with_texts:
        facts |= {"tokens": texts.tokens, "source_tokens": texts.source_tokens}
        seen = {f"observed by {name}": rows for name, rows in counted.observed.items()}
        records = {"rows": texts.rows}
        records |= {name: rows for name, rows in seen.items() if rows is not texts.rows}
    return Results(counted.metrics, blocks, records, facts, found.findings, found.figures)


@lru_cache(maxsize=1)  # the table, --plot and --details are of one comparison
def make_comparison(results: Results) -> Comparison:
    """The comparison that was counted, with its texts where the results have them."""
    facts, metrics = results.facts, cast("Mapping[str, Metric[Any]]", results.formulas)
    systems = facts["systems"]
    statistics = {
        name: dict(zip(systems, block, strict=True)) for name, block in results.statistics.items()
    }
    counted = None
    if results.records:
        rows = results.records["rows"]
        observed = {name: results.records.get(f"observed by {name}", rows) for name in metrics}
        texts = TestSet(systems, rows, facts["tokens"], facts["source_tokens"])
        counted = Counted(texts, metrics, statistics, observed)
    return compare_statistics(
        statistics,
        metrics,
        baseline=facts["baseline"],
        testing=facts["testing"],
        counted=counted,
        references=facts["references"],
    )


def present(results: Results) -> Printable:
    """The table with the breakdowns that were asked for."""
    facts, comparison = results.facts, make_comparison(results)
    options = Options(facts["top"], facts["frequencies"])
    tables = _break_down(comparison, facts["breakdown"], options)
    printable = present_comparison(comparison, tables)
    if gate := facts["gate"]:
        outcome = gate_as_dict(gate, _find_worse(comparison, gate))
        printable = replace(printable, data=printable.data | {"gate": outcome})
    return printable


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


def _break_down(comparison: Comparison, asked: Sequence[str], options: Options) -> list[Table]:
    if not asked:
        return []
    return break_down(comparison, None if "all" in asked else asked, options)
