"""``coverage-eval align``: train, apply, symmetrize, aer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import islice, tee

import click

from coverage_eval.align.aligner import Aligner
from coverage_eval.align.gold import AER, LINK_METRICS, check_gold, read_with_gold
from coverage_eval.align.links import (
    compare_positions,
    look_for_other_positions,
    read_link_pairs,
)
from coverage_eval.align.model_text import SAMPLE_PAIRS, raw_tokenizer
from coverage_eval.checks.check import check, check_texts, combine
from coverage_eval.checks.model import why_too_few_pairs
from coverage_eval.checks.words import look_for_unsegmented_words
from coverage_eval.cli.alignment_options import symmetrize_option
from coverage_eval.cli.click_options import GROUPS, option
from coverage_eval.cli.command import Group
from coverage_eval.cli.messages import say
from coverage_eval.cli.output import echo_findings, print_lines, show, with_findings
from coverage_eval.cli.output_options import (
    ScoreOutputOptions,
    output_option,
    output_to,
    scoring_options,
    strict_option,
)
from coverage_eval.cli.parameters import InputFile
from coverage_eval.cli.score_report import SegmentTable, score_report, segment_report
from coverage_eval.cli.texts import texts
from coverage_eval.core.batches import Texts
from coverage_eval.core.errors import Finding
from coverage_eval.core.files import Text, file_name
from coverage_eval.core.lists import DiskList
from coverage_eval.core.metric import Formula, Statistics
from coverage_eval.core.progress import progress_bar, split_progress, track
from coverage_eval.core.sampled_texts import MISALIGNED_LINES, SampledTexts
from coverage_eval.core.score import Score
from coverage_eval.core.significance import bootstrap_interval
from coverage_eval.core.texts import read_parallel
from coverage_eval.core.tokenizers import TOKENIZERS, ascii_places
from fast_align_wrapper import links as word_links

_symmetrize_option = symmetrize_option(GROUPS[0])


@click.group("align", cls=Group)
def align() -> None:
    """Word alignment: train a model, align text, symmetrise and evaluate links.

    Texts are files with one segment per line ('-' reads standard input; .gz and .zst files are
    unpacked), or columns of a table: t.tsv:de. Files of links have one line per pair of segments,
    such as "0-0 1-2": source-target, counted from 0.

    \b
    Example:
      coverage-eval align train train.de train.en --tokenize 13a -o model
      coverage-eval align apply model test.de test.en -o test.links
      coverage-eval align aer test.links test.gold
    """


@align.command("train")
@texts("src", "tgt", row_by_row=True)
@output_to(
    "Write the model to this file.",
    no_stdout="the model is written to a file, not to standard output",
)
@option(
    "--prepare-for", "purpose", type=click.Choice(["omissions"]),
    help="Also train what 'omissions' needs.",
)  # fmt: skip
@option(
    "--tokenize", type=click.Choice(TOKENIZERS),
    help="Apply one of sacreBLEU's tokenisers to both sides.",
)  # fmt: skip
@option(
    "--src-tokenize", type=click.Choice(TOKENIZERS),
    help="Apply another tokeniser to the source.",
)  # fmt: skip
@strict_option
def train(
    src: Text,
    tgt: Text,
    output: str,
    purpose: str | None,
    tokenize: str | None,
    src_tokenize: str | None,
    strict: bool,
) -> None:
    """Train both directions on SRC and TGT, and write one model file.

    Other settings of fast_align are arguments of Aligner.train in Python.

    \b
    Example:
      coverage-eval align train train.de train.en --tokenize 13a -o model
      coverage-eval align train train.de train.en --prepare-for omissions \\
        -o model
    """
    pairs = Texts({}, (tgt,), src)
    read_pairs = partial(read_parallel, src, tgt, optional=[tgt])
    size = pairs.sample.size
    sides = zip(*islice(read_pairs(), SAMPLE_PAIRS), strict=True) if tokenize is None else ()
    for text, asked, side in zip((src, tgt), (src_tokenize, None), sides, strict=False):
        if asked is None and (splits := raw_tokenizer(side)) != "none":
            how = f"{splits} splits it, and will split what the model is given"
            say(f"{text.name} is not tokenised: {how}", "note")
    with progress_bar("training") as progress:
        reading, training, preparing = split_progress(progress, 1.0, 2.0, 12.0 if purpose else 0.0)
        with Aligner.train_pairs(
            track(read_pairs(), reading, size),
            tokenize=tokenize,
            src_tokenize=src_tokenize,
            progress=training,
        ) as aligner:
            model = aligner.model
            findings = check_texts(pairs.sample, aligner.tokenizer)
            texts = SampledTexts.tokenize(pairs.sample, aligner.tokenizer, aligner.source_tokenizer)
            findings += look_for_unsegmented_words(texts)
            if message := why_too_few_pairs(model):
                findings.append(Finding(message, kind="small-model", suppresses=MISALIGNED_LINES))
            echo_findings(combine(findings, pairs.sample.source), strict=strict)
            if purpose == "omissions":
                from coverage_eval.coverage.training import add_omission_data  # slow to import

                add_omission_data(aligner, read_pairs, preparing)
            aligner.save(output)
    say(f"{output}: model {model.hash}, trained on {model.manifest.pairs} pairs")


@align.command("apply")
@click.argument("model", type=InputFile())
@texts("src", "tgt", row_by_row=True)
@_symmetrize_option
@strict_option
@output_option
def apply(
    model: str, src: Text, tgt: Text, symmetrize: str, strict: bool, output: str | None
) -> None:
    """Align SRC and TGT with a trained MODEL: one line of links per pair.

    The texts are cut into words as the model's training text was. Links count what stands between
    spaces, as fast_align does: a no-break space is inside a word.

    \b
    Example:
      coverage-eval align apply model test.de test.en --symmetrize union \\
        -o test.links
    """
    test_set = Texts({}, (tgt,), src)
    with Aligner.load(model, symmetrize=symmetrize) as aligner:
        splits = (aligner.source_tokenizer, aligner.tokenizer)
        waiting, sent = tee((row.source or "", row.references[0]) for row in test_set.rows())
        tokens = ((splits[0](source), splits[1](target)) for source, target in sent)
        rows = aligner.model.align(tokens, symmetrize)

        def checked_lines() -> Iterator[str]:
            with progress_bar("aligning") as progress:
                for links in track(rows, progress, test_set.sample.size):
                    places = [*map(ascii_places, splits, next(waiting))]
                    yield word_links.format_links(
                        sorted({(places[0][i], places[1][j]) for i, j in links})
                    )
            findings = check(test_set.sample, aligner=aligner)
            echo_findings(findings, strict=strict)  # an error leaves no file

        print_lines(checked_lines(), output)


@align.command("symmetrize")
@click.argument("fwd", type=InputFile())
@click.argument("rev", type=InputFile())
@_symmetrize_option
@output_option
def symmetrize_command(fwd: str, rev: str, symmetrize: str, output: str | None) -> None:
    """Join the links of the two directions FWD and REV.

    \b
    Example:
      coverage-eval align symmetrize forward.links reverse.links \\
        --symmetrize union -o union.links
    """
    pairs = DiskList(read_link_pairs(fwd, rev))
    first = [*islice(pairs, 1000)]
    names = [file_name(name) for name in (fwd, rev)]
    for index, name in enumerate(names):
        echo_findings(look_for_other_positions((pair[index] for pair in first), name))
    if first:
        forward, reverse = zip(*first, strict=True)
        echo_findings(compare_positions(reverse, forward, names[1], names[0]))
    joined = (word_links.symmetrize(*pair, symmetrize) for pair in pairs)
    print_lines(map(word_links.format_links, joined), output)


@align.command("aer")
@click.argument("links", type=InputFile())
@click.argument("gold", type=InputFile())
@scoring_options
def aer(links: str, gold: str, strict: bool, output: ScoreOutputOptions) -> None:
    """Print AER, precision, recall and F1 (percentages) of LINKS against the links of GOLD.

    \b
    Example:
      coverage-eval align aer test.links test.gold --confidence
    """
    rows = list(read_with_gold(links, gold))
    statistics = AER.count(rows)
    formula, *others = (metric() for metric in LINK_METRICS)
    if output.by_segment:
        names = [other.presentation.name for other in others]
        columns = [other.scores_of(statistics) for other in others]
        evidence = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
        segments = SegmentTable(formula.scores_of(statistics), evidence)
        report = segment_report(formula.score(statistics), segments, worst=output.worst)
    else:
        figures = [formula] if output.score_only else [formula, *others]
        report = score_report([_score(figure, statistics, output.resamples) for figure in figures])
    findings = check_gold(
        *zip(*rows, strict=True), name=file_name(gold), links_name=file_name(links)
    )
    echo_findings(findings, strict=strict)
    show(with_findings(report, findings), output)


def _score(figure: Formula, statistics: Statistics, resamples: int) -> Score:
    """A figure of a corpus of links, with its interval if there are resamples."""
    score = figure.score(statistics)
    if not resamples:
        return score
    return replace(score, interval=bootstrap_interval(figure, statistics, resamples=resamples))
