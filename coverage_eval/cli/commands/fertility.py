"""``coverage-eval fertility``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

from coverage_eval.attention_maps import fertility_files as fertilities
from coverage_eval.cli.help import option
from coverage_eval.cli.options import FiniteRange, Group, PictureFile, output_option
from coverage_eval.cli.output import print_lines, save_histograms

F = TypeVar("F", bound=Callable[..., Any])

add_option = option(
    "--add", "added", default=0.0, type=FiniteRange(0),
    help="Add a constant. With 1 these are the training targets of the paper's fertility "
    "predictor, and the bounds of the authors' scripts.",
)  # fmt: skip
sink_option = option(
    "--sink", is_flag=True, help="End each line with inf, the fertility of a <SINK> to be added."
)

plot_option = option(
    "--plot", metavar="FILE", type=PictureFile(),
    help="Draw a histogram of the words' fertilities: .png, .svg or .pdf.",
)  # fmt: skip


@click.group("fertility", cls=Group)
def command() -> None:
    """Write fertility bounds for source words: constant, guided, actual or predicted.

    A word's fertility is the most attention that it may receive. Every command writes one line per
    segment with one number for each word. Text is not tokenised: if the model sees subwords, give
    subwords.

    \b
    Example:
      coverage-eval fertility constant test.de -n 2 -o test.fertilities
      coverage-eval fertility guided test.de --train-src train.de --train-links train.links
    """


def _write(
    rows: Iterable[fertilities.Fertilities], sink: bool, plot: str | None, output: str | None
) -> None:
    if plot:
        rows = list(rows)
        values = [value for row in rows for value in row]
        save_histograms({"fertility": values}, plot, unit="words")
    print_lines(
        map(fertilities.format_fertilities, fertilities.with_sink(rows) if sink else rows), output
    )


@command.command("constant")
@click.argument("src")
@option(
    "-n", "--fertility", "value", default=2.0,
    type=FiniteRange(0, min_open=True), help="Fertility of every word.",
)  # fmt: skip
@sink_option
@plot_option
@output_option
def constant(src: str, value: float, sink: bool, plot: str | None, output: str | None) -> None:
    """Write one fertility for every word of SRC (CONSTANT in the paper).

    \b
    Example:
      coverage-eval fertility constant test.de -n 2 -o test.fertilities
    """
    _write(fertilities.constant_fertilities(src, value), sink, plot, output)


@command.command("guided")
@click.argument("src")
@option("--train-src", metavar="FILE", required=True, help="Source side of the training data.")
@option(
    "--train-links", metavar="FILE", required=True,
    help="Links of the training data, such as 0-0 1-2.",
)  # fmt: skip
@sink_option
@plot_option
@output_option
def guided(
    src: str, train_src: str, train_links: str, sink: bool, plot: str | None, output: str | None
) -> None:
    """Write each word's largest number of links in training data, or 1 (GUIDED in the paper).

    \b
    Example:
      coverage-eval fertility guided test.de --train-src train.de --train-links train.links
    """
    _write(fertilities.guided_fertilities(src, train_src, train_links), sink, plot, output)


@command.command("actual")
@click.argument("src")
@click.argument("links")
@add_option
@sink_option
@plot_option
@output_option
def actual(
    src: str, links: str, added: float, sink: bool, plot: str | None, output: str | None
) -> None:
    """Write the number of links of each word of SRC in LINKS (such as 0-0 1-2), at least 1.

    \b
    Example:
      coverage-eval fertility actual train.de train.links --add 1 -o train.fertilities
    """
    _write(fertilities.actual_fertilities(src, links, added=added), sink, plot, output)


@command.command("predicted")
@click.argument("probabilities")
@option("--src", metavar="FILE", help="Check the numbers of words against this source text.")
@option(
    "--first-class", default=1.0, type=FiniteRange(0),
    help="Fertility of the first class.",
)  # fmt: skip
@add_option
@sink_option
@plot_option
@output_option
def predicted(
    probabilities: str,
    src: str | None,
    first_class: float,
    added: float,
    sink: bool,
    plot: str | None,
    output: str | None,
) -> None:
    """Write expected fertilities under a model's class probabilities (PREDICTED in the paper).

    PROBABILITIES has one line per segment, with spaces between words and commas between the
    probabilities of a word's classes, as in: 0.1,0.9 0.5,0.5

    \b
    Example:
      coverage-eval fertility predicted classes.txt --src test.de -o test.fertilities
    """
    rows = fertilities.predicted_fertilities(
        probabilities, source=src, first=first_class, added=added
    )
    _write(rows, sink, plot, output)
