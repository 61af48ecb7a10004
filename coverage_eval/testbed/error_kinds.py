"""The kinds of errors that are put into translations: where each befalls a segment, and how."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from coverage_eval.errors import DataError
from coverage_eval.testbed.word_pool import WORD_CLASSES, WordPool

PHRASE_LENGTH = 3.0
"""Mean length of phrases in words; lengths are distributed geometrically."""


class Edit(NamedTuple):
    """The words from ``start`` to ``end`` (excluded) make way for others.

    ``about`` is the span of the correct translation whose source words the error concerns.
    """

    start: int
    end: int
    words: Sequence[str]
    about: range


@dataclass(frozen=True)
class Draft:
    """A segment while its errors are drawn."""

    words: Sequence[str]
    source: Sequence[str]
    linked: Mapping[int, Set[int]]
    rate: float
    pool: WordPool
    generator: Random

    def runs(self, rate: float, mean: float = PHRASE_LENGTH) -> list[range]:
        """Runs of words, each word in one of them with probability ``rate``.

        Words are in a run or not by a stationary chain of two states, so that lengths are
        geometric with the mean, and neither end of a segment is spared.
        """
        begin, stay = rate / ((1 - rate) * mean), 1 - 1 / mean
        runs: list[range] = []
        chance = rate
        for position in range(len(self.words)):
            is_in = self.generator.random() < chance
            if is_in and runs and runs[-1].stop == position:
                runs[-1] = range(runs[-1].start, position + 1)
            elif is_in:
                runs.append(range(position, position + 1))
            chance = stay if is_in else begin
        return runs

    def some_words(self, rate: float, among: Set[str] | None = None) -> list[range]:
        """Single words, each with probability ``rate``, of some words or of all."""
        hits = [self.generator.random() < rate for _ in self.words]
        return [
            range(n, n + 1)
            for n, (hit, word) in enumerate(zip(hits, self.words, strict=True))
            if hit and (among is None or word in among)
        ]

    def is_hit(self, affected: float) -> bool:
        """Whether an error that concerns so many words on average befalls the segment."""
        return bool(self.words) and self.generator.random() < self.rate * len(self.words) / affected

    def take(self, run: range) -> Sequence[str]:
        """The words of a run."""
        return self.words[run.start : run.stop]


def _leave_out(runs: Sequence[range]) -> list[Edit]:
    """What takes their place is decided for all omissions alike."""
    return [Edit(run.start, run.stop, (), run) for run in runs]


def _repeat(draft: Draft, runs: Sequence[range]) -> list[Edit]:
    """Words come again right behind themselves."""
    return [Edit(run.stop, run.stop, draft.take(run), run) for run in runs]


def _omit_of(word_class: str) -> Callable[[Draft], list[Edit]]:
    def omit(draft: Draft) -> list[Edit]:
        share = draft.pool.share(word_class)
        if share < draft.rate:
            raise DataError(
                f"only {share:.1%} of the words are {word_class} words: no rate of "
                f"{draft.rate:g} can be reached with them"
            )
        words = draft.pool.words(word_class)
        return _leave_out(draft.some_words(draft.rate / share, words))

    return omit


def _stop_early(draft: Draft) -> list[Edit]:
    """The end is missing: from one word to all but one, half of the segment on average."""
    length = len(draft.words)
    if not draft.is_hit(max(1.0, length / 2)):
        return []
    missing = draft.generator.randint(1, max(1, length - 1))
    return _leave_out([range(length - missing, length)])


def _repeat_later(draft: Draft) -> list[Edit]:
    """Phrases come again elsewhere, next to themselves only where there is no other place."""
    edits = []
    runs = draft.runs(draft.rate)
    inside = {n for run in runs for n in range(run.start + 1, run.stop)}
    places = [n for n in range(len(draft.words) + 1) if n not in inside]
    for run in runs:
        elsewhere = [n for n in places if not run.start <= n <= run.stop]
        place = draft.generator.choice(elsewhere or [run.stop])
        edits.append(Edit(place, place, draft.take(run), run))
    return edits


def _oscillate(draft: Draft) -> list[Edit]:
    """Phrases of two words on average come two to four times more."""
    return [
        edit._replace(words=[*edit.words] * draft.generator.randint(2, 4))
        for edit in _repeat(draft, draft.runs(draft.rate / 3, mean=2.0))
    ]


def _grow_a_tail(draft: Draft) -> list[Edit]:
    """The last word, the last two, the last three … come again, half of the segment or more."""
    length = len(draft.words)
    steps = 1
    while steps * (steps + 1) < length:
        steps += 1
    if not draft.is_hit(steps * (steps + 1) / 2):
        return []
    tail = [word for n in range(1, steps + 1) for word in draft.words[length - n :]]
    return [Edit(length, length, tail, range(length - steps, length))]


def _leave_untranslated(draft: Draft) -> list[Edit]:
    """Source words stand in the place of their translation; words without a link stay."""
    edits = []
    for run in draft.runs(draft.rate):
        positions = sorted(set().union(*(draft.linked.get(n, set()) for n in run)))
        if positions:
            edits.append(Edit(run.start, run.stop, [draft.source[n] for n in positions], run))
    return edits


def _add(draft: Draft) -> list[Edit]:
    """Words of another segment stand between the others."""
    return [
        Edit(
            run.stop,
            run.stop,
            draft.pool.other_words(len(run), draft.words, draft.generator),
            range(0),
        )
        for run in draft.runs(draft.rate)
    ]


def _hallucinate(draft: Draft) -> list[Edit]:
    """Another segment stands in the place of this one."""
    length = len(draft.words)
    if not draft.is_hit(length):
        return []
    other = draft.pool.other_segment(draft.words, draft.generator)
    return [Edit(0, length, other, range(length))]


KINDS: dict[str, Callable[[Draft], list[Edit]]] = {
    "omission-word": lambda draft: _leave_out(draft.some_words(draft.rate)),
    **{f"omission-{name}": _omit_of(name) for name in WORD_CLASSES},
    "omission-phrase": lambda draft: _leave_out(draft.runs(draft.rate)),
    "early-stop": _stop_early,
    "repetition-word": lambda draft: _repeat(draft, draft.some_words(draft.rate)),
    "repetition-phrase": lambda draft: _repeat(draft, draft.runs(draft.rate)),
    "repetition-distant": _repeat_later,
    "repetition-oscillating": _oscillate,
    "repetition-tail": _grow_a_tail,
    "untranslated": _leave_untranslated,
    "addition": _add,
    "hallucination": _hallucinate,
}
"""Name of a kind of error → how it befalls a segment."""
