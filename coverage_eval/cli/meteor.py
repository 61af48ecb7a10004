"""``coverage-eval meteor``."""

from __future__ import annotations

from functools import partial

import click

from coverage_eval.cli.options import Output, jobs_option, print_score, scoring_options
from coverage_eval.metrics.base import TextMetric
from coverage_eval.metrics.meteor.metric import BACKENDS, METEOR, VARIANTS
from coverage_eval.metrics.meteor.nltk_variant import NLTKMeteor
from coverage_eval.text.corpus import read_parallel


@click.command("meteor")
@click.argument("hyp")
@click.argument("ref")
@click.option(
    "--variant", default="full", show_default=True, type=click.Choice([*VARIANTS, "nltk"]),
    help="METEOR 1.5 with all of its matchers or only two, or NLTK's METEOR (another metric).",
)  # fmt: skip
@click.option("--norm", is_flag=True, help="Tokenise, normalise punctuation and lowercase.")
@click.option("--lower", is_flag=True, help="Lowercase both sides.")
@click.option(
    "--backend", default="python", show_default=True, type=click.Choice(BACKENDS),
    help="java runs Meteor's own program, as a cross-check.",
)  # fmt: skip
@jobs_option
@partial(scoring_options, width=4)
def command(
    hyp: str,
    ref: str,
    variant: str,
    norm: bool,
    lower: bool,
    backend: str,
    jobs: int,
    output: Output,
) -> None:
    """METEOR 1.5 for English, without Java.

    The score goes from 0 to 1.

    HYP and REF are text files with one segment a line ('-' reads standard input, .gz is unpacked).
    """
    metric = _metric(variant, norm=norm, lower=lower, backend=backend)
    # A missing extra is said now, not after minutes of counting.
    metric.signature()
    if output.sentence_level and isinstance(metric, METEOR):
        rows = list(read_parallel(hyp, ref))
        statistics = metric.stream_statistics(rows, jobs=jobs)
        evidence = metric.evidence_columns(rows, statistics)
        print_score(metric, statistics, output, evidence=evidence)
    else:
        statistics = metric.stream_statistics(read_parallel(hyp, ref), jobs=jobs)
        print_score(metric, statistics, output)


def _metric(variant: str, *, norm: bool, lower: bool, backend: str) -> TextMetric:
    if variant != "nltk":
        return METEOR(variant=variant, norm=norm, lower=lower, backend=backend)
    if norm or lower or backend == "java":
        raise click.UsageError("--variant nltk takes neither --norm nor --lower nor --backend java")
    return NLTKMeteor()
