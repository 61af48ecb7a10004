"""Outputs with markup that the source lacks, or with nothing but a language model's own tokens."""

from __future__ import annotations

import re
from collections.abc import Mapping

from coverage_eval.outputs.parsed_segment import ParsedSegment

_SPECIAL = re.compile(r"</?s>|<\|[a-z_]+\|>|<(?:eos|bos|pad|unk)>|\[/?INST\]", re.IGNORECASE)
"""Tokens that language models are trained with."""

_MARKUP: Mapping[str, re.Pattern[str]] = {
    "a code fence": re.compile(r"```|~~~"),
    "bold text": re.compile(
        r"\*\*(?=\S)(?:[^*]|\*(?!\*))+(?<=\S)\*\*|__(?=\w)(?:[^_]|_(?!_))+(?<=\w)__"
    ),
    "a heading": re.compile(r"^[^\S\n]*#{1,6}\s+\w", re.MULTILINE),
    "a special token": _SPECIAL,
    "a tag": re.compile(r"</?(?:translation|output|answer|text|result|target)>", re.IGNORECASE),
}
_MARKUP_CHARACTERS = re.compile(r"[`~*_#<\[]")
"""Nearly all outputs have none of them, and so no markup."""


def find_markup(output: str, source: str) -> str:
    """The markup that an output has and its source lacks, in words."""
    if _MARKUP_CHARACTERS.search(output) is None:
        return ""
    found = [name for name, shape in _MARKUP.items() if shape.search(output)]
    return " and ".join(name for name in found if not _MARKUP[name].search(source))


def has_words(output: ParsedSegment) -> bool:
    """Whether an output has words besides the tokens that language models are trained with."""
    if not output.words or _MARKUP_CHARACTERS.search(output.text) is None:
        return bool(output.words)
    return bool(ParsedSegment.of(_SPECIAL.sub(" ", output.text)).words)
