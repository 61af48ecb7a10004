"""What ``coverage-eval compare`` reads: outputs by name, a reference, a source, a model."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import click

from coverage_eval.alignment.aligner import model_settings, obtain_model
from coverage_eval.comparison.systems import Counted, TestSet, count_systems
from coverage_eval.metrics.base import Metric
from coverage_eval.metrics.registry import METRICS, Settings, default_metrics, make_metrics
from coverage_eval.text.corpus import STDIN, check_source, read_parallel
from coverage_eval.text.tokenizers import get_tokenizer

if TYPE_CHECKING:
    from fast_align_wrapper import FastAlign

__all__ = [
    "SystemInputs",
    "check_inputs",
    "choose_metrics",
    "count_inputs",
    "parse_list",
    "parse_systems",
]


class SystemInputs(NamedTuple):
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
    stopwords: str | None
    sink: bool

    @property
    def has_model(self) -> bool:
        """Whether a model is named, or the text to train one on."""
        return self.model is not None or None not in {self.train_src, self.train_tgt}

    @property
    def files(self) -> list[str]:
        """All texts, the reference first, then the outputs, then the source if it is there."""
        return [self.ref, *self.systems.values(), *([] if self.src is None else [self.src])]


def parse_systems(_: click.Context, __: click.Parameter, values: Sequence[str]) -> dict[str, str]:
    """Outputs by name, from ``NAME=HYP``."""
    systems: dict[str, str] = {}
    for value in values:
        name, equals, path = value.partition("=")
        if not (equals and name and path):
            raise click.BadParameter(f"{value!r} is not of the form NAME=HYP")
        if not name.isprintable():
            raise click.BadParameter(f"the name {name!r} has characters that cannot be printed")
        if name in systems:
            raise click.BadParameter(f"the name {name!r} is given twice")
        systems[name] = path
    return systems


def parse_list(what: str, known: Collection[str]) -> Callable[..., list[str] | None]:
    """A callback for names separated by commas."""

    def parse(_: click.Context, __: click.Parameter, value: str | None) -> list[str] | None:
        if value is None:
            return None
        names = [name.strip() for name in value.split(",")]
        for name in names:
            if name not in known:
                raise click.BadParameter(f"unknown {what} {name!r}; one of {', '.join(known)}")
        if len(set(names)) < len(names):
            raise click.BadParameter(f"a {what} is named twice in {value!r}")
        return names

    return parse


def check_inputs(inputs: SystemInputs, metrics: Sequence[str] | None, baseline: str | None) -> None:
    """Everything that is wrong with the command line before any file is read.

    Raises:
        click.UsageError: The first of them.
    """
    training = (inputs.train_src, inputs.train_tgt)
    texts = [*inputs.files, inputs.stopwords]
    needy = [name for name in metrics or () if METRICS[name].needs != "text"]
    wrong = {
        f"the baseline {baseline!r} is none of the systems {', '.join(inputs.systems)}": (
            baseline is not None and baseline not in inputs.systems
        ),
        "'-' (standard input) is named more than once": texts.count(STDIN) > 1,
        "--train-src and --train-tgt go together": any(training) and not all(training),
        "give --model or --train-src, not both": inputs.model is not None and any(training),
        "--save-model goes with --train-src": inputs.save_model is not None and not all(training),
        "--src is needed to align the texts": inputs.has_model and inputs.src is None,
        "--sink and --stopwords are for drop and softdrop, which need a model": not inputs.has_model
        and (inputs.sink or inputs.stopwords is not None),
        f"metric {' and '.join(needy)} needs --src, and --model or --train-src with --train-tgt": (
            bool(needy) and not (inputs.has_model and inputs.src)
        ),
    }
    for message, applies in wrong.items():
        if applies:
            raise click.UsageError(message)


def choose_metrics(metrics: Sequence[str] | None, *, links: bool) -> tuple[str, ...]:
    """The columns asked for, or those of Table 1 as far as they can be had."""
    if metrics is not None:
        return tuple(metrics)
    names, missing = default_metrics(links=links)
    if missing:
        click.echo(f"coverage-eval: note: no METEOR in the table: {missing}", err=True)
    return names


def _load_model(inputs: SystemInputs) -> FastAlign | None:
    return obtain_model(
        inputs.model,
        (inputs.train_src, inputs.train_tgt),
        save_as=inputs.save_model,
        sink=inputs.sink,
        tok=inputs.tokenize,
        fast_align=inputs.fast_align,
        threads=inputs.threads,
    )


def _read(inputs: SystemInputs) -> TestSet:
    columns = [list(column) for column in zip(*read_parallel(*inputs.files), strict=True)]
    sources = None if inputs.src is None else columns.pop()
    return TestSet(columns[0], dict(zip(inputs.systems, columns[1:], strict=True)), sources)


def count_inputs(
    inputs: SystemInputs, names: Sequence[str], settings: Settings, jobs: int
) -> tuple[Counted, dict[str, Metric]]:
    """All statistics, and the metrics they belong to.

    Whatever is missing is said before minutes of training.
    """
    for source in inputs.files:
        check_source(source)
    get_tokenizer(inputs.tokenize)
    of_text = [name for name in names if METRICS[name].needs == "text"]
    metrics = make_metrics(of_text, settings)
    texts = _read(inputs)
    if len(of_text) == len(names) and inputs.save_model is None:
        return count_systems(texts, metrics, tok=inputs.tokenize, jobs=jobs), metrics
    model = _load_model(inputs)
    if model is not None:
        alignment = model_settings(
            model, symmetrize=inputs.symmetrize, sink=inputs.sink, tok=inputs.tokenize
        )
        metrics |= make_metrics(
            [name for name in names if name not in metrics], replace(settings, alignment=alignment)
        )
    metrics = {name: metrics[name] for name in names}
    return count_systems(texts, metrics, model=model, tok=inputs.tokenize, jobs=jobs), metrics
