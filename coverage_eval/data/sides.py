"""Checks of texts beside each other: HTML entities, case, equal texts."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator

from coverage_eval.data.findings import Finding, named, percent, shown
from coverage_eval.data.sample import Sample, Text

# What Moses' tokeniser escapes, and how. Other entities are left over from HTML.
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#x[0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")
_MOSES_ENTITIES = {"&amp;", "&apos;", "&quot;", "&lt;", "&gt;", "&#91;", "&#93;", "&#124;"}
_ESCAPED_BY_MOSES = re.compile(r"['\"<>\[\]|]")
_FEWEST_ENTITIES = 3  # one or two may be what the text is about


def check_entities(sample: Sample) -> Iterator[Finding]:
    """Entities that no tokeniser makes; or Moses' in one text and the plain characters in another.

    Both sides of a corpus that Moses escaped have 0.2 to 3 % segments with entities and not a
    single plain apostrophe or quotation mark.
    """
    escaped, plain = {}, []
    for text in sample.texts:
        found: Counter[str] = Counter()
        bare = 0
        for token, number in text.counts.items():
            if "&" in token:
                for entity in _ENTITY.findall(token):
                    found[entity] += number
            bare += number * bool(_ESCAPED_BY_MOSES.search(token))
        if found.total() >= _FEWEST_ENTITIES:
            escaped[text.name] = found
        elif not found and bare >= _FEWEST_ENTITIES:
            plain.append(text.name)
    details = {
        name: f"{found.total()} times, such as {shown(found.most_common(1)[0][0])}"
        for name, found in escaped.items()
        if plain or sum(n for e, n in found.items() if e not in _MOSES_ENTITIES) >= _FEWEST_ENTITIES
    }
    if details:
        other = f", but not in {', '.join(plain)}" if plain else ""
        yield Finding(
            "html-entities",
            f"{named(details)}: there are HTML entities{other}; replace them by their characters "
            "in all texts, and in a model's training text",
        )


FEWEST_CASED = 200
"""Tokens with case; a text of fewer may be without capitals by chance."""

LOWER_CASED, CASED = 0.002, 0.02
"""Shares of tokens with a capital letter: English text has 5 to 20 %, German 30 %, others between;
lower-cased text has 0, or next to it where a program left a rare letter."""

CASE_RATIO = 4.0
"""Hypothesis and reference differ so many times in capitals; outputs of real systems 1.1 times."""

CAPITAL_STARTS = 0.5
"""Difference in segments that begin with a capital letter; outputs of real systems 0.02."""


def check_case(sample: Sample) -> Iterator[Finding]:
    """A text in lower case beside one that is not; a hypothesis with other capitals."""
    texts = [text for text in sample.texts if text.case[0] >= FEWEST_CASED]
    lower = {t.name: percent(t.case[1]) for t in texts if t.case[1] < LOWER_CASED}
    cased = {t.name: percent(t.case[1]) for t in texts if t.case[1] >= CASED}
    if lower and cased:
        yield Finding(
            "case",
            f"{named(cased)}: share of words with a capital letter, but {named(lower)}; "
            "lower-case all texts or none",
        )
        return
    for output in sample.outputs:
        for wanted in sample.wanted[:1]:
            if output in texts and wanted in texts:
                yield from _other_capitals(output, wanted)


def _other_capitals(output: Text, wanted: Text) -> Iterator[Finding]:
    words = [text.case[1] for text in (output, wanted)]
    starts = [text.capital_starts for text in (output, wanted)]
    if max(words) >= CASED and max(words) > CASE_RATIO * min(words):
        shares, kind = words, "words with"
    elif abs(starts[0] - starts[1]) > CAPITAL_STARTS:
        shares, kind = starts, "segments that begin with"
    else:
        return
    yield Finding(
        "case",
        f"{output.name}: has {percent(shares[0])} {kind} a capital letter, and {wanted.name} "
        f"{percent(shares[1])}; treat case alike in both",
    )


FEWEST_EQUAL_TOKENS = 30
"""Short texts, such as a few one-word segments, are equal by chance; a file named twice is not."""


def check_equal(sample: Sample) -> Iterator[Finding]:
    """Texts that are the same: two outputs, an output and the reference or the source."""
    same: dict[tuple[tuple[str, ...], ...], list[Text]] = defaultdict(list)
    for text in sample.texts:
        same[text.key].append(text)
    for rows, texts in same.items():
        names = [text.name for text in texts]
        by_chance = texts[0].tokens < FEWEST_EQUAL_TOKENS and len(set(names)) == len(names)
        if len(names) > 1 and not by_chance:
            yield Finding(
                "equal",
                f"{' and '.join(names)}: the same text in all {len(rows):,} segments looked at; "
                "check that each is the file that is meant",
            )
