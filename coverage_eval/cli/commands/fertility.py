"""``coverage-eval fertility``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import click

from coverage_eval.attention_maps import fertility_files as fertilities
from coverage_eval.cli.help import option
from coverage_eval.cli.options import FiniteRange, Group, options_as
from coverage_eval.cli.output import print_lines, save_histograms
from coverage_eval.settings import output_file_setting, picture_setting, setting

add_option = option(
    "--add", "added", default=0.0, type=FiniteRange(0),
    help="Add a constant. With 1 these are the training targets of the paper's fertility "
    "predictor, and the bounds of the authors' scripts.",
)  # fmt: skip


@dataclass(frozen=True)
class Written:
    """How fertilities are written."""

    sink: bool = setting(False, "End each line with inf, the fertility of a <SINK> to be added.")
    plot: str | None = picture_setting("Draw a histogram of the words' fertilities")
    output: str | None = output_file_setting(
        "Write to this file instead of standard output.", flags=("-o", "--output")
    )

    def write(self, rows: Iterable[fertilities.Fertilities]) -> None:
        """Print one line per segment, and draw the picture that is named."""
        if self.plot:
            rows = list(rows)
            values = [value for row in rows for value in row]
            save_histograms({"fertility": values}, self.plot, unit="words")
        rows = fertilities.with_sink(rows) if self.sink else rows
        print_lines(map(fertilities.format_fertilities, rows), self.output)


written_options = options_as("written", Written)


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


@command.command("constant")
@click.argument("src")
@option(
    "-n", "--fertility", "value", default=2.0,
    type=FiniteRange(0, min_open=True), help="Fertility of every word.",
)  # fmt: skip
@written_options
def constant(src: str, value: float, written: Written) -> None:
    """Write one fertility for every word of SRC (CONSTANT in the paper).

    \b
    Example:
      coverage-eval fertility constant test.de -n 2 -o test.fertilities
    """
    written.write(fertilities.constant_fertilities(src, value))


@command.command("guided")
@click.argument("src")
@option("--train-src", metavar="FILE", required=True, help="Source side of the training data.")
@option(
    "--train-links", metavar="FILE", required=True,
    help="Links of the training data, such as 0-0 1-2.",
)  # fmt: skip
@written_options
def guided(src: str, train_src: str, train_links: str, written: Written) -> None:
    """Write each word's largest number of links in training data, or 1 (GUIDED in the paper).

    \b
    Example:
      coverage-eval fertility guided test.de --train-src train.de --train-links train.links
    """
    written.write(fertilities.guided_fertilities(src, train_src, train_links))


@command.command("actual")
@click.argument("src")
@click.argument("links")
@add_option
@written_options
def actual(src: str, links: str, added: float, written: Written) -> None:
    """Write the number of links of each word of SRC in LINKS (such as 0-0 1-2), at least 1.

    \b
    Example:
      coverage-eval fertility actual train.de train.links --add 1 -o train.fertilities
    """
    written.write(fertilities.actual_fertilities(src, links, added=added))


@command.command("predicted")
@click.argument("probabilities")
@option("--src", metavar="FILE", help="Check the numbers of words against this source text.")
@option(
    "--first-class", default=1.0, type=FiniteRange(0),
    help="Fertility of the first class.",
)  # fmt: skip
@add_option
@written_options
def predicted(
    probabilities: str, src: str | None, first_class: float, added: float, written: Written
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
    written.write(rows)
