"""Runs of words that an output has from its source."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from coverage_eval.outputs.parsed_segment import ParsedSegment, word_spans

MAX_PLACES = 8
"""Places of the source at which a run is looked for, so that a source that says two words again and
again takes no longer than another one."""

MAX_GAP = 1
"""Other words in the output, and in the source, between two runs that are one."""


class SharedRun(NamedTuple):
    """Consecutive words of an output that its source has, too.

    Attributes:
        start: The position of the first of them among the output's words.
        end: The position behind the last.
        source_start: The position of the first one's equal among the source's words.
        source_end: The position behind that of the last.
    """

    start: int
    end: int
    source_start: int
    source_end: int


def shared_runs(output: ParsedSegment, source: ParsedSegment) -> list[SharedRun]:
    """Runs of two words and more that an output and its source have; case is no matter.

    >>> texts = "the dog schläft im garten heute", "der hund schläft im garten"
    >>> [tuple(run) for run in shared_runs(*map(ParsedSegment.of, texts))]
    [(2, 5, 2, 5)]
    """
    if len(output.vocabulary & source.vocabulary) < 2:
        return []
    words = output.words
    shared = set(pairwise(words)).intersection(pairwise(source.words))
    places: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, pair in enumerate(pairwise(source.words)):
        if pair in shared:
            places[pair].append(place)
    runs: list[SharedRun] = []
    end = 0
    for start, pair in enumerate(pairwise(words)):
        if start < end or pair not in shared:
            continue
        found = places[pair][:MAX_PLACES]
        lengths = {_common(words, start, source.words, place): place for place in reversed(found)}
        length = max(lengths)
        end = start + length
        run = SharedRun(start, start + length, lengths[length], lengths[length] + length)
        last = runs[-1] if runs else run
        gap, source_gap = run.start - last.end, run.source_start - last.source_end
        if runs and gap <= MAX_GAP and 0 <= source_gap <= MAX_GAP:
            runs[-1] = SharedRun(last.start, run.end, last.source_start, run.source_end)
        else:
            runs.append(run)
    return runs


def _common(words: Sequence[str], start: int, others: Sequence[str], place: int) -> int:
    """How many words from one place on equal those of another text from another place on."""
    most = min(len(words) - start, len(others) - place)
    return next((n for n in range(most) if words[start + n] != others[place + n]), most)


def outside_runs(output: ParsedSegment, runs: Sequence[SharedRun]) -> ParsedSegment:
    """An output without some runs."""
    if not runs:
        return output
    spans, kept, end = word_spans(output.text), [], 0
    for run in runs:
        kept.append(output.text[end : spans[run.start][0]])
        end = spans[run.end - 1][1]
    return ParsedSegment.of(" ".join([*kept, output.text[end:]]))
