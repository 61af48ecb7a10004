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
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, chain
from random import Random
from typing import NamedTuple, TypeAlias

from coverage_eval.core.tokenizers import tokenize
from fast_align_wrapper.links import Links

FUNCTION_SHARE = 0.4
"""The most frequent words, up to this share of the text, count as function words."""

KEPT_SEGMENTS = 10_000
"""The most segments to take detached text from."""


@dataclass(frozen=True, eq=False)
class WordPool:
    """Words and segments of a text.

    Frequency decides the class of a word, since it is known for every language: the most frequent
    words are function words, all others content words.

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
        """``content`` and ``function`` → counts of the words, in a fixed order for draws."""
        total = self.counts.total()
        ranked = sorted(self.counts, key=lambda word: (-self.counts[word], word))
        sums = accumulate(self.counts[word] for word in ranked)
        most = sum(seen <= FUNCTION_SHARE * total for seen in sums) or 1
        return {
            "function": {word: self.counts[word] for word in ranked[:most]},
            "content": {word: self.counts[word] for word in ranked[most:]},
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
        source: The source's tokens; empty if unknown.
        links: Links of source and translation; None if unknown.
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


class SpoiltSegment(NamedTuple):
    """The translation with errors, and the errors."""

    words: list[str]
    errors: list[PlantedError]


class Edit(NamedTuple):
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


Kind: TypeAlias = Callable[[Draft], list[Edit]]
"""What changes a segment."""


def leave_out(runs: Sequence[range]) -> list[Edit]:
    """Omissions; :attr:`Injection.repair` decides what replaces the words."""
    return [Edit(run.start, run.stop, (), run) for run in runs]


def leave_out_some(draft: Draft, words: Mapping[str, int]) -> list[Edit]:
    """Omissions of some words of the pool, with their counts there, at the rate of all words."""
    share = sum(words.values()) / draft.pool.counts.total()
    return leave_out(draft.some_words(draft.rate / share, words))


def repeat(draft: Draft, runs: Sequence[range]) -> list[Edit]:
    """Repeat words right after themselves."""
    return [Edit(run.stop, run.stop, draft.words[run.start : run.stop], run) for run in runs]


def _add(draft: Draft) -> list[Edit]:
    """Insert words from another segment."""
    edits = []
    for run in draft.runs(draft.rate):
        words = draft.pool.other_words(len(run), draft.words, draft.generator)
        edits.append(Edit(run.stop, run.stop, words, range(0)))
    return edits


KINDS: Mapping[str, Kind] = {
    "omission-word": lambda draft: leave_out(draft.some_words(draft.rate)),
    "omission-content": lambda draft: leave_out_some(draft, draft.pool.classes["content"]),
    "omission-phrase": lambda draft: leave_out(draft.runs(draft.rate)),
    "repetition-word": lambda draft: repeat(draft, draft.some_words(draft.rate)),
    "repetition-phrase": lambda draft: repeat(draft, draft.runs(draft.rate)),
    "addition": _add,
}
"""Name of a kind of error → how it changes a segment."""


@dataclass(frozen=True)
class Injection:
    """Errors of a kind at a rate, to be put into segments.

    >>> pool = WordPool.of([["a", "red", "house"]])
    >>> injection = Injection("omission-word", 0.3, pool, seed=1)
    >>> links = ((0, 0), (1, 1), (2, 2))
    >>> segment = CleanSegment(["a", "red", "house"], ["ein", "rotes", "haus"], links)
    >>> words, errors = injection.corrupt(segment)
    >>> words, [(error.removed, error.source) for error in errors]
    (['a', 'red'], [('house', (2,))])

    Args:
        kind: The name of a kind of error.
        rate: Expected words left out, replaced or added per word, 0 to 0.5; for a class of words,
            at most its share.
        pool: The source of words and segments; the same for all parts of a text.
        seed: Seed of the random choices.
        repair: One of :data:`REPAIRS`, for omitted words.
        kinds: The kinds of errors by name.
    """

    kind: str
    rate: float
    pool: WordPool
    seed: int = 0
    repair: str = "none"
    kinds: Mapping[str, Kind] = field(default_factory=lambda: KINDS)

    def corrupt(self, segment: CleanSegment) -> SpoiltSegment:
        """Put errors into a segment."""
        clean = segment.words
        text = "\n".join((" ".join(segment.source), " ".join(clean)))
        generator = Random(f"{self.seed}\n{text}")
        draft = Draft(segment, clean, self.rate, self.pool, generator)
        edits = sorted(self.kinds[self.kind](draft), key=lambda edit: edit[:2])
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
        kind: One of :data:`KINDS`.
        rate: As :class:`Injection` takes it.
        seed: As :class:`Injection` takes it.
    """
    segments = [tokenize(line) for line in lines]
    injection = Injection(kind, rate, WordPool.of(segments), seed)
    return [" ".join(injection.corrupt(CleanSegment(words)).words) for words in segments]
