"""``coverage-eval profile``."""

from __future__ import annotations

from typing import Any

import click

from coverage_eval.cli.alignment_options import AlignmentOptions, alignment_options
from coverage_eval.cli.corpus_options import corpus_options
from coverage_eval.cli.options import jobs_option, references_option, strict_option
from coverage_eval.cli.overwriting import Command
from coverage_eval.cli.score_output import ScoreOutput, scoring_options
from coverage_eval.cli.sharding import Sharding, shard_option
from coverage_eval.cli.warnings import InputWatch
from coverage_eval.metrics.profile.profile import (
    count_figures,
    make_figures,
    profile_counted,
)
from coverage_eval.report.profile import present_profile, present_profile_segments
from coverage_eval.scale.results import Results
from coverage_eval.tables.table import Printable
from coverage_eval.text.corpus import Text, source_name


@click.command("profile", cls=Command)
@corpus_options
@click.argument("hyp")
@references_option
@alignment_options()
@jobs_option
@strict_option
@shard_option
@scoring_options
def command(
    hyp: Text,
    ref: tuple[Text, ...],
    alignment: AlignmentOptions,
    jobs: int,
    strict: bool,
    sharding: Sharding,
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
    sharding.check(output)
    alignment.check_files([hyp, *ref])
    sharding.check_target(output)
    of_links = alignment.settings()
    watch = InputWatch({source_name(hyp): hyp}, ref, alignment.src)
    aligner = sharding.make_aligner(alignment)
    have = {name for name, given in (("references", ref), ("sources", alignment.src)) if given}
    figures = make_figures(
        have,
        aligner,
        tokenize=alignment.tokens.name,
        lowercase=alignment.lowercase,
        **of_links,
    )
    rows = sharding.take(watch.rows())
    blocks = count_figures(figures, rows, aligner, jobs=jobs)
    results = Results(
        figures,
        {name: block[None] for name, block in zip(figures, blocks, strict=True)},
        {},
        {"references": len(ref), **output.of_score},
        *watch.check(aligner.tokens if aligner else alignment.tokens, aligner),
    )
    sharding.finish("profile", results, present, output, strict=strict)


def present(results: Results) -> Printable:
    """The corpus figures, or those of each segment."""
    references, output = results.facts["references"], ScoreOutput.of(results.facts)
    figures: Any = results.formulas
    blocks = [block for (block,) in results.statistics.values()]
    profile = profile_counted(figures, blocks, references, output.resamples, output.seed)
    return (present_profile_segments if output.sentence_level else present_profile)(profile)
