"""What commands say on standard error: one line each, whatever texts and programs had in it."""

from __future__ import annotations

import click

from coverage_eval.tables.table import escape_controls


def say(message: str, kind: str = "") -> None:
    """Print a line on standard error.

    Names of files, words of corpora and what other programs said are part of messages: none of
    their characters may end the line or command a terminal.

    Args:
        message: What to say.
        kind: ``error``, ``warning`` or ``note``; by default just what happened.
    """
    head = f"coverage-eval: {kind}: " if kind else ""
    click.echo(head + escape_controls(message), err=True)
