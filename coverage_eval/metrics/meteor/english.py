"""Whether a text looks English: Meteor's word lists and paraphrases are of no other language."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from string import punctuation

from coverage_eval.data.dataset import Row
from coverage_eval.metrics.meteor.resources import read_function_words
from fast_align_wrapper.text import Segment, tokenize

FEWEST_WORDS = 50
"""Fewer words say too little about their language."""

ENGLISH_SHARE = 0.16
"""The least share of function words in English. Captions have 0.43 and everyday sentences 0.48
(no 100 words of them less than 0.30), the terse messages of a program 0.26; German captions have
0.05 (no 100 words more than 0.15), messages in Danish 0.06 and in Irish 0.11, Japanese has none."""

_ENOUGH_SEGMENTS = 200


def looks_english(segments: Iterable[Segment]) -> bool:
    """Whether a text has as many function words as English has; a very short one is believed."""
    words = _words(segments)
    return len(words) < FEWEST_WORDS or _function_word_share(words) >= ENGLISH_SHARE


def object_to_other_languages(rows: Sequence[Row]) -> str | None:
    """What METEOR has against references that do not look English; None if they do.

    Args:
        rows: Segments of a test set, of which the first ones are enough.
    """
    texts = [reference for row in rows[:_ENOUGH_SEGMENTS] for reference in row.references]
    if looks_english(texts):
        return None
    return (
        f"{100 * _function_word_share(_words(texts)):.1f} % of the words are English function "
        "words, too few for English: METEOR is for English; take BLEU or chrF"
    )


def _words(segments: Iterable[Segment]) -> list[str]:
    """The tokens with a letter, in lower case and without punctuation at their ends."""
    return [
        token.lower().strip(punctuation)
        for segment in segments
        for token in tokenize(segment)
        if any(map(str.isalpha, token))
    ]


def _function_word_share(words: Sequence[str]) -> float:
    # The ending 's is left out: other languages have it too.
    return sum(word in read_function_words() and word != "s" for word in words) / len(words)
