"""What is usual in outputs, learnt from a sample of them.

In those of one system: which words of the source they keep, how long they are, which words they
share, with what words many of them begin or end though their sources have nothing in common. What
departs from it is an error with a name.

And which systems' outputs are no witnesses. Where there is no reference, or beside it, the outputs
of other systems say what a segment repeats and covers. An output that is cut off, blank or one word
throughout says nothing of that: with it, omissions of others are not found, and repetitions of
others that are right count as errors. Such outputs are found by comparison with the others, and
metrics that expect what others have leave them out.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from statistics import median, median_low
from typing import NamedTuple, TypeAlias

from coverage_eval.align.aligner import ModelAligner
from coverage_eval.core.batches import RowSample
from coverage_eval.core.checks import MIN_SEGMENTS, percent
from coverage_eval.core.errors import CheckId, Finding, Severity
from coverage_eval.core.tokenizers import UNSPACED, Segment, tokenize

# Accents, vowel points and vowel signs that belong to the letter before; ``\\w`` has none of them.
_MARKS = (
    "\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0963"
    "\u0971-\u0df3\u200c\u200d"
)
_PIECES = re.compile(rf"[^\W{UNSPACED}]+(?:[{_MARKS}][^\W{UNSPACED}]*)*|[{UNSPACED}]|[^\w\s]")

END = re.compile(r"[.!?…。！？।؟:;)\]\"“”»'’*`]\s*$")
_STOPS = frozenset(".!?:…。！？：—–।؟")


class ParsedSegment(NamedTuple):
    """A segment in the forms that the checks look at.

    >>> ParsedSegment.of("It's 3 o'clock, 猫。 की है").pieces
    ['It', "'", 's', '3', 'o', "'", 'clock', ',', '猫', '。', 'की', 'है']

    Attributes:
        text: The segment.
        pieces: Words, numbers, marks of punctuation, and letters of scripts without spaces.
        words: Its words and numbers in lower case.
        vocabulary: The different ones.
        length: Number of its letters, digits and marks.
    """

    text: str
    pieces: list[str]
    words: list[str]
    vocabulary: frozenset[str]
    length: int

    @classmethod
    def of(cls, segment: Segment) -> ParsedSegment:
        """The forms of a segment."""
        text = segment if isinstance(segment, str) else " ".join(segment)
        pieces = _PIECES.findall(text)
        words = [piece.lower() for piece in pieces if piece[0].isalnum()]
        return cls(text, pieces, words, frozenset(words), sum(map(len, pieces)))


Pair: TypeAlias = tuple[ParsedSegment, ParsedSegment]
"""A source and its output."""

Vocabulary: TypeAlias = tuple[frozenset[str], frozenset[str]]
"""The words of the source and of the target language that a model knows."""

MIN_ROWS = 20
"""With fewer segments, nothing is learnt from the text."""

MIN_SHARED = 3
MIN_SHARED_SHARE = 0.003
"""Segments that begin or end alike for their words to count as a habit of the system."""

MAX_AFFIX = 25
"""The longest beginning or end that is looked at, in pieces."""

ASSOCIATED = 9.0
"""Log-likelihood ratio (Dunning 1993) between outputs that begin alike and a word of their sources,
from which on the word explains the beginning; plus :data:`ASSOCIATED_EACH` for each segment."""

ASSOCIATED_EACH = 0.25

ODD_SHARE = 1 / 3
"""Share of outputs of unusual length among those that say the same, from which on they are no
translations; refusals answer sources of every length."""

SAID_OFTEN, SENTENCE = 10, 25
"""Sources that are answered alike, and letters of the answer, from which on it is no translation of
them, whatever their lengths: only short phrases, such as thanks, have as many synonyms."""

FREQUENT = 0.2
"""Share of outputs from which on what they begin or end with is a habit, whatever their lengths:
usual lengths have it, too."""

COMMON = 0.01
"""Share of outputs that have a common word."""

SHARED = 0.75
"""Share of the common words that other texts have, from which on the rest are not common: a poor
text tells nothing."""

MIN_WORDS: Mapping[str, int] = {"common": 8, "known": 5}
"""Number of words from which a language can be told by common words, and by those that a model
knows, too."""

MIN_SPREAD, MAX_SPREAD = 0.12, 0.4

EXCUSED = 2.0
"""Standard deviations by which the length of an apology that speaks of anything is unusual."""


class Lengths(NamedTuple):
    """How long outputs of such sources are.

    Attributes:
        ratio: Median of the logarithm of output length by source length, in letters.
        spread: Its standard deviation, from the median of deviations.
        source: Median source length.
    """

    ratio: float = 0.0
    spread: float = 0.0
    source: float = 0.0

    def away(self, output: ParsedSegment, source: ParsedSegment, less: int = 0) -> float:
        """How far the logarithm of the ratio of lengths is from the usual one."""
        return math.log((output.length - less + 1) / (source.length + 1)) - self.ratio

    def deviation(self, source: ParsedSegment) -> float:
        """The standard deviation of this logarithm; short segments vary more."""
        spread = self.spread * max(1.0, math.sqrt(self.source / max(source.length, 1)))
        return min(max(spread, MIN_SPREAD), MAX_SPREAD)

    def is_odd(self, output: ParsedSegment, source: ParsedSegment) -> bool:
        """Whether the length is not that of a translation."""
        return abs(self.away(output, source)) > EXCUSED * self.deviation(source)


@dataclass(frozen=True)
class OutputProfile:
    """What is usual in one system's outputs.

    Attributes:
        kept: For each source word, in how many segments it occurs, and in how many the output has
            it, too.
        copies: Share of the outputs that are their sources, or have them whole.
        lengths: How long outputs are.
        ends: Share of outputs with a mark at the end where the source has one.
        scripts: Scripts of at least a twentieth of the letters.
        common: Words that many outputs have.
        known: The medians of outputs' :func:`known_shares`; 0 if too few outputs tell.
        starts: Beginnings that no source explains.
        closings: Ends that no source explains, from left to right.
    """

    kept: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    copies: float = 0.0
    lengths: Lengths = field(default_factory=Lengths)
    ends: float = 0.0
    scripts: Set[str] = frozenset()
    common: Set[str] = frozenset()
    known: Mapping[str, float] = field(default_factory=dict)
    starts: Set[tuple[str, ...]] = frozenset()
    closings: Set[tuple[str, ...]] = frozenset()

    @classmethod
    def learn(
        cls, pairs: Iterable[Pair], model: Vocabulary | None, shared: Set[str]
    ) -> OutputProfile:
        """What is usual in the outputs of a system, from sources and outputs.

        Args:
            pairs: Sources and outputs.
            model: The words that a model knows.
            shared: Words that another text or the model has, too; only they are common, because a
                tenth of the outputs in another language has common words of its own.
        """
        # A pair that comes again tells no more than once.
        distinct = {(source.text, output.text): (source, output) for source, output in pairs}
        pairs = [pair for pair in distinct.values() if pair[1].words]
        if len(pairs) < MIN_ROWS:
            return cls()
        seen, both, having, letters = (Counter[str]() for _ in range(4))
        for source, output in pairs:
            seen.update(source.vocabulary)
            both.update(source.vocabulary & output.vocabulary)
            having.update(output.vocabulary)
            letters.update(scripts_of(output.text))
        least = max(3, COMMON * len(pairs))
        common = frozenset(word for word, n in having.items() if n >= least and word[0].isalpha())
        common &= shared if len(common & shared) > SHARED * len(common) else common
        shares = [known_shares(output, source, common, model) for source, output in pairs]
        by_name = {name: [own[name] for own in shares if name in own] for name in MIN_WORDS}
        spoken = [pair for pair in pairs if pair[0].words]
        ends = [END.search(output.text) for source, output in spoken if END.search(source.text)]
        lengths = _lengths(spoken)
        return cls(
            kept={word: (n, both[word]) for word, n in seen.items()},
            copies=sum(has_whole(output, source) for source, output in pairs) / len(pairs),
            lengths=lengths,
            ends=sum(map(bool, ends)) / len(ends) if len(ends) >= MIN_ROWS else 0.0,
            scripts=frozenset(s for s, n in letters.items() if n >= letters.total() / 20),
            common=common,
            known={n: median(own) if len(own) >= MIN_ROWS else 0.0 for n, own in by_name.items()},
            starts=_unexplained(pairs, lengths, from_end=False),
            closings=_unexplained(pairs, lengths, from_end=True),
        )


def _lengths(pairs: Sequence[Pair]) -> Lengths:
    if not pairs:
        return Lengths()
    ratios = [math.log((output.length + 1) / (source.length + 1)) for source, output in pairs]
    middle = median(ratios)
    spread = 1.4826 * median(abs(ratio - middle) for ratio in ratios)
    return Lengths(middle, spread, median(source.length for source, _ in pairs))


def known_shares(
    output: ParsedSegment,
    source: ParsedSegment | None,
    common: Set[str],
    vocabulary: Vocabulary | None,
) -> dict[str, float]:
    """The share of words that are common in the outputs, or that a model knows as target words.

    Words that are the source's, such as names, do not count, unless they are common. There is no
    share of fewer words than :data:`MIN_WORDS`.
    """
    others = output.vocabulary - (source.vocabulary - common) if source else output.vocabulary
    own = {word for word in others if word[0].isalpha()}
    known = {"common": own & common}
    if vocabulary is not None:
        known["known"] = known["common"] | own & vocabulary[1]
    return {n: len(words) / len(own) for n, words in known.items() if len(own) >= MIN_WORDS[n]}


def has_whole(output: ParsedSegment, source: ParsedSegment) -> bool:
    """Whether the words of the source stand in the output in one piece."""
    if not source.words or not source.vocabulary <= output.vocabulary:
        return False
    return f" {' '.join(source.words)} " in f" {' '.join(output.words)} "


@lru_cache(maxsize=4096)
def _script(letter: str) -> str:
    name = unicodedata.name(letter, "").partition(" ")[0]
    # Japanese mixes three scripts; Korean may have some Chinese characters.
    return "KANA" if name in {"HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"} else name


def scripts_of(text: str) -> Counter[str]:
    """How many letters of each script a text has."""
    if text.isascii():
        return Counter(LATIN=sum(map(str.isalpha, text)))
    return Counter(_script(letter) for letter in text if letter.isalpha())


def _unexplained(
    pairs: Sequence[Pair], lengths: Lengths, *, from_end: bool
) -> frozenset[tuple[str, ...]]:
    """Beginnings or ends of several outputs that go with no word of their sources.

    Synonyms share no word either, but then the lengths fit: of the whole, or with the affix.
    """
    having: dict[tuple[str, ...], list[Pair]] = defaultdict(list)
    for pair in pairs:
        pieces = [piece.lower() for piece in pair[1].pieces]
        for size in range(1, min(MAX_AFFIX, len(pieces)) + 1):
            affix = pieces[-size:] if from_end else pieces[:size]
            if _is_closed(affix, pieces, from_end=from_end):
                having[tuple(affix)].append(pair)
    least = max(MIN_SHARED, MIN_SHARED_SHARE * len(pairs))
    totals = Counter(word for source, _ in pairs for word in source.vocabulary)
    return frozenset(
        affix
        for affix, some in having.items()
        if len(some) >= least
        and _explanation([source.vocabulary for source, _ in some], totals, len(pairs))
        < ASSOCIATED + ASSOCIATED_EACH * len(some)
        and (len(some) >= FREQUENT * len(pairs) or _is_superfluous(affix, some, lengths))
    )


def _is_superfluous(affix: Sequence[str], pairs: Sequence[Pair], lengths: Lengths) -> bool:
    """Whether the lengths of outputs with this beginning or end tell that it translates nothing."""
    size = sum(map(len, affix))
    whole = [pair for pair in pairs if len(pair[1].pieces) == len(affix)]
    odd = sum(lengths.is_odd(output, source) for source, output in whole)
    is_said_often = len(whole) >= SAID_OFTEN and size >= SENTENCE
    if is_said_often or (whole and odd >= ODD_SHARE * len(whole)):
        return True
    parts = [pair for pair in pairs if len(pair[1].pieces) > len(affix)]
    with_it = sum(abs(lengths.away(output, source)) for source, output in parts)
    without = sum(abs(lengths.away(output, source, less=size)) for source, output in parts)
    return without < with_it


def _is_closed(affix: Sequence[str], pieces: Sequence[str], *, from_end: bool) -> bool:
    """Whether a beginning or end stands by itself: a mark sets it apart, and it has words."""
    is_apart = len(affix) == len(pieces)
    if not is_apart and from_end:
        is_apart = pieces[-len(affix) - 1] in _STOPS or affix[0] in {"(", "[", "*"}
    elif not is_apart:
        is_apart = affix[-1] in _STOPS and pieces[len(affix)] not in _STOPS
    return is_apart and sum(piece[0].isalnum() for piece in affix) >= 2


def _explanation(rows: Sequence[frozenset[str]], totals: Mapping[str, int], size: int) -> float:
    """The greatest log-likelihood ratio of some segments and a word that half of them have."""
    best = 0.0
    count = len(rows)
    for word, inside in Counter(word for row in rows for word in row).items():
        total = totals[word]
        if 2 * inside >= count and inside * size > total * count:
            cells = (
                (inside, total * count),
                (count - inside, (size - total) * count),
                (total - inside, total * (size - count)),
                (size - count - total + inside, (size - total) * (size - count)),
            )
            ratio = 2 * sum(n * math.log(n * size / of) for n, of in cells if n)
            best = max(best, ratio)
    return best


# Systems whose outputs are far from the others'

FAR_SHORT = 0.7
"""Words of an output divided by the usual number: 0.77 to 1.12 for real systems, and 0.7 where 30%
of the words were left out."""

FAR_LONG = 1.25
"""Such a share above which an output says so much more that it explains source words by chance:
1.4 with a preamble, 1.24 where four other words stand in each line. Real systems have 1.12 at most
by the ratio of a model of another domain, 1.04 by one of theirs or by the reference; references
have 0.93 to 1.1 by models. In samples of twenty lines, 99% of all of them have 1.17 at most."""

FAR_POOR = 0.4
"""Different words of an output divided by the median of the others: 0.9 to 1.1 for real systems,
0.7 where half of each segment is cut off, near 0 for a word or sentence said again and again."""

FAR_BLANK = 0.2
"""Share of blank segments for which another output has words; 0 for real systems."""


def find_far_outputs(sample: RowSample, aligner: ModelAligner) -> tuple[list[int], list[Finding]]:
    """Find outputs that are far from the others, of several systems, or of peers of one.

    Args:
        sample: The texts, with a source.
        aligner: Cuts the texts into words.

    Returns:
        The places of these outputs among the peers and then the systems, and what to say.
    """
    names = [*sample.peers, *sample.systems]
    if len(sample.rows) < MIN_SEGMENTS or len(names) < 2:
        return [], []
    rows = [(*row.peers, *row.hypotheses) for row in sample.rows]
    outputs = list(zip(*rows, strict=True))
    references = list(zip(*(row.references for row in sample.rows), strict=True))
    words = [[tokenize(text) for text in texts] for texts in (*outputs, *references)]
    usual = _usual_length(sample, aligner)
    far, findings = [], []
    for index, name in enumerate(names):
        length = sum(len(aligner.tokens(text)) for text in outputs[index])
        share = length / usual if usual else 1.0
        if FAR_SHORT <= share <= FAR_LONG:
            reason = _far(words[index], [text for n, text in enumerate(words) if n != index])
        else:
            reason = f"has {percent(share)} of the usual length"
        if not reason:
            continue
        far.append(index)
        said = (
            f"{name}: {reason}; it is left out where other outputs show what a segment should have"
        )
        if not references:  # which would show what it lacks or adds
            said += ", and its own low scores mean nothing"
        severity = Severity.WARNING if references else Severity.UNUSABLE
        says_little = not references and share <= FAR_LONG
        explains = frozenset({CheckId.SAYS_LITTLE, CheckId.BLANK} if says_little else ())
        findings.append(
            Finding(said, severity, (name,), CheckId.FAR_OUTPUT, (reason,), explains=explains)
        )
    return far, findings


def _far(output: Sequence[Sequence[str]], others: Sequence[Sequence[Sequence[str]]]) -> str:
    """How far an output is from the others; nothing if it is one of them.

    Of two others the poorer one counts, because a single odd one must not decide; beside one other,
    which may be rich in wrong words, an output is far with half as many different words.
    """
    spoken = [index for index in range(len(output)) if any(other[index] for other in others)]
    blank = sum(not output[index] for index in spoken)
    if blank > FAR_BLANK * max(1, len(spoken)):
        return f"{percent(blank / len(spoken))} of the segments are blank, and others have words"
    kinds = [len(set(chain.from_iterable(text))) for text in (output, *others)]
    usual = median_low(kinds[1:])
    if kinds[0] < FAR_POOR * usual * (0.5 if len(others) == 1 else 1):
        return f"has only {percent(kinds[0] / usual)} of the different words of others"
    return ""


def _usual_length(sample: RowSample, aligner: ModelAligner) -> float:
    """The number of words that an output of these segments usually has.

    It is the mean of the references; without them, that of the source times the training text's
    ratio of target words to source words.
    """
    if sample.references:
        return sum(
            sum(len(aligner.tokens(text)) for text in row.references) / len(row.references)
            for row in sample.rows
        )
    manifest = aligner.model.manifest
    words = sum(len(aligner.source_tokens(row.source or "")) for row in sample.rows)
    return words * manifest.target_tokens / max(1, manifest.source_tokens)
