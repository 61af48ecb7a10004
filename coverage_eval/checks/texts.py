"""Checks of texts by themselves and beside each other, without a model.

:mod:`coverage_eval.checks.words` has those of how they are split into words. Checks that compare
shares need at least twenty segments.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from math import fsum
from unicodedata import normalize

from coverage_eval.core.batches import RowSample
from coverage_eval.core.errors import Finding, Severity
from coverage_eval.core.forms import conversion_command, identify_form
from coverage_eval.core.sampled_texts import (
    MIN_SEGMENTS,
    SIGNS_OF_WRONG_FILE,
    SampledText,
    SampledTexts,
    percent,
    quote_token,
)
from coverage_eval.core.tokenizers import segment_text

# Lines that are no sentences


def look_for_forms(sample: RowSample, *_: object) -> Iterator[Finding]:
    """Texts whose lines are a log, subtitles, a list of outputs or the like."""
    for name, segments in sample.texts().items():
        if form := identify_form([segment_text(text) for text in segments], sample.lines):
            yield Finding.of_text(
                name,
                f"is {form.name}, so more than sentences is scored",
                form.to_do(name),
                "form",
                suppresses=_OF_OTHER_LINES,
            )


_OF_OTHER_LINES = SIGNS_OF_WRONG_FILE | {
    "characters", "foreign-output", "same-as-reference", "special-token", "subwords", "untokenised",
}  # fmt: skip
"""What is also found in lines that are no sentences."""

# Blank and very short outputs

SHORT = 0.5
"""Bytes of an output divided by those of the reference or of the other outputs: 0.8 to 1.1 for real
systems, and 0.7 where 30% of the words were left out."""

SHORT_OF_SOURCE = 0.25
"""Bytes of an output divided by those of the source: bytes roughly even out the scripts. English
has 0.6 of Japanese, German 1.2 of English, Hindi 2.5."""

MIN_WORDS = 4
"""Words that another text has where a segment is blank; where all are shorter, they may be left out
rightly."""


def look_for_little_text(texts: SampledTexts) -> Iterator[Finding]:
    """Outputs without words in most segments, or far shorter than others."""
    for text in texts.hypotheses:
        others = [other for other in texts.all if other is not text]
        rows = [i for i in range(len(text.rows)) if not others or any(o.words[i] for o in others)]
        wordless = sum(not text.words[i] for i in rows)
        label = ""
        if wordless == len(rows) > 0:
            label = "no segment has a word"
        elif wordless > len(rows) / 2:
            label = f"{percent(wordless / len(rows))} of the segments have no word"
        elif text.has_enough:
            name, length, min_share = _expected_length(texts, text)
            if text.bytes < min_share * length:
                label = f"has only {percent(text.bytes / length)} of the length of {name}"
        if label:
            yield Finding.of_text(
                text.name,
                label,
                "an output that says little has few errors to count, so low scores mean nothing",
                "too-short",
                suppresses={"blank", "empty"},
            )


def look_for_blanks(texts: SampledTexts) -> Iterator[Finding]:
    """Outputs with blank segments where another text has words."""
    for text in texts.hypotheses:
        blank = [
            index
            for index, row in enumerate(text.rows)
            if not row and any(other.words[index] for other in texts.all)
        ]
        if any(len(other.words[i]) >= MIN_WORDS for i in blank for other in texts.all):
            count = f"{len(blank)} blank segment{'s' * (len(blank) > 1)}"
            first = f"first segment {texts.lines[blank[0]]:,}"
            yield Finding.of_text(
                text.name,
                f"{count} where other texts have words, {first}",
                "they have no errors to count, so find out why the system gave no output",
                "blank",
            )


MISSING_VALUES = re.compile(
    r"none|nan|nat|null|nil|undefined|n/?a|todo|tbd|error|\\n"
    r"|#(n/a|(ref|value|null|num|div/0)!|name\?)|[<\[{]{1,2}[^<>\[\]{}]{1,20}[>\]}]{1,2}",
    re.IGNORECASE,
)
"""What programs and people write for a text that is missing: names of nothing in programming
languages and databases, errors of spreadsheets, and a few words in brackets ("<NO_REF>")."""


def look_for_missing_values(texts: SampledTexts) -> Iterator[Finding]:
    """Texts that stand for a missing one where another text has words.

    Outputs without a word are the output error ``empty`` already.
    """
    for text in texts.all:
        is_output = text in texts.hypotheses
        rows = [
            i
            for i, (row, words) in enumerate(zip(text.rows, text.words, strict=True))
            if MISSING_VALUES.fullmatch("".join(row)) or (row and not words and not is_output)
        ]
        rows = [i for i in rows if any(len(t.words[i]) >= MIN_WORDS for t in texts.all)]
        if rows:
            value = quote_token("".join(text.rows[rows[0]]))
            yield Finding.of_text(
                text.name,
                f"{value} is the whole text where others have words ({len(rows):,} times, "
                f"first in segment {texts.lines[rows[0]]:,})",
                "it is scored as a word; if it stands for a missing text, leave the line blank",
            )


def _expected_length(texts: SampledTexts, text: SampledText) -> tuple[str, float, float]:
    """The text to compare an output's length with, its bytes, and the smallest share of them."""
    others = [other for other in texts.hypotheses if other is not text]
    if texts.references:
        shortest = min(texts.references, key=lambda reference: reference.bytes)
        return shortest.name, shortest.bytes, SHORT
    if len(others) > 1:
        return "the other outputs", min(other.bytes for other in others), SHORT
    if texts.source is not None:
        return texts.source.name, texts.source.bytes, SHORT_OF_SOURCE
    return "", 0, 0


# Texts that are the same

_WHICH_FILE = "check that each is the file you meant"

_OF_WRONG_TEXT = SIGNS_OF_WRONG_FILE | {"foreign-output"}
"""What is also found in a text that is another one than the user meant."""

NEARER_SOURCE = 0.25
"""How many more of its words a hypothesis shares with the source than the reference does, as a
share of its words: 0.9 for copies, at most 0.06 for translations, with their names and numbers."""


def look_for_copies(texts: SampledTexts) -> Iterator[Finding]:
    """Outputs that are nearer to the source than to the reference."""
    source, reference = texts.source, texts.references[0]
    assert source is not None
    for text in texts.hypotheses:
        words = zip(text.words, source.words, reference.words, strict=True)
        rows = [row for row in words if row[0] and row[1]]
        if len(rows) < MIN_SEGMENTS:
            continue
        to_source = fsum(len(h & s) / len(h) for h, s, _ in rows) / len(rows)
        to_reference = fsum(len(h & r) / len(h) for h, _, r in rows) / len(rows)
        reference_to_source = fsum(len(r & s) / max(len(r), 1) for _, s, r in rows) / len(rows)
        if to_source > max(to_reference, reference_to_source + NEARER_SOURCE):
            label = f"{percent(to_source)} of its words are in the source {source.name}"
            yield Finding.of_text(
                text.name,
                f"{label}, {percent(to_reference)} in {reference.name}",
                "check that it is a translation",
                "copy",
                suppresses=_OF_WRONG_TEXT,
            )


MIN_EQUAL_TOKENS = 30
"""Shorter texts, such as a few one-word segments, may be equal by chance."""


def look_for_equal_texts(texts: SampledTexts) -> Iterator[Finding]:
    """Texts with the same words; outputs may be equal, an output and another text should not."""
    same: dict[tuple[tuple[str, ...], ...], list[SampledText]] = defaultdict(list)
    for text in texts.all:
        same[tuple(map(tuple, text.rows))].append(text)
    for rows, equal in same.items():
        names = [text.name for text in equal]
        if len(equal) < 2 or (
            equal[0].token_count < MIN_EQUAL_TOKENS and len({*names}) == len(equal)
        ):
            continue
        outputs = [text for text in equal if text in texts.hypotheses]
        are_outputs = len(outputs) == len(equal)
        check, named = "equal", equal[:1]
        if outputs and any(text in texts.references for text in equal):
            check, named = "same-as-reference", outputs
        for text in named:
            others = " and ".join(other.name for other in equal if other is not text)
            yield Finding.of_text(
                text.name,
                f"the same text as {others} in all {len(rows):,} segments",
                _WHICH_FILE,
                check,
                Severity.NOTE if are_outputs else Severity.WARNING,
                suppresses=() if are_outputs else _OF_WRONG_TEXT - {"shifted"} | {"copy"},
            )


# Texts that are written in different ways

MIN_CASED = 200
"""Tokens with case; a text with fewer may have no capitals by chance."""

LOWER_CASED, CASED = 0.002, 0.02
"""Shares of tokens with a capital letter: English text has 5 to 20%, German 30%, other languages
between; lower-cased text has 0, or almost 0 if the program missed a rare letter."""


def look_for_case(texts: SampledTexts) -> Iterator[Finding]:
    """Lower-cased texts beside cased ones."""
    capitals = {}
    for text in texts.all:
        cased = {token: n for token, n in text.counts.items() if token.lower() != token.upper()}
        if (total := sum(cased.values())) >= MIN_CASED:
            numbers = [n for token, n in cased.items() if token != token.lower()]
            # The most frequent one may be a mark such as UNK or eng_Latn.
            capitals[text.name] = (sum(numbers) - max(numbers, default=0)) / total
    with_capitals = [name for name, share in capitals.items() if share >= CASED]
    lower_cased = [name for name, share in capitals.items() if share < LOWER_CASED]
    for name in lower_cased if with_capitals else ():
        yield Finding.of_text(
            name,
            f"no capital letters, but {' and '.join(with_capitals)} has them",
            "lower-case all texts or none",
            "case",
        )


MIN_UNUSUAL = 0.002
"""Smallest share of tokens with unusual characters."""

FAR_MORE = 5
"""How many times the share of another text that must be: escaped corpora have twice as many escapes
on one side as on the other."""

_INVISIBLES = r"[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]"
_ENTITY = re.compile(r"&(#\d+|#x[\da-f]+|amp|apos|quot|lt|gt|nbsp|bar|[lr]sqb);", re.IGNORECASE)
_TO_UNICODE = "convert all texts alike, to UTF-8 NFC"
_CHARACTERS: tuple[tuple[Callable[[str], object], str, str, str], ...] = (
    (
        re.compile("[ÃãÂâÐðÑñ][¡-ª¬-º¼-¿]|â€|\ufffd").search,
        "characters of a wrong encoding",
        _TO_UNICODE,
        "",
    ),
    (
        lambda text: len(normalize("NFC", text)) < len(text),
        "letters apart from their accents",
        _TO_UNICODE,
        "",
    ),
    (
        re.compile(_INVISIBLES).search,
        "invisible characters",
        "remove them",
        f"python -c \"import re, sys; [print(re.sub(r'{_INVISIBLES}', '', line), end='') for line "
        'in sys.stdin]" < FILE > STEM.txt',
    ),
    (
        _ENTITY.search,
        "characters as HTML or Moses writes them",
        "write them as they are in all texts, as Python's html.unescape does",
        "python -c \"import html, sys; [print(html.unescape(line), end='') for line in sys.stdin]"
        '" < FILE > STEM.txt',
    ),
)
"""Characters that the eye does not see or forgives, what to do with them, and the line to type."""


def look_for_characters(texts: SampledTexts) -> Iterator[Finding]:
    """Strange characters in one text that another hardly has, so that equal words are unequal."""
    for is_unusual, what, advice, command in _CHARACTERS:
        found_in = {
            text: [token for token in text.counts if is_unusual(token)] for text in texts.all
        }
        numbers = {
            text: sum(text.counts[token] for token in found) for text, found in found_in.items()
        }
        least = min((n / max(text.token_count, 1) for text, n in numbers.items()), default=0)
        for text, number in numbers.items():
            share = number / max(text.token_count, 1)
            if number >= 3 and share >= max(MIN_UNUSUAL, FAR_MORE * least):
                example = f"such as {found_in[text][0][:40]!a}, have {what}"
                label = f"{percent(share)} of the tokens, {example}"
                typed = conversion_command(command, text.name)
                to_do = f"{advice}: {typed}" if typed else advice
                yield Finding.of_text(text.name, label, to_do, "characters")


CURLY, STRAIGHT = re.compile("[‘’“”]"), re.compile("[\"'`]")
"""Quotation marks and apostrophes as typesetters and as keyboards have them."""

MIN_QUOTES = 5
"""Tokens with such marks in each of two texts that have other ones."""


def look_for_quotes(texts: SampledTexts) -> Iterator[Finding]:
    """Curly quotation marks in one text where another of the same language has straight ones."""
    numbers = {
        text: [
            sum(n for token, n in text.counts.items() if marks.search(token))
            for marks in (CURLY, STRAIGHT)
        ]
        for text in (*texts.hypotheses, *texts.references)
    }
    straight = [
        text
        for text, (curly, plain) in numbers.items()
        if plain >= max(MIN_QUOTES, FAR_MORE * curly)
    ]
    for text, (curly, plain) in numbers.items() if straight else ():
        if curly >= max(MIN_QUOTES, FAR_MORE * plain):
            command = "sed -E \"s/‘|’/'/g\" FILE | sed -E 's/“|”/\"/g' > STEM.txt"
            typed = conversion_command(command, text.name)
            yield Finding.of_text(
                text.name,
                f"{curly:,} tokens have curly quotation marks (’ “), where those of "
                f"{straight[0].name} are straight",
                "write them alike in all texts" + (f": {typed}" if typed else ""),
                "quotes",
            )


def look_for_missing_references(texts: SampledTexts) -> Iterator[Finding]:
    """References that are blank, beside others or alone."""
    rows = range(len(texts.lines))
    words = {text: [bool(text.words[row]) for row in rows] for text in texts.references}
    for text, known in words.items():
        number = sum(not known[row] and any(of[row] for of in words.values()) for row in rows)
        if number:
            yield Finding.of_text(
                text.name,
                f"blank in {number:,} of {len(rows):,} segments",
                "where another reference has words, only that one counts",
            )
    number = sum(
        not any(of[row] for of in words.values())
        and any(text.words[row] for text in texts.hypotheses)
        for row in rows
    )
    if words and number:
        names = tuple(text.name for text in texts.references)
        yield Finding(
            f"{' and '.join(names)}: {number:,} of {len(rows):,} "
            "segments have no reference: none of the words of their outputs is right, and nothing "
            "of their source is expected; leave such segments out if that is not meant",
            texts=names,
        )
