"""Outputs with markup that neither their source nor a reference has."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

_MARKUP: Mapping[str, tuple[re.Pattern[str], str]] = {
    "a code fence": (re.compile(r"```|~~~"), "`~"),
    "bold text": (
        re.compile(r"\*\*(?=\S)(?:[^*]|\*(?!\*))+(?<=\S)\*\*|__(?=\w)(?:[^_]|_(?!_))+(?<=\w)__"),
        "*_",
    ),
    "quotation marks around all": (
        re.compile(r"\A\s*[\"“„«「『].+[\"“”»」』]\s*\Z", re.DOTALL),
        "\"'“”„«»‘’‚「」『』&`–—―",  # dashes begin direct speech
    ),
    "a heading": (re.compile(r"^[^\S\n]*#{1,6}\s+\w", re.MULTILINE), "#"),
}
"""What it looks like, and its characters: a source that has one has such markup, or may have."""
MAY_HAVE_MARKUP = re.compile(r"[`~*_#\"“„«「『]")
"""Cheap first test."""

_FENCED = re.compile(r"\A\s*(```|~~~).*\1\s*\Z", re.DOTALL)
"""A text that is wholly inside a code fence."""


def find_markup(output: str, expected: Sequence[str]) -> str:
    """The markup that an output has and its source and references lack, in words."""
    written = set().union(*expected)
    if _FENCED.search(output) and not any(map(_FENCED.search, expected)):
        written -= {"`", "~"}  # a mark inside the source is no fence around it
    return " and ".join(
        name
        for name, (shape, characters) in _MARKUP.items()
        if written.isdisjoint(characters) and shape.search(output)
    )
