"""Messages on standard error, and characters that a stream lacks; imported without NumPy."""

from __future__ import annotations

import codecs
import sys

from coverage_eval.tables.table import escape_controls, spell_utf16

SPELT = "coverage-eval"
"""The name of how streams treat characters that their encoding lacks."""


def _spell(error: UnicodeError) -> tuple[str, int]:
    """What a stream's encoding lacks, as JSON spells it: "↓" as \\u2193."""
    assert isinstance(error, UnicodeEncodeError)
    return spell_utf16(error.object[error.start : error.end]), error.end


codecs.register_error(SPELT, _spell)


def say(message: str, kind: str = "") -> None:
    """Print a line on standard error.

    Names of files, words of corpora and what other programs said are part of messages: none of
    their characters may end the line or command a terminal.

    Args:
        message: What to say.
        kind: ``error``, ``warning`` or ``note``; by default just what happened.
    """
    head = f"coverage-eval: {kind}: " if kind else ""
    sys.stderr.write(f"{head}{escape_controls(message)}\n")
    sys.stderr.flush()
