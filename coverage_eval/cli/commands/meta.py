"""``coverage-eval meta``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

import click

from coverage_eval.cli.help import option
from coverage_eval.cli.link_options import AlignmentOptions, alignment_options
from coverage_eval.cli.messages import say
from coverage_eval.cli.options import (
    Command,
    FiniteRange,
    Output,
    OutputFolder,
    PictureFile,
    WholeRange,
    add_options,
    given_options,
    listed_options,
    options_as,
    output_options,
    parse_list,
    parse_score_files,
    strict_option,
)
from coverage_eval.cli.output import echo_findings, show
from coverage_eval.cli.unaligned import UNALIGNED_OPTIONS, document_settings
from coverage_eval.data.dataset import Dataset
from coverage_eval.data.files import check_readable_again, check_source, source_name
from coverage_eval.data.tokenizers import Tokenizer
from coverage_eval.errors import DataError
from coverage_eval.metrics.evaluation import Evaluation
from coverage_eval.metrics.omission_training import add_omission_data
from coverage_eval.metrics.text_checks import check_inputs
from coverage_eval.plotting.saving import save_figure
from coverage_eval.testbed.computed_scores import COMPUTED, default_scores, make_scores
from coverage_eval.testbed.injected_texts import DEFAULT_RATES, InjectionPlan, evaluate_own_text
from coverage_eval.testbed.injection import HIGHEST_RATE, KINDS, REPAIRS, whole_words
from coverage_eval.testbed.labels import LABEL_FORMATS, read_labels, write_texts
from coverage_eval.testbed.meta_evaluation import MetaEvaluation, MetaSettings, evaluate_labelled
from coverage_eval.testbed.meta_tables import draw_meta, present_kinds, present_meta
from coverage_eval.testbed.score_files import choose_columns, common_tokenizer, read_scores

_OF_LABELS = {"scores", "label_format", "system", "texts", "hyp", "columns", "flip"}
_OF_INJECTION = {"peers", "metrics", "rates", "repair", "injection_seed"}
_OF_LABELS_TOO = {"src", "tokenize", "lowercase"}
"""Options of an aligner that labels can use."""


@click.command("meta", cls=Command)
@click.argument("scores", nargs=-1, metavar="[[NAME=]SCORES...]", callback=parse_score_files)
@option("--labels", metavar="FILE", help="Read the labels of known errors from this file.")
@option(
    "--inject", metavar="FILE",
    help="Put errors into this text, which must be correct translations, and score it.",
)  # fmt: skip
@option(
    "--kind", "kinds", multiple=True, metavar="KIND",
    help="Evaluate this kind of error. With --labels, 'any' is all kinds, with MQM's weights. With "
    f"--inject, one or more of {', '.join(KINDS)}.  [default: omission; with --inject, all]",
)  # fmt: skip
@option(
    "--labels-format", "label_format", type=click.Choice(list(LABEL_FORMATS)),
    help="Format of the labels.  [default: by their first line]",
)  # fmt: skip
@option(
    "--system", metavar="NAME",
    help="Evaluate only this system; in HalOmi, a pair such as deu_Latn-eng_Latn.",
)  # fmt: skip
@option(
    "--texts", metavar="FOLDER", type=OutputFolder("src.txt", "hyp.txt", "labels.tsv"),
    help="Only write the texts of the labels there, for scoring: src.txt, hyp.txt, and labels.tsv "
    "to match.",
)  # fmt: skip
@option(
    "-i",
    "--hyp",
    metavar="FILE",
    help="Read the labelled translations from this file, for baselines.",
)
@option("-r", "--ref", metavar="FILE", help="Read the reference from this file.")
@option(
    "--peer", "peers", multiple=True, metavar="FILE",
    help="With --inject, use this other system's output to see what can be translated; "
    "give it once for each system.",
)  # fmt: skip
@option(
    "--columns", metavar="LIST", callback=parse_list("column", ()),
    help="Evaluate these columns of SCORES, separated by commas.  [default: all]",
)  # fmt: skip
@option(
    "--flip", metavar="LIST", callback=parse_list("column", ()),
    help="Reverse the direction of these columns: low values point at errors instead of high "
    "values, or high values instead of low.",
)  # fmt: skip
@option(
    "-m", "--metrics", metavar="LIST", callback=parse_list("score", COMPUTED), names=COMPUTED,
    help=f"With --inject, compute these scores, separated by commas, of: {', '.join(COMPUTED)}.  "
    "[default: those that the texts allow]",
)  # fmt: skip
@option(
    "--rate", "rates", multiple=True, type=FiniteRange(0, HIGHEST_RATE),
    help="With --inject, make an output with errors in this share of the words; give it once for "
    f"each output.  [default: {', '.join(map(str, DEFAULT_RATES))}]",
)  # fmt: skip
@option(
    "--repair", default="none", type=click.Choice(REPAIRS),
    help="With --inject, replace omitted words by function words (filler) or words of another "
    "segment (detached).",
)  # fmt: skip
@option("--injection-seed", default=0, type=WholeRange(0),
        help="With --inject, seed of the errors.")  # fmt: skip
@options_as("how", MetaSettings)
@option(
    "--plot", metavar="FILE", type=PictureFile(),
    help="Draw ROC, precision-recall and reliability curves: .png, .svg or .pdf.",
)  # fmt: skip
@partial(add_options, options=UNALIGNED_OPTIONS)
@alignment_options()
@strict_option
@output_options(width=3)
def command(
    labels: str | None,
    inject: str | None,
    how: MetaSettings,
    plot: str | None,
    output: Output,
    **options: Any,
) -> None:
    """Measure which errors each score finds, among marked or planted errors.

    With --labels, SCORES are files of segment scores: CSV with a column "segment" (and "system" if
    there are several), JSON as commands print it with --sentence-level, --details of 'compare', or
    .seg.score of the WMT metrics task. Only JSON tells which words a score points at. Labels are a
    TSV file with the columns segment and label (and system, source, words, raters), an MQM file or
    human scores of WMT, HalOmi, or the gold file of 'inject'.

    With --inject, errors of every kind are put into a text of correct translations, such as a
    reference, and this package's scores of it are computed and evaluated.

    \b
    Example:
      coverage-eval drop hyp.txt ref.txt --src src.txt --model m --sentence-level -f csv -o drop.csv
      coverage-eval meta --labels labels.tsv drop.csv --src src.txt --hyp hyp.txt --ref ref.txt
      coverage-eval meta --inject hyp.txt --ref ref.txt --src src.txt --model m
    """
    _check_mode(
        labels, inject, options["kinds"], plotted=plot is not None, unaligned=options["unaligned"]
    )
    if labels is None:
        evaluations = _evaluate_injected(str(inject), how, **options)
    else:
        evaluations = _evaluate_labels(labels, how, **options)
    if not evaluations:  # texts were written instead
        return
    (kind, first), *others = evaluations.items()
    show(present_kinds(evaluations) if others else present_meta(first, kind), output)
    if plot:
        save_figure(draw_meta(first), plot)


def _check_mode(
    labels: str | None,
    inject: str | None,
    kinds: Sequence[str],
    *,
    plotted: bool,
    unaligned: bool,
) -> None:
    """Raise a usage error for options that do not go with --labels, or with --inject."""
    if (labels is None) == (inject is None):
        raise click.UsageError("give one of --labels and --inject")
    if unaligned and inject is None:
        raise click.UsageError(
            "--labels are of lines: score with --unaligned, and give as --hyp what 'coverage-eval "
            "segment HYP --src SRC --model M -o FILE' writes"
        )
    of_models = {item.name for item in fields(AlignmentOptions)} - _OF_LABELS_TOO
    others = _OF_LABELS if labels is None else _OF_INJECTION | of_models
    if wrong := sorted(given_options() & others):
        name = "SCORES" if "scores" in wrong else listed_options(wrong[:1])
        raise click.UsageError(f"{name} is not for {'--inject' if labels is None else '--labels'}")
    if labels is not None and len(kinds) > 1:
        raise click.UsageError("--labels takes one --kind at a time")
    if plotted and inject is not None and len(set(kinds)) != 1:
        raise click.UsageError("--plot draws one kind of error: give one --kind")
    unknown = [kind for kind in kinds if inject is not None and kind not in KINDS]
    if unknown:
        raise click.UsageError(f"unknown kind {unknown[0]!r}; one of {', '.join(KINDS)}")


def _evaluate_labels(
    labels: str,
    how: MetaSettings,
    *,
    kinds: Sequence[str],
    label_format: str | None,
    system: str | None,
    texts: str | None,
    scores: Mapping[str, str],
    hyp: str | None,
    ref: str | None,
    columns: list[str] | None,
    flip: list[str] | None,
    alignment: AlignmentOptions,
    **_: Any,
) -> dict[str, MetaEvaluation]:
    """Evaluate files of scores against labels of one kind of error, or write the labels' texts."""
    kind = kinds[0] if kinds else "omission"
    if texts is None:
        if hyp is not None and alignment.src is None and ref is None:
            raise click.UsageError("--hyp is for baselines, which need --src or --ref")
        check_source(labels, *scores.values(), alignment.src, hyp, ref)
        again = [text for text in (alignment.src, ref) if text is not None]
        check_readable_again(labels, *scores.values(), *again)
    found = [
        column
        for name, file in scores.items()
        for column in read_scores(file, None if name == Path(file).name else name)
    ]
    tokens = alignment.tokens
    if not given_options() & {"tokenize", "lowercase"}:
        tokens = common_tokenizer(found) or tokens
    judged = read_labels(labels, kind, tokens, label_format)
    if system is not None:
        judged = judged.of_system(system)
    if texts is not None:
        write_texts(judged, Path(texts))
        return {}
    evaluation = evaluate_labelled(
        judged,
        choose_columns(found, columns, flip or ()),
        kind,
        source=alignment.src,
        hypothesis=hyp,
        reference=ref,
        tokens=tokens,
        settings=how,
    )
    return {kind: evaluation}


def _evaluate_injected(
    text: str,
    how: MetaSettings,
    *,
    kinds: Sequence[str],
    metrics: Sequence[str] | None,
    rates: Sequence[float],
    repair: str,
    injection_seed: int,
    ref: str | None,
    peers: tuple[str, ...],
    alignment: AlignmentOptions,
    strict: bool,
    unaligned: bool,
    boundaries: str,
    **_: Any,
) -> dict[str, MetaEvaluation]:
    """Inject errors of each kind into a text, and evaluate scores by kind of error.

    Without ``--kind``, a kind that does not fit the text only gets a note.
    """
    if alignment.src is None:
        raise click.UsageError("--inject needs --src")
    refs = [] if ref is None else [ref]
    alignment.check([text, *refs, *peers], needs_reference_links=False)
    if alignment.is_taken:
        raise click.UsageError("--inject makes new texts, which have no links: give a model")
    alignment.check_files([text, *refs, *peers])
    aligner = alignment.make(add_omission_data)
    names = list(metrics or default_scores(aligner, peers=bool(peers)))
    try:
        computed = make_scores(names, aligner, alignment.settings())
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    documents = document_settings(
        {"ref": ref, **vars(alignment), "unaligned": unaligned, "boundaries": boundaries}
    )
    given = Dataset.of_files({source_name(text): text}, refs, alignment.src, peers)
    dataset = Evaluation(given, aligner, documents=documents).dataset
    rows = list(dataset.rows())
    tokens = whole_words(aligner.tokens) if aligner else Tokenizer()
    echo_findings(check_inputs(dataset, tokens=tokens, aligner=aligner)[0], strict=strict)
    if ref is None:
        say(
            "without --ref, the text itself is the reference, so scores that use a reference see "
            "every error and nothing else",
            "note",
        )
    chosen_rates = tuple(dict.fromkeys(rates)) or DEFAULT_RATES
    found, reasons = {}, []
    for kind in kinds or KINDS:
        if kind == "untranslated" and not kinds and aligner is None:
            continue
        plan = InjectionPlan(kind, chosen_rates, repair, injection_seed)
        try:
            found[kind] = evaluate_own_text(rows, plan, computed, aligner, how)
        except DataError as error:
            if kinds:
                raise
            reasons.append(f"{kind}: {error}")
            say(f"no {reasons[-1]}", "note")
    if not found:
        raise DataError(f"no kind of error can be put into {source_name(text)}: {reasons[0]}")
    return found
