"""``coverage-eval align``: train, apply, symmetrize, aer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain
from typing import Any, TypeVar

import click

from coverage_eval.alignment.aligner import Aligner, ModelAligner
from coverage_eval.alignment.alignment_checks import check_gold
from coverage_eval.alignment.gold_links import Gold, read_with_gold
from coverage_eval.alignment.link_files import read_link_pairs
from coverage_eval.cli.help import option
from coverage_eval.cli.inputs import corpus_options, word_options
from coverage_eval.cli.messages import say
from coverage_eval.cli.options import (
    FiniteRange,
    Group,
    OutputFile,
    ScoreOutput,
    WholeRange,
    fast_align_option,
    gold_options,
    memory_option,
    output_option,
    scoring_options_without,
    strict_option,
    symmetrize_option,
    threads_option,
    timeout_option,
)
from coverage_eval.cli.output import (
    echo_findings,
    is_terminal,
    present_counted,
    print_lines,
    show,
    warn,
)
from coverage_eval.data.dataset import Dataset, Sampler
from coverage_eval.data.files import (
    Text,
    check_readable_again,
    check_target,
    read_parallel,
    source_name,
)
from coverage_eval.metrics.aer import AER, LINK_METRICS
from coverage_eval.metrics.measure import check_inputs
from coverage_eval.metrics.omissions import add_omission_data
from fast_align_wrapper.aligner import FastAlign
from fast_align_wrapper.links import (
    DEFAULT_SYMMETRIZATION,
    SYMMETRIZATIONS,
    Links,
    format_links,
    symmetrize,
)

T = TypeVar("T")


@click.group("align", cls=Group)
def command() -> None:
    """Train a word alignment model, align text, join and measure links.

    Text files have one segment a line ('-' reads standard input, .gz and .zst are unpacked), and
    texts may also be columns of a table: --from; files of links have one line a pair of segments,
    such as "0-0 1-2", source-target, counted from 0.

    \b
    Example:
      coverage-eval align train train.de train.en --tokenize 13a -o de-en.model
      coverage-eval align apply de-en.model test.de test.en -o test.links
      coverage-eval align aer test.links test.gold
    """


@command.command("train")
@corpus_options("src", "tgt")
@option("-o", "--output", metavar="FILE", required=True, type=OutputFile(),
              help="Write the model to this file.")  # fmt: skip
@option("--forward-links", metavar="FILE", type=OutputFile(),
              help="Write the text's forward links to this file.")  # fmt: skip
@option("--reverse-links", metavar="FILE", type=OutputFile(),
              help="Write the text's reverse links to this file.")  # fmt: skip
@option("--links", metavar="FILE", type=OutputFile(),
              help="Write the text's symmetrised links to this file.")  # fmt: skip
@symmetrize_option
@word_options()
@option("--iterations", type=WholeRange(1), default=5, show_default=True,
              help="Passes over the text, of which the last only reads off the links.")  # fmt: skip
@option("--favor-diagonal/--no-favor-diagonal", default=True, show_default=True,
              help="Prefer links near the diagonal, or IBM Model 1.")  # fmt: skip
@option("--optimize-tension/--no-optimize-tension", default=True, show_default=True,
              help="Fit how near links are to the diagonal, or keep --tension.")  # fmt: skip
@option("--variational-bayes/--no-variational-bayes", default=True, show_default=True,
              help="Put a Dirichlet prior on translation probabilities, or none.")  # fmt: skip
@option("--p0", type=FiniteRange(0, 1, max_open=True), default=0.08, show_default=True,
              help="Link a word to NULL with this probability.")  # fmt: skip
@option("--alpha", type=FiniteRange(0, min_open=True), default=0.01, show_default=True,
              help="Give the Dirichlet prior this concentration.")  # fmt: skip
@option("--tension", type=FiniteRange(0, min_open=True), default=4.0, show_default=True,
              help="Start with this tension: the greater, the nearer to the diagonal.")  # fmt: skip
@option("--stem", type=WholeRange(0), default=0, show_default=True,
              help="Keep so many letters of each word, 0 for all.")  # fmt: skip
@option("--prepare-for", "purpose", type=click.Choice(["omissions"]), old=["--for"],
              help="Also train what `omissions` needs.")  # fmt: skip
@threads_option
@memory_option
@timeout_option
@fast_align_option
@strict_option
def train(
    src: Text,
    tgt: Text,
    output: str,
    forward_links: str | None,
    reverse_links: str | None,
    links: str | None,
    symmetrize: str,
    tokenize: str | None,
    src_tokenize: str | None,
    lowercase: bool,
    stem: int,
    purpose: str | None,
    strict: bool,
    **settings: Any,
) -> None:
    """Train both directions on SRC and TGT and write one model file.

    \b
    Example:
      coverage-eval align train train.de train.en --tokenize 13a -o de-en.model
      coverage-eval align train train.de train.en --prepare-for omissions -o de-en.model
    """
    if output == "-":
        raise click.UsageError("the model is written to a file, not to standard output")
    if purpose is not None:
        check_readable_again(src, tgt)
    dataset = Dataset.of_pairs(src, tgt)
    wanted = (("forward", forward_links), ("reverse", reverse_links), (symmetrize, links))
    for path in (output, forward_links, reverse_links, links):
        if path is not None:
            check_target(path)
    with Aligner.train_pairs(
        ((row.source or "", row.references[0]) for row in dataset.rows()),
        tokenize=tokenize or "none",
        src_tokenize=src_tokenize,
        lowercase=lowercase,
        stem=stem,
        progress=True,
        **settings,
    ) as aligner:
        echo_findings(check_inputs(dataset, tokens=aligner.tokens)[0], strict=strict)
        model = aligner.model
        if purpose == "omissions":
            add_omission_data(aligner, partial(read_parallel, src, tgt), progress=True, **settings)
        model.save(output)
        for method, path in wanted:
            if path is not None:
                print_lines(map(format_links, model.training_links(method)), path)
    say(f"{output}: model {model.hash}, trained on {model.manifest.pairs} pairs")


@command.command("apply")
@click.argument("model")
@corpus_options("src", "tgt")
@symmetrize_option
@option("--no-prune", is_flag=True, help="Use the tables in full precision.")
@option("--scores", is_flag=True,
              help="Add a tab and the log-probability, forward, reverse, or both.")  # fmt: skip
@word_options()
@threads_option
@timeout_option
@fast_align_option
@strict_option
@output_option
def apply(
    model: str,
    src: Text,
    tgt: Text,
    tokenize: str | None,
    src_tokenize: str | None,
    lowercase: bool,
    output: str | None,
    symmetrize: str,
    no_prune: bool,
    scores: bool,
    strict: bool,
    **options: Any,
) -> None:
    """Align SRC and TGT by a trained MODEL: one line of links a pair.

    \b
    Example:
      coverage-eval align apply de-en.model test.de test.en --symmetrize union -o test.links
    """
    with FastAlign.load(model, **options) as fast_align:
        aligner = ModelAligner(
            fast_align,
            tokenize=tokenize,
            src_tokenize=src_tokenize,
            lowercase=lowercase or None,
        )
        dataset = Dataset.of_pairs(src, tgt)
        pairs = (
            (aligner.source_tokens(row.source or ""), aligner.tokens(row.references[0]))
            for row in dataset.rows()
        )
        rows = fast_align.align_with_scores(pairs, symmetrize, prune=not no_prune)
        lines = (row.format(scores=scores) for row in _with_bar(rows, output))

        def check() -> Iterator[str]:
            echo_findings(
                check_inputs(dataset, tokens=aligner.tokens, aligner=aligner)[0], strict=strict
            )
            yield from ()

        # The checks come after the last line: an error leaves no file.
        print_lines(chain(lines, check()), output)


@command.command("symmetrize")
@click.argument("fwd")
@click.argument("rev")
@option("--method", default=DEFAULT_SYMMETRIZATION, show_default=True,
              type=click.Choice(SYMMETRIZATIONS),
              help="Join the links of the two directions in this way.")  # fmt: skip
@output_option
def symmetrize_command(fwd: str, rev: str, method: str, output: str | None) -> None:
    """Join the links of the two directions FWD and REV.

    \b
    Example:
      coverage-eval align symmetrize forward.links reverse.links --method union -o union.links
    """
    rows = read_link_pairs(fwd, rev)
    print_lines((format_links(symmetrize(one, two, method)) for one, two in rows), output)


@command.command("aer")
@click.argument("links")
@click.argument("gold")
@gold_options
@strict_option
@scoring_options_without("show")
def aer(
    links: str,
    gold: str,
    strict: bool,
    output: ScoreOutput,
    **gold_form: Any,
) -> None:
    """AER, precision, recall and F1 (percentages) of LINKS against the links of GOLD.

    \b
    Example:
      coverage-eval align aer test.links test.gold --confidence
    """
    sampler: Sampler[tuple[Links, Gold]] = Sampler()
    rows = read_with_gold(links, gold, **gold_form)
    statistics = AER.count(sampler.watch(rows))
    counted = [(metric(), statistics) for metric in LINK_METRICS]
    found = check_gold(*zip(*sampler.rows, strict=True), name=source_name(gold))
    show(warn(present_counted(counted, output), found, strict=strict), output)


def _with_bar(rows: Iterable[T], output: str | None) -> Iterable[T]:
    """Count pairs on a terminal, unless the lines themselves go there."""
    from tqdm import tqdm

    lines_are_seen = output in {None, "-"} and is_terminal()
    bar: Iterable[T] = tqdm(
        rows, desc="aligning", unit=" pairs", leave=False, disable=lines_are_seen or None
    )
    return bar
