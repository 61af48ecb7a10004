"""The commands of single metrics, made from the metrics' own settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import Field, fields
from typing import Any

import click

from coverage_eval.align.aligner import AlignerSettings
from coverage_eval.cli import options
from coverage_eval.cli.help import add_options, as_object, click_option, option
from coverage_eval.cli.kept_rows import SegmentGate, rows_file
from coverage_eval.cli.output import echo_findings, show, with_findings
from coverage_eval.cli.score_report import score_report, segment_report
from coverage_eval.core.batches import Texts
from coverage_eval.core.evaluation import Evaluation
from coverage_eval.core.machine import progress_bar
from coverage_eval.core.metric import Metric
from coverage_eval.core.tokenizers import StopWords
from coverage_eval.registry import METRICS, make_metric, metric_class

_HELP = """{summary}
{advice}
A text is a file with one segment per line ('-' reads standard input; .gz and .zst files are
unpacked), or a column of a table, such as out.jsonl:mt.{several}

\b
Example:
  coverage-eval {name} {example} --confidence
"""

_NO_LINKS, _NO_FILTER = AlignerSettings(), SegmentGate()


def score_command(name: str) -> click.Command:
    """The command of a metric: its settings as options, and the options that all scores share.

    Args:
        name: One of :data:`coverage_eval.registry.METRICS`.
    """
    kinds = {form: metric_class(form) for form in (name, *METRICS[name].forms.values())}
    needs, is_aligned = kinds[name].needs, "aligner" in _names(kinds[name])
    has_references = "references" in needs

    def command(
        texts: Texts,
        output: options.ScoreOutput,
        documents: str | None = None,
        jobs: int = 1,
        aligner: AlignerSettings = _NO_LINKS,
        gate: SegmentGate = _NO_FILTER,
        **settings: Any,
    ) -> None:
        chosen = name
        for (flag, value), form in METRICS[name].forms.items():
            is_asked = settings.get(flag) == value
            chosen = form if is_asked else chosen
            if is_asked or value is True:
                settings.pop(flag, None)
        kind = kinds[chosen]
        others = set().union(*map(_names, kinds.values())) - _names(kind)
        unfit = options.given_options() & others - {flag for flag, _ in METRICS[name].forms}
        listed = " and ".join(f"--{flag.replace('_', '-')}" for flag in sorted(unfit))
        options.refuse({f"{listed} is not for {kind.name}": unfit})
        if is_aligned:
            joins = "symmetrize" in options.given_options()
            options.refuse({
                "--symmetrize is not for links from files": joins and aligner.has_links,
                f"--symmetrize is not for {kind.name}, which joins no links":
                    joins and "coverages" in kind.needs,
            })  # fmt: skip
            options.check_links(aligner, texts.source, {kind.name: kind})
        if file := settings.get("stopwords"):
            settings["stopwords"] = StopWords.read(file)
        with progress_bar(f"computing {kind.name}") as progress:
            features = options.document_features(documents, aligner, jobs)
            made = aligner.make() if is_aligned else None
            words = {"source_tokens": made.source_tokens} if made else {}
            metric = make_metric(chosen, {"aligner": made, **words, **settings})
            evaluation = Evaluation(texts, {chosen: metric}, features, jobs, output.by_segment)
            result = evaluation.run(progress)
        if output.by_segment:
            show_texts = not output.sentence_level
            report = segment_report(result, worst=output.worst, show_texts=show_texts)
        else:
            report = score_report([result.score(chosen, resamples=output.drawn)])
        echo_findings(result.findings, strict=output.strict)
        rows = None if kind.higher_is_better else rows_file(texts, output)
        if rows is None:
            show(with_findings(report, result.findings, result.features), output)
        if gate.is_given or rows:
            scores = result.segment_scores(chosen)
            reasons = [f"{kind.name}: {score:g}" if score else "" for score in scores]
            gate.write(result.texts or texts, reasons, {chosen: scores}, rows)

    links = " --model de-en.model" if is_aligned else ""
    source = " --src src.txt" if is_aligned or "sources" in needs else ""
    command.__doc__ = _HELP.format(
        summary=METRICS[name].summary,
        advice=f"\n{METRICS[name].advice}\n" if METRICS[name].advice else "",
        several=" For several references, give --ref several times." if has_references else "",
        name=name,
        example=f"hyp.txt{' ref.txt' if has_references else ''}{links}{source}",
    )
    own_source = ["src"] if source and not is_aligned else []
    named = ["hyp", *(["ref"] if has_references else [])]
    added = [
        options.text_options(*named, options=own_source),
        *_setting_options(name, kinds),
        options.alignment_options() if is_aligned else options.jobs_option,
        options.scoring_options,
    ]
    if kinds[name].higher_is_better is False:  # a segment without an error has the score 0
        gate = as_object("gate", SegmentGate, without={"fail_above"}, group="Output")
        added.append(gate)
    return click.command(name, cls=options.Command)(add_options(command, added))


def _names(kind: type[Metric]) -> set[str]:
    return {item.name for item in fields(kind)}


def _setting_options(name: str, kinds: Mapping[str, type[Metric]]) -> list[Callable[..., Any]]:
    """Options of the fields of all forms of a metric, and those that choose a form."""
    settings: dict[str, Field[Any]] = {}
    for kind in kinds.values():
        settings = {item.name: item for item in fields(kind) if "help" in item.metadata} | settings
    forms = METRICS[name].forms
    choices = {flag: value for flag, value in forms if value is not True}
    own = [click_option(settings[n], choices.get(n), "Metrics") for n in settings]
    flags = [
        option(f"--{flag}", is_flag=True, help=METRICS[form].summary, group="Metrics")
        for (flag, value), form in forms.items()
        if value is True
    ]
    return [*own, *flags]
