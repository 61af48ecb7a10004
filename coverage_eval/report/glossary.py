"""The words of a report that not everybody knows: what they mean, and links to it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from markupsafe import Markup, escape

from coverage_eval.tables.table import escape_controls


class Term(NamedTuple):
    """A word of the field.

    Attributes:
        word: The word.
        pattern: The regular expression of its forms in a text.
        meaning: What it means, in a sentence or two.
    """

    word: str
    pattern: str
    meaning: str


GLOSSARY = (
    Term(
        "segment",
        "[Ss]egments?",
        "A line of the texts, mostly a sentence or a paragraph: the source, its reference if there "
        "is one, and the output of each system.",
    ),
    Term(
        "baseline",
        "baseline",
        "The system that the others are compared with: the first one, or that of --baseline.",
    ),
    Term(
        "p",
        r"p(?=[\s\u00a0][=<≤])",
        "How often chance alone would give a difference as large as this one if both systems were "
        "equally good. A difference with p below 0.05 is called significant.",
    ),
    Term(
        "interval",
        "intervals?",
        "How far the score would move with other segments like these: of 1,000 texts drawn from "
        "the segments at random, 95% have a score between its two ends.",
    ),
    Term(
        "n-gram", "[Nn]-grams?", "One or more words in a row, such as “in the” or “in the house”."
    ),
    Term(
        "peer",
        "peers?",
        "Another system's output of the same source. Where there is no reference, what the peers "
        "say shows what can be expected.",
    ),
)
"""The words, in the order of the list."""


def make_explainer() -> Callable[[str, str], Markup]:
    """A filter for a page: text whose words of the glossary lead to their meaning.

    In each part of the page a word leads there once.
    """
    told: set[tuple[str, str]] = set()
    any_word = re.compile("|".join(rf"\b(?:{term.pattern})(?!\w)" for term in GLOSSARY))

    def explain(text: str, part: str) -> Markup:
        def link(found: re.Match[str]) -> str:
            term = next(one for one in GLOSSARY if re.match(one.pattern, text[found.start() :]))
            if (part, term.word) in told:
                return escape(found[0])
            told.add((part, term.word))
            html = Markup('<a class="term" href="#word-{}" title="{}">{}</a>')
            return html.format(term.word, term.meaning, found[0])

        text = escape_controls(text)
        ends, pieces = 0, Markup("")
        for found in any_word.finditer(text):
            pieces += escape(text[ends : found.start()]) + link(found)
            ends = found.end()
        return pieces + escape(text[ends:])

    return explain
