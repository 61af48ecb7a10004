"""``coverage-eval compare``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from coverage_eval.cli.aligner_options import (
    fast_align_option,
    symmetrize_option,
    threads_option,
)
from coverage_eval.cli.options import jobs_option, tokenize_option
from coverage_eval.cli.output import Output, output_options, show
from coverage_eval.cli.system_inputs import (
    SystemInputs,
    check_inputs,
    choose_metrics,
    count_inputs,
    parse_list,
    parse_systems,
)
from coverage_eval.comparison.breakdown import BREAKDOWNS, DEFAULT_TOP, Options, break_down
from coverage_eval.comparison.buckets import read_frequencies
from coverage_eval.comparison.details import write_details
from coverage_eval.comparison.table import Comparison, Testing, compare_counted
from coverage_eval.metrics.registry import METRICS, Settings
from coverage_eval.metrics.significance import DEFAULT_RESAMPLES, DEFAULT_SEED, TESTS
from coverage_eval.metrics.stopwords import StopWords
from coverage_eval.report.comparison import present_comparison
from coverage_eval.tables import Table
from coverage_eval.text.corpus import check_source
from coverage_eval.text.files import atomic_write
from coverage_eval.text.tokenizers import TOKENIZERS

STDOUT = "-"


class _Breakdowns:
    """The breakdowns asked for, checked before any file is read."""

    def __init__(
        self, asked: Sequence[str] | None, top: int, frequencies: str | None, inputs: SystemInputs
    ) -> None:
        self._asked = [] if asked is None else asked
        self._top = top
        self._file = frequencies or inputs.train_src
        self._tok = inputs.tokenize
        self._has_source = inputs.src is not None

    def check(self, metrics: Sequence[str], output: Output) -> None:
        """Raise a usage error if a breakdown cannot be made."""
        if self._asked:
            output.require_several("--breakdown")
        for name in self._asked:
            item = BREAKDOWNS.get(name)
            if item and item.needs and item.needs.name.lower() not in metrics:
                raise click.UsageError(f"--breakdown {name} needs metric {item.needs.name.lower()}")
            if item and item.needs_source and not self._has_source:
                raise click.UsageError(f"--breakdown {name} needs --src")
        if self._asked and self._file:
            check_source(self._file)

    def make(self, comparison: Comparison) -> list[Table]:
        """The tables."""
        if not self._asked:
            return []
        names = None if "all" in self._asked else self._asked
        counts = read_frequencies(self._file, self._tok) if self._file else None
        return break_down(comparison, names, Options(self._top, counts))


@click.command("compare")
@click.argument("systems", nargs=-1, required=True, metavar="NAME=HYP...", callback=parse_systems)
@click.option("--ref", required=True, help="The reference translation.")
@click.option("--src", help="The source text.")
@click.option("--model", help="Align by this model (made by 'align train').")
@click.option("--train-src", help="Train a model on this text's source side.")
@click.option("--train-tgt", help="Its target side.")
@click.option("--save-model", help="Keep the trained model in this file.")
@click.option(
    "--metrics", metavar="LIST", callback=parse_list("metric", METRICS),
    help=f"Columns, separated by commas, of: {', '.join(METRICS)}.  "
    "[default: bleu,meteor,rep, and drop if there is a model]",
)  # fmt: skip
@click.option("--baseline", metavar="NAME", help="Test against this one.  [default: the first]")
@click.option(
    "--test", default="randomization", show_default=True, type=click.Choice(TESTS),
    help="Approximate randomisation, or sacreBLEU's paired bootstrap, which finds more differences "
    "than there are (some 10 % false ones at p < 0.05).",
)  # fmt: skip
@click.option(
    "--resamples", default=DEFAULT_RESAMPLES, show_default=True, type=click.IntRange(0),
    help="Resamples of intervals and tests; 0 for none of them.",
)  # fmt: skip
@click.option(
    "--seed", default=DEFAULT_SEED, show_default=True, type=click.IntRange(0),
    help="Seed of the resampling.",
)  # fmt: skip
@click.option(
    "--breakdown", metavar="LIST", callback=parse_list("breakdown", ("all", *BREAKDOWNS)),
    help=f"Further tables, separated by commas, of: all, {', '.join(BREAKDOWNS)}.",
)  # fmt: skip
@click.option(
    "--top", default=DEFAULT_TOP, show_default=True, type=click.IntRange(1),
    help="Words, n-grams or segments in each list of a breakdown.",
)  # fmt: skip
@click.option(
    "--frequencies", metavar="FILE",
    help="Text to count source words in, for their frequency classes.  "
    "[default: --train-src, or else --src]",
)  # fmt: skip
@click.option(
    "--details", metavar="FILE", type=click.Path(),
    help="Write all evidence there, one segment of one system a line (JSON Lines).",
)  # fmt: skip
@symmetrize_option
@click.option("--stopwords", help="Source words for DROP to leave out of account, one a line.")
@click.option("--sink", is_flag=True, help="Append <SINK> to every source; it does not count.")
@fast_align_option
@threads_option
@tokenize_option
@click.option(
    "--bleu-tokenize", default="13a", show_default=True, type=click.Choice(TOKENIZERS),
    help="sacreBLEU's tokeniser for BLEU, which, like chrF and METEOR, reads untouched text.",
)  # fmt: skip
@click.option("--meteor-norm", is_flag=True, help="Let METEOR tokenise, normalise and lowercase.")
@jobs_option
@output_options
def command(
    metrics: list[str] | None,
    baseline: str | None,
    test: str,
    resamples: int,
    seed: int,
    breakdown: list[str] | None,
    top: int,
    frequencies: str | None,
    details: str | None,
    bleu_tokenize: str,
    meteor_norm: bool,
    jobs: int,
    output: Output,
    **options: Any,
) -> None:
    """Compare systems: scores, intervals and paired tests in one table.

    Each NAME=HYP is a system's name and its output, a text file with one segment a line ('-' reads
    standard input, .gz is unpacked). The table has a row for each system and a column for each
    metric, as Table 1 of the paper.

    The p-values of BLEU and chrF are those of sacreBLEU's own paired tests for the same seed and
    number of resamples.
    """
    inputs = SystemInputs(**options)
    if details == STDOUT:
        raise click.UsageError("--details writes a file: standard output has the table")
    check_inputs(inputs, metrics, baseline)
    names = choose_metrics(metrics, links=inputs.has_model)
    breakdowns = _Breakdowns(breakdown, top, frequencies, inputs)
    breakdowns.check(names, output)
    stop = StopWords.read(inputs.stopwords) if inputs.stopwords else StopWords()
    settings = Settings(inputs.tokenize, bleu_tokenize, meteor_norm, stopwords=stop)
    counted, chosen = count_inputs(inputs, names, settings, jobs)
    testing = Testing(test, resamples, seed)
    comparison = compare_counted(counted, chosen, baseline=baseline, testing=testing)
    show(present_comparison(comparison, breakdowns.make(comparison)), output)
    if details:
        with atomic_write(details) as file:
            write_details(comparison, file)
