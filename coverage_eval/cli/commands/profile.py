"""``coverage-eval profile``."""

from __future__ import annotations

import click

from coverage_eval.cli.inputs import AlignmentOptions, alignment_options, corpus_options
from coverage_eval.cli.options import (
    Command,
    ScoreOutput,
    jobs_option,
    references_option,
    scoring_options,
    strict_option,
)
from coverage_eval.cli.output import present_profile, present_profile_segments, show, warn
from coverage_eval.data.dataset import Dataset
from coverage_eval.data.files import Text, source_name
from coverage_eval.metrics.measure import measure
from coverage_eval.metrics.profile import make_figures, profile_of


@click.command("profile", cls=Command)
@corpus_options
@click.argument("hyp")
@references_option
@alignment_options(coverage=False)
@jobs_option
@strict_option
@scoring_options
def command(
    hyp: Text,
    ref: tuple[Text, ...],
    alignment: AlignmentOptions,
    jobs: int,
    strict: bool,
    output: ScoreOutput,
) -> None:
    """Every cheap figure of one output: repetition, length, coverage.

    HYP is a text file with one segment a line ('-' reads standard input, .gz and .zst are
    unpacked), or a column of a table: --from. With the source, the reference, and a model or links
    of any aligner there are more figures.

    \b
    Example:
      coverage-eval profile hyp.txt --src src.txt --ref ref.txt
    """
    if output.errors_only:
        raise click.UsageError("--errors-only is not for profile, whose figures are of many kinds")
    if alignment.src_hyp_align and not alignment.src:
        raise click.UsageError("--src-hyp-align needs --src")
    if alignment.src_ref_align and not (ref and alignment.src_hyp_align):
        raise click.UsageError("--src-ref-align needs --ref and --src-hyp-align")
    alignment.check([hyp, *ref], needs_reference_links=False)
    alignment.check_files([hyp, *ref])
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
    result = measure(dataset, figures, jobs=jobs, checks=True)
    present = present_profile_segments if output.sentence_level else present_profile
    profile = profile_of(result, output.resamples, output.seed)
    show(warn(present(profile), result.findings, result.unknown_words, strict=strict), output)
