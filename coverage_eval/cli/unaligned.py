"""Outputs of documents whose lines do not match: ``--unaligned``, and what to do without it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from coverage_eval.cli.help import option
from coverage_eval.cli.options import PACKED
from coverage_eval.core.errors import UnequalLinesError
from coverage_eval.core.files import STDIN, source_name
from coverage_eval.documents.settings import DocumentSettings

UNALIGNED_OPTIONS = [
    option(
        "--unaligned", is_flag=True, group="Input",
        help="The lines of the outputs do not match: first cut each by the lines of the source "
        "with --model, or of the reference, as 'segment' does. A file is one document, and so is "
        "each row of a table.",
    )
]  # fmt: skip


def document_settings(values: dict[str, Any]) -> DocumentSettings | None:
    """Take the options from a command's values: how outputs are cut, or None if lines match.

    Raises:
        click.UsageError: There is nothing to cut them by.
    """
    if not values.pop("unaligned"):
        return None
    if not (values.get("ref") or (values.get("model") and values.get("src"))):
        raise click.UsageError("--unaligned needs --src with --model M, or --ref")
    return DocumentSettings.of(values.get("tokenize"))


def how_to_segment(error: UnequalLinesError, values: Mapping[str, Any]) -> str:
    """What to type if an output has other lines than the source; empty if that cannot be known."""
    systems = values.get("systems") or {"": values.get("hyp")}
    model, source = values.get("model"), values.get("src")
    references = values.get("ref") or ()
    by: list[str] = []
    if model and isinstance(source, str):
        by, whole = ["--src", source, "--model", model], source
    elif references and isinstance(references[0], str):
        by, whole = ["--ref", references[0]], references[0]
    for output in systems.values():
        if not by or not isinstance(output, str) or STDIN in {output, whole}:
            continue
        counts = [error.counts.get(source_name(name)) for name in (output, whole)]
        if None not in counts and counts[0] != counts[1]:
            path = Path(output)
            path = path.with_suffix("") if path.suffix in PACKED else path
            cut = path.with_name(f"{path.stem}.lines{path.suffix}")
            command = shlex.join(["coverage-eval", "segment", output, *by, "-o", str(cut)])
            return (
                ". If sentences of a document were joined, cut or left out, add --unaligned, or "
                f"cut the output first: {command}"
            )
    return ""
