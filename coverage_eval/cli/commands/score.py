"""The commands of single metrics, made from the metrics' own settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, replace
from typing import Any

import click

from coverage_eval.cli.gate import ScoreGate, score_gate_options
from coverage_eval.cli.help import option
from coverage_eval.cli.link_options import AlignmentOptions, alignment_options
from coverage_eval.cli.options import (
    Command,
    ScoreOutput,
    add_options,
    click_option,
    given_options,
    jobs_option,
    listed_options,
    scoring_options,
    strict_option,
)
from coverage_eval.cli.output import present_result, show, warn
from coverage_eval.cli.text_options import corpus_options
from coverage_eval.data.dataset import Dataset
from coverage_eval.data.documents import DocumentSettings
from coverage_eval.data.files import Text, check_source, source_name
from coverage_eval.data.input_checks import most_serious_first
from coverage_eval.data.stop_words import StopWords
from coverage_eval.metrics.evaluation import Evaluation
from coverage_eval.metrics.measure import Metric
from coverage_eval.metrics.registry import METRICS, metric_class
from coverage_eval.metrics.text_checks import second_outputs

Option = Callable[[Any], Any]

_HELP = """{summary}
{advice}
HYP and REF are text files with one segment per line ('-' reads standard input; .gz and .zst files
are unpacked), or columns of a table: --from. For several references, give --ref several times.

\b
Example:
  coverage-eval {name} hyp.txt ref.txt {links}--confidence
"""

_DROP_ADVICE = """
DROP misses many omissions, because joining the links of both directions gives untranslated words a
link to a wrong word. Look at --soft beside it, or at the command omissions.
"""


def score_command(name: str) -> click.Command:
    """The command of a metric: its settings as options, and the options that all scores share.

    Args:
        name: One of :data:`coverage_eval.metrics.registry.METRICS`.
    """
    kinds = {form: metric_class(form) for form in (name, *METRICS[name].forms.values())}
    is_aligned = "aligner" in _names(kinds[name])

    def command(
        hyp: Text,
        ref: tuple[Text, ...],
        output: ScoreOutput,
        strict: bool,
        gate: ScoreGate,
        documents: DocumentSettings | None,
        jobs: int = 1,
        alignment: AlignmentOptions | None = None,
        **options: Any,
    ) -> None:
        chosen, settings = choose_form(name, options)
        kind, texts = kinds[chosen], [hyp, *ref]
        _check_given(name, kinds, kind)
        if output.errors_only and kind.higher_is_better:
            raise click.UsageError(
                f"--errors-only is not for {kind.name}, which finds no single errors"
            )
        preset = _chosen_preset(kinds[name], kind, settings)
        links = _checked(kind, alignment, texts, preset) if alignment else None
        settings |= {} if alignment else preset
        gate.check_threshold(kind)
        check_source(*texts, *(links.files if links else ()))
        gate.check(hyp, is_cut=documents is not None)
        if settings.get("leave_out"):
            settings["leave_out"] = StopWords.read(settings["leave_out"])
        evaluation = Evaluation(
            Dataset.of_files({source_name(hyp): hyp}, ref, links.src if links else None),
            links,
            [chosen],
            settings=links.settings() if links else {},
            own_settings={chosen: settings},
            jobs=jobs,
            evidence=output.sentence_level,
            progress=True,
            documents=documents,
        )
        result = evaluation.run()
        dataset = evaluation.dataset
        findings = most_serious_first([*second_outputs(dataset), *result.findings])
        printed = present_result(result, output)
        show(warn(printed, findings, result.unknown_words, strict=strict), output)
        if gate.is_given:
            scores = result.segment_scores(chosen)
            gate.apply(dataset, [gate.reason(score, kind) for score in scores], {chosen: scores})

    links = "--model de-en.model --src src.txt " if is_aligned else ""
    command.__doc__ = _HELP.format(
        summary=METRICS[name].summary,
        advice=_DROP_ADVICE if is_aligned else "",
        name=name,
        links=links,
    )
    options = [
        corpus_options("hyp", "ref"),
        *setting_options(name, kinds),
        alignment_options() if is_aligned else jobs_option,
        scoring_options,
        score_gate_options,
        strict_option,
    ]
    return click.command(name, cls=Command)(add_options(command, options))


def choose_form(name: str, options: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The form of the metric that the options ask for, and the remaining settings."""
    settings, chosen = dict(options), name
    for (flag, value), form in METRICS[name].forms.items():
        if settings.get(flag) == value:
            chosen = form
        if value is True or settings.get(flag) == value:
            settings.pop(flag, None)
    return chosen, settings


def _checked(
    kind: type[Metric],
    alignment: AlignmentOptions,
    texts: Sequence[Text],
    preset: Mapping[str, Any],
) -> AlignmentOptions:
    """The options of links with the settings of a preset, if they fit the metric."""
    if alignment.is_taken and alignment.lowercase:
        raise click.UsageError(
            "--lowercase is not for links from files, which are taken as they are"
        )
    alignment.check_fits(kind.name, kind.needs)
    if "coverages" in kind.needs and "symmetrize" in given_options():
        raise click.UsageError(
            f"--symmetrize is not for {kind.name}, which reads the forward model's posteriors"
        )
    alignment.check(texts)
    if not alignment.is_given:
        raise click.UsageError(
            f"{kind.name} needs {'' if alignment.src else '--src, and '}one of: --model M, made by "
            "'align train'; --train-src F with --train-tgt F; --src-ref-align A with "
            "--src-hyp-align B; --ref-coverage A with --coverage B"
        )
    if preset and (alignment.has_links or alignment.encoder):
        raise click.UsageError(
            "--purpose detect is not for links of files or encoders, taken as they are"
        )
    return replace(alignment, **preset)


def _chosen_preset(
    first: type[Metric], kind: type[Metric], settings: dict[str, Any]
) -> Mapping[str, Any]:
    """The settings that a preset stands for; its option leaves ``settings``.

    Args:
        first: The metric of the command, whose presets are options.
        kind: The form of the metric that was chosen.
        settings: The values of all options.
    """
    found: Mapping[str, Any] = {}
    for flag in {flag for flag, _ in first.presets}:
        if (value := settings.pop(flag, None)) is None:
            continue
        if (flag, value) not in kind.presets:
            raise click.UsageError(f"--{flag} {value} is not for {kind.name}")
        found = kind.presets[flag, value]
        if named := given_options() & found.keys():
            raise click.UsageError(f"--{flag} {value} sets {listed_options(named)} itself")
    return found


def _check_given(name: str, kinds: Mapping[str, type[Metric]], kind: type[Metric]) -> None:
    """Refuse options that the chosen form of a metric does not have, except those that chose it."""
    others = set().union(*map(_names, kinds.values())) - _names(kind)
    if unfit := given_options() & others - {flag for flag, _ in METRICS[name].forms}:
        raise click.UsageError(f"{listed_options(unfit)} is not for {kind.name}")


def _names(kind: type[Metric]) -> set[str]:
    return {item.name for item in fields(kind)}


def setting_options(name: str, kinds: Mapping[str, type[Metric]]) -> list[Option]:
    """Options of the fields of all forms of a metric, and those that choose a form."""
    found: dict[str, Field[Any]] = {}
    for kind in kinds.values():
        found = {item.name: item for item in fields(kind) if "help" in item.metadata} | found
    forms = METRICS[name].forms
    choices = {flag: value for flag, value in forms if value is not True}
    options = [
        click_option(
            item,
            None if item.default is MISSING else item.default,
            further_choice=choices.get(item.name),
            group="Metrics",
        )
        for item in found.values()
    ]
    options += [
        option(f"--{flag}", is_flag=True, help=METRICS[form].summary, group="Metrics")
        for (flag, value), form in forms.items()
        if value is True
    ]
    helps = {
        "paper": "Use the paper's settings.",
        "purpose": "Use the best settings for this purpose.",
    }
    by_flag: dict[str, dict[str, str]] = {}
    for (flag, value), preset in kinds[name].presets.items():
        words = (f"--{k}" if item is True else f"--{k} {item}" for k, item in preset.items())
        listed = " ".join(words)
        by_flag.setdefault(flag, {})[value] = f"{value}: {listed}"
    return options + [
        option(f"--{flag}", flag, type=click.Choice(list(values)), group="Metrics",
               help=f"{helps[flag]} {'; '.join(values.values())}.")
        for flag, values in by_flag.items()
    ]  # fmt: skip
