"""``coverage-eval meta``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

import click

from coverage_eval.cli.link_options import AlignmentOptions, alignment_options
from coverage_eval.cli.messages import say
from coverage_eval.cli.options import (
    Command,
    FiniteRange,
    Output,
    OutputFolder,
    add_options,
    given_options,
    listed_options,
    options_as,
    output_options,
    parse_list,
    parse_score_files,
    refuse,
    strict_option,
)
from coverage_eval.cli.output import echo_findings, show
from coverage_eval.cli.unaligned import UNALIGNED_OPTIONS, document_settings
from coverage_eval.data.dataset import Dataset
from coverage_eval.data.documents import DocumentSettings
from coverage_eval.data.files import check_readable_again, check_source, source_name
from coverage_eval.data.tokenizers import Tokenizer
from coverage_eval.errors import DataError
from coverage_eval.metrics.evaluation import Evaluation
from coverage_eval.metrics.omission_training import add_omission_data
from coverage_eval.metrics.text_checks import check_inputs
from coverage_eval.plotting.saving import save_figure
from coverage_eval.settings import file_setting, files_setting, picture_setting, setting
from coverage_eval.testbed.computed_scores import COMPUTED, default_scores, make_scores
from coverage_eval.testbed.injected_texts import DEFAULT_RATES, InjectionPlan, evaluate_own_text
from coverage_eval.testbed.injection import HIGHEST_RATE, KINDS, REPAIRS, whole_words
from coverage_eval.testbed.labels import LABEL_FORMATS, read_labels, write_texts
from coverage_eval.testbed.meta_evaluation import MetaEvaluation, MetaSettings, evaluate_labelled
from coverage_eval.testbed.meta_tables import draw_meta, present_kinds, present_meta
from coverage_eval.testbed.score_files import choose_columns, common_tokenizer, read_scores

_OF_LABELS_TOO = {"src", "tokenize", "lowercase"}
"""Options of an aligner that labels can use."""

_of_labels: dict[str, Any] = {"goes_with": ("labels",)}
_of_injection: dict[str, Any] = {"goes_with": ("inject",)}


@dataclass(frozen=True)
class MetaOptions:
    """Labels and the scores to evaluate by them, or a text to put errors into."""

    scores: Mapping[str, str]
    labels: str | None = file_setting("Read the labels of known errors from this file.")
    inject: str | None = file_setting(
        "Put errors into this text, which must be correct translations, and score it."
    )
    kinds: tuple[str, ...] = setting(
        (),
        "Evaluate this kind of error. With --labels, 'any' is all kinds, with MQM's weights. With "
        f"--inject, one or more of {', '.join(KINDS)}.  [default: omission; with --inject, all]",
        flag="--kind",
        multiple=True,
        metavar="KIND",
    )
    label_format: str | None = setting(
        None,
        "Format of the labels.  [default: by their first line]",
        flag="--labels-format",
        choices=tuple(LABEL_FORMATS),
        **_of_labels,
    )
    system: str | None = setting(
        None,
        "Evaluate only this system; in HalOmi, a pair such as deu_Latn-eng_Latn.",
        metavar="NAME",
        **_of_labels,
    )
    texts: str | None = setting(
        None,
        "Only write the texts of the labels there, for scoring: src.txt, hyp.txt, and labels.tsv "
        "to match.",
        metavar="FOLDER",
        type=OutputFolder("src.txt", "hyp.txt", "labels.tsv"),
        **_of_labels,
    )
    hyp: str | None = file_setting(
        "Read the labelled translations from this file, for baselines.",
        flags=("-i", "--hyp"),
        **_of_labels,
    )
    ref: str | None = file_setting("Read the reference from this file.", flags=("-r", "--ref"))
    peers: tuple[str, ...] = files_setting(
        "With --inject, use this other system's output to see what can be translated; give it once "
        "for each system.",
        flag="--peer",
        **_of_injection,
    )
    columns: list[str] | None = setting(
        None,
        "Evaluate these columns of SCORES, separated by commas.  [default: all]",
        metavar="LIST",
        callback=parse_list("column", ()),
        **_of_labels,
    )
    flip: list[str] | None = setting(
        None,
        "Reverse the direction of these columns: low values point at errors instead of high "
        "values, or high values instead of low.",
        metavar="LIST",
        callback=parse_list("column", ()),
        **_of_labels,
    )
    metrics: list[str] | None = setting(
        None,
        f"With --inject, compute these scores, separated by commas, of: {', '.join(COMPUTED)}.  "
        "[default: those that the texts allow]",
        flags=("-m", "--metrics"),
        metavar="LIST",
        callback=parse_list("score", COMPUTED),
        names=COMPUTED,
        **_of_injection,
    )
    rates: tuple[float, ...] = setting(
        (),
        "With --inject, make an output with errors in this share of the words; give it once for "
        f"each output.  [default: {', '.join(map(str, DEFAULT_RATES))}]",
        flag="--rate",
        multiple=True,
        type=FiniteRange(0, HIGHEST_RATE),
        **_of_injection,
    )
    repair: str = setting(
        "none",
        "With --inject, replace omitted words by function words (filler) or words of another "
        "segment (detached).",
        choices=REPAIRS,
        **_of_injection,
    )
    injection_seed: int = setting(0, "With --inject, seed of the errors.", min=0, **_of_injection)
    plot: str | None = picture_setting("Draw ROC, precision-recall and reliability curves")

    def check(self, *, unaligned: bool) -> None:
        """Raise a usage error for options that do not go with --labels, or with --inject."""
        of_models = {item.name for item in fields(AlignmentOptions)} - _OF_LABELS_TOO
        unfit = sorted(given_options() & of_models)[:1]
        unknown = next((kind for kind in self.kinds if kind not in KINDS), None)
        refuse({
            "give one of --labels and --inject": (self.labels is None) == (self.inject is None),
            "--labels are of lines: score with --unaligned, and give as --hyp what 'coverage-eval "
            "segment HYP --src SRC --model M -o FILE' writes": self.labels and unaligned,
            "SCORES is not for --inject": self.inject and self.scores,
            f"{listed_options(unfit)} is not for --labels": self.labels and unfit,
            "--labels takes one --kind at a time": self.labels and len(self.kinds) > 1,
            "--plot draws one kind of error: give one --kind":
                self.inject and self.plot and len(set(self.kinds)) != 1,
            f"unknown kind {unknown!r}; one of {', '.join(KINDS)}": self.inject and unknown,
        })  # fmt: skip

    def evaluate_labels(
        self, alignment: AlignmentOptions, how: MetaSettings
    ) -> dict[str, MetaEvaluation]:
        """Evaluate scores against labels of one kind of error, or write the labels' texts."""
        labels, hyp, ref = str(self.labels), self.hyp, self.ref
        kind = self.kinds[0] if self.kinds else "omission"
        if self.texts is None:
            if hyp is not None and alignment.src is None and ref is None:
                raise click.UsageError("--hyp is for baselines, which need --src or --ref")
            check_source(labels, *self.scores.values(), alignment.src, hyp, ref)
            again = [text for text in (alignment.src, ref) if text is not None]
            check_readable_again(labels, *self.scores.values(), *again)
        found = [
            column
            for name, file in self.scores.items()
            for column in read_scores(file, None if name == Path(file).name else name)
        ]
        tokens = alignment.tokens
        if not given_options() & {"tokenize", "lowercase"}:
            tokens = common_tokenizer(found) or tokens
        judged = read_labels(labels, kind, tokens, self.label_format)
        if self.system is not None:
            judged = judged.of_system(self.system)
        if self.texts is not None:
            write_texts(judged, Path(self.texts))
            return {}
        evaluation = evaluate_labelled(
            judged,
            choose_columns(found, self.columns, self.flip or ()),
            kind,
            source=alignment.src,
            hypothesis=hyp,
            reference=ref,
            tokens=tokens,
            settings=how,
        )
        return {kind: evaluation}

    def evaluate_injected(
        self,
        alignment: AlignmentOptions,
        how: MetaSettings,
        documents: DocumentSettings | None,
        *,
        strict: bool,
    ) -> dict[str, MetaEvaluation]:
        """Inject errors of each kind into a text, and evaluate scores by kind of error.

        Without ``--kind``, a kind that does not fit the text only gets a note.
        """
        text, peers = str(self.inject), self.peers
        refs = [] if self.ref is None else [self.ref]
        alignment.check([text, *refs, *peers], needs_reference_links=False)
        if alignment.is_taken:
            raise click.UsageError("--inject makes new texts, which have no links: give a model")
        alignment.check_files([text, *refs, *peers])
        aligner = alignment.make(add_omission_data)
        names = list(self.metrics or default_scores(aligner, peers=bool(peers)))
        try:
            computed = make_scores(names, aligner, alignment.settings())
        except ValueError as error:
            raise click.UsageError(str(error)) from None
        given = Dataset.of_files({source_name(text): text}, refs, alignment.src, peers)
        dataset = Evaluation(given, aligner, documents=documents).dataset
        rows = list(dataset.rows())
        tokens = whole_words(aligner.tokens) if aligner else Tokenizer()
        echo_findings(check_inputs(dataset, tokens=tokens, aligner=aligner)[0], strict=strict)
        if not refs:
            say(
                "without --ref, the text itself is the reference, so scores that use a reference "
                "see every error and nothing else",
                "note",
            )
        rates = tuple(dict.fromkeys(self.rates)) or DEFAULT_RATES
        found, reasons = {}, []
        for kind in self.kinds or KINDS:
            if kind == "untranslated" and not self.kinds and aligner is None:
                continue
            plan = InjectionPlan(kind, rates, self.repair, self.injection_seed)
            try:
                found[kind] = evaluate_own_text(rows, plan, computed, aligner, how)
            except DataError as error:
                if self.kinds:
                    raise
                reasons.append(f"{kind}: {error}")
                say(f"no {reasons[-1]}", "note")
        if not found:
            raise DataError(f"no kind of error can be put into {source_name(text)}: {reasons[0]}")
        return found


@click.command("meta", cls=Command)
@options_as(
    "options",
    MetaOptions,
    click.argument("scores", nargs=-1, metavar="[[NAME=]SCORES...]", callback=parse_score_files),
)
@options_as("how", MetaSettings)
@partial(add_options, options=UNALIGNED_OPTIONS)
@alignment_options()
@strict_option
@output_options(width=3)
def command(
    options: MetaOptions,
    how: MetaSettings,
    unaligned: bool,
    boundaries: str,
    alignment: AlignmentOptions,
    strict: bool,
    output: Output,
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
    options.check(unaligned=unaligned)
    if options.labels is not None:
        evaluations = options.evaluate_labels(alignment, how)
    elif alignment.src is None:
        raise click.UsageError("--inject needs --src")
    else:
        given = {"ref": options.ref, **vars(alignment)}
        documents = document_settings(given | {"unaligned": unaligned, "boundaries": boundaries})
        evaluations = options.evaluate_injected(alignment, how, documents, strict=strict)
    if not evaluations:  # texts were written instead
        return
    (kind, first), *others = evaluations.items()
    show(present_kinds(evaluations) if others else present_meta(first, kind), output)
    if options.plot:
        save_figure(draw_meta(first), options.plot)
