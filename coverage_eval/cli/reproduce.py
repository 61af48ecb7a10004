"""``coverage-eval reproduce``: experiments of the papers, run again."""

from __future__ import annotations

import click

from coverage_eval.cli.options import echo, format_option, output_option
from coverage_eval.published.iris import reproduce_iris
from coverage_eval.report.tables import render_table


@click.group("reproduce")
def command() -> None:
    """Run experiments of the papers again, printed figures beside ours."""


@command.command("iris")
@click.option(
    "--splits", default=5, show_default=True, type=click.IntRange(1),
    help="Random splits into 135 training and 15 test flowers; the report has one.",
)  # fmt: skip
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="Of the splits.")
@format_option
@output_option
def iris(splits: int, seed: int, output_format: str, output: str | None) -> None:
    """Softmax and sparsemax regression on Iris (Madsen et al. 2017, Tables 2 and 3)."""
    result = reproduce_iris(splits=splits, seed=seed)
    table = render_table(result.header, result.rows(), output_format, width=3)
    if output_format == "text":
        table = "\n".join([table, "", *result.verdicts()])
    echo(table, output)
