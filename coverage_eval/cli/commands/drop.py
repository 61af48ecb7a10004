"""``coverage-eval drop``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from coverage_eval.align.aligner import Aligner
from coverage_eval.cli.alignment_options import (
    check_links,
    links_options,
    model_option,
    require_links,
    sink_option,
    source_option,
    symmetrize_option,
)
from coverage_eval.cli.click_options import option, option_group
from coverage_eval.cli.command import Command
from coverage_eval.cli.commands.score import score
from coverage_eval.cli.kept_rows import kept_options
from coverage_eval.cli.options import check_settings, checks_option, metric_settings
from coverage_eval.cli.output_options import options_on_command_line, scoring_options
from coverage_eval.cli.texts import texts
from coverage_eval.core.files import Text
from coverage_eval.core.tokenizers import StopWords
from coverage_eval.registry import METRICS, metric_class

alignment_options = option_group(
    model_option, sink_option, links_options, symmetrize_option("Alignment"), source_option
)
"""The source, and what links it to other texts: the options of :func:`alignment_score`."""


@click.command("drop", cls=Command)
@texts("hyp", "ref")
@metric_settings("drop", "softdrop")
@option("--soft", is_flag=True, group="Metrics", help=METRICS["softdrop"].summary)
@alignment_options
@checks_option
@scoring_options
@kept_options
def drop(soft: bool, **options: Any) -> None:
    """DROP-score: source words that the reference translates and the output drops.

    DROP misses many omissions, because joining the links of both directions gives untranslated
    words a link to a wrong word. Look at --soft beside it, or at the command omissions.

    A text is a file with one segment per line ('-' reads standard input; .gz and .zst files are
    unpacked), or a column of a table, such as out.jsonl:mt. For several references, give --ref
    several times.

    \b
    Example:
      coverage-eval drop hyp.txt ref.txt --model model --src src.txt \\
        --confidence
    """
    if soft:
        check_settings("softdrop", "drop")
    alignment_score("softdrop" if soft else "drop", **options)


def alignment_score(
    name: str,
    *,
    src: Text | None,
    model: str | None,
    sink: bool,
    ref_links: Sequence[Text],
    links: Sequence[Text],
    symmetrize: str,
    stopwords: str | None = None,
    **options: Any,
) -> None:
    """Compute a score of links or coverages, and print it.

    Args:
        name: One of :data:`coverage_eval.registry.METRICS`, with an aligner.
        src: The source.
        model: The file of the model that aligns.
        sink: Whether it aligns with the word <SINK>.
        ref_links: Links of source and references, instead of a model.
        links: Links of source and output.
        symmetrize: How the links of both directions are joined.
        stopwords: A file of source words to ignore.
        **options: As for :func:`score`.

    Raises:
        click.UsageError: Links are missing, or there are too many.
    """
    kind, has_links = metric_class(name), bool(ref_links or links)
    if "symmetrize" in options_on_command_line():
        if has_links:
            raise click.UsageError("--symmetrize is not for links from files")
        if "coverages" in kind.needs:
            raise click.UsageError(
                f"--symmetrize is not for {kind.presentation.name}, which joins no links"
            )
    check_links(src=src, model=model, ref_links=ref_links, links=links)
    require_links(kind.presentation.name, kind, src=src, model=model, has_links=has_links)
    aligner: Aligner | None = None
    if has_links:
        aligner = Aligner.from_links(ref_links, links, sink=sink)
    elif model:
        aligner = Aligner.load(model, symmetrize=symmetrize, sink=sink)
    words = StopWords.read(stopwords) if stopwords else None
    score(name, src=src, aligner=aligner, stopwords=words, **options)
