"""``coverage-eval report``."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from coverage_eval.attention_maps import AttentionMap, load
from coverage_eval.cli.comparison_options import ComparisonOptions, comparison_options
from coverage_eval.cli.output import echo, print_lines
from coverage_eval.cli.overwriting import Command, OutputFile
from coverage_eval.cli.warnings import echo_findings
from coverage_eval.comparison.verdict import plain_verdict
from coverage_eval.errors import DataError
from coverage_eval.testbed.gold_errors import read_gold_errors
from coverage_eval.text.corpus import check_source, read_segments
from coverage_eval.text.files import check_target

STDOUT = "-"


@click.command("report", cls=Command)
@comparison_options
@click.option(
    "--attention", "dumps", metavar="NAME=DUMP", multiple=True,
    help="Show the attention of this system, as 'attention convert' writes it, or as a toolkit "
    "does where it is of the words of --src and FILE.",
)  # fmt: skip
@click.option(
    "--labels", metavar="[NAME=]GOLD", multiple=True,
    help="Show the known errors of this system, and count how far the scores agree: JSON Lines as "
    "'inject' writes them.",
)  # fmt: skip
@click.option("--title", metavar="TEXT", help="Give the report this title.")
@click.option(
    "-o", "--output", metavar="FILE", type=OutputFile(), required=True,
    help="Write the report to this file.",
)  # fmt: skip
def command(
    options: ComparisonOptions,
    dumps: tuple[str, ...],
    labels: tuple[str, ...],
    title: str | None,
    output: str,
) -> None:
    """Write one HTML file that a person reads: which system, what, where, how measured.

    Each FILE is the output of a system, as for 'compare', whose figures the report has. It needs
    neither server nor network: open it in a browser. What it says first is printed, too. With
    --attention and --labels it shows each segment's attention and known errors beside what the
    scores mark.

    \b
    Example:
      coverage-eval report --ref ref.txt --src src.txt --model de-en.model a=a.txt b=b.txt \\
        -o report.html
    """
    maps = _by_system("--attention", dumps, options.systems)
    gold = _by_system("--labels", labels, options.systems)
    options.check([*maps.values(), *gold.values()])
    for file in (*maps.values(), *gold.values()):
        check_source(file)
    if output != STDOUT:
        check_target(output)
    attention = {name: _read_attention(file, name, options) for name, file in maps.items()}
    comparison, frequencies, findings, figures = options.compare(counts_frequencies=True)
    try:
        report = comparison.to_report(
            title=title,
            command=shlex.join(["coverage-eval", *sys.argv[1:]]),
            warnings=echo_findings(findings, strict=options.strict),
            model=figures,
            attention=attention,
            labels={name: list(read_gold_errors(file)) for name, file in gold.items()},
            frequencies=frequencies,
        )
    except ValueError as error:  # maps or labels of other segments
        raise DataError(str(error)) from error
    echo(report.html, output)
    if output != STDOUT:
        print_lines(plain_verdict(comparison))


def _by_system(option: str, values: Sequence[str], systems: Mapping[str, str]) -> dict[str, str]:
    """Files by the system that they are of; with one system, its name may be left out."""
    found: dict[str, str] = {}
    for value in values:
        name, equals, file = value.partition("=")
        if len(systems) == 1 and (not equals or Path(value).is_file()):
            (name,), file = systems, value
        if name not in systems or not file:
            listed = ", ".join(systems)
            raise click.UsageError(
                f"{option} {value}: say whose it is, NAME=FILE, of the systems {listed}"
            )
        if name in found:
            raise click.UsageError(f"{option}: two files for {name}")
        found[name] = file
    return found


def _read_attention(file: str, system: str, options: ComparisonOptions) -> list[AttentionMap]:
    """The maps of a system: with the file's own tokens, or else with the words of the texts."""
    try:
        maps = load(file)
    except DataError:  # it may be that only the texts tell; if not, the reason comes again
        maps = []
    if maps and all(None not in {item.source, item.hypothesis} for item in maps):
        return maps
    source = options.alignment.src
    return load(
        file,
        sources=None if source is None else read_segments(source),
        hypotheses=read_segments(options.systems[system]),
    )
