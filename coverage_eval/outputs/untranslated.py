"""Outputs, or parts of them, that are left in the language of the source."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from coverage_eval.core.tokenizers import Segment, Span, Words
from coverage_eval.outputs.language import Languages, are_near, log_likelihoods
from coverage_eval.outputs.parsed_segment import ParsedSegment, word_spans
from coverage_eval.outputs.phrases import PHRASES
from coverage_eval.outputs.shared_runs import SharedRun, shared_runs

LIKELIER = 15.0
"""By how much more likely a run is in the source's language than in that of the outputs."""

FUNCTION_WORDS = 0.1
"""More than this share of a run's words are function words of the source: names have fewer."""

LONG_RUN, LARGE_PART = 7, 0.3
"""Words of a run, or its share of the output's words, from which on it is too much for a name."""

OF_MODEL = 0.5
"""Where too few sources tell function words: the share of a run's words that a model knows on the
source's side only."""

LIKELIER_ALONE = 30.0
"""As :data:`LIKELIER`, where there is no model either. Capitals tell names then."""

TITLE = 2 / 3
"""Share of a run's words that begin with a capital from which on it is a title or names."""

NEARLY_ALL = 0.8
"""Share of the output's words, or of those in quotation marks, that are nearly all of them."""

MIN_COPY = 4
"""Words of an output that is its source where nothing tells the language of outputs."""

MAX_RUNS = 300
"""Runs of an output that are looked at, the longest, so that a line may be of any length."""

MOST = 2
"""Other systems, at least, that must have the same run to excuse it."""

# Patterns are not compiled here, since texts without a source need none.
_QUOTED = (
    r"[\"“”„«»](.{1,300}?)[\"“”«»]|(?<!\w)[‘‚‹'](.{1,300}?)[’‘›'](?!\w)"
    r"|&quot;(.{1,300}?)&quot;|[「『](.{1,300}?)[」』]"
)
_LINK = r"(?<!\S)(?:\S+://|\S[^\s@]*@\S+\.)\S+|www\.\S+"
_CITATION = r"\(\D{0,40}\d{4}[a-z]?\)|\bet al\b|\b(?:doi|ISBN|arXiv)\b"
_CODE = rf"(?i)^\s*(?:[$#>]\s+)?(?:{PHRASES['commands']})\b.*[^.!?…。\s]\s*$|[;{{}}]\s*$"
_CODE_MARK = r"[{}\[\];=<>|\\$_/#&*+~^@`]+|\w\(|(?<!\S)--?[A-Za-z]"
CODE_SHARE = 1 / 3
"""Marks of code for each word, from which on a text is code."""


class Untranslated(NamedTuple):
    """Words that are left in the language of the source.

    Attributes:
        text: The words in the output.
        spans: The characters of the words in the source.
        is_whole: Whether the output is the source itself.
    """

    text: str
    spans: tuple[Span, ...]
    is_whole: bool


def find_untranslated(
    output: ParsedSegment,
    source: ParsedSegment,
    languages: Languages,
    references: Sequence[Segment] = (),
    others: Sequence[Segment] = (),
) -> list[Untranslated]:
    """What an output leaves in the language of its source.

    Args:
        output: The output.
        source: The source.
        languages: The languages of the texts.
        references: The references of the segment; what they have, too, is no error.
        others: Other systems' outputs; what most of them have, too, is none.
    """
    runs = shared_runs(output, source)
    if len(runs) > MAX_RUNS:
        runs = sorted(sorted(runs, key=lambda run: run.start - run.end)[:MAX_RUNS])
    left = _runs_left(output, runs, languages) if runs else {}
    if not left:
        return []
    of_source, is_whole = word_spans(source.text), output.words == source.words
    expected, of_others = list(map(_in_words, references)), list(map(_in_words, others))
    return [
        Untranslated(
            text,
            # A copy leaves punctuation, too.
            ((0, len(source.text)),)
            if is_whole
            else tuple(of_source[run.source_start : run.source_end]),
            is_whole,
        )
        for run, text in left.items()
        if not _is_expected(_spaced(output.words[run.start : run.end]), expected, of_others)
    ]


def _runs_left(
    output: ParsedSegment, runs: Sequence[SharedRun], languages: Languages
) -> dict[SharedRun, str]:
    """The runs with the source that a translation does not keep, and the text of each."""
    of_words = word_spans(output.text)
    spans = [(of_words[run.start][0], of_words[run.end - 1][1]) for run in runs]
    links = [found.span() for found in re.finditer(_LINK, output.text)]
    in_links = overlapping(Words(output.text, tuple(spans)), links)
    quotations = list(re.finditer(_QUOTED, output.text))
    is_upper = output.text.isupper()
    left = {}
    for run, (start, end), is_link in zip(runs, spans, in_links, strict=True):
        words, text = output.words[run.start : run.end], output.text[start:end]
        is_most = len(words) >= NEARLY_ALL * len(output.words)
        if not (
            is_link
            or _are_names(text, is_title=not is_upper)
            or _is_code(text)
            or re.search(_CITATION, output.text[start : end + 20])
            or (not is_most and _is_quotation(words, (start, end), quotations))
            or not _is_left(text, words, languages, len(words) / len(output.words))
        ):
            left[run] = text
    return left


def _is_left(text: str, words: Sequence[str], languages: Languages, part: float) -> bool:
    """Whether a run is in the source's language, and not in that of the outputs, and no name.

    Args:
        text: The run as it is written.
        words: Its words.
        languages: The languages of the texts.
        part: Its share of the output's words.
    """
    if not languages.target:
        # All outputs are copies, so nothing tells what they should be.
        return part >= NEARLY_ALL and len(words) >= MIN_COPY
    if are_near(languages.source, languages.target):
        return False
    likelihoods = log_likelihoods(text)
    difference = likelihoods[languages.source] - likelihoods[languages.target]
    is_much = len(words) >= LONG_RUN or part >= LARGE_PART
    if languages.function_words:
        known = sum(word in languages.function_words for word in words)
        return is_much and difference > LIKELIER and known > FUNCTION_WORDS * len(words)
    if languages.model_words:
        known = sum(word in languages.model_words for word in words)
        return difference > LIKELIER and known >= OF_MODEL * len(words)
    return difference > LIKELIER_ALONE and (is_much or text != text.lower())


def _are_names(text: str, *, is_title: bool) -> bool:
    """Whether a run has hardly a word, or is a title or names, if capitals tell them."""
    words = [text[slice(*span)] for span in word_spans(text)]
    capitals = sum(word[0].isupper() for word in words)
    is_title = is_title and capitals >= TITLE * len(words)
    return is_title or sum(word[0].isalpha() for word in words) < 2


def _is_quotation(words: Sequence[str], inside: Span, quotations: Sequence[re.Match[str]]) -> bool:
    """Whether a run is nearly all that stands between two quotation marks."""
    before = bisect_right(quotations, inside[0], key=re.Match.start)
    if not before or inside[1] > quotations[before - 1].end():
        return False
    found = quotations[before - 1]
    quoted = ParsedSegment.of(found[found.lastindex or 0])
    return len(words) >= NEARLY_ALL * len(quoted.words)


def _is_expected(words: str, references: Sequence[str], others: Sequence[str]) -> bool:
    """Whether a reference has a run, too, or most other systems; all with spaces around words."""
    if any(words in reference for reference in references):
        return True
    with_it = sum(words in other for other in others)
    return with_it >= MOST and 2 * with_it > len(others)


def _in_words(text: Segment) -> str:
    return _spaced(ParsedSegment.of(text).words)


def _spaced(words: Sequence[str]) -> str:
    return f" {' '.join(words)} "


def _is_code(text: str) -> bool:
    marks = len(re.findall(_CODE_MARK, text))
    return marks >= max(2, CODE_SHARE * len(text.split())) or re.search(_CODE, text) is not None


def overlapping(words: Words, spans: Sequence[Span]) -> list[bool]:
    """Whether each word of a text has a character of some others, which another pattern found.

    Args:
        words: The words, as a metric splits the text.
        spans: The characters of the others.
    """
    inside = bytearray(len(words.text))
    for start, end in spans:
        inside[start:end] = b"\1" * (end - start)
    return [any(inside[start:end]) for start, end in words.spans]
