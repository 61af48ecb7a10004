"""Options that several commands share, each with its words in the help.

A group of them is one decorator (:func:`~coverage_eval.cli.click_options.option_group`); the
command gets the value of each as an argument of the option's name.
"""

from __future__ import annotations

from dataclasses import MISSING, Field, fields
from typing import Any

import click

from coverage_eval.cli.click_options import Decorator, option, option_group
from coverage_eval.cli.output_options import options_on_command_line
from coverage_eval.cli.parameters import FiniteRange, InputFile
from coverage_eval.core.metric import Metric
from coverage_eval.registry import metric_class

checks_option = option(
    "--no-checks", is_flag=True, group="Advanced",
    help="Print scores without looking for mistakes in the texts.",
)  # fmt: skip

signature_option = option(
    "--signature", is_flag=True, group="Output",
    help="Print signatures, too: they list every setting that affects a score. Files and JSON "
    "always have them, LaTeX at least as comments.",
)  # fmt: skip

jobs_option = option(
    "-j", "--jobs", default=1, type=click.IntRange(1, 1024), group="Advanced",
    help="Number of processes; the result does not depend on it.",
)  # fmt: skip


def metric_settings(*names: str) -> Decorator:
    """The options of the settings of some metrics, as their fields declare them."""
    settings: dict[str, Field[Any]] = {}
    for name in names:
        for item in _settings(metric_class(name)):
            settings.setdefault(item.name, item)
    return option_group(*map(_setting_option, settings.values()))


def _settings(kind: type[Metric]) -> list[Field[Any]]:
    """The fields of a metric that :func:`~coverage_eval.core.metric.setting` made."""
    return [item for item in fields(kind) if "help" in item.metadata]


def _setting_option(item: Field[Any]) -> Decorator:
    """The option of a setting."""
    default = None if item.default is MISSING else item.default
    attributes = {"group": "Metrics", "default": default, **item.metadata}
    flag = attributes.pop("flag", f"--{item.name.replace('_', '-')}")
    choices, low, high = (attributes.pop(key, None) for key in ("choices", "min", "max"))
    kind = str(item.type).removesuffix(" | None")
    if choices is not None:
        attributes["type"] = click.Choice(choices)
    elif kind == "bool":
        attributes["is_flag"] = True
    elif kind == "int":
        attributes["type"] = click.IntRange(low, high)
    elif kind == "float":
        attributes["type"] = FiniteRange(low, high)
    elif kind == "StopWords":
        attributes["type"] = InputFile()
    return option(flag, item.name, **attributes)


def check_settings(name: str, *others: str) -> None:
    """Refuse settings that only other metrics of the command have.

    Args:
        name: The metric that is computed.
        *others: The other metrics.

    Raises:
        click.UsageError: The message names all of them.
    """
    kind = metric_class(name)
    foreign = {item.name for other in others for item in _settings(metric_class(other))}
    foreign -= {item.name for item in _settings(kind)}
    if unfit := sorted(options_on_command_line() & foreign):
        flags = " and ".join(f"--{setting.replace('_', '-')}" for setting in unfit)
        raise click.UsageError(f"{flags} is not for {kind.presentation.name}")
