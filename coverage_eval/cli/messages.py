"""Messages on standard error, and characters that a stream cannot encode; needs no NumPy."""

from __future__ import annotations

import codecs
import sys

from coverage_eval.tables.table import escape_controls, spell_utf16

SPELT = "coverage-eval"
"""The name of the error handler for characters that a stream's encoding lacks."""


def _spell(error: UnicodeError) -> tuple[str, int]:
    """Spell a character that the encoding lacks as JSON does: "↓" as \\u2193."""
    assert isinstance(error, UnicodeEncodeError)
    return spell_utf16(error.object[error.start : error.end]), error.end


codecs.register_error(SPELT, _spell)


def say(message: str, kind: str = "") -> None:
    """Print a line on standard error.

    Messages contain names of files, words of corpora and output of other programs. Their control
    characters are escaped, so that none ends the line or controls the terminal.

    Args:
        message: The message.
        kind: ``error``, ``warning`` or ``note``; by default nothing stands before the message.
    """
    head = f"coverage-eval: {kind}: " if kind else ""
    sys.stderr.write(f"{head}{escape_controls(message)}\n")
    sys.stderr.flush()
