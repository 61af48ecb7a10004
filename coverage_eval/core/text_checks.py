"""Checks of texts by themselves and beside each other, without a model.

Checks that compare shares need at least twenty segments.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import fsum
from unicodedata import normalize

from coverage_eval.core.batches import RowSample
from coverage_eval.core.checks import (
    MIN_SEGMENTS,
    MISFITS,
    Check,
    SampledText,
    SampledTexts,
    percent,
    quote_token,
    run_checks,
)
from coverage_eval.core.errors import CheckId, Finding, Severity
from coverage_eval.core.features import Feature
from coverage_eval.core.line_order import (
    MIN_LENGTHS,
    look_for_other_lengths,
    look_for_other_order,
)
from coverage_eval.core.metric import Metric
from coverage_eval.core.tokenizers import UNSPACED_CHARACTER, Tokenizer, segment_text

# Blank and very short outputs

SHORT = 0.5
"""Bytes of an output divided by those of the reference or of the other outputs: 0.8 to 1.1 for real
systems, and 0.7 where 30% of the words were left out."""

SHORT_OF_SOURCE = 0.25
"""Bytes of an output divided by those of the source: bytes roughly even out the scripts. English
has 0.6 of Japanese, German 1.2 of English, Hindi 2.5."""

MIN_WORDS = 4
"""Words that another text has where a segment is blank; shorter ones may be left out rightly."""


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
                CheckId.SAYS_LITTLE,
                Severity.UNUSABLE,
                explains={CheckId.BLANK},
            )


def look_for_blanks(texts: SampledTexts) -> Iterator[Finding]:
    """Outputs with blank segments where another text has words."""
    for text in texts.hypotheses:
        blank = [index for index, row in enumerate(text.rows) if not row]
        blank = [i for i in blank if any(len(t.words[i]) >= MIN_WORDS for t in texts.all)]
        if blank:
            count = f"{len(blank)} blank segment{'s' * (len(blank) > 1)}"
            first = f"first segment {texts.lines[blank[0]]:,}"
            yield Finding.of_text(
                text.name,
                f"{count} where other texts have words, {first}",
                "they have no errors to count, so find out why the system gave no output",
                CheckId.BLANK,
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

_OF_WRONG_TEXT = MISFITS | {CheckId.FOREIGN_OUTPUT}
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
                CheckId.COPY,
                explains=_OF_WRONG_TEXT,
            )


MIN_EQUAL_TOKENS = 30
"""Shorter texts, such as a few one-word segments, may be equal by chance."""


def look_for_equal_texts(texts: SampledTexts) -> Iterator[Finding]:
    """Texts with the same words; outputs may be equal, an output and another text should not."""
    same: dict[tuple[tuple[str, ...], ...], list[SampledText]] = defaultdict(list)
    for text in texts.all:
        same[tuple(map(tuple, text.rows))].append(text)
    for rows, equal in same.items():
        first, *others = [text.name for text in equal]
        if not others or (equal[0].tokens < MIN_EQUAL_TOKENS and first not in others):
            continue
        are_outputs = all(text in texts.hypotheses for text in equal)
        yield Finding.of_text(
            first,
            f"the same text as {' and '.join(others)} in all {len(rows):,} segments",
            _WHICH_FILE,
            CheckId.EQUAL,
            Severity.NOTE if are_outputs else Severity.WARNING,
            explains=() if are_outputs else _OF_WRONG_TEXT | {CheckId.COPY},
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
            capital = sum(n for token, n in cased.items() if token != token.lower())
            capitals[text.name] = capital / total
    with_capitals = [name for name, share in capitals.items() if share >= CASED]
    lower_cased = [name for name, share in capitals.items() if share < LOWER_CASED]
    for name in lower_cased if with_capitals else ():
        yield Finding.of_text(
            name,
            f"no capital letters, but {' and '.join(with_capitals)} has them",
            "lower-case all texts or none",
            CheckId.CASE,
        )


MIN_STRANGE = 0.002
"""Smallest share of tokens with strange characters."""

_INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
_CHARACTERS: tuple[tuple[Callable[[str], object], str], ...] = (
    (re.compile("[ÃãÂâÐðÑñ][¡-ª¬-º¼-¿]|â€|\ufffd").search, "characters of a wrong encoding"),
    (lambda text: len(normalize("NFC", text)) < len(text), "letters apart from their accents"),
    (_INVISIBLE.search, "invisible characters"),
)
"""Characters that the eye does not see or forgives."""


def look_for_characters(texts: SampledTexts) -> Iterator[Finding]:
    """Strange characters in one text that another has not, so that equal words are unequal."""
    for is_strange, what in _CHARACTERS:
        labels = {}
        for text in texts.all:
            strange = [t for t in text.counts if not t.isascii() and is_strange(t)]
            number = sum(text.counts[token] for token in strange)
            if number >= max(3, MIN_STRANGE * text.tokens):
                share = percent(number / text.tokens)
                labels[text.name] = f"{share} of the tokens, such as {strange[0]!a}, have {what}"
        if len(labels) < len(texts.all):
            for name, label in labels.items():
                yield Finding.of_text(
                    name, label, "convert all texts alike, to UTF-8 NFC", CheckId.CHARACTERS
                )


# Texts that are not split into the same words

_TOKENISE = "tokenise all texts alike, or add --tokenize 13a"

OTHERWISE_SPLIT = 0.04
"""Words of one text that the other has only with a space inside ("do n't" for "don't"): 0.4% in
outputs of real systems, 0.2% in Japanese from the same segmenter, 9% where long words were cut in
two, 10 to 20% in untokenised text, 70% in text split into letters."""

MAX_WORDS, MAX_LETTERS = 500, 5000
"""The beginning of a segment in which words are looked for in pieces, however long it is."""


def look_for_other_words(texts: SampledTexts) -> Iterator[Finding]:
    """Texts whose words are split in other places than those of the first reference."""
    first, *more = texts.references
    for text in [*texts.hypotheses, *more]:
        if not text.has_enough:
            continue
        for whole, parts in ((text, first), (first, text)):
            words, split = 0, []
            for row, other_row in zip(whole.rows, parts.rows, strict=True):
                known = set(other_row)
                joined, spaced = (glue.join(other_row)[:MAX_LETTERS] for glue in ("", " "))
                longer = [token for token in row[:MAX_WORDS] if len(token) > 1]
                words += len(longer)
                split += [t for t in longer if t not in known and t in joined and t not in spaced]
            share = len(split) / max(words, MIN_CASED)
            if share > OTHERWISE_SPLIT:
                words_of = f"{percent(share)} of the words of {whole.name}"
                example = quote_token(split[0])
                yield Finding.of_text(
                    text.name,
                    f"{words_of}, such as {example}, are in more than one piece in {parts.name}",
                    _TOKENISE,
                    CheckId.OTHER_WORDS,
                    explains={CheckId.OUT_OF_STEP},
                )


# A vocabulary of 30,000 subwords marks 2 to 30% of the tokens, SentencePiece and byte-level BPE
# most of them. Plain text has none of the first three; "##" begins headings and rare hashtags, and
# "Ġ" is a letter of Maltese.
SUBWORD_MARKS = (
    (re.compile(r".+@@"), 0.002),
    (re.compile(r"▁.*"), 0.002),
    (re.compile(r"￭.+|.+￭"), 0.002),
    (re.compile(r"##\w+"), 0.01),
    (re.compile(r"Ġ.*"), 0.2),
)
"""Tokens that a subword tokeniser has marked, and their smallest share in a text of subwords."""


def look_for_subwords(texts: SampledTexts) -> Iterator[Finding]:
    """Texts in subwords."""
    for text in texts.all:
        for shape, min_share in SUBWORD_MARKS:
            marked = [token for token in text.counts if shape.fullmatch(token)]
            number = sum(text.counts[token] for token in marked)
            if number >= 2 and number >= min_share * text.tokens:
                part = percent(number / text.tokens)
                yield Finding.of_text(
                    text.name,
                    f"{part} of the tokens are subwords, such as {quote_token(marked[0])}",
                    "join the subwords into words first",
                    CheckId.SUBWORDS,
                    explains=MISFITS | {CheckId.CASE},
                )


def look_for_unsplit_words(texts: SampledTexts) -> Iterator[Finding]:
    """Texts that are not split into the words that are counted."""
    for text in texts.all:
        if label := why_unsegmented(text):
            yield _unsegmented(text, label, is_source=text is texts.source)
        if label := why_untokenised(text):
            yield Finding.of_text(
                text.name,
                label,
                _TOKENISE,
                CheckId.UNTOKENISED,
                explains={CheckId.UNKNOWN_WORDS, CheckId.OTHER_WORDS},
            )


_PUNCTUATION = re.compile(r"[.,!?;:]")
_GLUED_MARK = re.compile(r"\w\w[,;:!?]$")
_GLUED_STOP = re.compile(r"\w\w\.$")
GLUED_SEGMENTS = 0.3
"""Segments with punctuation attached to a word, as a share of the segments with punctuation:
tokenised text has below 1% (abbreviations), untokenised text 98%."""


def why_untokenised(text: SampledText) -> str | None:
    """The share of segments with punctuation attached to a word, if it is that of raw text."""
    glued = punctuated = 0
    for row in text.rows:
        with_marks = [token for token in row if _PUNCTUATION.search(token)]
        punctuated += bool(with_marks)
        glued += any(map(_GLUED_MARK.search, with_marks)) or (
            len(row) > 1 and _GLUED_STOP.search(row[-1]) is not None
        )
    if glued < MIN_SEGMENTS or glued <= GLUED_SEGMENTS * punctuated:
        return None
    return f"{percent(glued / punctuated)} of the segments have punctuation attached to words"


def find_unsegmented(sample: RowSample, metrics: Mapping[str, Metric]) -> dict[str, list[Finding]]:
    """The metrics that count words which their tokeniser does not separate in these texts.

    Returns:
        By metric, a finding for each text that it needs and whose words are not separated.
    """
    found: dict[str, list[Finding]] = {}
    by_tokenizer: dict[Tokenizer, SampledTexts] = {}
    for name, metric in metrics.items():
        if (words := metric.words) is None:
            continue
        texts = by_tokenizer.get(words) or _unspaced_texts(sample, words)
        by_tokenizer[words] = texts
        for text in texts.all:
            is_source = text is texts.source
            is_needed = not is_source or "sources" in metric.needs
            if is_needed and (label := why_unsegmented(text)):
                finding = _unsegmented(text, label, is_source=is_source)
                found.setdefault(name, []).append(finding)
    return found


def _unspaced_texts(sample: RowSample, words: Tokenizer) -> SampledTexts:
    """The texts of a sample in words; none if they have no letter of a script without spaces."""
    has_letters = re.compile(UNSPACED_CHARACTER).search
    texts = (
        segment_text(text)
        for row in sample.rows
        for text in (*row.hypotheses, *row.references, row.source or "")
    )
    if not any(not text.isascii() and has_letters(text) for text in texts):
        return SampledTexts()
    return SampledTexts.tokenize(sample, words, words)


_SPLITTERS = (("[\u3040-\u30ff]", "ja-mecab or char", "char"), ("[\u3400-\u9fff]", "zh", "zh"))
"""Letters of Japanese and, beside none of them, of Chinese; the tokenisers to type, and the one of
a model. Other scripts are split into letters."""


def _unsegmented(text: SampledText, label: str, *, is_source: bool) -> Finding:
    """What to do with a text whose words are not separated."""
    letters = "".join(text.counts)
    found = [names for script, *names in _SPLITTERS if len(re.findall(script, letters)) > 2]
    names, name = found[0] if found else ("char", "char")
    flags = f"--src-tokenize {name}" if is_source else f"--tokenize {name} --src-tokenize 13a"
    return Finding.of_text(
        text.name,
        label,
        f"words are no figure there: add --tokenize {names}; a model is trained with {flags}",
        CheckId.UNSEGMENTED,
        explains=MISFITS,
    )


MIN_UNSPACED_CHARACTERS = 30
"""Characters in tokens of a script without spaces, from which on they tell whether they are words.
"""

UNSEGMENTED_CHARACTERS = 7.0
"""Letters per token: segmented Japanese has 1.6, Chinese 1.7, Thai about 4; unsegmented text has 10
to 40."""


def why_unsegmented(text: SampledText) -> str | None:
    """Letters per token if a text seems not to be split into words; None if it is."""
    if not is_unsegmented_script(text):
        return None
    letters_of = {token: len(re.findall(UNSPACED_CHARACTER, token)) for token in text.counts}
    tokens = sum(text.counts[token] for token, number in letters_of.items() if number)
    letters = sum(text.counts[token] * number for token, number in letters_of.items())
    size = sum(text.counts[token] * len(token) for token, number in letters_of.items() if number)
    if size < MIN_UNSPACED_CHARACTERS or letters <= UNSEGMENTED_CHARACTERS * tokens:
        return None
    return f"{letters / tokens:.0f} letters per token in a script without spaces"


def is_unsegmented_script(text: SampledText) -> bool:
    """Whether a third of the tokens or more are in a script without spaces between words."""
    tokens = sum(n for token, n in text.counts.items() if re.search(UNSPACED_CHARACTER, token))
    return 0 < tokens >= text.tokens / 3


def look_for_missing_references(sample: RowSample) -> Iterator[Finding]:
    """References that are blank, beside others or alone; counted in the whole text."""
    for name, number in sample.missing.items():
        yield Finding.of_text(
            name,
            f"blank in {number:,} of {sample.size:,} segments",
            "where another reference has words, only that one counts",
        )
    if sample.unreferenced:
        yield Finding(
            f"{' and '.join(sample.references)}: {sample.unreferenced:,} of {sample.size:,} "
            "segments have no reference: none of the words of their outputs is right, and nothing "
            "of their source is expected; leave such segments out if that is not meant",
            texts=sample.references,
        )


COMMON_CHECKS = (
    Check(look_for_subwords),
    Check(look_for_characters),
    Check(look_for_equal_texts),
    Check(look_for_copies, MIN_SEGMENTS, needs_source=True, needs_references=True),
    Check(look_for_case, min_tokens=MIN_CASED),
    Check(look_for_little_text),
    Check(look_for_blanks),
    Check(look_for_other_words, MIN_SEGMENTS, needs_references=True),
    Check(look_for_other_order, MIN_SEGMENTS),
)
"""Checks of any texts."""

WORD_CHECKS = (*COMMON_CHECKS, Check(look_for_unsplit_words))
"""Checks of texts whose words are counted."""

LENGTH_CHECKS = (Check(look_for_other_lengths, MIN_LENGTHS, needs_source=True),)
"""Checks of texts without a model, which does better."""


class TextChecks(Feature):
    """Looks for mistakes in texts that are scored."""

    def findings(self, sample: RowSample, words: Tokenizer | None) -> Iterable[Finding]:
        """What looks wrong, each finding in one text."""
        checks = COMMON_CHECKS if words is None else WORD_CHECKS
        tokens = words or Tokenizer("13a")
        texts = SampledTexts.tokenize(sample, tokens, tokens)
        return run_checks([*checks, *LENGTH_CHECKS], texts)
