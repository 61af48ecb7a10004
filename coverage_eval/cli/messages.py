"""Messages on standard error, for terminals and pipes of any encoding; needs no NumPy.

They have no characters that a terminal would obey, or that its encoding lacks.
"""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from textwrap import fill
from typing import TextIO

from coverage_eval.core.escapes import escape_controls, spell_utf16

ENCODING_FALLBACK = "coverage-eval"
"""The name of the error handler for characters that a stream's encoding lacks."""


WORDS = {
    "↑": "(higher is better)", "↓": "(lower is better)", "→": "->", "–": "-", "…": "...", "●": "*",
    "×": "x", "±": "+-", "≥": ">=", "≤": "<=", "−": "-", "·": "-", "─": "-",
}  # fmt: skip
"""What is printed for our own signs if the stream's encoding lacks them."""


_COLOURS = {"error": "\x1b[1;31m", "failed": "\x1b[1;31m", "warning": "\x1b[1;33m"}
"""How a terminal shows what kind a message is of."""


def has_colours(stream: TextIO) -> bool:
    """Whether a stream is a terminal with colours whose user wants them (no-color.org)."""
    terminal = os.environ.get("TERM", "dumb")
    return (
        stream.isatty() and terminal not in {"dumb", "unknown"} and not os.environ.get("NO_COLOR")
    )


def _spell(error: UnicodeError) -> tuple[str, int]:
    """Spell a character that the encoding lacks in words, or as JSON does: "ß" as \\u00df."""
    assert isinstance(error, UnicodeEncodeError)
    unencodable = error.object[error.start : error.end]
    return "".join(WORDS.get(sign) or spell_utf16(sign) for sign in unencodable), error.end


codecs.register_error(ENCODING_FALLBACK, _spell)


def say(message: str, kind: str = "") -> None:
    """Print a line on standard error; a terminal wraps it at words.

    Messages contain names of files, words of corpora and output of other programs. Their control
    characters are escaped, so that none ends the line or controls the terminal.

    Args:
        message: The message.
        kind: ``error``, ``warning`` or ``note``; by default nothing stands before the message.
    """
    head = f"coverage-eval: {kind}: " if kind else ""
    text = wrap(f"{head}{escape_controls(message)}", sys.stderr)
    if head and has_colours(sys.stderr):
        text = f"{_COLOURS.get(kind, '')}{head}\x1b[0m{text[len(head) :]}"
    with tolerate_closed_pipe(sys.stderr):
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


@contextmanager
def tolerate_closed_pipe(stream: TextIO) -> Iterator[None]:
    """Let a pipe's reader, such as ``head``, stop when it has read enough.

    What is printed after that goes nowhere, but the command writes its files, and its exit status
    says what it found.
    """
    try:
        yield
    except BrokenPipeError:
        discard(stream)


def discard(stream: TextIO) -> None:
    """Discard what the stream still has to write; at exit Python would try to, and say so."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def wrap(text: str, stream: TextIO) -> str:
    """The text; wrapped at words if the stream is a terminal, whose width may be unknown (0)."""
    if not stream.isatty():
        return text
    width = os.get_terminal_size(stream.fileno()).columns or 80
    return fill(text, width, break_long_words=False, break_on_hyphens=False)
