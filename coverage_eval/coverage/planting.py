"""Coverage errors planted in correct translations, at known rates and places.

``rate`` is the expected number of words left out, replaced or added, per word of the text. So an
output with omissions at rate 0.02 lacks about 2% of its words.

A segment's errors depend only on the seed and the segment's text. So parts of a text get the same
errors as the whole, if the :class:`WordPool` is the same. With the same seed, a higher rate leaves
out every word that a lower rate leaves out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import accumulate, chain
from random import Random
from typing import NamedTuple

from fast_align_wrapper.links import Links
from fast_align_wrapper.text import tokenize

FUNCTION_SHARE = 0.4
"""The most frequent words, up to this share of the text, count as function words."""

RARE_SHARE = 0.1
"""The least frequent words, up to this share of the text, count as rare; at least all words that
occur once."""

KEPT_SEGMENTS = 10_000
"""The most segments to take detached text from."""

WORD_CLASSES = ("content", "rare")
"""Classes of words to leave out; function words fill the places of others."""


@dataclass(frozen=True)
class WordPool:
    """Words and segments of a text.

    Frequency decides the class of a word, since it is known for every language: the most frequent
    words are function words, all others content words; the least frequent words are rare.

    Attributes:
        counts: How often each word occurs.
        segments: The first segments with words, as tokens.
    """

    counts: Counter[str]
    segments: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, segments: Iterable[Sequence[str]]) -> WordPool:
        """Read a text once, and keep its first 10,000 segments; it has words."""
        counts: Counter[str] = Counter()
        kept: list[tuple[str, ...]] = []
        for tokens in segments:
            counts.update(tokens)
            if tokens and len(kept) < KEPT_SEGMENTS:
                kept.append(tuple(tokens))
        return cls(counts, tuple(kept))

    def function_words(self, number: int, generator: Random) -> list[str]:
        """Draw function words by their frequencies in the text."""
        words = self.classes["function"]
        return generator.choices(list(words), list(words.values()), k=number)

    def other_segment(self, tokens: Sequence[str], generator: Random) -> tuple[str, ...]:
        """Draw a segment that differs from this one; there must be one."""
        first = generator.randrange(len(self.segments))
        around = chain(self.segments[first:], self.segments[:first])
        return next(segment for segment in around if segment != tuple(tokens))

    def other_words(self, number: int, tokens: Sequence[str], generator: Random) -> list[str]:
        """Draw a run of words from another segment, or from several if it is too short."""
        found: list[str] = []
        while len(found) < number:
            segment = self.other_segment(tokens, generator)
            missing = number - len(found)
            start = generator.randrange(max(1, len(segment) - missing + 1))
            found += segment[start : start + missing]
        return found

    @cached_property
    def classes(self) -> Mapping[str, dict[str, int]]:
        """``content``, ``function``, ``rare`` → counts of the words, in a fixed order for draws."""
        total = self.counts.total()
        ranked = sorted(self.counts, key=lambda word: (-self.counts[word], word))
        sums = accumulate(self.counts[word] for word in ranked)
        most = sum(seen <= FUNCTION_SHARE * total for seen in sums) or 1
        of_count = Counter(self.counts.values())
        ascending = sorted(of_count)
        sums = accumulate(count * of_count[count] for count in ascending)
        rare = ascending[max(sum(seen <= RARE_SHARE * total for seen in sums), 1) - 1]
        return {
            "function": {word: self.counts[word] for word in ranked[:most]},
            "content": {word: self.counts[word] for word in ranked[most:]},
            "rare": {word: count for word, count in self.counts.items() if count <= rare},
        }


PHRASE_LENGTH = 3.0
"""Mean length of phrases in words; lengths have a geometric distribution."""

REPAIRS = ("none", "filler", "detached")
"""What replaces omitted words: nothing, as many function words, or as many words from another
segment."""


class CleanSegment(NamedTuple):
    """A correct translation.

    Attributes:
        words: Its tokens.
        source: The source's tokens, which ``untranslated`` needs.
        links: Links of source and translation, which ``untranslated`` needs; None if unknown.
    """

    words: Sequence[str]
    source: Sequence[str] = ()
    links: Links | None = None

    def sources(self, positions: Container[int]) -> set[int]:
        """The source positions that are linked with some positions of the translation."""
        return {source for source, target in self.links or () if target in positions}


class PlantedError(NamedTuple):
    """An error at a known place.

    Attributes:
        output: Its span in the output's tokens, from 0, the end excluded; empty if words were left
            out and nothing replaced them.
        source: The source positions that it concerns, from 0, ascending; None without links.
        removed: The words of the correct translation that were removed.
    """

    output: tuple[int, int]
    source: tuple[int, ...] | None
    removed: str


def phrase_less(words: Sequence[str], size: int, generator: Random) -> list[str]:
    """The words without a phrase of ``size``."""
    start = generator.randrange(len(words) - size + 1)
    return [*words[:start], *words[start + size :]]


def phrase_more(
    words: Sequence[str], other: Sequence[str], size: int, generator: Random
) -> list[str]:
    """The words with a phrase of ``size`` from another segment."""
    first = generator.randrange(max(1, len(other) - size + 1))
    start = generator.randrange(len(words) + 1)
    return [*words[:start], *other[first : first + size], *words[start:]]


class SpoiltSegment(NamedTuple):
    """The translation with errors, and the errors."""

    words: list[str]
    errors: list[PlantedError]


class _Edit(NamedTuple):
    """Replaces the words from ``start`` to ``end`` (excluded) with ``words``.

    The error concerns the source words of the span ``about`` of the correct translation.
    """

    start: int
    end: int
    words: Sequence[str]
    about: range


def draw_runs(size: int, rate: float, mean: float, generator: Random) -> list[range]:
    """Draw runs of positions; each of ``size`` positions is in a run with probability ``rate``.

    A stationary Markov chain of two states decides which positions are in a run. So lengths are
    geometric with this mean, and the ends are as likely as the middle.
    """
    begin, stay = rate / ((1 - rate) * mean), 1 - 1 / mean
    runs: list[range] = []
    chance = rate
    for position in range(size):
        is_in = generator.random() < chance
        if is_in and runs and runs[-1].stop == position:
            runs[-1] = range(runs[-1].start, position + 1)
        elif is_in:
            runs.append(range(position, position + 1))
        chance = stay if is_in else begin
    return runs


class Draft(NamedTuple):
    """A segment while its errors are drawn."""

    segment: CleanSegment
    words: Sequence[str]
    rate: float
    pool: WordPool
    generator: Random

    def runs(self, rate: float, mean: float = PHRASE_LENGTH) -> list[range]:
        """Draw runs of words; each word is in a run with probability ``rate``."""
        return draw_runs(len(self.words), rate, mean, self.generator)

    def some_words(self, rate: float, among: Container[str] | None = None) -> list[range]:
        """Draw single words, each with probability ``rate``, from all words or ``among`` some."""
        hits = [self.generator.random() < rate for _ in self.words]
        return [
            range(n, n + 1)
            for n, (hit, word) in enumerate(zip(hits, self.words, strict=True))
            if hit and (among is None or word in among)
        ]

    def is_hit(self, affected: float) -> bool:
        """Whether the segment gets an error that concerns ``affected`` words on average."""
        return bool(self.words) and self.generator.random() < self.rate * len(self.words) / affected


def _leave_out(runs: Sequence[range]) -> list[_Edit]:
    """Omissions; :attr:`Injection.repair` decides what replaces the words."""
    return [_Edit(run.start, run.stop, (), run) for run in runs]


def _leave_out_class(draft: Draft, word_class: str) -> list[_Edit]:
    words = draft.pool.classes[word_class]
    share = sum(words.values()) / draft.pool.counts.total()
    return _leave_out(draft.some_words(draft.rate / share, words))


def _stop_early(draft: Draft) -> list[_Edit]:
    """Leave out the end: from one word to all but one, half of the segment on average."""
    length = len(draft.words)
    if not draft.is_hit(max(1.0, length / 2)):
        return []
    missing = draft.generator.randint(1, max(1, length - 1))
    return _leave_out([range(length - missing, length)])


def _repeat(draft: Draft, runs: Sequence[range]) -> list[_Edit]:
    """Repeat words right after themselves."""
    return [_Edit(run.stop, run.stop, draft.words[run.start : run.stop], run) for run in runs]


def _repeat_elsewhere(draft: Draft) -> list[_Edit]:
    """Repeat phrases elsewhere, next to themselves only if there is no other place."""
    edits = []
    runs = draft.runs(draft.rate)
    inside = {n for run in runs for n in range(run.start + 1, run.stop)}
    places = [n for n in range(len(draft.words) + 1) if n not in inside]
    for edit in _repeat(draft, runs):
        elsewhere = [n for n in places if not edit.about.start <= n <= edit.about.stop]
        place = draft.generator.choice(elsewhere or [edit.about.stop])
        edits.append(edit._replace(start=place, end=place))
    return edits


def _oscillate(draft: Draft) -> list[_Edit]:
    """Repeat phrases of two words on average two to four times."""
    return [
        edit._replace(words=[*edit.words] * draft.generator.randint(2, 4))
        for edit in _repeat(draft, draft.runs(draft.rate / 3, mean=2.0))
    ]


def _repeat_tail(draft: Draft) -> list[_Edit]:
    """Repeat the last word, the last two, the last three …: half of the segment or more."""
    length = len(draft.words)
    steps = 1
    while steps * (steps + 1) < length:
        steps += 1
    if not draft.is_hit(steps * (steps + 1) / 2):
        return []
    tail = [word for n in range(1, steps + 1) for word in draft.words[length - n :]]
    return [_Edit(length, length, tail, range(length - steps, length))]


def _leave_untranslated(draft: Draft) -> list[_Edit]:
    """Replace words with their source words; words without a link stay."""
    edits = []
    for run in draft.runs(draft.rate):
        words = [draft.segment.source[n] for n in sorted(draft.segment.sources(run))]
        if words:
            edits.append(_Edit(run.start, run.stop, words, run))
    return edits


def _add(draft: Draft) -> list[_Edit]:
    """Insert words from another segment."""
    edits = []
    for run in draft.runs(draft.rate):
        words = draft.pool.other_words(len(run), draft.words, draft.generator)
        edits.append(_Edit(run.stop, run.stop, words, range(0)))
    return edits


def _hallucinate(draft: Draft) -> list[_Edit]:
    """Replace the segment with another one."""
    length = len(draft.words)
    if not draft.is_hit(length):
        return []
    other = draft.pool.other_segment(draft.words, draft.generator)
    return [_Edit(0, length, other, range(length))]


KINDS: dict[str, Callable[[Draft], list[_Edit]]] = {
    "omission-word": lambda draft: _leave_out(draft.some_words(draft.rate)),
    **{f"omission-{name}": partial(_leave_out_class, word_class=name) for name in WORD_CLASSES},
    "omission-phrase": lambda draft: _leave_out(draft.runs(draft.rate)),
    "early-stop": _stop_early,
    "repetition-word": lambda draft: _repeat(draft, draft.some_words(draft.rate)),
    "repetition-phrase": lambda draft: _repeat(draft, draft.runs(draft.rate)),
    "repetition-distant": _repeat_elsewhere,
    "repetition-oscillating": _oscillate,
    "repetition-tail": _repeat_tail,
    "untranslated": _leave_untranslated,
    "addition": _add,
    "hallucination": _hallucinate,
}
"""Name of a kind of error → how it changes a segment."""


@dataclass(frozen=True)
class Injection:
    """Errors of a kind at a rate, to be put into segments.

    >>> pool = WordPool.of([["a", "red", "house"]])
    >>> injection = Injection("omission-word", 0.3, pool, seed=1)
    >>> links = ((0, 0), (1, 1), (2, 2))
    >>> segment = CleanSegment(["a", "red", "house"], ["ein", "rotes", "haus"], links)
    >>> words, errors = injection.spoil(segment)
    >>> words, [(error.removed, error.source) for error in errors]
    (['a', 'red'], [('house', (2,))])

    Args:
        kind: One of :data:`KINDS`.
        rate: Expected words left out, replaced or added per word, 0 to 0.5; for a class of words,
            at most its share.
        pool: The source of words and segments; the same for all parts of a text.
        seed: Seed of the random choices.
        repair: One of :data:`REPAIRS`, for omitted words.
    """

    kind: str
    rate: float
    pool: WordPool
    seed: int = 0
    repair: str = "none"

    def spoil(self, segment: CleanSegment) -> SpoiltSegment:
        """Put errors into a segment."""
        clean = segment.words
        text = "\n".join((" ".join(segment.source), " ".join(clean)))
        generator = Random(f"{self.seed}\n{text}")  # noqa: S311 (not for secrets)
        draft = Draft(segment, clean, self.rate, self.pool, generator)
        edits = sorted(KINDS[self.kind](draft), key=lambda edit: edit[:2])
        gone = {place for edit in edits for place in range(edit.start, edit.end)}
        kept = segment.sources(set(range(len(clean))) - gone)
        words: list[str] = []
        errors = []
        done = 0
        for edit in edits:
            words += clean[done : edit.start]
            first, done = len(words), edit.end
            words += edit.words or self._repair(edit.end - edit.start, draft)
            concerned = segment.sources(edit.about)
            if edit.end > edit.start:  # source words that other words still translate are not lost
                concerned -= kept
            positions = None if segment.links is None else tuple(sorted(concerned))
            removed = " ".join(clean[edit.start : edit.end])
            errors.append(PlantedError((first, len(words)), positions, removed))
        return SpoiltSegment([*words, *clean[done:]], errors)

    def _repair(self, missing: int, draft: Draft) -> list[str]:
        """What replaces so many omitted words."""
        if self.repair == "filler":
            return self.pool.function_words(missing, draft.generator)
        if self.repair == "detached":
            return self.pool.other_words(missing, draft.words, draft.generator)
        return []


def inject_lines(lines: Iterable[str], kind: str, rate: float, seed: int = 0) -> list[str]:
    """Put errors of one kind into a text without source or links; the text is its own pool.

    Args:
        lines: The segments, split at spaces.
        kind: One of :data:`KINDS` except ``untranslated``.
        rate: As :class:`Injection` takes it.
        seed: As :class:`Injection` takes it.
    """
    segments = [tokenize(line) for line in lines]
    injection = Injection(kind, rate, WordPool.of(segments), seed)
    return [" ".join(injection.spoil(CleanSegment(words)).words) for words in segments]
