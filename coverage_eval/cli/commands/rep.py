"""``coverage-eval rep``."""

from __future__ import annotations

from typing import Any

import click

from coverage_eval.cli.click_options import option
from coverage_eval.cli.command import Command
from coverage_eval.cli.commands.score import score
from coverage_eval.cli.kept_rows import kept_options
from coverage_eval.cli.options import checks_option, jobs_option, metric_settings
from coverage_eval.cli.output_options import scoring_options
from coverage_eval.cli.texts import texts
from coverage_eval.registry import METRICS


@click.command("rep", cls=Command)
@texts("hyp", "ref")
@metric_settings("rep")
@option("--letters", is_flag=True, group="Metrics", help=METRICS["rep-letters"].summary)
@jobs_option
@checks_option
@scoring_options
@kept_options
def rep(letters: bool, **options: Any) -> None:
    """REP-score: words that the output repeats and the reference does not.

    A text is a file with one segment per line ('-' reads standard input; .gz and .zst files are
    unpacked), or a column of a table, such as out.jsonl:mt. For several references, give --ref
    several times.

    \b
    Example:
      coverage-eval rep hyp.txt ref.txt --confidence
    """
    score("rep-letters" if letters else "rep", **options)
