"""``coverage-eval profile``."""

from __future__ import annotations

from collections.abc import Sequence

import click
import numpy as np

from coverage_eval.cli.gate import SegmentGate, gate_options
from coverage_eval.cli.help import option, suggest
from coverage_eval.cli.inputs import AlignmentOptions, alignment_options, corpus_options
from coverage_eval.cli.options import (
    Command,
    FiniteRange,
    NoFile,
    PictureFile,
    ScoreOutput,
    jobs_option,
    scoring_options,
    strict_option,
)
from coverage_eval.cli.output import (
    present_profile,
    present_profile_segments,
    save_histograms,
    show,
    warn,
)
from coverage_eval.data.dataset import Dataset
from coverage_eval.data.files import Text, source_name
from coverage_eval.metrics.measure import measure
from coverage_eval.metrics.profile import make_figures, profile_of


def _limits(
    context: click.Context, parameter: click.Parameter, values: Sequence[str]
) -> dict[str, float]:
    """A callback for numbers by the name of a figure."""
    found = {}
    for value in values:
        name, equals, number = value.partition("=")
        if not equals:
            raise click.BadParameter(f"{value!r} is not of the form FIGURE=X")
        found[name] = FiniteRange().convert(number, parameter, context)
    return found


@click.command("profile", cls=Command)
@corpus_options("hyp", options=("ref",))
@option(
    "--above", metavar="FIGURE=X", multiple=True, type=NoFile(), callback=_limits, group="Output",
    help="With --fail-above, --keep or --reject, take segments with more than this for bad, such "
    "as seq-rep-4=20; give it once for each.",
)  # fmt: skip
@option(
    "--below", metavar="FIGURE=X", multiple=True, type=NoFile(), callback=_limits, group="Output",
    help="Take segments with less than this for bad.",
)  # fmt: skip
@gate_options
@alignment_options(coverage=False)
@jobs_option
@strict_option
@option(
    "--plot", metavar="FILE", type=PictureFile(), group="Output",
    help="Draw how each figure that varies is distributed over segments: .png, .svg or .pdf.",
)  # fmt: skip
@scoring_options
def command(
    hyp: Text,
    ref: tuple[Text, ...],
    alignment: AlignmentOptions,
    jobs: int,
    strict: bool,
    plot: str | None,
    output: ScoreOutput,
    gate: SegmentGate,
    above: dict[str, float],
    below: dict[str, float],
) -> None:
    """Print every cheap figure of one output: repetition, length, coverage.

    HYP is a text file with one segment a line ('-' reads standard input, .gz and .zst are
    unpacked), or a column of a table: --from. With the source, the reference, and a model or links
    of any aligner there are more figures. With --sort worst, the segments that are worst by the
    first figure come first.

    \b
    Example:
      coverage-eval profile hyp.txt --src src.txt --ref ref.txt
    """
    if output.errors_only or output.show:
        raise click.UsageError(
            "--errors-only and --show are not for profile, whose figures are of many kinds"
        )
    if alignment.src_hyp_align and not alignment.src:
        raise click.UsageError("--src-hyp-align needs --src")
    if alignment.src_ref_align and not (ref and alignment.src_hyp_align):
        raise click.UsageError("--src-ref-align needs --ref and --src-hyp-align")
    alignment.check([hyp, *ref], needs_reference_links=False)
    if gate.is_given != bool(above or below):
        raise click.UsageError("--above and --below go with --fail-above, --keep or --reject")
    alignment.check_files([hyp, *ref])
    gate.check(hyp)
    of_links = alignment.settings()
    aligner = alignment.make()
    have = {name for name, given in (("references", ref), ("sources", alignment.src)) if given}
    figures = make_figures(
        have,
        aligner,
        tokenize=alignment.tokens.name,
        lowercase=alignment.lowercase,
        **of_links,
    )
    dataset = Dataset.of_files({source_name(hyp): hyp}, ref, alignment.src)
    if unknown := [name for name in (*above, *below) if name not in figures]:
        raise click.UsageError(
            f"there is no figure {unknown[0]}{suggest(unknown[0], figures)} "
            f"(there are {', '.join(figures)})"
        )
    result = measure(dataset, figures, jobs=jobs, checks=True, progress=True)
    profile = profile_of(result, output.resamples, output.seed)
    printout = (
        present_profile_segments(profile, output)
        if output.sentence_level
        else present_profile(profile)
    )
    show(warn(printout, result.findings, result.unknown_words, strict=strict), output)
    if plot:
        values = {item.figure.key: item.metric.formula(item.statistics) for item in profile.figures}
        varied = {key: v for key, v in values.items() if np.nanmin(v) < np.nanmax(v)}
        means = {i.figure.key: float(i.score) for i in profile.figures if i.score is not None}
        save_histograms(varied or values, plot, means=means)
    if gate.is_given:
        limited = {name: result.segment_scores(name) for name in (*above, *below)}
        wrong = [
            *([v is not None and v > above[name] for v in limited[name]] for name in above),
            *([v is not None and v < below[name] for v in limited[name]] for name in below),
        ]
        gate.apply(dataset, hyp, [any(each) for each in zip(*wrong, strict=True)], limited)
