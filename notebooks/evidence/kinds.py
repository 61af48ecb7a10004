"""Further kinds of planted errors, which only the tables here compare."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from itertools import accumulate

from tests import planting
from tests.planting import (
    Draft,
    Edit,
    Kind,
    WordPool,
    leave_out,
    leave_out_some,
    repeat,
)

RARE_SHARE = 0.1
"""The least frequent words, up to this share of the text, count as rare; at least all words that
occur once."""


@lru_cache(1)
def rare_words(pool: WordPool) -> dict[str, int]:
    """The least frequent words, with their counts."""
    of_count = Counter(pool.counts.values())
    ascending = sorted(of_count)
    sums = accumulate(count * of_count[count] for count in ascending)
    number = sum(seen <= RARE_SHARE * pool.counts.total() for seen in sums)
    max_count = ascending[max(number, 1) - 1]
    return {word: count for word, count in pool.counts.items() if count <= max_count}


def _is_hit(draft: Draft, affected: float) -> bool:
    """Whether the segment gets an error that concerns ``affected`` words on average."""
    size = len(draft.words)
    return bool(size) and draft.generator.random() < draft.rate * size / affected


def _stop_early(draft: Draft) -> list[Edit]:
    """Leave out the end: from one word to all but one, half of the segment on average."""
    length = len(draft.words)
    if not _is_hit(draft, max(1.0, length / 2)):
        return []
    missing = draft.generator.randint(1, max(1, length - 1))
    return leave_out([range(length - missing, length)])


def _repeat_elsewhere(draft: Draft) -> list[Edit]:
    """Repeat phrases elsewhere, next to themselves only if there is no other place."""
    edits = []
    runs = draft.runs(draft.rate)
    inside = {n for run in runs for n in range(run.start + 1, run.stop)}
    positions = [n for n in range(len(draft.words) + 1) if n not in inside]
    for edit in repeat(draft, runs):
        elsewhere = [n for n in positions if not edit.about.start <= n <= edit.about.stop]
        position = draft.generator.choice(elsewhere or [edit.about.stop])
        edits.append(edit._replace(start=position, end=position))
    return edits


def _oscillate(draft: Draft) -> list[Edit]:
    """Repeat phrases of two words on average two to four times."""
    return [
        edit._replace(words=[*edit.words] * draft.generator.randint(2, 4))
        for edit in repeat(draft, draft.runs(draft.rate / 3, mean=2.0))
    ]


def _repeat_tail(draft: Draft) -> list[Edit]:
    """Repeat the last word, the last two, the last three …: half of the segment or more."""
    length = len(draft.words)
    steps = 1
    while steps * (steps + 1) < length:
        steps += 1
    if not _is_hit(draft, steps * (steps + 1) / 2):
        return []
    tail = [word for n in range(1, steps + 1) for word in draft.words[length - n :]]
    return [Edit(length, length, tail, range(length - steps, length))]


def _leave_untranslated(draft: Draft) -> list[Edit]:
    """Replace words with their source words; words without a link stay."""
    edits = []
    for run in draft.runs(draft.rate):
        words = [draft.segment.source[n] for n in sorted(draft.segment.sources(run))]
        if words:
            edits.append(Edit(run.start, run.stop, words, run))
    return edits


def _hallucinate(draft: Draft) -> list[Edit]:
    """Replace the segment with another one."""
    length = len(draft.words)
    if not _is_hit(draft, length):
        return []
    other = draft.pool.other_segment(draft.words, draft.generator)
    return [Edit(0, length, other, range(length))]


KINDS: Mapping[str, Kind] = {
    **planting.KINDS,
    "omission-rare": lambda draft: leave_out_some(draft, rare_words(draft.pool)),
    "early-stop": _stop_early,
    "repetition-distant": _repeat_elsewhere,
    "repetition-oscillating": _oscillate,
    "repetition-tail": _repeat_tail,
    "untranslated": _leave_untranslated,
    "hallucination": _hallucinate,
}
"""Name of a kind of error → how it changes a segment."""
