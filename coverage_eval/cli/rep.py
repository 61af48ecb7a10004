"""``coverage-eval rep``."""

from __future__ import annotations

import click

from coverage_eval.cli.options import (
    FiniteRange,
    Output,
    jobs_option,
    print_score,
    scoring_options,
    tokenize_option,
)
from coverage_eval.metrics.rep import REP
from coverage_eval.text.corpus import read_parallel
from coverage_eval.text.tokenizers import tokenize_rows


@click.command("rep")
@click.argument("hyp")
@click.argument("ref")
@click.option("-n", default=2, show_default=True, type=click.IntRange(1), help="Length of n-grams.")
@click.option("--w1", default=1.0, show_default=True, type=FiniteRange(0), help="Weight λ1.")
@click.option("--w2", default=2.0, show_default=True, type=FiniteRange(0), help="Weight λ2.")
@tokenize_option
@jobs_option
@scoring_options
def command(
    hyp: str, ref: str, n: int, w1: float, w2: float, tokenize: str, jobs: int, output: Output
) -> None:
    """REP-score: words repeated by the hypothesis and not by the reference.

    HYP and REF are text files with one segment a line ('-' reads standard input, .gz is unpacked).
    """
    metric = REP(n=n, w1=w1, w2=w2, tok=tokenize)
    rows = tokenize_rows(read_parallel(hyp, ref), tokenize)
    if output.sentence_level:
        kept = list(rows)
        statistics = metric.stream_statistics(kept, jobs=jobs)
        evidence = ({"repetitions": metric.evidence(*row)} for row in kept)
        print_score(metric, statistics, output, evidence=evidence)
    else:
        print_score(metric, metric.stream_statistics(rows, jobs=jobs), output)
