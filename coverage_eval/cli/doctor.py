"""``coverage-eval doctor``."""

from __future__ import annotations

import click

from coverage_eval.cli.options import echo, format_option, output_option
from coverage_eval.diagnosis import diagnose
from coverage_eval.report.tables import render_table


@click.command("doctor")
@format_option
@output_option
def command(output_format: str, output: str | None) -> None:
    """Show what is installed, what is missing, and the command that adds it."""
    header = ["part", "found", "needed_for", "ok", "remedy"]
    rows: list[tuple[object, ...]]
    rows = [(item.part, item.found, item.needed_for, item.ok, item.remedy) for item in diagnose()]
    if output_format != "json":
        rows = [(p, f or "missing", n, "yes" if ok else "no", r) for p, f, n, ok, r in rows]
    echo(render_table(header, rows, output_format), output)
