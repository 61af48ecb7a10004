"""Whether texts are split into words: raw text, and scripts without spaces."""

from __future__ import annotations

import re
from collections.abc import Mapping

from coverage_eval.core.batches import RowSample
from coverage_eval.core.errors import Finding
from coverage_eval.core.metric import Metric
from coverage_eval.core.sampled_texts import (
    MIN_SEGMENTS,
    SIGNS_OF_WRONG_FILE,
    SampledText,
    SampledTexts,
    percent,
)
from coverage_eval.core.tokenizers import UNSPACED_CHARACTER, Tokenizer

MAX_WORDS = 500
"""The beginning of a segment in which attached punctuation is looked for."""

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
                finding = unsegmented_text(
                    text, label, metric.unsegmented_advice, is_source=is_source
                )
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


def unsegmented_text(
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
    suppresses = SIGNS_OF_WRONG_FILE | {"short-outputs"}
    return Finding.of_text(text.name, label, advice, "unsegmented", suppresses=suppresses)


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
