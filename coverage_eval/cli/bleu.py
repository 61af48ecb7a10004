"""``coverage-eval bleu``."""

from __future__ import annotations

import click

from coverage_eval.cli.options import Output, jobs_option, print_score, scoring_options
from coverage_eval.metrics.bleu import BLEU
from coverage_eval.text.corpus import read_parallel
from coverage_eval.text.tokenizers import TOKENIZERS, get_tokenizer


@click.command("bleu")
@click.argument("hyp")
@click.argument("ref")
@click.option(
    "--tokenize", type=click.Choice(TOKENIZERS), help="sacreBLEU's tokeniser.  [default: 13a]"
)
@click.option("--lowercase", is_flag=True, help="Lowercase both sides.")
@click.option(
    "--compat", type=click.Choice(["acl2018"]),
    help="The figure of the paper's script: multi-bleu, lowercased, untokenised, unsmoothed.",
)  # fmt: skip
@jobs_option
@scoring_options
def command(
    hyp: str,
    ref: str,
    tokenize: str | None,
    lowercase: bool,
    compat: str | None,
    jobs: int,
    output: Output,
) -> None:
    """BLEU, by sacreBLEU.

    HYP and REF are text files with one segment a line ('-' reads standard input, .gz is unpacked).
    """
    if compat and (tokenize or lowercase):
        raise click.UsageError("--compat acl2018 sets --tokenize and --lowercase itself")
    get_tokenizer(tokenize or "none")
    metric = BLEU.acl2018() if compat else BLEU(tokenize=tokenize or "13a", lowercase=lowercase)
    print_score(metric, metric.stream_statistics(read_parallel(hyp, ref), jobs=jobs), output)
