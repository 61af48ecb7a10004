r"""What Meteor's ``-norm`` does to English text: tokens and marks as in its data, lowercase.

It is the Moses tokeniser of 2010 with additions of Meteor's own: curly quotes, backquotes and
dashes become plain ones, hyphens between letters or digits become spaces, and abbreviations of
several parts lose their full stops. Substitutions run from left to right and never overlap, so
that of three hyphens in a row of single letters only every other one goes; scores depend on it.

The rules were found by running the jar on chosen and random text, not from its source.
"""

from __future__ import annotations

import re

from coverage_eval.metrics.meteor.resources import read_nonbreaking_prefixes

# Letters are those of the languages that Meteor 1.5 supports; all others are separated one by one,
# as punctuation is. Digits are ASCII digits.
_LETTERS = (
    "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u017e\u0400-\u0527"
    "\u1d00-\u1d7f\ua640-\ua66e\ua67e-\ua697"
)
_L = f"[{_LETTERS}]"
_NOT_L = f"[^{_LETTERS}]"

_MARKS = str.maketrans({"\u201c": '"', "\u201d": '"', "\u2018": "'", "\u2019": "'", "`": "'"})

_SUBSTITUTIONS = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        ("\u2013", " - "),
        (f"([^{_LETTERS}0-9 \t\n\x0b\f\r.',-])", r" \1 "),
        (r"(\.{2,})", r" \1 "),
        ("([^0-9]),([^0-9])", r"\1 , \2"),
        ("([0-9]),([^0-9])", r"\1 , \2"),
        ("([^0-9]),([0-9])", r"\1 , \2"),
        ("--", "-"),
        ("''", ' " '),
        (f"({_NOT_L})'({_NOT_L})", r"\1 ' \2"),
        (f"([^{_LETTERS}0-9])'({_L})", r"\1 ' \2"),
        (f"({_L})'({_NOT_L})", r"\1 ' \2"),
        (f"({_L})'({_L})", r"\1 '\2"),
        ("([0-9])'s", r"\1 's"),
        (f"([{_LETTERS}0-9.])-([{_LETTERS}0-9])", r"\1 \2"),
    )
)

# What Java's String.trim removes: the space and all control characters below it.
_TRIMMED = "".join(map(chr, range(33)))
_LETTER = re.compile(_L)
_WORD_BREAK = re.compile("[ \t\n\r\f]+")
_UNICODE_SPACE = re.compile("[\u00a0\u2000-\u200a\u202f\u205f\u3000]")


def split_words(text: str) -> list[str]:
    """The words of a text; Meteor splits at spaces, tabs, line ends and form feeds only."""
    return [word for word in _WORD_BREAK.split(text) if word]


def normalize(text: str) -> str:
    """The text with its tokens separated by spaces, as ``meteor -l en -norm`` compares it."""
    text = f" {text} ".translate(_MARKS)
    for pattern, replacement in _SUBSTITUTIONS:
        text = pattern.sub(replacement, text)
    words = split_words(text)
    text = " ".join(
        _separate_full_stop(word, following)
        for word, following in zip(words, [*words, ""][1:], strict=True)
    )
    return _UNICODE_SPACE.sub(" ", text).strip(_TRIMMED).lower()


def _separate_full_stop(word: str, following: str) -> str:
    """A word with the full stop at its end taken off, kept, or its stops removed (``U.S.``)."""
    stem = word[:-1]
    if not word.endswith(".") or not stem.strip("."):
        return word
    if "." in stem and _LETTER.search(stem):
        return word.replace(".", "")
    numeric_only = read_nonbreaking_prefixes().get(stem)
    first = following[:1]
    if numeric_only is False or "a" <= first <= "z" or (numeric_only and "0" <= first <= "9"):
        return word
    return f"{stem} ."
