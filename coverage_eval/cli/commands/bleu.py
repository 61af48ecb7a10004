"""``coverage-eval bleu``."""

from __future__ import annotations

from typing import Any

import click

from coverage_eval.cli.command import Command
from coverage_eval.cli.commands.score import score
from coverage_eval.cli.options import checks_option, jobs_option, metric_settings
from coverage_eval.cli.output_options import scoring_options
from coverage_eval.cli.texts import texts


@click.command("bleu", cls=Command)
@texts("hyp", "ref")
@metric_settings("bleu")
@jobs_option
@checks_option
@scoring_options
def bleu(**options: Any) -> None:
    """BLEU, by sacreBLEU.

    A text is a file with one segment per line ('-' reads standard input; .gz and .zst files are
    unpacked), or a column of a table, such as out.jsonl:mt. For several references, give --ref
    several times.

    \b
    Example:
      coverage-eval bleu hyp.txt ref.txt --confidence
    """
    score("bleu", **options)
