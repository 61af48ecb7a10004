"""The command of a metric without options of its own, made from what it needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import click

from coverage_eval.cli.click_options import option_group
from coverage_eval.cli.command import Command
from coverage_eval.cli.commands.score import score
from coverage_eval.cli.kept_rows import kept_options
from coverage_eval.cli.options import checks_option, jobs_option, metric_settings
from coverage_eval.cli.output_options import scoring_options
from coverage_eval.cli.texts import texts
from coverage_eval.registry import METRICS, metric_class

_HELP = """{summary}

A text is a file with one segment per line ('-' reads standard input; .gz and .zst files are
unpacked), or a column of a table, such as out.jsonl:mt.{several}

\b
Example:
  coverage-eval {name} {example} --confidence
"""


def metric_command(name: str) -> click.Command:
    """Make the command of a metric: it takes the texts that the metric needs, and its settings.

    Args:
        name: One of :data:`coverage_eval.registry.METRICS`.
    """
    kind = metric_class(name)
    is_aligned = "aligner" in {item.name for item in fields(kind)}
    has_references = "references" in kind.needs
    compute: Callable[..., None] = score
    how = jobs_option
    if is_aligned:
        from coverage_eval.cli.commands.drop import alignment_options, alignment_score

        compute, how = alignment_score, alignment_options
    by_option = ["src"] if "sources" in kind.needs and not is_aligned else []
    options = option_group(
        texts("hyp", *(["ref"] if has_references else []), options=by_option),
        metric_settings(name),
        how,
        checks_option,
        scoring_options,
        # A segment without an error has the score 0.
        *([kept_options] if kind.presentation.higher_is_better is False else []),
    )

    def run(**values: Any) -> None:
        compute(name, **values)

    links = " --model de-en.model" if is_aligned else ""
    source = " --src src.txt" if is_aligned or by_option else ""
    example = f"hyp.txt{' ref.txt' if has_references else ''}{links}{source}"
    several = " For several references, give --ref several times." if has_references else ""
    summary = METRICS[name].summary
    text = _HELP.format(summary=summary, several=several, name=name, example=example)
    return click.command(name, cls=Command, help=text)(options(run))
