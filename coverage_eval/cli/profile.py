"""``coverage-eval profile``."""

from __future__ import annotations

import click

from coverage_eval.cli.options import Output, jobs_option, scoring_options, tokenize_option
from coverage_eval.cli.output import show
from coverage_eval.metrics.profile.inputs import read_profile_rows
from coverage_eval.metrics.profile.profile import profile_rows
from coverage_eval.report.profile import present_profile, present_profile_segments


@click.command("profile")
@click.argument("hyp")
@click.option("--src", help="The source text.")
@click.option("--ref", help="The reference translation.")
@click.option("--src-hyp-align", help="Links of source and HYP, as 0-0 1-2; needs --src.")
@click.option(
    "--src-ref-align", help="Links of source and reference; needs --ref and --src-hyp-align."
)
@tokenize_option
@jobs_option
@scoring_options
def command(
    hyp: str,
    src: str | None,
    ref: str | None,
    src_hyp_align: str | None,
    src_ref_align: str | None,
    tokenize: str,
    jobs: int,
    output: Output,
) -> None:
    """Every cheap figure of one output: repetition, length, coverage.

    HYP is a text file with one segment a line ('-' reads standard input, .gz is unpacked). With the
    source, the reference and word alignments there are more figures.
    """
    if src_hyp_align and not src:
        raise click.UsageError("--src-hyp-align needs --src")
    if src_ref_align and not (ref and src_hyp_align):
        raise click.UsageError("--src-ref-align needs --ref and --src-hyp-align")
    given = {"hypotheses": hyp, "sources": src, "references": ref}
    given |= {"hypothesis_links": src_hyp_align, "reference_links": src_ref_align}
    files = {name: file for name, file in given.items() if file}
    rows = read_profile_rows(files, tokenizer=tokenize)
    confidence = (output.bootstrap, output.seed) if output.confidence else None
    result = profile_rows(tuple(files), rows, jobs=jobs, tok=tokenize, confidence=confidence)
    present = present_profile_segments if output.sentence_level else present_profile
    show(present(result), output)
