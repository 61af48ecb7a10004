"""``coverage-eval reproduce``: experiments of the papers, run again."""

from __future__ import annotations

import click

from coverage_eval.cli.options import WholeRange
from coverage_eval.cli.output import Output, output_options, show
from coverage_eval.cli.overwriting import Group
from coverage_eval.published.iris import reproduce_iris
from coverage_eval.report.reproductions import present_iris


@click.group("reproduce", cls=Group)
def command() -> None:
    """Run experiments of the papers again, printed figures beside ours.

    \b
    Example:
      coverage-eval reproduce iris
    """


@command.command("iris")
@click.option(
    "--splits", default=5, show_default=True, type=WholeRange(1),
    help="Draw so many random splits into 135 training and 15 test flowers; the report has one.",
)  # fmt: skip
@click.option(
    "--seed", default=0, show_default=True, type=WholeRange(0),
    help="Seed the splits with this number.",
)  # fmt: skip
@output_options(width=3)
def iris(splits: int, seed: int, output: Output) -> None:
    """Softmax and sparsemax regression on Iris (Madsen et al. 2017, Tables 2 and 3).

    \b
    Example:
      coverage-eval reproduce iris --splits 20
    """
    show(present_iris(reproduce_iris(splits=splits, seed=seed)), output)
