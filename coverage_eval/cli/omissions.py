"""``coverage-eval omissions``."""

from __future__ import annotations

from collections.abc import Iterator

import click
import numpy as np

from coverage_eval.cli.alignment_options import AlignmentOptions, alignment_options
from coverage_eval.cli.options import FiniteRange, strict_option
from coverage_eval.cli.output import show
from coverage_eval.cli.score_output import ScoreOutput, corpus_score, scoring_options
from coverage_eval.cli.warnings import InputWatch, warn
from coverage_eval.omissions.finder import FoundSegment, OmissionFinder
from coverage_eval.omissions.share import AdditionShare, OmissionShare
from coverage_eval.omissions.units import equip
from coverage_eval.report.omissions import present_found
from coverage_eval.report.scores import present_scores
from coverage_eval.text.corpus import source_name
from coverage_eval.text.rows import read_rows


@click.command("omissions")
@click.argument("hyp")
@click.option(
    "--ref", multiple=True, metavar="FILE",
    help="Expect of HYP what this reference covers; give it once for each of several references.",
)  # fmt: skip
@click.option(
    "--additions",
    is_flag=True,
    help="Find words of HYP that nothing in the source supports, instead.",
)
@click.option(
    "--threshold", type=FiniteRange(0),
    help="Count segments with at least this probability, or score if there are no probabilities.  "
    "[default: 0.5, or the finder's]",
)  # fmt: skip
@alignment_options(links=False)
@strict_option
@scoring_options
def command(
    hyp: str,
    ref: tuple[str, ...],
    additions: bool,
    threshold: float | None,
    alignment: AlignmentOptions,
    strict: bool,
    output: ScoreOutput,
) -> None:
    """Find source words that HYP leaves out.

    HYP is a text file with one segment a line ('-' reads standard input, .gz is unpacked). Prints
    the percentage of segments with an omission; with --sentence-level, each segment's score and the
    spans of source words that are missing, positions from 1 (in JSON from 0). A reference helps,
    and so does a model that was trained here or by 'align train --for omissions'.

    \b
    Example:
      coverage-eval omissions hyp.txt --src src.txt --model de-en.model --sentence-level
    """
    alignment.check([hyp, *ref])
    if not alignment.has_model:
        raise click.UsageError("give one of: --model M; --train-src F with --train-tgt F")
    if additions and ref:
        raise click.UsageError("--additions is about HYP and source: no --ref")
    alignment.check_files([hyp, *ref])
    aligner = alignment.make(equip)
    assert aligner is not None
    finder = OmissionFinder.of(aligner, "target" if additions else "source")
    watch = InputWatch([source_name(hyp)], ref, alignment.src)
    rows = watch.watch(read_rows([hyp], ref, alignment.src))
    share = (AdditionShare if additions else OmissionShare)(finder, threshold)
    segments: list[tuple[int, FoundSegment]] = []

    def flags() -> Iterator[tuple[bool, int]]:
        for number, found in enumerate(finder.find(rows), start=1):
            is_found = share.is_found(found)
            if output.sentence_level and (is_found or not output.errors_only):
                segments.append((number, found))
            yield is_found, 1

    statistics = np.array(list(flags()), dtype=np.int64)
    score = corpus_score(share, statistics, output, references=len(ref))
    printout = present_scores([score])
    if output.sentence_level:
        printout = present_found(score, segments, "added" if additions else "spans")
    findings, figures = watch.check(aligner.tokens, aligner)
    show(warn(printout, findings, figures, strict=strict), output)
