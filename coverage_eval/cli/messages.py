"""Messages on standard error, and characters that a stream cannot encode; needs no NumPy."""

from __future__ import annotations

import codecs
import shutil
import sys
from textwrap import fill

from coverage_eval.tables.table import escape_controls, spell_utf16

SPELT = "coverage-eval"
"""The name of the error handler for characters that a stream's encoding lacks."""


WORDS = {
    "↑": "(higher is better)", "↓": "(lower is better)", "→": "->", "–": "-", "…": "...", "●": "*",
    "×": "x", "±": "+-", "≥": ">=", "≤": "<=", "−": "-", "·": "-", "─": "-",
}  # fmt: skip
"""What is printed for our own signs if the stream's encoding lacks them."""


def _spell(error: UnicodeError) -> tuple[str, int]:
    """Spell a character that the encoding lacks in words, or as JSON does: "ß" as \\u00df."""
    assert isinstance(error, UnicodeEncodeError)
    lacking = error.object[error.start : error.end]
    return "".join(WORDS.get(sign) or spell_utf16(sign) for sign in lacking), error.end


codecs.register_error(SPELT, _spell)


def say(message: str, kind: str = "") -> None:
    """Print a line on standard error; a terminal wraps it at words.

    Messages contain names of files, words of corpora and output of other programs. Their control
    characters are escaped, so that none ends the line or controls the terminal.

    Args:
        message: The message.
        kind: ``error``, ``warning`` or ``note``; by default nothing stands before the message.
    """
    head = f"coverage-eval: {kind}: " if kind else ""
    text = f"{head}{escape_controls(message)}"
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns
        text = fill(text, width, break_long_words=False, break_on_hyphens=False)
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
