"""Which function makes what a command prints from what it counted."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from coverage_eval.errors import DataError
from coverage_eval.metrics.registry import METRICS
from coverage_eval.scale.results import Results
from coverage_eval.tables.table import Printable


def presenter(command: str) -> Callable[[Results], Printable]:
    """The function ``present`` of a command's module.

    Raises:
        DataError: No such command has parts.
    """
    if command in METRICS:
        command = "score"
    elif command not in {"compare", "omissions", "profile"}:
        raise DataError(f"a part of a command that is not known here: {command!r:.40}")
    module = import_module(f"coverage_eval.cli.{command}")
    found: Callable[[Results], Printable] = module.present
    return found
