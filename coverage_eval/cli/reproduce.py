"""``coverage-eval reproduce``: experiments of the papers, run again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from coverage_eval.cli.options import FiniteRange, WholeRange
from coverage_eval.cli.output import Output, output_options, show
from coverage_eval.cli.overwriting import Group
from coverage_eval.cli.reproduce_systems import figure2, keep, table1, table2, translate
from coverage_eval.digits.accuracy import DigitsSettings
from coverage_eval.published.iris import reproduce_iris
from coverage_eval.published.multilabel import read_labelled
from coverage_eval.published.timing import CLASSES, iris_data, reproduce_timing
from coverage_eval.report.reproductions import (
    draw_digits,
    present_digits,
    present_iris,
    present_timing,
)


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


@command.command("digits")
@click.option("-o", "--output", "folder", metavar="RUN", required=True,
              help="Keep everything in this folder.")  # fmt: skip
@click.option("--resume", is_flag=True, help="Go on with the run that is in the folder.")
@click.option(
    "--seeds", default=5, show_default=True, type=WholeRange(1),
    help="Train with so many seeds, from 1.",
)  # fmt: skip
@click.option(
    "--examples", default=100_000, show_default=True, type=WholeRange(1),
    help="Train on so many examples.",
)  # fmt: skip
@click.option("--batch", default=100, show_default=True, type=WholeRange(1),
              help="Take a step of so many examples.")  # fmt: skip
@click.option("--shortest", default=5, show_default=True, type=WholeRange(1),
              help="Draw numbers of so many digits at least.")  # fmt: skip
@click.option("--longest", default=20, show_default=True, type=WholeRange(1),
              help="Draw numbers of so many digits at most.")  # fmt: skip
@click.option("--size", default=32, show_default=True, type=WholeRange(1),
              help="Give embeddings, states and the attention's layer this size.")  # fmt: skip
@click.option("--rate", default=0.005, show_default=True, type=FiniteRange(0, min_open=True),
              help="Learning rate of Adam.")  # fmt: skip
@click.option("--clip", default=1.0, show_default=True, type=FiniteRange(0, min_open=True),
              help="Shorten a step's gradient to this norm.")  # fmt: skip
@click.option("--valid", default=300, show_default=True, type=WholeRange(1),
              help="Measure accuracy on so many examples.")  # fmt: skip
@output_options(width=1, file=False)
def digits(folder: str, resume: bool, seeds: int, output: Output, **settings: Any) -> None:
    """Spelled numbers into digits, by softmax and sparsemax attention (Figures 2 and 3).

    The report (Madsen et al. 2017, section 3.3) gives the model, the optimiser and the number of
    examples; lengths are from its draft, sizes and the limit of gradients ours. A killed run goes
    on with --resume to the same result, and seeds may be added. RUN has accuracy by training
    (digits.csv), logs, and both pictures of attention.

    \b
    Example:
      coverage-eval reproduce digits -o digits --seeds 5
    """
    if settings["longest"] < settings["shortest"]:
        raise click.UsageError("--longest is below --shortest")
    import coverage_eval.torch  # noqa: F401  (says what to install)
    from coverage_eval.digits.digits_run import reproduce_digits

    result = reproduce_digits(
        Path(folder), DigitsSettings(**settings), range(1, seeds + 1), resume=resume
    )
    draw_digits(Path(folder))
    show(present_digits(result), output)


@command.command("timing")
@click.option(
    "--classes", "numbers", multiple=True, type=WholeRange(2), metavar="K",
    help=f"Take random scores of so many classes; may be repeated.  "
    f"[default: {', '.join(map(str, CLASSES))}]",
)  # fmt: skip
@click.option(
    "--examples", default=1000, show_default=True, type=WholeRange(1),
    help="Take so many rows of random scores.",
)  # fmt: skip
@click.option(
    "--data", "files", multiple=True, metavar="FILE",
    help="Time this data set too: Mulan's .arff with its .xml beside it, or LIBSVM; may be "
    "repeated.",
)  # fmt: skip
@click.option(
    "--repeats", default=5, show_default=True, type=WholeRange(1),
    help="Measure so many times.",
)  # fmt: skip
@output_options
def timing(
    numbers: tuple[int, ...], examples: int, files: tuple[str, ...], repeats: int, output: Output
) -> None:
    """What sparsemax costs more than softmax (Madsen et al. 2017, Table 4).

    Forward and backward of both losses by number of classes, and 100 epochs of regression on Iris
    and on data sets that are given: in NumPy, and in PyTorch where it is installed, on a graphics
    card too. A file named as a data set of the table (mnist, scene, emotions, cal500) is set beside
    its printed ratio.

    \b
    Example:
      coverage-eval reproduce timing --data scene.arff --data mnist.scale
    """
    data = [iris_data(), *map(read_labelled, files)]
    result = reproduce_timing(
        classes=numbers or CLASSES, examples=examples, data=data, repeats=repeats
    )
    show(present_timing(result), output)


for reproduction in (table1, table2, figure2, translate, keep):
    command.add_command(reproduction)
