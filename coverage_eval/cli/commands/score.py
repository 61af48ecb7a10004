"""The commands of single metrics, made from the metrics' own settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, replace
from operator import itemgetter
from typing import Any

import click

from coverage_eval.cli.gate import SegmentGate, gate_options
from coverage_eval.cli.help import option
from coverage_eval.cli.inputs import AlignmentOptions, alignment_options, corpus_options
from coverage_eval.cli.options import (
    Command,
    FiniteRange,
    ScoreOutput,
    add_options,
    click_option,
    given_options,
    jobs_option,
    listed_options,
    scoring_options,
    strict_option,
)
from coverage_eval.cli.output import present_scores, present_segments, show, warn
from coverage_eval.comparison.evidence import output_words
from coverage_eval.comparison.segment_texts import repeated_phrases, segment_lines
from coverage_eval.data.dataset import Dataset
from coverage_eval.data.files import Text, source_name
from coverage_eval.data.input_checks import gravest_first
from coverage_eval.metrics.drop import StopWords
from coverage_eval.metrics.measure import Metric, Result, measure, second_outputs
from coverage_eval.metrics.registry import METRICS, make_metric, metric_class
from coverage_eval.tables.table import LazyRows, Printable

Option = Callable[[Any], Any]

_FILES = "HYP and REF are text files with one segment a line ('-' reads standard input, .gz and\n"
_FILES += ".zst are unpacked), or columns of a table: --from. Name several references by --ref."


def score_command(name: str) -> click.Command:
    """The command of a metric: its settings as options, and those that all scores share.

    Args:
        name: One of :data:`coverage_eval.metrics.registry.METRICS`.
    """
    kinds = {name: metric_class(name)}
    kinds |= {form: metric_class(form) for form in METRICS[name].forms.values()}
    aligned = "aligner" in _names(kinds[name])

    def command(
        hyp: Text,
        ref: tuple[Text, ...],
        output: ScoreOutput,
        strict: bool,
        gate: SegmentGate,
        threshold: float | None,
        jobs: int = 1,
        alignment: AlignmentOptions | None = None,
        **options: Any,
    ) -> None:
        chosen, settings = choose_form(name, options)
        kind, texts = kinds[chosen], [hyp, *ref]
        _check_given(name, kinds, chosen, alignment)
        if output.errors_only and kind.higher_is_better:
            raise click.UsageError(
                f"--errors-only is not for {kind.name}, which finds no single errors"
            )
        alignment = _checked(name, kind, alignment, texts, settings.pop("preset", None))
        if gate.is_given and threshold is None and kind.higher_is_better:
            raise click.UsageError(f"say what a bad segment is: --threshold, as {kind.name} cannot")
        alignment.check_files(texts)
        gate.check(hyp)
        aligner = alignment.make()
        if settings.get("leave_out"):
            settings["leave_out"] = StopWords.read(settings["leave_out"])
        metric = make_metric(chosen, {"aligner": aligner, **alignment.settings(), **settings})
        dataset = Dataset.of_files({source_name(hyp): hyp}, ref, alignment.src)
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
            least = threshold or 0.0
            sign = -1 if kind.higher_is_better else 1
            bad = [score is not None and sign * score > sign * least for score in scores]
            gate.apply(dataset, hyp, bad, {chosen: scores})

    command.__doc__ = _help(name, kinds[name])
    options = [
        corpus_options("hyp", "ref"),
        *setting_options(name, kinds),
        alignment_options() if aligned else jobs_option,
        scoring_options,
        option(
            "--threshold",
            type=FiniteRange(),
            group="Output",
            help="With --fail-above, --keep or --reject, take segments with a worse score than "
            "this for bad.  [default: 0]",
        ),
        gate_options,
        strict_option,
    ]
    return click.command(name, cls=Command)(add_options(command, options))


def present_result(result: Result, output: ScoreOutput) -> Printable:
    """The corpus score of one system by one metric, or one score a segment with its evidence."""
    (name,) = result.metrics
    score = result.score(name, resamples=output.resamples, seed=output.seed)
    if not output.sentence_level:
        return present_scores([score])

    def phrases(index: int) -> list[str]:
        found = result.evidence(name)[index][0].get("repetitions", ())
        return repeated_phrases(output_words(result, result.systems[0], index), found)

    return present_segments(
        score,
        result.segment_scores(name),
        evidence=LazyRows(itemgetter(0), result.evidence(name)),
        output=output,
        texts=lambda index: list(segment_lines(result, [name], index)),
        phrases=phrases if result.metrics[name].evidence_name == "repetitions" else None,
    )


def choose_form(name: str, options: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The form of the metric that options ask for, and the remaining settings."""
    settings = dict(options)
    chosen = name
    for (flag, value), form in METRICS[name].forms.items():
        if settings.get(flag) == value:
            chosen = form
        if value is True or settings.get(flag) == value:
            settings.pop(flag, None)
    mode = settings.pop("compat", None) if _compat_modes(name) else None
    if mode:
        named = given_options() & set(_compat_modes(name)[mode])
        if named:
            raise click.UsageError(f"--paper {mode} sets {listed_options(named)} itself")
        settings |= _compat_modes(name)[mode]
    return chosen, settings


def _checked(
    name: str,
    kind: type[Metric],
    alignment: AlignmentOptions | None,
    texts: Sequence[Text],
    preset: str | None,
) -> AlignmentOptions:
    """Validate alignment options and apply a preset."""
    if alignment is None:
        return AlignmentOptions()
    alignment.check(texts)
    if not alignment.is_given:
        raise click.UsageError(
            "give exactly one of: --model M; --train-src F with --train-tgt F; "
            "--src-ref-align A with --src-hyp-align B; --ref-coverage A with --coverage B"
        )
    return alignment if preset is None else _preset(name, preset, alignment, kind)


def _preset(
    name: str, preset: str, alignment: AlignmentOptions, kind: type[Metric]
) -> AlignmentOptions:
    """The options with the settings of a preset in them."""
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


def _compat_modes(name: str) -> Mapping[str, Mapping[str, Any]]:
    found: Mapping[str, Mapping[str, Any]] = getattr(metric_class(name), "presets", {})
    return found


def _check_given(
    name: str,
    kinds: Mapping[str, type[Metric]],
    chosen: str,
    alignment: AlignmentOptions | None,
) -> None:
    """Refuse options that the chosen form of a metric does not have, except those that chose it."""
    settings = set().union(*map(_names, kinds.values()))
    choosing = {option for option, _ in METRICS[name].forms}
    label = kinds[chosen].name
    if unfit := given_options() & (settings - _names(kinds[chosen]) - choosing):
        raise click.UsageError(f"{listed_options(unfit)} is not for {label}")
    if alignment and alignment.is_taken and alignment.lowercase:
        raise click.UsageError(
            "--lowercase is not for links from files, which are taken as they are"
        )
    if alignment and alignment.has_coverage and "links" in kinds[chosen].needs:
        raise click.UsageError(f"{label} needs links: soft links are none; --soft takes them")
    if alignment and "coverages" in kinds[chosen].needs:
        if alignment.has_links:
            raise click.UsageError(
                f"{label} needs a model or --coverage: links have no probabilities"
            )
        if "symmetrize" in given_options():
            raise click.UsageError(
                f"--symmetrize is not for {label}, which has the forward model's posteriors"
            )


def _help(name: str, kind: type[Metric]) -> str:
    """The command's help: the metric's line, its files and an example."""
    example = "--model de-en.model --src src.txt " if "aligner" in _names(kind) else ""
    return (
        f"{METRICS[name].summary}\n\n{_FILES}\n\n\b\nExample:\n"
        f"  coverage-eval {name} hyp.txt ref.txt {example}--confidence"
    )


def _names(kind: type[Metric]) -> set[str]:
    return {item.name for item in fields(kind)}


def setting_options(name: str, kinds: Mapping[str, type[Metric]]) -> list[Option]:
    """Options of the fields of all forms of a metric, and those that choose a form."""
    found: dict[str, Field[Any]] = {}
    for kind in kinds.values():
        found = {item.name: item for item in fields(kind) if "help" in item.metadata} | found
    forms = METRICS[name].forms
    choices = {name: value for name, value in forms if value is not True}
    options = [
        click_option(
            item,
            None if item.default is MISSING else item.default,
            further_choice=choices.get(item.name),
            group="Metrics",
        )
        for item in found.values()
    ]
    for (flag, value), form in forms.items():
        if value is True:
            summary = METRICS[form].summary
            options.append(option(f"--{flag}", is_flag=True, help=summary, group="Metrics"))
    if presets := METRICS[name].presets:
        listed = "; ".join(
            f"{preset}: {' '.join(f'--{k} {v}' for k, v in own.items())}"
            for preset, own in presets.items()
        )
        help_text = f"Use the settings that were found best for this. {listed}."
        options.append(
            option(
                "--purpose",
                "preset",
                type=click.Choice(list(presets)),
                old=["--preset"],
                help=help_text,
                group="Metrics",
            )
        )
    if modes := _compat_modes(name):
        settings = "Use the settings of the paper's scripts."
        options.append(
            option(
                "--paper",
                "compat",
                type=click.Choice(list(modes)),
                old=["--compat"],
                help=settings,
                group="Metrics",
            )
        )
    return options
