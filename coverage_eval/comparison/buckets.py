"""The metrics by bucket: length of a segment, frequency of a word, position in the sentence."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coverage_eval.comparison.compared import Compared
from coverage_eval.comparison.evidence import (
    ExpectedWord,
    expected_words,
    repetitions,
    required_counts,
    required_metric,
    superfluous_starts,
)
from coverage_eval.data.files import Source, read_segments
from coverage_eval.data.tokenizers import Tokenizer
from coverage_eval.tables.table import Cell, Table
from fast_align_wrapper.text import Segment

LENGTHS = (0, 1, 11, 21, 31, 41, 51)
"""The least length of each bucket, in words."""

FREQUENCIES = (0, 1, 2, 10, 100, 1000)
"""The least frequency of each class of words."""

FIFTHS = tuple(f"{20 * i}–{20 * (i + 1)} %" for i in range(5))
"""Names of the fifths of a sentence."""


_DROPPED = ("system", "expected", "dropped", "% dropped")


def _bucket_names(least: Sequence[int]) -> list[str]:
    """``0``, ``1–10``, …, ``51+``."""
    names = [str(low) if high == low + 1 else f"{low}–{high - 1}" for low, high in pairwise(least)]
    return [*names, f"{least[-1]}+"]


def _bucket(values: Sequence[int], least: Sequence[int]) -> NDArray[np.int64]:
    return np.searchsorted(least, values, side="right") - 1


def frequency_class(frequency: int) -> str:
    """The class of a word that stands so often in the training text."""
    return _bucket_names(FREQUENCIES)[int(_bucket([frequency], FREQUENCIES)[0])]


def position_class(position: int, length: int) -> str:
    """The fifth of a sentence that a word stands in.

    Args:
        position: The word's position, from 0.
        length: The sentence's length in words, above the position.
    """
    return FIFTHS[5 * position // length]


def scores_by_length(comparison: Compared, side: str) -> Table:
    """Every metric by the length of a segment.

    Args:
        comparison: The systems.
        side: ``"source"`` or ``"reference"``: whose length.
    """
    counted = required_counts(comparison)
    rows = []
    names = np.array(length_classes(comparison, side))
    for name in _bucket_names(LENGTHS):
        members = names == name
        if not members.any():
            continue
        for system in comparison.rows:
            sums = {
                key: counted.statistics[key][system][members].sum(axis=0, keepdims=True)
                for key in comparison.metrics
            }
            scores = [comparison.metrics[key].segment_scores(sums[key])[0] for key in sums]
            rows.append((name, int(members.sum()), system, *scores))
    labels = [metric.name for metric in comparison.metrics.values()]
    header = (f"{side} words", "segments", "system", *labels)
    title = f"By length of the {side}, in words"
    return Table(header, tuple(rows), title, f"{side}-length")


def length_classes(comparison: Compared, side: str) -> list[str]:
    """The bucket that each segment is in by the length of a side, as :func:`scores_by_length`."""
    texts = required_counts(comparison).texts
    if side == "source":
        lengths = [len(texts.source_tokens(row.source or "")) for row in texts.rows]
    else:
        lengths = [len(texts.tokens(row.references[0])) for row in texts.rows]
    names = _bucket_names(LENGTHS)
    return [names[index] for index in _bucket(lengths, LENGTHS)]


def dropped_by_frequency(
    comparison: Compared, frequencies: Mapping[str, int] | None = None
) -> Table:
    """DROP by how often the source word stands in the training text, or else in the source."""
    where = "the training text" if frequencies is not None else "the source text itself"
    classes = FrequencyClasses(comparison, frequencies)
    rows = _dropped(comparison, _bucket_names(FREQUENCIES), lambda word: classes[word.word])
    title = f"Dropped source words by how often they stand in {where}"
    return Table(("frequency", *_DROPPED), tuple(rows), title, "frequency")


class FrequencyClasses(dict[str, str]):
    """The frequency class of each word, found when it is first asked for.

    Args:
        comparison: The systems.
        frequencies: How often each word stands in the training text; None to count the source.
    """

    def __init__(self, comparison: Compared, frequencies: Mapping[str, int] | None = None) -> None:
        super().__init__()
        if frequencies is None:
            texts = required_counts(comparison).texts
            sources = (row.source or "" for row in texts.rows)
            frequencies = _count_words(sources, texts.source_tokens)
        self._frequencies = frequencies

    def __missing__(self, word: str) -> str:
        self[word] = found = frequency_class(self._frequencies.get(word, 0))
        return found


def read_frequencies(file: Source, tokens: Tokenizer) -> Counter[str]:
    """How often each word stands in a text file.

    Args:
        file: The source side of the training text, say.
        tokens: The tokeniser to apply.
    """
    return _count_words(read_segments(file), tokens)


def _count_words(segments: Iterable[Segment], tokens: Tokenizer) -> Counter[str]:
    return Counter(word for segment in segments for word in tokens(segment))


def dropped_by_position(comparison: Compared) -> Table:
    """DROP by where in the source sentence a word stands."""
    rows = _dropped(comparison, FIFTHS, lambda word: position_class(word.position, word.length))
    title = "Dropped source words by their place in the source sentence"
    return Table(("place", *_DROPPED), tuple(rows), title, "source-position")


def _dropped(
    comparison: Compared, classes: Sequence[str], class_of: Callable[[ExpectedWord], str]
) -> Iterator[tuple[Cell, ...]]:
    """Expected and dropped words of each class and system, and the percentage dropped."""
    expected: Counter[tuple[str, str]] = Counter()
    dropped: Counter[tuple[str, str]] = Counter()
    for system in comparison.rows:
        for word in expected_words(comparison, system):
            key = (class_of(word), system)
            expected[key] += 1
            dropped[key] += word.dropped
    for name in classes:
        for system in comparison.rows:
            if total := expected[name, system]:
                share = 100.0 * dropped[name, system] / total
                yield name, system, total, dropped[name, system], share


def repeated_by_position(comparison: Compared) -> Table:
    """REP by where in the output superfluous occurrences stand; a system's parts sum to it."""
    name = required_metric(comparison, "repetitions")
    metric: Any = comparison.metrics[name]
    parts: defaultdict[tuple[str, str], float] = defaultdict(float)
    counts: Counter[tuple[str, str]] = Counter()
    for system in comparison.rows:
        for length, found in repetitions(comparison, system):
            for item in found:
                for position in superfluous_starts(item):
                    key = (position_class(position, length), system)
                    counts[key] += 1
                    parts[key] += metric.weigh(item)
    # The reference words of REP's own denominator.
    statistics = required_counts(comparison).statistics[name]
    words = {system: int(values[:, -1].sum()) for system, values in statistics.items()}
    keys = ((place, system) for place in FIFTHS for system in comparison.rows)
    rows = [(*key, counts[key], 100.0 * parts[key] / words[key[1]]) for key in keys]
    title = (
        f"Repetitions by their place in the output, and the part of {metric.name} that they make"
    )
    header = ("place", "system", "repetitions", f"part of {metric.name}")
    return Table(header, tuple(rows), title, "output-position")
