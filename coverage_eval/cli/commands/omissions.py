"""``coverage-eval omissions``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from operator import itemgetter

import click
import numpy as np

from coverage_eval.alignment.aligner import ModelAligner
from coverage_eval.cli.help import option
from coverage_eval.cli.inputs import AlignmentOptions, alignment_options, corpus_options
from coverage_eval.cli.options import (
    Command,
    FiniteRange,
    ScoreOutput,
    given_options,
    scoring_options,
    strict_option,
)
from coverage_eval.cli.output import present_found, present_scores, say, show, warn
from coverage_eval.data.dataset import Dataset
from coverage_eval.data.files import Text, check_readable_again, check_target, source_name
from coverage_eval.metrics.measure import measure
from coverage_eval.metrics.omissions import (
    Additions,
    Omissions,
    add_omission_data,
)
from coverage_eval.tables.table import LazyRows
from coverage_eval.testbed.learn_calibration import DEFAULT_RATE, calibrated_finders


@click.command("omissions", cls=Command)
@corpus_options
@click.argument("hyp")
@option(
    "--ref", multiple=True, metavar="FILE",
    help="Expect of HYP what this reference covers; give it once for each of several references.",
)  # fmt: skip
@option(
    "--peer", "peers", multiple=True, metavar="FILE",
    help="Expect of HYP what this other system's output covers; give it once for each. With "
    "several witnesses, references among them, their mean is expected.",
)  # fmt: skip
@option(
    "--additions",
    is_flag=True,
    help="Find words of HYP that nothing in the source supports, instead.",
)
@option(
    "--calibrate",
    "calibrates",
    is_flag=True,
    help="Learn probabilities from errors put into HYP, which is taken to be right, and keep them "
    "in the model file.",
)
@option(
    "--rate",
    default=DEFAULT_RATE,
    show_default=True,
    type=FiniteRange(0, 0.5, min_open=True),
    help="Calibrate for a text that lacks so many of its words, or has so many added.",
)
@option(
    "--threshold", type=FiniteRange(0),
    help="Count segments with at least this probability, or score if there are no probabilities.  "
    "[default: 0.5, or a score of 4, with --ref of 1.5]",
)  # fmt: skip
@alignment_options(links=False)
@strict_option
@scoring_options
def command(
    hyp: Text,
    ref: tuple[Text, ...],
    peers: tuple[Text, ...],
    additions: bool,
    calibrates: bool,
    rate: float,
    threshold: float | None,
    alignment: AlignmentOptions,
    strict: bool,
    output: ScoreOutput,
) -> None:
    """Find source words that a hypothesis leaves out, or words that it adds.

    HYP is a text file with one segment a line ('-' reads standard input, .gz and .zst are
    unpacked), or a column of a table: --from. Prints the percentage of segments with an omission;
    with --sentence-level, each segment's score and the spans of source words that are missing,
    positions from 1 (in JSON from 0). Outputs of other systems help (--peer), three of them more
    than a reference; what all of them leave out, too, they do not show. So does a model that was
    trained here or by 'align train --for omissions'. Once calibrated, a model gives each segment
    the probability of an omission.

    \b
    Example:
      coverage-eval omissions hyp.txt --src src.txt --model de-en.model --sentence-level
      coverage-eval omissions hyp.txt --src src.txt --model de-en.model --peer a.txt --peer b.txt
      coverage-eval omissions hyp.txt --src src.txt --model de-en.model --calibrate --confidence
    """
    _check([hyp, *ref, *peers], alignment, additions and bool(ref), calibrates=calibrates)
    aligner = alignment.make(add_omission_data)
    assert aligner is not None
    dataset = Dataset.of_files({source_name(hyp): hyp}, ref, alignment.src, peers)
    side = "target" if additions else "source"
    if calibrates:
        assert isinstance(aligner, ModelAligner)
        _calibrate(aligner, side, dataset, rate, alignment)
    metric = (
        Additions(aligner, threshold) if additions else Omissions(aligner, threshold, bool(ref))
    )
    result = measure(dataset, {metric.name: metric}, evidence=output.sentence_level, checks=True)
    score = result.score(metric.name, resamples=output.resamples, seed=output.seed)
    printout = present_scores([score])
    if output.sentence_level:
        found = result.statistics_of(metric.name)[:, 0]
        shown = np.flatnonzero(found) if output.errors_only else np.arange(result.segments)
        evidence = LazyRows(itemgetter(0), result.evidence(metric.name))
        printout = present_found(score, evidence, shown, "added" if additions else "spans")
    show(warn(printout, result.findings, result.unknown_words, strict=strict), output)


def _check(
    texts: Sequence[Text], alignment: AlignmentOptions, has_unfit_ref: bool, *, calibrates: bool
) -> None:
    """Refuse what is wrong before any work."""
    alignment.check(texts)
    if not (alignment.has_model or alignment.has_coverage):
        raise click.UsageError(
            "give one of: --model M; --train-src F with --train-tgt F; --coverage C"
        )
    if calibrates and not alignment.has_model:
        raise click.UsageError("--calibrate makes new texts, which --coverage is not of")
    if has_unfit_ref:
        raise click.UsageError("--additions is about HYP and source: no --ref")
    if "rate" in given_options() and not calibrates:
        raise click.UsageError("--rate goes with --calibrate")
    alignment.check_files(texts)
    if calibrates:
        assert alignment.src is not None  # the check above asks for it
        check_readable_again(*texts, alignment.src)
        check_target(alignment.model or alignment.save_model or os.devnull)


def _calibrate(
    aligner: ModelAligner, side: str, dataset: Dataset, rate: float, alignment: AlignmentOptions
) -> None:
    """Give the model probabilities for each number of peers, kept in its file if there is one."""
    file = alignment.save_model or alignment.model
    kept = f"{file}: " if file else ""
    for finder in calibrated_finders(aligner, side, dataset, rate):
        calibration = finder.calibration
        assert calibration is not None
        peers = f" with {finder.peers} peers" if finder.peers else ""
        say(
            f"{kept}calibrated{peers} on {calibration.segments} segments at a rate of {rate:g} per "
            f"word; calibration error on held-out segments: {calibration.error:.3f}"
        )
    if file is not None:
        aligner.save(file)
