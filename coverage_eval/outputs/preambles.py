"""Words around the translation, and refusals: words that no source explains.

What a system writes often is learnt from its outputs: beginnings and ends that several of them
have, though their sources have nothing in common, and those that most of them have and no reference
or other system has anywhere, or without one, no word of which a model knows. Listed phrases are
found in any output; they only count where the source has nothing like them.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from coverage_eval.core.tokenizers import UNSPACED, UNSPACED_CHARACTER, Segment
from coverage_eval.outputs.lengths import LengthProfile
from coverage_eval.outputs.parsed_segment import Pair, ParsedSegment
from coverage_eval.outputs.phrases import PHRASES

# Learning what a system writes often

MIN_SHARED, MIN_SHARED_SHARE = 3, 0.003
"""Segments that begin or end alike for their words to count as a habit of the system."""

MAX_PREAMBLE = 25
"""The longest beginning or end that is looked at, in tokens."""

ASSOCIATED, ASSOCIATED_EACH = 9.0, 0.25
"""Log-likelihood ratio (Dunning 1993) between outputs that begin alike and a word of their sources,
from which on the word explains the beginning; plus the second for each segment."""

UNUSUAL_SHARE = 1 / 3
"""Share of outputs of unusual length among those that say the same, from which on they are no
translations; refusals answer sources of every length."""

SAID_OFTEN, SENTENCE = 10, 25
"""Sources that are answered alike, and letters of the answer, from which on it is no translation of
them, whatever their lengths: only short phrases, such as thanks, have as many synonyms."""

FREQUENT = 0.2
"""Share of outputs from which on what they begin or end with is a habit, whatever their lengths:
usual lengths have it, too."""

SAME = 0.9
"""Share of the outputs with a beginning or end that have a word more of it, from which on this
belongs to it."""

_STOPS = frozenset(".!?:…。！？：—–।؟")


@dataclass(frozen=True)
class PreambleProfile:
    """Beginnings and ends of a system's outputs that no source explains, from left to right.

    Attributes:
        starts: Beginnings, in tokens.
        closings: Ends, in tokens.
        head: The words with which most outputs begin, and that no other text has.
        tail: The words with which most outputs end, likewise.
    """

    starts: Set[tuple[str, ...]] = frozenset()
    closings: Set[tuple[str, ...]] = frozenset()
    head: Sequence[str] = ()
    tail: Sequence[str] = ()

    @classmethod
    def learn(
        cls,
        pairs: Sequence[Pair],
        lengths: LengthProfile,
        others: Sequence[Segment] = (),
        known: Set[str] = frozenset(),
    ) -> PreambleProfile:
        """Which beginnings and ends several of these outputs have.

        Args:
            pairs: Sources and outputs.
            lengths: How long outputs usually are.
            others: References; without one, the outputs of other systems.
            known: Without these, words of the language that a model knows.
        """
        outputs = [output.words for _, output in pairs]
        turned = [words[::-1] for words in outputs]
        if others:
            head, tail = (
                _shared_by_most(outputs, others),
                _shared_by_most(turned, others, from_end=True),
            )
        else:
            head, tail = _unknown_start(outputs, known), _unknown_start(turned, known)
        if not any(source.words for source, _ in pairs):  # nothing could explain any
            return cls(frozenset(), frozenset(), head, tail[::-1])
        return cls(
            _unexplained(pairs, lengths, from_end=False),
            _unexplained(pairs, lengths, from_end=True),
            head,
            tail[::-1],
        )


def _unknown_start(outputs: Sequence[Sequence[str]], known: Set[str]) -> Sequence[str]:
    """The words with which most outputs begin and that a model, which knows most others, lacks."""
    is_known = [word in known for words in outputs for word in words]
    if 2 * sum(is_known) <= len(is_known):
        return ()
    parts = (part for part, _ in _common_starts(outputs) if known.isdisjoint(part))
    return max(parts, key=len, default=())


def _shared_by_most(
    outputs: Sequence[Sequence[str]], others: Sequence[Segment], *, from_end: bool = False
) -> Sequence[str]:
    """The words with which most outputs begin and that no other text has; empty if there are none.

    Where most others begin alike, too, it must be what follows in most of these outputs: else a
    system only has another word for it. Words of scripts without spaces are not told from endings.

    Args:
        outputs: The words of each output, from its end if the ends are asked for.
        others: Other texts.
        from_end: Whether it is their ends.
    """
    parts = list(_common_starts(outputs))
    if not parts:
        return ()
    other_words = [ParsedSegment.of(text).words[:: -1 if from_end else 1] for text in others]
    other_words = [words for words in other_words if words]
    only_in_outputs = [
        (part, count) for part, count in parts if not _is_anywhere(part, other_words)
    ]
    if not (other_words and only_in_outputs):
        return ()
    found = [part for part, count in only_in_outputs if count >= SAME * only_in_outputs[0][1]][-1]
    following = [words[len(found) :] for words in outputs if (*words[: len(found)],) == found]
    (first, count), *_ = Counter(words[0] for words in other_words).most_common(1)
    is_followed = 2 * sum([*words[:1]] == [first] for words in following) > len(following)
    vocabulary = {word for words in other_words for word in words}
    is_known = [word in vocabulary for words in following for word in words]
    # Texts of another language have other words everywhere.
    if (2 * count > len(other_words) and not is_followed) or 2 * sum(is_known) <= len(is_known):
        return ()
    return found


def _common_starts(texts: Sequence[Sequence[str]]) -> Iterator[tuple[tuple[str, ...], int]]:
    """The words with which most texts begin, one more each time, and how many texts do."""
    for size in range(1, MAX_PREAMBLE + 1):
        starts = Counter(tuple(words[:size]) for words in texts if len(words) >= size)
        for part, count in starts.most_common(1):
            if 2 * count <= len(texts) or re.search(UNSPACED_CHARACTER, "".join(part)):
                return
            yield part, count


def _is_anywhere(part: Sequence[str], texts: Sequence[Sequence[str]]) -> bool:
    """Whether some words stand in a row in any of some texts."""
    wanted = f" {' '.join(part)} "
    return any(wanted in f" {' '.join(words)} " for words in texts)


def _unexplained(
    pairs: Sequence[Pair], lengths: LengthProfile, *, from_end: bool
) -> frozenset[tuple[str, ...]]:
    """Beginnings or ends of several outputs that go with no word of their sources.

    Synonyms share no word either, but then the lengths fit: of the whole, or with the phrase.
    """
    pairs_with: dict[tuple[str, ...], list[Pair]] = defaultdict(list)
    for pair in pairs:
        tokens = [token.lower() for token in pair[1].tokens]
        for size in range(1, min(MAX_PREAMBLE, len(tokens)) + 1):
            some_tokens = tokens[-size:] if from_end else tokens[:size]
            if _is_closed(some_tokens, tokens, from_end=from_end):
                pairs_with[tuple(some_tokens)].append(pair)
    segments_with = Counter(word for source, _ in pairs for word in source.vocabulary)
    found = set()
    for phrase, some in pairs_with.items():
        if len(some) < max(MIN_SHARED, MIN_SHARED_SHARE * len(pairs)):
            continue
        association = _association([pair[0] for pair in some], segments_with, len(pairs))
        if association >= ASSOCIATED + ASSOCIATED_EACH * len(some):
            continue
        if len(some) >= FREQUENT * len(pairs) or _is_superfluous(phrase, some, lengths):
            found.add(phrase)
    return frozenset(found)


def _is_superfluous(phrase: Sequence[str], pairs: Sequence[Pair], lengths: LengthProfile) -> bool:
    """Whether the lengths of outputs with this beginning or end tell that it translates nothing."""
    size = sum(map(len, phrase))
    whole = [pair for pair in pairs if len(pair[1].tokens) == len(phrase)]
    unusual = sum(lengths.is_unusual(output, source) for source, output in whole)
    is_said_often = len(whole) >= SAID_OFTEN and size >= SENTENCE
    if is_said_often or (whole and unusual >= UNUSUAL_SHARE * len(whole)):
        return True
    parts = [pair for pair in pairs if len(pair[1].tokens) > len(phrase)]
    with_it = sum(abs(lengths.excess(output, source)) for source, output in parts)
    without = sum(abs(lengths.excess(output, source, without=size)) for source, output in parts)
    return without < with_it


def _is_closed(phrase: Sequence[str], tokens: Sequence[str], *, from_end: bool) -> bool:
    """Whether a beginning or end stands by itself: a mark sets it apart, and it has words."""
    is_apart = len(phrase) == len(tokens)
    if not is_apart and from_end:
        is_apart = tokens[-len(phrase) - 1] in _STOPS or phrase[0] in {"(", "[", "*"}
    elif not is_apart:
        is_apart = phrase[-1] in _STOPS and tokens[len(phrase)] not in _STOPS
    return is_apart and sum(token[0].isalnum() for token in phrase) >= 2


def _association(
    sources: Sequence[ParsedSegment], segments_with: Mapping[str, int], segments: int
) -> float:
    """The greatest log-likelihood ratio of some sources and a word that half of them have.

    Args:
        sources: The sources.
        segments_with: The number of segments that have each word.
        segments: Number of all segments.
    """
    greatest = 0.0
    count = len(sources)
    for word, inside in Counter(word for text in sources for word in text.vocabulary).items():
        total = segments_with[word]
        if 2 * inside >= count and inside * segments > total * count:
            cells = (
                (inside, total * count),
                (count - inside, (segments - total) * count),
                (total - inside, total * (segments - count)),
                (segments - count - total + inside, (segments - total) * (segments - count)),
            )
            ratio = 2 * sum(n * math.log(n * segments / of) for n, of in cells if n)
            greatest = max(greatest, ratio)
    return greatest


# Finding it in an output, and listed phrases

_ABOUT = PHRASES["about"]
# Patterns are not compiled here, since that takes longer than a score of short texts.
_PREAMBLE = (
    rf"(?i)^\W*(?:(?:{PHRASES['openings']})\b[^:\n]{{0,80}}:|[^:.\n]{{0,80}}(?:{_ABOUT})"
    rf"[^:.\n]{{0,60}}[:：]|(?:{PHRASES['languages']})\s*[:：])"
)
_NOTE = (
    rf"(?i)(?:[.!?…。！？\"”»*\n]|\s[(\[])\W*(?:{PHRASES['notes']})\s*[:：]"
    rf"[^\n]*(?:{_ABOUT}|{PHRASES['remarks']})[^\n]*$|"
    rf"[.!?…\n]\W*(?:{PHRASES['offers']})[^\n]{{0,120}}$"
)
_HAS_PREAMBLE = rf"(?i){_ABOUT}|^\W*(?:{PHRASES['openings']}|{PHRASES['languages']})\b"
_HAS_NOTE = rf"(?i){_ABOUT}|{PHRASES['titles']}"
_REFUSAL = rf"(?i)^\W*(?:{PHRASES['refusals']})"
_EXCUSE = rf"(?i)\b(?:{PHRASES['excuses']})\b|{PHRASES['unspaced excuses']}"
_TASK = rf"(?i){_ABOUT}|{PHRASES['tasks']}"
_TOKENISED = (
    rf"(?<! ) +(?=[,.'’、，]|n['’]t\b)|(?<=['’]) +(?=\w)|(?<=[、，{UNSPACED}]) +(?=[{UNSPACED}])"
)

WINDOW = 4000
"""Characters at the beginning and at the end of an output in which phrases are looked for."""

WHOLE = 0.8
"""Share of an output that is a beginning without an explanation, from which on it is all of it."""


def find_preamble_and_note(
    output: ParsedSegment, source: ParsedSegment | None, profile: PreambleProfile
) -> tuple[Sequence[str], Sequence[str]]:
    """The words before and after the translation; empty if there are none.

    Without a source, they are those that most outputs of the system have.
    """
    head, tail = profile.head, profile.tail
    start: Sequence[str] = head if output.words[: len(head)] == [*head] else ()
    closing: Sequence[str] = tail if output.words[-len(tail) :] == [*tail] else ()
    if source is None:
        return start, closing
    habits = _find_with_source(output, source, profile)
    return _unless_said(habits[0] or start, source), _unless_said(habits[1] or closing, source)


def _find_with_source(
    output: ParsedSegment, source: ParsedSegment, profile: PreambleProfile
) -> tuple[Sequence[str], Sequence[str]]:
    """The beginning and end that are habits or listed, and that the source has nothing like."""
    start: Sequence[str] = ()
    closing: Sequence[str] = ()
    if profile.starts or profile.closings:
        tokens = tuple(token.lower() for token in output.tokens)
        sizes = range(min(MAX_PREAMBLE, len(tokens)), 0, -1)
        start = next((tokens[:n] for n in sizes if tokens[:n] in profile.starts), ())
        closing = next((tokens[-n:] for n in sizes if tokens[-n:] in profile.closings), ())
    colons, expected = (text.count(":") + text.count("：") for text in (output.text, source.text))
    if not start and colons > expected and (found := re.search(_PREAMBLE, output.text[:WINDOW])):
        start = () if re.search(_HAS_PREAMBLE, source.text) else ParsedSegment.of(found[0]).tokens
    joined = _joined(output.text)
    if (
        not closing
        and (found := re.compile(_NOTE).search(joined, len(joined) - WINDOW))
        and found.start()
    ):
        closing = () if re.search(_HAS_NOTE, source.text) else ParsedSegment.of(found[0]).tokens
    return start, closing


def _unless_said(phrase: Sequence[str], source: ParsedSegment) -> Sequence[str]:
    """The words of a beginning or end, or none if the source says them itself."""
    words = {token.lower() for token in phrase if token[0].isalnum()}
    return () if words <= source.vocabulary else phrase


def is_refusal(
    output: ParsedSegment, source: ParsedSegment, start: Sequence[str], lengths: LengthProfile
) -> bool:
    """Whether an output is nothing but words that no source explains, or a known excuse.

    Args:
        output: The output.
        source: Its source.
        start: What no source explains at its beginning.
        lengths: How long outputs usually are.
    """
    if start and len(start) >= WHOLE * len(output.tokens):
        return True
    text = _joined(output.text)[:WINDOW]
    if re.search(_REFUSAL, text) is None or re.search(_EXCUSE, _joined(source.text)):
        return False
    # The source may have the excuse in a language that is not listed; then its length fits.
    return lengths.is_unusual(output, source) or re.search(_TASK, text) is not None


def _joined(text: str) -> str:
    """A text without the spaces of tokenised text in which phrases would not be found."""
    return re.sub(_TOKENISED, "", text.replace("&apos;", "'"))
