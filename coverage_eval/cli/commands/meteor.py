"""``coverage-eval meteor``."""

from __future__ import annotations

from typing import Any

import click

from coverage_eval.cli.click_options import option
from coverage_eval.cli.command import Command
from coverage_eval.cli.commands.score import score
from coverage_eval.cli.options import check_settings, checks_option, jobs_option, metric_settings
from coverage_eval.cli.output_options import scoring_options
from coverage_eval.cli.texts import texts


@click.command("meteor", cls=Command)
@texts("hyp", "ref")
@option(
    "--variant", default="full", type=click.Choice(["full", "exact-stem", "nltk"]), group="Metrics",
    help="METEOR 1.5 with all matchers or without synonyms and paraphrases, or NLTK's METEOR.",
)  # fmt: skip
@metric_settings("meteor")
@jobs_option
@checks_option
@scoring_options
def meteor(variant: str, **options: Any) -> None:
    """METEOR 1.5 for English, without Java.

    A text is a file with one segment per line ('-' reads standard input; .gz and .zst files are
    unpacked), or a column of a table, such as out.jsonl:mt. For several references, give --ref
    several times.

    \b
    Example:
      coverage-eval meteor hyp.txt ref.txt --confidence
    """
    if variant == "nltk":
        check_settings("meteor-nltk", "meteor")
        score("meteor-nltk", **options)
    else:
        score("meteor", variant=variant, **options)
