"""``coverage-eval align``: train, apply, symmetrize, aer."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import ExitStack
from typing import Any, TypeVar

import click

from coverage_eval.alignment.gold_links import GOLD_FORMATS, read_with_gold
from coverage_eval.alignment.link_files import read_link_pairs
from coverage_eval.alignment.model_notes import note_sink, noted_tokenizer
from coverage_eval.cli.aligner_options import (
    fast_align_option,
    memory_option,
    symmetrize_option,
    threads_option,
    timeout_option,
)
from coverage_eval.cli.options import (
    Output,
    echo,
    output_option,
    print_score,
    scoring_options,
    tokenize_option,
)
from coverage_eval.metrics.aer import AER, LINK_METRICS
from coverage_eval.metrics.base import Statistics
from coverage_eval.metrics.significance import bootstrap_interval
from coverage_eval.report.scores import render_scores
from coverage_eval.text.corpus import read_parallel
from coverage_eval.text.files import atomic_path, atomic_write
from coverage_eval.text.tokenizers import TOKENIZERS, tokenize_rows
from fast_align_wrapper.aligner import FastAlign
from fast_align_wrapper.links import (
    DEFAULT_SYMMETRIZATION,
    SYMMETRIZATIONS,
    format_links,
    symmetrize,
)

T = TypeVar("T")


@click.group("align")
def command() -> None:
    """Word alignment: train a model, align text with it, symmetrise and measure links.

    Text files have one segment a line ('-' reads standard input, .gz is unpacked); files of links
    have one line a pair of segments, such as "0-0 1-2", source-target, counted from 0.
    """


@command.command("train")
@click.argument("src")
@click.argument("tgt")
@click.option("-o", "--output", required=True, type=click.Path(), help="The model file to write.")
@click.option("--forward-links", type=click.Path(), help="Write the text's forward links here.")
@click.option("--reverse-links", type=click.Path(), help="Write the text's reverse links here.")
@click.option("--links", type=click.Path(), help="Write the text's symmetrised links here.")
@symmetrize_option
@tokenize_option
@click.option("--iterations", type=click.IntRange(1), default=5, show_default=True,
              help="Passes over the text; the last one only reads off the links.")  # fmt: skip
@click.option("--favor-diagonal/--no-favor-diagonal", default=True, show_default=True,
              help="Prefer links near the diagonal, or IBM Model 1.")  # fmt: skip
@click.option("--optimize-tension/--no-optimize-tension", default=True, show_default=True,
              help="Fit how near.")  # fmt: skip
@click.option("--variational-bayes/--no-variational-bayes", default=True, show_default=True,
              help="Dirichlet prior on translation probabilities.")  # fmt: skip
@click.option("--p0", type=click.FloatRange(0, 1, max_open=True), default=0.08, show_default=True,
              help="Probability of NULL.")  # fmt: skip
@click.option("--alpha", type=click.FloatRange(0, min_open=True), default=0.01, show_default=True,
              help="Concentration of the Dirichlet prior.")  # fmt: skip
@click.option("--tension", type=click.FloatRange(0, min_open=True), default=4.0, show_default=True,
              help="Tension to start with.")  # fmt: skip
@threads_option
@memory_option
@timeout_option
@fast_align_option
def train(
    src: str,
    tgt: str,
    output: str,
    forward_links: str | None,
    reverse_links: str | None,
    links: str | None,
    symmetrize: str,
    tokenize: str,
    **settings: Any,
) -> None:
    """Train both directions on SRC and TGT and write one model file."""
    if output == "-":
        raise click.UsageError("the model is written to a file, not to standard output")
    notes: dict[str, Any] = {"tokenize": tokenize}
    pairs = note_sink(tokenize_rows(read_parallel(src, tgt), tokenize), notes)
    wanted = (("forward", forward_links), ("reverse", reverse_links), (symmetrize, links))
    with ExitStack() as stack:
        # Taken first: a folder that cannot be written to is found before the training, not after.
        model_file = stack.enter_context(atomic_path(output))
        model = stack.enter_context(FastAlign.train(pairs, notes=notes, progress=True, **settings))
        model.save(model_file)
        for method, path in wanted:
            if path is not None:
                _write_lines(map(format_links, model.training_links(method)), path)
    click.echo(f"{output}: model {model.hash}, trained on {model.manifest.pairs} pairs", err=True)


@command.command("apply")
@click.argument("model")
@click.argument("src")
@click.argument("tgt")
@symmetrize_option
@click.option("--no-prune", is_flag=True, help="Use the tables in full precision.")
@click.option("--scores", is_flag=True,
              help="Add a tab and the log-probability, forward, reverse, or both.")  # fmt: skip
@click.option("--tokenize", type=click.Choice(TOKENIZERS),
              help="A tokeniser of sacreBLEU for both sides.  [default: the model's]")  # fmt: skip
@threads_option
@timeout_option
@fast_align_option
@output_option
def apply(
    model: str,
    src: str,
    tgt: str,
    tokenize: str | None,
    output: str | None,
    symmetrize: str,
    no_prune: bool,
    scores: bool,
    **options: Any,
) -> None:
    """Align SRC and TGT by a trained MODEL: one line of links a pair."""
    with FastAlign.load(model, **options) as aligner:
        pairs = tokenize_rows(read_parallel(src, tgt), tokenize or noted_tokenizer(aligner))
        rows = aligner.align_with_scores(pairs, symmetrize, prune=not no_prune)
        _write_lines((row.format(scores=scores) for row in _with_bar(rows, output)), output)


@command.command("symmetrize")
@click.argument("fwd")
@click.argument("rev")
@click.option("--method", default=DEFAULT_SYMMETRIZATION, show_default=True,
              type=click.Choice(SYMMETRIZATIONS))  # fmt: skip
@output_option
def symmetrize_command(fwd: str, rev: str, method: str, output: str | None) -> None:
    """Join the links of the two directions FWD and REV."""
    rows = read_link_pairs(fwd, rev)
    _write_lines((format_links(symmetrize(one, two, method)) for one, two in rows), output)


@command.command("aer")
@click.argument("links")
@click.argument("gold")
@click.option("--gold-format", default="auto", show_default=True, type=click.Choice(GOLD_FORMATS),
              help="Form of GOLD.")  # fmt: skip
@click.option("--one-based", is_flag=True, help="Positions of a Pharaoh or Talp GOLD count from 1.")
@click.option("--reversed", "swapped", is_flag=True, help="Links of GOLD are target-source.")
@scoring_options
def aer(
    links: str, gold: str, gold_format: str, one_based: bool, swapped: bool, output: Output
) -> None:
    """AER, precision, recall and F1 (per cent) of LINKS against the links of GOLD."""
    rows = read_with_gold(links, gold, gold_format, one_based=one_based, swapped=swapped)
    _print_agreement(AER.statistics(rows), output)


def _print_agreement(statistics: Statistics, output: Output) -> None:
    """All figures of the corpus; AER with the others as evidence of each pair."""
    metrics = [metric() for metric in LINK_METRICS]
    if output.score_only or output.sentence_level:
        values = [metric.sentence_scores(statistics) for metric in metrics[1:]]
        names = [metric.name for metric in metrics[1:]]
        evidence = [dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)]
        print_score(metrics[0], statistics, output, evidence=evidence)
        return
    scores = []
    for metric in metrics:
        interval = None
        if output.confidence:
            interval = bootstrap_interval(
                metric, statistics, resamples=output.bootstrap, seed=output.seed
            )
        scores.append(metric.corpus_score(statistics, interval=interval))
    echo(render_scores(scores, output.output_format, width=output.width), output.output)


def _with_bar(rows: Iterable[T], output: str | None) -> Iterable[T]:
    """Count pairs on a terminal, unless the lines themselves go there."""
    from tqdm import tqdm

    lines_are_seen = output in {None, "-"} and sys.stdout.isatty()
    bar: Iterable[T] = tqdm(
        rows, desc="aligning", unit=" pairs", leave=False, disable=lines_are_seen or None
    )
    return bar


def _write_lines(lines: Iterable[str], output: str | None) -> None:
    """Write lines as they come, to standard output or to a file that appears when complete."""
    if output is None or output == "-":
        for line in lines:
            click.echo(line)
        return
    with atomic_write(output) as file:
        file.writelines(f"{line}\n" for line in lines)
