"""``coverage-eval report``."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from coverage_eval.attention_maps import AttentionMap, load
from coverage_eval.cli.commands.attention import saying_how_to_convert
from coverage_eval.cli.commands.compare import ComparisonOptions, comparison_options
from coverage_eval.cli.help import option
from coverage_eval.cli.messages import wrap
from coverage_eval.cli.options import Command, OutputFile, parse_named_files
from coverage_eval.cli.output import echo_findings, print_lines
from coverage_eval.compare.report.html import make_document
from coverage_eval.compare.report.page import render_report
from coverage_eval.compare.report.segments import ReportOptions
from coverage_eval.compare.table import compare_result
from coverage_eval.core.errors import DataError
from coverage_eval.core.files import Text, check_source, read_segments
from coverage_eval.core.show.table import escape_controls

STDOUT = "-"


@click.command("report", cls=Command, endings=(".html",))
@comparison_options
@option(
    "--attention", "dumps", metavar="[NAME=]DUMP", multiple=True, callback=parse_named_files,
    help="Show the attention of this system, from a file of 'attention convert', or of a toolkit "
    "if its words are those of --src and FILE.",
)  # fmt: skip
@option("--title", metavar="TEXT", help="Title of the report.")
@option(
    "-o", "--output", metavar="FILE", type=OutputFile(), required=True,
    help="Write the report to this file.",
)  # fmt: skip
def command(
    options: ComparisonOptions,
    dumps: dict[str, str],
    title: str | None,
    output: str,
) -> None:
    """Write an HTML report: which system is worse, by how much, and where.

    Each FILE is the output of a system, and the report has the figures of 'compare'. Open it in a
    browser; it needs neither server nor network. The command prints its verdict. With
    --attention it shows each segment's attention beside the marks of the scores.

    \b
    Example:
      coverage-eval report --ref ref.txt --src src.txt --model de-en.model a=a.txt b=b.txt \\
        -o report.html
    """
    maps = _by_system("--attention", dumps, options.systems)
    options.check([*maps.values()])
    check_source(*maps.values())
    attention = {name: _read_attention(file, name, options) for name, file in maps.items()}
    result = options.measure(evidence=True)
    comparison = compare_result(result, options.test)
    echo_findings(result.findings, strict=options.strict)
    try:
        shown = ReportOptions(
            title=title,
            command=shlex.join(["coverage-eval", *(click.get_current_context().obj or ())]),
            model=result.unknown_words,
            attention=attention,
        )
        document = make_document(comparison, shown)
    except ValueError as error:  # maps of other segments
        raise DataError(str(error)) from error
    print_lines([render_report(document).html], output, as_is=True)
    if output != STDOUT:
        told = [*map(escape_controls, comparison.verdict.sentences), f"→ {output}"]
        print_lines(wrap(sentence, sys.stdout) for sentence in told)


def _by_system(
    option: str, files: Mapping[str, str], systems: Mapping[str, Text]
) -> dict[str, str]:
    """Files by system; a single system needs no name."""
    found: dict[str, str] = {}
    for name, file in files.items():
        unnamed = name == Path(file).name
        system = next(iter(systems)) if unnamed and len(systems) == 1 else name
        if system not in systems or system in found:
            listed = ", ".join(systems)
            raise click.UsageError(
                f"{option} {file}: name its system, as NAME=FILE; the systems are {listed}"
            )
        found[system] = file
    return found


def _read_attention(file: str, system: str, options: ComparisonOptions) -> list[AttentionMap]:
    """The maps of a system, with the file's own tokens or else with the words of the texts."""
    try:
        maps: Sequence[AttentionMap] = load(file)
    except DataError:  # the texts may help; if not, the error is raised again below
        maps = []
    if maps and all(None not in {item.source, item.hypothesis} for item in maps):
        return list(maps)
    source = options.alignment.src
    with saying_how_to_convert(file):
        maps = load(
            file,
            sources=None if source is None else read_segments(source),
            hypotheses=read_segments(options.systems[system]),
        )
    return list(maps)
