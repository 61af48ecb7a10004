"""Checks of how texts are split into words: tokenised alike, in subwords, or not split at all."""

from __future__ import annotations

import re
from collections.abc import Iterator

from coverage_eval.core.errors import Finding
from coverage_eval.core.sampled_texts import (
    SIGNS_OF_WRONG_FILE,
    SampledTexts,
    percent,
    quote_token,
)
from coverage_eval.core.word_splitting import (
    MAX_WORDS,
    unsegmented_text,
    why_unsegmented,
    why_untokenised,
)


def _tokenise_advice(texts: SampledTexts) -> str:
    """What to do with texts that are tokenised in different ways, or not at all."""
    return f"tokenise all texts alike{', or add --tokenize 13a' * texts.has_tokenizer}"


OTHERWISE_SPLIT = 0.04
"""Words of one text that the other has only with a space inside ("do n't" for "don't"): 0.4% in
outputs of real systems, 0.2% in Japanese from the same segmenter, 9% where long words were cut in
two, 10 to 20% in untokenised text, 70% in text split into letters."""

MIN_LONG = 200
"""Words of two letters and more, below which the share of those that are split means little."""

MAX_LETTERS = 5000
"""The beginning of a segment in which words in pieces are looked for."""


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
                    "other-words",
                    suppresses={"out-of-step"},
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
                    "subwords",
                    suppresses=SIGNS_OF_WRONG_FILE | {"case"},
                )


def look_for_unsegmented_words(texts: SampledTexts) -> Iterator[Finding]:
    """Texts in scripts without spaces that are not split into the words that a model knows.

    Metrics of words are refused for them (:func:`find_unsegmented`).
    """
    for text in texts.all:
        if label := why_unsegmented(text):
            is_source = text is texts.source  # which only a model's words are counted of
            has_tokenizer = texts.has_tokenizer and not is_source
            yield unsegmented_text(text, label, has_tokenizer=has_tokenizer, is_source=is_source)


def look_for_attached_punctuation(texts: SampledTexts) -> Iterator[Finding]:
    """Texts with punctuation attached to the words that are counted."""
    for text in texts.all:
        if label := why_untokenised(text):
            yield Finding.of_text(
                text.name,
                label,
                _tokenise_advice(texts),
                "untokenised",
                suppresses={"unknown-words", "other-words"},
            )
