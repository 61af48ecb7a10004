"""Checks of how texts are split into words: tokenised alike, in subwords, or not split at all."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from coverage_eval.core.batches import RowSample
from coverage_eval.core.checks import (
    MIN_SEGMENTS,
    MISFITS,
    SampledText,
    SampledTexts,
    percent,
    quote_token,
)
from coverage_eval.core.errors import CheckId, Finding
from coverage_eval.core.metric import Metric
from coverage_eval.core.tokenizers import UNSPACED_CHARACTER, Tokenizer


def _tokenise_advice(texts: SampledTexts) -> str:
    """What to do with texts that are tokenised in different ways, or not at all."""
    return f"tokenise all texts alike{', or add --tokenize 13a' * texts.has_tokenizer}"


OTHERWISE_SPLIT = 0.04
"""Words of one text that the other has only with a space inside ("do n't" for "don't"): 0.4% in
outputs of real systems, 0.2% in Japanese from the same segmenter, 9% where long words were cut in
two, 10 to 20% in untokenised text, 70% in text split into letters."""

MIN_LONG = 200
"""Words of two letters and more, below which the share of those that are split means little."""

MAX_WORDS, MAX_LETTERS = 500, 5000
"""The beginning of a segment in which words in pieces and glued marks are looked for."""


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
            share = len(split) / max(words, MIN_LONG)
            if share > OTHERWISE_SPLIT:
                words_of = f"{percent(share)} of the words of {whole.name}"
                example = quote_token(split[0])
                yield Finding.of_text(
                    text.name,
                    f"{words_of}, such as {example}, are in more than one piece in {parts.name}",
                    _tokenise_advice(texts),
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
            if number >= 2 and number >= min_share * text.token_count:
                part = percent(number / text.token_count)
                yield Finding.of_text(
                    text.name,
                    f"{part} of the tokens are subwords, such as {quote_token(marked[0])}",
                    "join the subwords into words first",
                    CheckId.SUBWORDS,
                    explains=MISFITS | {CheckId.CASE},
                )


def look_for_unsegmented_words(texts: SampledTexts) -> Iterator[Finding]:
    """Texts in scripts without spaces that are not split into the words that a model knows.

    Metrics of words are refused for them (:func:`find_unsegmented`).
    """
    for text in texts.all:
        if label := why_unsegmented(text):
            is_source = text is texts.source  # which only a model's words are counted of
            has_tokenizer = texts.has_tokenizer and not is_source
            yield _unsegmented(text, label, has_tokenizer=has_tokenizer, is_source=is_source)


def look_for_attached_punctuation(texts: SampledTexts) -> Iterator[Finding]:
    """Texts with punctuation attached to the words that are counted."""
    for text in texts.all:
        if label := why_untokenised(text):
            yield Finding.of_text(
                text.name,
                label,
                _tokenise_advice(texts),
                CheckId.UNTOKENISED,
                explains={CheckId.UNKNOWN_WORDS, CheckId.OTHER_WORDS},
            )


_PUNCTUATION = re.compile(r"[.,!?;:]")
_GLUED_MARK = re.compile(r"^(?!.*&#?\w+;$).*\w\w[,;:!?]$")
_GLUED_STOP = re.compile(r"\w\w\.$")
GLUED_SEGMENTS = 0.3
"""Segments with punctuation attached to a word, as a share of the segments with punctuation:
tokenised text has below 1% (abbreviations), untokenised text 98%."""


def why_untokenised(text: SampledText) -> str | None:
    """The share of segments with punctuation attached to a word, if it is that of raw text."""
    glued = punctuated = 0
    for row in text.rows:
        with_marks = [token for token in row[:MAX_WORDS] if _PUNCTUATION.search(token)]
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
    if not _has_unspaced_letters(sample):
        return found
    by_tokenizer: dict[Tokenizer, SampledTexts] = {}
    for name, metric in metrics.items():
        tokenizer = metric.tokenizer
        if tokenizer is None or not metric.counts_words:
            continue
        texts = by_tokenizer.get(tokenizer) or SampledTexts.tokenize(sample, tokenizer, tokenizer)
        by_tokenizer[tokenizer] = texts
        for text in texts.all:
            is_source = text is texts.source
            is_needed = not is_source or "sources" in metric.needs
            if is_needed and (label := why_unsegmented(text)):
                finding = _unsegmented(text, label, metric.unsegmented_advice, is_source=is_source)
                found.setdefault(name, []).append(finding)
    return found


def _has_unspaced_letters(sample: RowSample) -> bool:
    """Whether a text has letters of a script without spaces between words."""
    texts = (
        text if isinstance(text, str) else "".join(text)
        for row in sample.rows
        for text in (*row.hypotheses, *row.references, row.source or "")
    )
    find = re.compile(UNSPACED_CHARACTER).search
    return any(not text.isascii() and find(text) for text in texts)


_SPLITTERS = (("[\u3040-\u30ff]", "ja-mecab or char", "char"), ("[\u3400-\u9fff]", "zh", "zh"))
"""Letters of Japanese and, beside none of them, of Chinese; the tokenisers to type, and the one of
a model. Other scripts are split into letters."""


def _unsegmented(
    text: SampledText,
    label: str,
    advice: str = "",
    *,
    is_source: bool,
    has_tokenizer: bool = True,
) -> Finding:
    """What to do with a text whose words are not separated.

    Args:
        text: The text.
        label: What was seen in it.
        advice: What a metric says without a tokeniser.
        is_source: Whether it is the source.
        has_tokenizer: Whether the option ``--tokenize`` would split it.
    """
    letters = "".join(text.counts)
    found = [names for script, *names in _SPLITTERS if len(re.findall(script, letters)) > 2]
    names, name = found[0] if found else ("char", "char")
    flags = f"--src-tokenize {name}" if is_source else f"--tokenize {name} --src-tokenize 13a"
    option = f"add --tokenize {names}; a model is trained" if has_tokenizer else "train the model"
    advice = advice or f"words cannot be counted there: {option} with {flags}"
    return Finding.of_text(text.name, label, advice, CheckId.UNSEGMENTED, explains=MISFITS)


MIN_UNSPACED_CHARACTERS = 30
"""Characters in tokens of a script without spaces, from which on they tell whether they are words.
"""

UNSEGMENTED_CHARACTERS = 7.0
"""Letters per token: segmented Thai has about 4; unsegmented text has 10 to 40."""

_IDEOGRAPH = "[\u3040-\u30ff\u3400-\u9fff]"
UNSEGMENTED_IDEOGRAPHS = 3.5
"""Letters per token of Japanese and Chinese: segmented they have 1.6 and 1.7, and unsegmented lines
as short as those of subtitles 4 to 8."""


def why_unsegmented(text: SampledText) -> str | None:
    """Letters per token if a text seems not to be split into words; None if it is."""
    if not is_unsegmented_script(text):
        return None
    letters_of = {token: len(re.findall(UNSPACED_CHARACTER, token)) for token in text.counts}
    tokens = sum(text.counts[token] for token, number in letters_of.items() if number)
    letters = sum(text.counts[token] * number for token, number in letters_of.items())
    size = sum(text.counts[token] * len(token) for token, number in letters_of.items() if number)
    ideographs = sum(n * len(re.findall(_IDEOGRAPH, token)) for token, n in text.counts.items())
    most = UNSEGMENTED_IDEOGRAPHS if 2 * ideographs > letters else UNSEGMENTED_CHARACTERS
    if size < MIN_UNSPACED_CHARACTERS or letters <= most * tokens:
        return None
    return f"{letters / tokens:.0f} letters per token in a script without spaces"


def is_unsegmented_script(text: SampledText) -> bool:
    """Whether a third of the tokens or more are in a script without spaces between words."""
    tokens = sum(n for token, n in text.counts.items() if re.search(UNSPACED_CHARACTER, token))
    return 0 < tokens >= text.token_count / 3
