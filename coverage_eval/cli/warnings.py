"""What a command says of input that is probably wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from coverage_eval.cli.messages import say
from coverage_eval.data.input_checks import Finding
from coverage_eval.errors import DataError
from coverage_eval.tables.table import Printable


def echo_findings(findings: Sequence[Finding], *, strict: bool = False) -> list[str]:
    """Print a warning for each finding, and return them.

    Raises:
        DataError: There is a finding, and warnings are errors.
    """
    messages = [finding.message for finding in findings]
    if messages and strict:
        raise DataError("; ".join(messages))
    for message in messages:
        say(message, "warning")
    return messages


def warn(
    printout: Printable,
    findings: Sequence[Finding],
    unknown_words: Mapping[str, float] | None = None,
    *,
    strict: bool,
) -> Printable:
    """Print a warning for each finding; JSON has them, and figures about the model, too.

    Raises:
        DataError: There is a finding, and warnings are errors.
    """
    messages = echo_findings(findings, strict=strict)
    if not isinstance(printout.data, dict):
        return printout
    model = {"model": dict(unknown_words)} if unknown_words else {}
    return replace(printout, data={**printout.data, "warnings": messages, **model})
