"""``coverage-eval drop``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from coverage_eval.alignment.aligner import (
    Triple,
    align_texts,
    cover_texts,
    model_settings,
    obtain_model,
    read_alignments,
    read_script_alignments,
    read_triples,
)
from coverage_eval.cli.aligner_options import (
    fast_align_option,
    symmetrize_option,
    threads_option,
)
from coverage_eval.cli.options import Output, print_score, scoring_options, tokenize_option
from coverage_eval.metrics.drop import DENOMINATORS, DROP, AlignedSegment, AlignmentSettings
from coverage_eval.metrics.soft_drop import SoftDROP
from coverage_eval.metrics.stopwords import StopWords
from coverage_eval.text.corpus import check_source

if TYPE_CHECKING:
    from fast_align_wrapper import FastAlign


class _Inputs(NamedTuple):
    """Texts and where their links come from, as the command line names them."""

    hyp: str
    ref: str
    src: str | None
    model: str | None
    train_src: str | None
    train_tgt: str | None
    save_model: str | None
    src_ref_align: str | None
    src_hyp_align: str | None
    fast_align: str | None
    threads: int | None
    tokenize: str
    symmetrize: str
    sink: bool


def _given_options() -> set[str]:
    """The options that the command line names, by their parameters' names."""
    context = click.get_current_context()
    source = click.core.ParameterSource.COMMANDLINE
    return {name for name in context.params if context.get_parameter_source(name) == source}


def _check(inputs: _Inputs, *, soft: bool, compat: str | None, stopwords: str | None) -> None:
    """Exactly one origin of links, and whatever belongs to it."""
    training = (inputs.train_src, inputs.train_tgt)
    links = (inputs.src_ref_align, inputs.src_hyp_align)
    texts = (inputs.hyp, inputs.ref, inputs.src, stopwords, *training, *links)
    given = _given_options()
    wrong = {
        "give exactly one of: --model M; --train-src F with --train-tgt F; --src-ref-align A with "
        "--src-hyp-align B": (inputs.model is not None) + any(training) + any(links) != 1,
        "--train-src and --train-tgt go together": any(training) and not all(training),
        "--src-ref-align and --src-hyp-align go together": any(links) and not all(links),
        "--src is needed to align the texts": inputs.src is None and not any(links),
        "--soft needs a model: links have no probabilities": soft and any(links),
        "--tokenize does not go with links from files": any(links) and inputs.tokenize != "none",
        "--save-model goes with --train-src": bool(inputs.save_model) and not any(training),
        "--compat is about lines of links; --soft has none": soft and compat is not None,
        "--denominator is not for --soft, which is a share of the coverage by the reference": soft
        and "denominator" in given,
        "--symmetrize is not for --soft, which has the forward model's posteriors": soft
        and "symmetrize" in given,
        "--symmetrize is not for links from files, which are taken as they are": any(links)
        and "symmetrize" in given,
        "'-' (standard input) is named more than once; give all but one as files": texts.count("-")
        > 1,
    }
    for message, applies in wrong.items():
        if applies:
            raise click.UsageError(message)


def _model(inputs: _Inputs) -> FastAlign:
    model = obtain_model(
        inputs.model,
        (inputs.train_src, inputs.train_tgt),
        save_as=inputs.save_model,
        sink=inputs.sink,
        tok=inputs.tokenize,
        fast_align=inputs.fast_align,
        threads=inputs.threads,
    )
    assert model is not None  # _check made sure of it
    return model


def _aligned(
    inputs: _Inputs, compat: str | None
) -> tuple[AlignmentSettings, Iterator[AlignedSegment]]:
    """The links, and what the signature says of them."""
    if inputs.src_ref_align is not None and inputs.src_hyp_align is not None:
        files = (inputs.src_ref_align, inputs.src_hyp_align)
        if compat:
            rows = read_script_alignments(*files, inputs.src, sink=inputs.sink)
        else:
            rows = read_alignments(*files, inputs.ref, inputs.hyp, inputs.src, sink=inputs.sink)
        return AlignmentSettings(sink=inputs.sink), rows
    model = _model(inputs)
    settings = model_settings(
        model, symmetrize=inputs.symmetrize, sink=inputs.sink, tok=inputs.tokenize
    )
    rows = align_texts(model, _triples(inputs), symmetrize=inputs.symmetrize, sink=inputs.sink)
    return settings, rows


def _triples(inputs: _Inputs) -> Iterator[Triple]:
    assert inputs.src is not None
    return read_triples(inputs.src, inputs.ref, inputs.hyp, inputs.tokenize)


def _print_hard(
    inputs: _Inputs, output: Output, stop: StopWords, denominator: str, compat: str | None
) -> None:
    alignment, rows = _aligned(inputs, compat)
    metric = DROP(denominator, stop, compat, alignment)
    if output.sentence_level:
        kept = list(rows)
        evidence = ({"dropped": metric.evidence(row)} for row in kept)
        print_score(metric, metric.stream_statistics(kept), output, evidence=evidence)
    else:
        print_score(metric, metric.stream_statistics(rows), output)


def _print_soft(inputs: _Inputs, output: Output, stop: StopWords) -> None:
    model = _model(inputs)
    metric = SoftDROP(stop, model_settings(model, sink=inputs.sink, tok=inputs.tokenize))
    rows = cover_texts(model, _triples(inputs), sink=inputs.sink)
    if output.sentence_level:
        kept = list(rows)
        evidence = ({"lost": metric.evidence(row)} for row in kept)
        print_score(metric, metric.stream_statistics(kept), output, evidence=evidence)
    else:
        print_score(metric, metric.stream_statistics(rows), output)


@click.command("drop")
@click.argument("hyp")
@click.argument("ref")
@click.option("--src", help="The source text.")
@click.option("--model", help="Align by this model (made by 'align train').")
@click.option("--train-src", help="Train a model on this text's source side.")
@click.option("--train-tgt", help="Its target side.")
@click.option("--save-model", help="Keep the trained model in this file.")
@click.option("--src-ref-align", help="Links of source and reference, a line a segment.")
@click.option("--src-hyp-align", help="Links of source and hypothesis.")
@click.option("--soft", is_flag=True, help="Soft DROP: coverage lost under the model's posteriors.")
@symmetrize_option
@click.option(
    "--denominator",
    default="aligned",
    show_default=True,
    type=click.Choice(DENOMINATORS),
    help="The percentage is of source words aligned with the reference, or of all source words.",
)
@click.option("--stopwords", help="Source words to leave out of account, one a line.")
@click.option("--sink", is_flag=True, help="Append <SINK> to every source; it does not count.")
@click.option(
    "--compat",
    type=click.Choice(["acl2018"]),
    help="Treat empty lines of links as the paper's published script does.",
)
@fast_align_option
@threads_option
@tokenize_option
@scoring_options
def command(
    soft: bool,
    denominator: str,
    stopwords: str | None,
    compat: str | None,
    output: Output,
    **options: Any,
) -> None:
    """DROP-score: source words translated by the reference and not by the hypothesis.

    HYP and REF are text files with one segment a line ('-' reads standard input, .gz is unpacked).
    Reference and hypothesis are aligned with the source by one frozen model (--model, or trained
    on --train-src and --train-tgt), or links are read from files.
    """
    inputs = _Inputs(**options)
    _check(inputs, soft=soft, compat=compat, stopwords=stopwords)
    for source in filter(None, (inputs.src, inputs.ref, inputs.hyp)):
        check_source(source)  # before minutes of training
    stop = StopWords.read(stopwords) if stopwords else StopWords()
    if soft:
        _print_soft(inputs, output, stop)
    else:
        _print_hard(inputs, output, stop, denominator, compat)
