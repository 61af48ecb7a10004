"""Checks of each text by itself: subwords, untokenised text, scripts without spaces."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from coverage_eval.data.findings import Finding, named, percent, shown
from coverage_eval.data.sample import FEWEST_SEGMENTS, Rows, Sample, Text


class _Mark(NamedTuple):
    """A mark that a subword tokeniser leaves, and the share of tokens from which on it tells."""

    shape: re.Pattern[str]
    share: float


# A vocabulary of 30,000 subwords marks 2 to 30 % of the tokens, SentencePiece and byte-level BPE
# most of them. Plain text has none of the first three; "##" begins headings and rare hashtags,
# and "Ġ" is a letter of Maltese.
SUBWORD_MARKS = (
    _Mark(re.compile(r".+@@"), 0.002),
    _Mark(re.compile(r"▁.*"), 0.002),
    _Mark(re.compile(r"￭.+|.+￭"), 0.002),
    _Mark(re.compile(r"##\w+"), 0.01),
    _Mark(re.compile(r"Ġ.*"), 0.2),
)


def _subword_marks(text: Text) -> str | None:
    for mark in SUBWORD_MARKS:
        marked = [token for token in text.counts if mark.shape.fullmatch(token)]
        number = sum(text.counts[token] for token in marked)
        if number >= 2 and number >= mark.share * text.tokens:
            return f"{percent(number / text.tokens)} of the tokens, such as {shown(marked[0])}"
    return None


_PUNCTUATION = re.compile(r"[.,!?;:]")
_GLUED_MARK = re.compile(r"\w\w[,;:!?]$")
_GLUED_STOP = re.compile(r"\w\w\.$")
GLUED_SEGMENTS = 0.3
"""Of the segments with punctuation; tokenised text has below 1 % (abbreviations), other 98 %."""


def _glued(rows: Rows) -> tuple[int, int]:
    """Segments where punctuation hangs on a word, and segments with punctuation."""
    glued = punctuated = 0
    for row in rows:
        ending = [token for token in row if _PUNCTUATION.search(token)]
        punctuated += bool(ending)
        glued += any(map(_GLUED_MARK.search, ending)) or (
            len(row) > 1 and _GLUED_STOP.search(row[-1]) is not None
        )
    return glued, punctuated


def _untokenised(text: Text) -> str | None:
    glued, punctuated = _glued(text.rows)
    if glued < FEWEST_SEGMENTS or glued <= GLUED_SEGMENTS * punctuated:
        return None
    return f"{percent(glued / punctuated)} of the segments"


# Thai to Lao, Burmese, Khmer, kana, Han.
_WITHOUT_SPACES = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"
)
UNSEGMENTED_CHARACTERS = 7.0
"""Letters a token: Japanese cut into words has 1.6, Chinese 1.7, Thai about 4; uncut 10 to 40."""


def _unsegmented(text: Text) -> str | None:
    letters = tokens = 0
    for token, number in text.counts.items():
        here = len(_WITHOUT_SPACES.findall(token))
        letters += number * here
        tokens += number * bool(here)
    # Of a text in another script, the few names in this one say nothing.
    if not text.has_enough or tokens < text.tokens / 3:
        return None
    if letters <= UNSEGMENTED_CHARACTERS * tokens:
        return None
    return f"{letters / tokens:.0f} letters a token"


class _Form(NamedTuple):
    """A check of a single text.

    Attributes:
        name: Name of the check.
        see: What of a text speaks for it; None if nothing does.
        advice: What it means and what to do.
    """

    name: str
    see: Callable[[Text], str | None]
    advice: str


FORMS = (
    _Form(
        "subword-marks",
        _subword_marks,
        "marks of subwords are left in; join the subwords to words first",
    ),
    _Form(
        "untokenised",
        _untokenised,
        "punctuation hangs on words; tokenise all texts alike, or give a tokeniser",
    ),
    _Form(
        "unsegmented",
        _unsegmented,
        "the script has no spaces, and the text is not cut into words; cut all texts by the same "
        "segmenter",
    ),
)
"""The checks of single texts."""


def forms_of(text: Text) -> dict[str, str]:
    """Name of each check of :data:`FORMS` that speaks of a text, and what it saw."""
    details = {form.name: form.see(text) for form in FORMS}
    return {name: detail for name, detail in details.items() if detail is not None}


def check_forms(sample: Sample) -> Iterator[Finding]:
    """What each check of :data:`FORMS` sees in the texts, in one finding."""
    forms = {text.name: forms_of(text) for text in sample.texts}
    for form in FORMS:
        seen = {name: details[form.name] for name, details in forms.items() if form.name in details}
        if seen:
            yield Finding(form.name, f"{named(seen)}: {form.advice}")
