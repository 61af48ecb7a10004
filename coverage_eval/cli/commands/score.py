"""The commands of single metrics, made from the metrics' own settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import Field, fields
from typing import Any

import click

from coverage_eval.cli.gate import SegmentGate, filter_options, rows_file
from coverage_eval.cli.help import option
from coverage_eval.cli.options import (
    Command,
    ScoreOutput,
    add_options,
    click_option,
    given_options,
    jobs_option,
    refuse,
    scoring_options,
    strict_option,
)
from coverage_eval.cli.output import present_result, show, warn
from coverage_eval.cli.texts import AlignmentOptions, alignment_options, corpus_options
from coverage_eval.core.dataset import Dataset
from coverage_eval.core.files import Text, check_source, source_name
from coverage_eval.core.machine import progress_bar
from coverage_eval.core.metric import Metric
from coverage_eval.core.tokenizers import StopWords
from coverage_eval.documents.settings import DocumentSettings
from coverage_eval.evaluation import Evaluation
from coverage_eval.registry import METRICS, metric_class

Option = Callable[[Any], Any]

_HELP = """{summary}
{advice}
A text is a file with one segment per line ('-' reads standard input; .gz and .zst files are
unpacked), or a column of a table, such as out.jsonl:mt.{several}

\b
Example:
  coverage-eval {name} {example} --confidence
"""

_DROP_ADVICE = """
DROP misses many omissions, because joining the links of both directions gives untranslated words a
link to a wrong word. Look at --soft beside it, or at the command omissions.
"""

_NO_LINKS, _NO_FILTER = AlignmentOptions(), SegmentGate()


def score_command(name: str) -> click.Command:
    """The command of a metric: its settings as options, and the options that all scores share.

    Args:
        name: One of :data:`coverage_eval.registry.METRICS`.
    """
    kinds = {form: metric_class(form) for form in (name, *METRICS[name].forms.values())}
    needs, is_aligned = kinds[name].needs, "aligner" in _names(kinds[name])
    has_references = "references" in needs

    def command(
        hyp: Text,
        output: ScoreOutput,
        strict: bool,
        ref: tuple[Text, ...] = (),
        src: Text | None = None,
        documents: DocumentSettings | None = None,
        jobs: int = 1,
        alignment: AlignmentOptions = _NO_LINKS,
        gate: SegmentGate = _NO_FILTER,
        **options: Any,
    ) -> None:
        chosen, source = name, src or alignment.src
        for (flag, value), form in METRICS[name].forms.items():
            if options.get(flag) == value:
                chosen = form
            if value is True or options.get(flag) == value:
                options.pop(flag, None)
        kind = kinds[chosen]
        others = set().union(*map(_names, kinds.values())) - _names(kind)
        unfit = given_options() & others - {flag for flag, _ in METRICS[name].forms}
        listed = " and ".join(f"--{flag.replace('_', '-')}" for flag in sorted(unfit))
        refuse({f"{listed} is not for {kind.name}": unfit})
        if is_aligned:
            _check_links(kind, alignment)
        check_source(hyp, *ref, source)
        gate.check(hyp, is_cut=documents is not None)
        if file := options.get("stopwords"):
            options["stopwords"] = StopWords.read(file)
        with progress_bar(f"computing {kind.name}") as progress:
            evaluation = Evaluation(
                Dataset({source_name(hyp): hyp}, ref, source),
                alignment,
                [chosen],
                own_settings={chosen: options},
                jobs=jobs,
                evidence=output.by_segment,
                documents=documents,
                progress=progress,
            )
            result = evaluation.run()
        dataset = evaluation.dataset
        printed = present_result(result, output)
        printed = warn(printed, result.findings, result.made.get("unknown words"), strict=strict)
        rows = None if kind.higher_is_better else rows_file(hyp, output)
        if rows is None:
            show(printed, output)
        if gate.is_given or rows:
            scores = result.segment_scores(chosen)
            reasons = [f"{kind.name}: {score:g}" if score else "" for score in scores]
            gate.write(dataset, reasons, {chosen: scores}, rows)

    links = " --model de-en.model" if is_aligned else ""
    source = " --src src.txt" if is_aligned or "sources" in needs else ""
    command.__doc__ = _HELP.format(
        summary=METRICS[name].summary,
        advice=_DROP_ADVICE if is_aligned else "",
        several=" For several references, give --ref several times." if has_references else "",
        name=name,
        example=f"hyp.txt{' ref.txt' if has_references else ''}{links}{source}",
    )
    own_source = ["src"] if source and not is_aligned else []
    named = ["hyp", *(["ref"] if has_references else [])]
    options = [
        corpus_options(*named, options=own_source, needed=own_source),
        *setting_options(name, kinds),
        alignment_options() if is_aligned else jobs_option,
        scoring_options,
        strict_option,
    ]
    if kinds[name].higher_is_better is False:  # a segment without an error has the score 0
        options.insert(-1, filter_options)
    return click.command(name, cls=Command)(add_options(command, options))


def _check_links(kind: type[Metric], alignment: AlignmentOptions) -> None:
    """Refuse options of links that do not fit the metric, or each other."""
    alignment.require(kind.name, kind.needs)
    alignment.check()
    if "symmetrize" in given_options() and ("coverages" in kind.needs or alignment.has_links):
        what = "links from files" if alignment.has_links else f"{kind.name}, which joins no links"
        raise click.UsageError(f"--symmetrize is not for {what}")


def _names(kind: type[Metric]) -> set[str]:
    return {item.name for item in fields(kind)}


def setting_options(name: str, kinds: Mapping[str, type[Metric]]) -> list[Option]:
    """Options of the fields of all forms of a metric, and those that choose a form."""
    settings: dict[str, Field[Any]] = {}
    for kind in kinds.values():
        settings = {item.name: item for item in fields(kind) if "help" in item.metadata} | settings
    forms = METRICS[name].forms
    choices = {flag: value for flag, value in forms if value is not True}
    flags = {flag: METRICS[form].summary for (flag, value), form in forms.items() if value is True}
    return [
        *(click_option(item, choices.get(item.name), "Metrics") for item in settings.values()),
        *(
            option(f"--{flag}", is_flag=True, help=text, group="Metrics")
            for flag, text in flags.items()
        ),
    ]
