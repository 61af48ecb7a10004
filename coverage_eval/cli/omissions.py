"""``coverage-eval omissions``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

import click
import numpy as np

from coverage_eval.alignment.aligner import ModelAligner
from coverage_eval.cli.alignment_options import AlignmentOptions, alignment_options
from coverage_eval.cli.corpus_options import corpus_options
from coverage_eval.cli.messages import say
from coverage_eval.cli.options import FiniteRange, given_options, strict_option
from coverage_eval.cli.overwriting import Command
from coverage_eval.cli.score_output import ScoreOutput, corpus_score, scoring_options
from coverage_eval.cli.sharding import Sharding, shard_option
from coverage_eval.cli.warnings import InputWatch
from coverage_eval.metrics.base import Statistics
from coverage_eval.omissions.finder import FoundSegment, OmissionFinder
from coverage_eval.omissions.share import AdditionShare, OmissionShare
from coverage_eval.omissions.units import equip
from coverage_eval.report.omissions import present_found
from coverage_eval.report.scores import present_scores
from coverage_eval.scale.results import Results
from coverage_eval.tables.printout import Printout
from coverage_eval.testbed.learn_calibration import DEFAULT_RATE, calibrate
from coverage_eval.text.corpus import Text, check_readable_again, source_name
from coverage_eval.text.files import check_target
from coverage_eval.text.rows import Row, read_rows
from coverage_eval.text.spool import Spool


@click.command("omissions", cls=Command)
@corpus_options
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
    "--calibrate",
    "calibrates",
    is_flag=True,
    help="Learn probabilities from errors put into HYP, which is taken to be right, and keep them "
    "in the model file.",
)
@click.option(
    "--rate",
    default=DEFAULT_RATE,
    show_default=True,
    type=FiniteRange(0, 0.5, min_open=True),
    help="Calibrate for a text that lacks so many of its words, or has so many added.",
)
@click.option(
    "--threshold", type=FiniteRange(0),
    help="Count segments with at least this probability, or score if there are no probabilities.  "
    "[default: 0.5, or a score of 4, with --ref of 1.5]",
)  # fmt: skip
@alignment_options(links=False)
@strict_option
@shard_option
@scoring_options
def command(
    hyp: Text,
    ref: tuple[Text, ...],
    additions: bool,
    calibrates: bool,
    rate: float,
    threshold: float | None,
    alignment: AlignmentOptions,
    strict: bool,
    sharding: Sharding,
    output: ScoreOutput,
) -> None:
    """Find source words that a hypothesis leaves out, or words that it adds.

    HYP is a text file with one segment a line ('-' reads standard input, .gz and .zst are
    unpacked), or a column of a table: --from. Prints the percentage of segments with an omission;
    with --sentence-level, each segment's score and the spans of source words that are missing,
    positions from 1 (in JSON from 0). A reference helps, and so does a model that was trained here
    or by 'align train --for omissions'. Once calibrated, a model gives each segment the probability
    of an omission.

    \b
    Example:
      coverage-eval omissions hyp.txt --src src.txt --model de-en.model --sentence-level
      coverage-eval omissions hyp.txt --src src.txt --model de-en.model --calibrate --confidence
    """
    sharding.check(output)
    _check(hyp, ref, alignment, additions=additions, calibrates=calibrates)
    sharding.check_target(output)
    aligner = sharding.make_aligner(alignment, equip)
    assert isinstance(aligner, ModelAligner)
    side = "target" if additions else "source"
    finder = OmissionFinder.of(aligner, side, referenced=bool(ref))
    if calibrates:
        finder = _calibrate(finder, read_rows([hyp], ref, alignment.src), rate, alignment)
    watch = InputWatch({source_name(hyp): hyp}, ref, alignment.src)
    rows = sharding.take(watch.rows())
    share = (AdditionShare if additions else OmissionShare)(finder, threshold)
    statistics, segments = _look_through(rows, finder, share, output)
    results = Results(
        {share.name: share},
        {share.name: statistics[None]},
        {"found": segments} if output.sentence_level else {},
        {"references": len(ref), **output.of_score},
        *watch.check(aligner.tokens, aligner),
    )
    sharding.finish("omissions", results, present, output, strict=strict)


def present(results: Results) -> Printout:
    """The share of segments, or each segment with what was found."""
    ((name, share),) = results.formulas.items()
    (statistics,) = results.statistics[name]
    references, output = results.facts["references"], ScoreOutput.of(results.facts)
    score = corpus_score(share, statistics, output, references=references)
    if not output.sentence_level:
        return present_scores([score])
    numbered = enumerate(results.records["found"], start=1)
    segments = Spool((number, found) for number, found in numbered if found is not None)
    return present_found(score, segments, "added" if name == AdditionShare.name else "spans")


def _check(
    hyp: Text,
    ref: tuple[Text, ...],
    alignment: AlignmentOptions,
    *,
    additions: bool,
    calibrates: bool,
) -> None:
    """Refuse what is wrong before any work."""
    alignment.check([hyp, *ref])
    if not alignment.has_model:
        raise click.UsageError("give one of: --model M; --train-src F with --train-tgt F")
    if additions and ref:
        raise click.UsageError("--additions is about HYP and source: no --ref")
    if "rate" in given_options() and not calibrates:
        raise click.UsageError("--rate goes with --calibrate")
    alignment.check_files([hyp, *ref])
    if calibrates:
        assert alignment.src is not None  # the check above asks for it
        check_readable_again(hyp, *ref, alignment.src)
        check_target(alignment.model or alignment.save_model or os.devnull)


def _look_through(
    rows: Iterable[Row], finder: OmissionFinder, share: OmissionShare, output: ScoreOutput
) -> tuple[Statistics, Spool[FoundSegment | None]]:
    """Statistics of all segments ``[segments, 2]``, and the segments, None if not to be shown."""
    segments: Spool[FoundSegment | None] = Spool()

    def flags() -> Iterator[bool]:
        for found in finder.find(rows):
            is_found = share.is_found(found)
            if output.sentence_level:
                segments.append(found if is_found or not output.errors_only else None)
            yield is_found

    is_found = np.fromiter(flags(), dtype=np.int64)
    return np.column_stack([is_found, np.ones_like(is_found)]), segments


def _calibrate(
    finder: OmissionFinder, rows: Iterable[Row], rate: float, alignment: AlignmentOptions
) -> OmissionFinder:
    """The finder with probabilities, kept in the model file if there is one."""
    calibration = calibrate(finder, rows, rate)
    finder = finder.calibrated(calibration)
    file = alignment.save_model or alignment.model
    if file is not None:
        finder.aligner.save(file)
    kept = f"{file}: " if file else ""
    say(
        f"{kept}calibrated on {calibration.segments} segments at a rate of {rate:g} per word; "
        f"calibration error on held-out segments: {calibration.error:.3f}"
    )
    return finder
