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
from coverage_eval.data.files import Text, source_name
from coverage_eval.data.input_checks import gravest_first
from coverage_eval.metrics.drop import StopWords
from coverage_eval.metrics.measure import Metric, measure, second_outputs
from coverage_eval.metrics.registry import METRICS, make_metric, metric_class

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
        preset = settings.pop("preset", None)
        links = _checked(name, kind, alignment, texts, preset) if alignment else AlignmentOptions()
        gate.check_threshold(kind)
        links.check_files(texts)
        gate.check(hyp)
        aligner = links.make()
        if settings.get("leave_out"):
            settings["leave_out"] = StopWords.read(settings["leave_out"])
        metric = make_metric(chosen, {"aligner": aligner, **links.settings(), **settings})
        dataset = Dataset.of_files({source_name(hyp): hyp}, ref, links.src)
        result = measure(
            dataset,
            {chosen: metric},
            jobs=jobs,
            evidence=output.sentence_level,
            checks=True,
            progress=True,
        )
        findings = gravest_first([*second_outputs(dataset), *result.findings])
        printed = present_result(result, output)
        show(warn(printed, findings, result.unknown_words, strict=strict), output)
        if gate.is_given:
            scores = result.segment_scores(chosen)
            gate.apply(
                dataset, hyp, [gate.is_bad(score, kind) for score in scores], {chosen: scores}
            )

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
    modes = _paper_modes(name)
    if modes and (mode := settings.pop("compat", None)):
        if named := given_options() & modes[mode].keys():
            raise click.UsageError(f"--paper {mode} sets {listed_options(named)} itself")
        settings |= modes[mode]
    return chosen, settings


def _checked(
    name: str,
    kind: type[Metric],
    alignment: AlignmentOptions,
    texts: Sequence[Text],
    preset: str | None,
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
    if preset is None:
        return alignment
    settings = METRICS[name].presets[preset]
    if "links" not in kind.needs:
        raise click.UsageError(f"--purpose {preset} is not for {kind.name}")
    if alignment.has_links or alignment.encoder:
        raise click.UsageError(
            f"--purpose {preset} is not for links of files or encoders, taken as they are"
        )
    if named := given_options() & settings.keys():
        raise click.UsageError(f"--purpose {preset} sets {listed_options(named)} itself")
    return replace(alignment, **settings)


def _check_given(name: str, kinds: Mapping[str, type[Metric]], kind: type[Metric]) -> None:
    """Refuse options that the chosen form of a metric does not have, except those that chose it."""
    others = set().union(*map(_names, kinds.values())) - _names(kind)
    if unfit := given_options() & others - {flag for flag, _ in METRICS[name].forms}:
        raise click.UsageError(f"{listed_options(unfit)} is not for {kind.name}")


def _paper_modes(name: str) -> Mapping[str, Mapping[str, Any]]:
    """Settings of the papers' scripts that the metric's class names."""
    found: Mapping[str, Mapping[str, Any]] = getattr(metric_class(name), "presets", {})
    return found


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
    presets = METRICS[name].presets
    listed = "; ".join(
        f"{preset}: {' '.join(f'--{key} {value}' for key, value in settings.items())}"
        for preset, settings in presets.items()
    )
    named_settings = (
        (
            "--purpose",
            "preset",
            "--preset",
            presets,
            f"Use the best settings for this purpose. {listed}.",
        ),
        ("--paper", "compat", "--compat", _paper_modes(name), "Use the paper's settings."),
    )
    return options + [
        option(flag, parameter, type=click.Choice(list(values)), old=[old], help=text,
               group="Metrics")
        for flag, parameter, old, values, text in named_settings
        if values
    ]  # fmt: skip
