"""Marks that are no words: special tokens of models, and blocks in which a model reasons.

Each form is a regular expression that Python and GNU ``sed -E`` read alike, so that a message can
give the line that strips what was found.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence

_NAMES = ("s", "bos", "eos", "pad", "unk", "mask", "sep", "cls", "inst", "sys")
_ANY_CASE = "|".join([*_NAMES, *map(str.upper, _NAMES)])

FORMS = (
    r"<</?SYS>>",
    rf"</?({_ANY_CASE}|extra_id_[0-9]+|[0-9][A-Za-z_]+|0x[0-9A-F]{{2}})/?>",
    r"\B<[A-Za-z_][A-Za-z0-9_.:-]*/?>",
    r"</[A-Za-z_][A-Za-z0-9_.:-]*>",
    r"<[|｜][^|｜<>]+[|｜]>",
    r"^ *>>[a-z]{2,3}(_[A-Za-z]+)?<<",
    rf"\[/?({_ANY_CASE}|gMASK|sMASK|THINK|unused[0-9]+)\]",
    r"\[?\b[a-z]{2,3}_([A-Z]{2}|[A-Z][a-z]{3})\b\]?",
    r"^ *\[(2|to_)[A-Za-z_]+\]",
    r"__[a-z]{2,3}(_[A-Za-z]+)?__",
    r"◁/?think▷",
    r"⁇",
    r"[@$]{0,2}\b_{0,2}UNK_{0,2}\b[@$]{0,2}",
)
"""Special tokens: ends, padding, unknown words, roles, languages, bytes."""

_THOUGHTS = ("think", "thinking", "thought", "thoughts", "reasoning", "reflection", "seed:think")
_BLOCKS = (
    *((f"<{name}>", f"</{name}>") for name in _THOUGHTS),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
)
"""The beginning and the end of a block in which a model reasons before it translates."""

_TOKEN = re.compile("|".join(FORMS))
MAY_HAVE_TOKEN = re.compile(r"[<\[◁⁇_]|UNK")
"""Cheap first test."""


def without_special_tokens(text: str) -> str:
    """A text without marks that are no words, and without what a model reasoned.

    >>> without_special_tokens("<think>A dog is a Hund.</think> Ein Hund.</s>")
    'Ein Hund.'
    """
    for start, end in _BLOCKS:
        before, is_opened, _ = text.partition(start)
        _, is_closed, after = text.rpartition(end)
        if is_closed:
            # All before the end is part of a block that is not opened.
            opened_before = is_opened and len(before) < len(text) - len(after)
            text = (before if opened_before else "") + after.lstrip()
        text = text.partition(start)[0]  # and all behind the start of one that is not closed
    return _TOKEN.sub("", text)


def find_special_token(text: str, expected: Sequence[str] = ()) -> str:
    """The first mark in a text that is no word, and that no other text has; empty without one.

    Args:
        text: The text.
        expected: The texts that may have it, too: its source, its references.
    """
    marks = (found[0].strip() for found in _TOKEN.finditer(text))
    return next((mark for mark in marks if not any(mark in other for other in expected)), "")


def stripping_command(marks: Iterable[str]) -> str:
    """The line of a shell that prints ``FILE`` without some marks.

    >>> print(stripping_command(["<|im_end|>"]))
    sed -E 's#<[|｜][^|｜<>]+[|｜]>##g' FILE
    """
    found = set(marks)
    commands = []
    for start, end in _BLOCKS:
        if not found.isdisjoint({start, end}):
            first, last = re.escape(start), re.escape(end)
            commands += [rf"s#{first}.*{last}\s*##", rf"s#^.*{last}\s*##", f"s#{first}.*$##"]
            found -= {start, end}
    commands += [f"s#{form}##g" for form in FORMS if any(re.fullmatch(form, m) for m in found)]
    return f"sed -E {shlex.quote(';'.join(commands))} FILE"
