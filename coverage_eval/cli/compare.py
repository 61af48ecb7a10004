"""``coverage-eval compare``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from coverage_eval.alignment import model_settings, train_model
from coverage_eval.cli.aligner_options import (
    fast_align_option,
    symmetrize_option,
    threads_option,
)
from coverage_eval.cli.options import (
    echo,
    format_option,
    jobs_option,
    output_option,
    tokenize_option,
    width_option,
)
from coverage_eval.comparison.systems import Counted, TestSet, count_systems
from coverage_eval.comparison.table import Testing, compare_counted
from coverage_eval.corpus import STDIN, check_source, read_parallel
from coverage_eval.metrics.base import Metric
from coverage_eval.metrics.registry import METRICS, Settings, default_metrics, make_metrics
from coverage_eval.metrics.significance import DEFAULT_RESAMPLES, DEFAULT_SEED, TESTS
from coverage_eval.report.comparison import render_comparison
from coverage_eval.tokenizers import TOKENIZERS

if TYPE_CHECKING:
    from fast_align_wrapper import FastAlign


class _Inputs(NamedTuple):
    """Texts and the model, as the command line names them."""

    systems: dict[str, str]
    ref: str
    src: str | None
    model: str | None
    train_src: str | None
    train_tgt: str | None
    save_model: str | None
    fast_align: str | None
    threads: int | None
    tokenize: str
    symmetrize: str

    @property
    def has_model(self) -> bool:
        """Whether a model is named, or the text to train one on."""
        return self.model is not None or None not in {self.train_src, self.train_tgt}

    @property
    def files(self) -> list[str]:
        """All texts, the reference first, then the outputs, then the source if it is there."""
        return [self.ref, *self.systems.values(), *([] if self.src is None else [self.src])]


def _parse_systems(_: click.Context, __: click.Parameter, values: Sequence[str]) -> dict[str, str]:
    """Outputs by name, from ``NAME=HYP``."""
    systems: dict[str, str] = {}
    for value in values:
        name, equals, path = value.partition("=")
        if not (equals and name and path):
            raise click.BadParameter(f"{value!r} is not of the form NAME=HYP")
        if name in systems:
            raise click.BadParameter(f"the name {name!r} is given twice")
        systems[name] = path
    return systems


def _parse_metrics(_: click.Context, __: click.Parameter, value: str | None) -> list[str] | None:
    if value is None:
        return None
    names = [name.strip() for name in value.split(",")]
    for name in names:
        if name not in METRICS:
            raise click.BadParameter(f"unknown metric {name!r}; one of {', '.join(METRICS)}")
    if len(set(names)) < len(names):
        raise click.BadParameter(f"a metric is named twice in {value!r}")
    return names


def _check(inputs: _Inputs, metrics: Sequence[str] | None, baseline: str | None) -> None:
    training = (inputs.train_src, inputs.train_tgt)
    needy = [name for name in metrics or () if METRICS[name].needs != "text"]
    wrong = {
        f"the baseline {baseline!r} is none of the systems {', '.join(inputs.systems)}": (
            baseline is not None and baseline not in inputs.systems
        ),
        "'-' (standard input) is named more than once": inputs.files.count(STDIN) > 1,
        "--train-src and --train-tgt go together": any(training) and not all(training),
        "give --model or --train-src, not both": inputs.model is not None and any(training),
        "--save-model goes with --train-src": inputs.save_model is not None and not all(training),
        "--src is needed to align the texts": inputs.has_model and inputs.src is None,
        f"metric {' and '.join(needy)} needs --src, and --model or --train-src with --train-tgt": (
            bool(needy) and not (inputs.has_model and inputs.src)
        ),
    }
    for message, applies in wrong.items():
        if applies:
            raise click.UsageError(message)


def _choose(metrics: Sequence[str] | None, *, links: bool) -> tuple[str, ...]:
    if metrics is not None:
        return tuple(metrics)
    names, missing = default_metrics(links=links)
    if missing:
        click.echo(f"coverage-eval: note: no METEOR in the table: {missing}", err=True)
    return names


def _load_model(inputs: _Inputs) -> FastAlign | None:
    if inputs.model is not None:
        from fast_align_wrapper import FastAlign

        return FastAlign.load(inputs.model, fast_align=inputs.fast_align, threads=inputs.threads)
    if inputs.train_src is None or inputs.train_tgt is None:
        return None
    model = train_model(
        inputs.train_src,
        inputs.train_tgt,
        tok=inputs.tokenize,
        fast_align=inputs.fast_align,
        threads=inputs.threads,
        progress=True,
    )
    if inputs.save_model:
        model.save(inputs.save_model)
    return model


def _read(inputs: _Inputs) -> TestSet:
    columns = [list(column) for column in zip(*read_parallel(*inputs.files), strict=True)]
    sources = None if inputs.src is None else columns.pop()
    return TestSet(columns[0], dict(zip(inputs.systems, columns[1:], strict=True)), sources)


def _count(
    inputs: _Inputs, names: Sequence[str], settings: Settings, jobs: int
) -> tuple[Counted, dict[str, Metric]]:
    """All statistics; whatever is missing is said before minutes of training."""
    for source in inputs.files:
        check_source(source)
    of_text = [name for name in names if METRICS[name].needs == "text"]
    metrics = make_metrics(of_text, settings)
    texts = _read(inputs)
    model = _load_model(inputs)
    if model is not None:
        alignment = model_settings(model, symmetrize=inputs.symmetrize, tok=inputs.tokenize)
        metrics |= make_metrics(
            [name for name in names if name not in metrics], replace(settings, alignment=alignment)
        )
    metrics = {name: metrics[name] for name in names}
    return count_systems(texts, metrics, model=model, tok=inputs.tokenize, jobs=jobs), metrics


@click.command("compare")
@click.argument("systems", nargs=-1, required=True, metavar="NAME=HYP...", callback=_parse_systems)
@click.option("--ref", required=True, help="The reference translation.")
@click.option("--src", help="The source text.")
@click.option("--model", help="Align by this model (made by 'align train').")
@click.option("--train-src", help="Train a model on this text's source side.")
@click.option("--train-tgt", help="Its target side.")
@click.option("--save-model", help="Keep the trained model in this file.")
@click.option(
    "--metrics", metavar="LIST", callback=_parse_metrics,
    help=f"Columns, separated by commas, of: {', '.join(METRICS)}.  "
    "[default: bleu,meteor,rep, and drop if there is a model]",
)  # fmt: skip
@click.option("--baseline", metavar="NAME", help="Test against this one.  [default: the first]")
@click.option(
    "--test", default="bootstrap", show_default=True, type=click.Choice(TESTS),
    help="Paired bootstrap, or approximate randomisation.",
)  # fmt: skip
@click.option(
    "--resamples", default=DEFAULT_RESAMPLES, show_default=True, type=click.IntRange(0),
    help="Resamples of intervals and tests; 0 for none of them.",
)  # fmt: skip
@click.option(
    "--seed", default=DEFAULT_SEED, show_default=True, type=click.IntRange(0),
    help="Seed of the resampling.",
)  # fmt: skip
@symmetrize_option
@fast_align_option
@threads_option
@tokenize_option
@click.option(
    "--bleu-tokenize", default="13a", show_default=True, type=click.Choice(TOKENIZERS),
    help="sacreBLEU's tokeniser for BLEU, which, like chrF and METEOR, reads untouched text.",
)  # fmt: skip
@click.option("--meteor-norm", is_flag=True, help="Let METEOR tokenise, normalise and lowercase.")
@jobs_option
@format_option
@width_option
@output_option
def command(
    metrics: list[str] | None,
    baseline: str | None,
    test: str,
    resamples: int,
    seed: int,
    bleu_tokenize: str,
    meteor_norm: bool,
    jobs: int,
    output_format: str,
    width: int,
    output: str | None,
    **options: Any,
) -> None:
    """Compare systems: scores, intervals and paired tests in one table.

    Each NAME=HYP is a system's name and its output, a text file with one segment a line ('-' reads
    standard input, .gz is unpacked). The table has a row for each system and a column for each
    metric, as Table 1 of the paper.
    """
    inputs = _Inputs(**options)
    _check(inputs, metrics, baseline)
    names = _choose(metrics, links=inputs.has_model)
    settings = Settings(inputs.tokenize, bleu_tokenize, meteor_norm)
    counted, chosen = _count(inputs, names, settings, jobs)
    comparison = compare_counted(
        counted, chosen, baseline=baseline, testing=Testing(test, resamples, seed)
    )
    echo(render_comparison(comparison, output_format, width=width), output)
