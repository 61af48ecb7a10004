"""``coverage-eval align``: train, apply, symmetrize, aer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import click

from coverage_eval.alignment.aligner import Aligner, ModelAligner
from coverage_eval.alignment.alignment_checks import check_gold, why_too_few_pairs
from coverage_eval.alignment.gold_links import Gold, read_with_gold
from coverage_eval.alignment.link_files import read_link_pairs
from coverage_eval.cli.help import option
from coverage_eval.cli.link_options import WORDS, single_options
from coverage_eval.cli.messages import say
from coverage_eval.cli.options import (
    Group,
    ScoreOutput,
    gold_options,
    memory_option,
    options_of,
    output_option,
    scoring_options,
    strict_option,
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
from coverage_eval.cli.text_options import corpus_options
from coverage_eval.data.dataset import Dataset, Sampler
from coverage_eval.data.files import Text, check_readable_again, read_parallel, source_name
from coverage_eval.data.input_checks import Finding
from coverage_eval.metrics.aer import AER, LINK_METRICS
from coverage_eval.metrics.omission_training import add_omission_data
from coverage_eval.metrics.text_checks import check_inputs
from coverage_eval.settings import output_file_setting, setting
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
    """Word alignment: train a model, align text, symmetrise and evaluate links.

    Texts are files with one segment per line ('-' reads standard input; .gz and .zst files are
    unpacked), or columns of a table: t.tsv:de. Files of links have one line per pair of segments,
    such as "0-0 1-2": source-target, counted from 0.

    \b
    Example:
      coverage-eval align train train.de train.en --tokenize 13a -o de-en.model
      coverage-eval align apply de-en.model test.de test.en -o test.links
      coverage-eval align aer test.links test.gold
    """


@dataclass(frozen=True)
class TrainingOptions:
    """Further files of a training, and what else is trained."""

    output: str = output_file_setting(
        "Write the model to this file.", flags=("-o", "--output"), required=True
    )
    forward_links: str | None = output_file_setting(
        "Write the text's forward links to this file.", group="Output"
    )
    reverse_links: str | None = output_file_setting(
        "Write the text's reverse links to this file.", group="Output"
    )
    links: str | None = output_file_setting(
        "Write the text's symmetrised links to this file.", group="Output"
    )
    stem: int = setting(0, "Keep this many letters of each word; 0 keeps all.", min=0)
    purpose: str | None = setting(
        None,
        "Also train what 'omissions' needs.",
        flag="--prepare-for",
        choices=["omissions"],
    )


@dataclass(frozen=True)
class FastAlignOptions:
    """The settings of fast_align."""

    iterations: int = setting(
        5, "Number of EM passes over the text; the last one only reads off the links.", min=1
    )
    favor_diagonal: bool = setting(True, "Prefer links near the diagonal, or train IBM Model 1.")
    optimize_tension: bool = setting(
        True, "Optimise how strongly the diagonal is preferred, or keep --tension."
    )
    variational_bayes: bool = setting(
        True, "Put a Dirichlet prior on translation probabilities, or use maximum likelihood."
    )
    p0: float = setting(0.08, "Probability of a link to NULL.", min=0, max=1, max_open=True)
    alpha: float = setting(0.01, "Concentration of the Dirichlet prior.", min=0, min_open=True)
    tension: float = setting(
        4.0,
        "Initial tension: higher values keep links nearer to the diagonal.",
        min=0,
        min_open=True,
    )


@command.command("train")
@corpus_options("src", "tgt")
@options_of(TrainingOptions)
@options_of(FastAlignOptions, group="Advanced")
@single_options("symmetrize", "sink", "threads", *WORDS)
@memory_option
@timeout_option
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
    """Train both directions on SRC and TGT, and write one model file.

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
    with Aligner.train_pairs(
        ((row.source or "", row.references[0]) for row in dataset.rows()),
        tokenize=tokenize or "none",
        src_tokenize=src_tokenize,
        lowercase=lowercase,
        stem=stem,
        progress=True,
        **settings,
    ) as aligner:
        model = aligner.model
        few = [Finding("small-model", said)] if (said := why_too_few_pairs(model)) else []
        findings, _ = check_inputs(dataset, tokens=aligner.tokens, known=few)
        echo_findings(findings, strict=strict)
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
@single_options("symmetrize", "threads", *WORDS)
@option("--no-prune", is_flag=True, help="Use the tables in full precision.")
@option(
    "--scores", is_flag=True, help="Add a tab and the log-probabilities: forward, reverse or both."
)
@timeout_option
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
    """Align SRC and TGT with a trained MODEL: one line of links per pair.

    \b
    Example:
      coverage-eval align apply de-en.model test.de test.en --symmetrize union -o test.links
    """
    with FastAlign.load(model, **options) as fast_align:
        aligner = ModelAligner(
            fast_align, tokenize=tokenize, src_tokenize=src_tokenize, lowercase=lowercase or None
        )
        dataset = Dataset.of_pairs(src, tgt)
        pairs = (
            (aligner.source_tokens(row.source or ""), aligner.tokens(row.references[0]))
            for row in dataset.rows()
        )
        rows = fast_align.align_with_scores(pairs, symmetrize, prune=not no_prune)

        def checked_lines() -> Iterator[str]:
            yield from (row.format(scores=scores) for row in _with_bar(rows, output))
            findings, _ = check_inputs(dataset, tokens=aligner.tokens, aligner=aligner)
            echo_findings(findings, strict=strict)  # an error leaves no file

        print_lines(checked_lines(), output)


@command.command("symmetrize")
@click.argument("fwd")
@click.argument("rev")
@option(
    "--method", default=DEFAULT_SYMMETRIZATION,
    type=click.Choice(SYMMETRIZATIONS),
    help="Join the links of the two directions by this heuristic.",
)  # fmt: skip
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
@scoring_options
def aer(links: str, gold: str, strict: bool, output: ScoreOutput, **gold_form: Any) -> None:
    """Print AER, precision, recall and F1 (percentages) of LINKS against the links of GOLD.

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
    """Show the progress on a terminal, unless the links are printed there."""
    from tqdm import tqdm

    lines_are_seen = output in {None, "-"} and is_terminal()
    bar: Iterable[T] = tqdm(
        rows, desc="aligning", unit=" pairs", leave=False, disable=lines_are_seen or None
    )
    return bar
