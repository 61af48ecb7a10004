"""Where systems differ: scores by class, the commonest errors, the most different segments.

Every breakdown is a function from a :class:`~coverage_eval.metrics.measure.Result` to a table.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from coverage_eval.comparison.evidence import (
    ExpectedWord,
    expected_words,
    find_metric,
    output_words,
    repetitions,
    required_metric,
    superfluous_starts,
    superfluous_words,
)
from coverage_eval.comparison.right_words import right_by_class, right_by_label, telling_ngrams
from coverage_eval.data.files import Source, read_segments
from coverage_eval.data.tokenizers import Tokenizer
from coverage_eval.errors import require_integer
from coverage_eval.metrics.measure import Result
from coverage_eval.tables.table import Cell, Table
from fast_align_wrapper.text import Segment

LENGTHS = (0, 1, 11, 21, 31, 41, 51)
"""The lower end of each class of lengths, in words."""

FREQUENCIES = (0, 1, 2, 10, 100, 1000)
"""The lower end of each class of frequencies."""

FIFTHS = tuple(f"{20 * i}–{20 * (i + 1)}%" for i in range(5))
"""Names of the fifths of a sentence."""

_DROPPED = ("system", "expected", "dropped", "% dropped")


def _bucket_names(least: Sequence[int]) -> list[str]:
    """``0``, ``1–10``, …, ``51+``."""
    names = [str(low) if high == low + 1 else f"{low}–{high - 1}" for low, high in pairwise(least)]
    return [*names, f"{least[-1]}+"]


def _bucket(values: Sequence[int], least: Sequence[int]) -> NDArray[np.int64]:
    return np.searchsorted(least, values, side="right") - 1


def frequency_class(frequency: int) -> str:
    """The class of a word that occurs this often in the training text."""
    return _bucket_names(FREQUENCIES)[int(_bucket([frequency], FREQUENCIES)[0])]


def position_class(position: int, length: int) -> str:
    """The fifth of a sentence that a word is in.

    Args:
        position: The word's position, from 0.
        length: The sentence's length in words, above the position.
    """
    return FIFTHS[5 * position // length]


def scores_by_length(result: Result, side: str) -> Table:
    """Every metric by segment length.

    Args:
        result: The systems.
        side: ``"source"`` or ``"reference"``.
    """
    rows = []
    names = np.array(length_classes(result, side))
    for name in _bucket_names(LENGTHS):
        members = names == name
        if not members.any():
            continue
        for system in result.systems:
            sums = {
                key: result.statistics_of(key, system)[members].sum(axis=0, keepdims=True)
                for key in result.metrics
            }
            scores = [result.metrics[key].segment_scores(sums[key])[0] for key in sums]
            rows.append((name, int(members.sum()), system, *scores))
    labels = [metric.name for metric in result.metrics.values()]
    header = (f"{side} words", "segments", "system", *labels)
    title = f"By length of the {side}, in words"
    return Table(header, tuple(rows), title, f"{side}-length")


def length_classes(result: Result, side: str) -> list[str]:
    """Each segment's class of length, as in :func:`scores_by_length`."""
    if side == "source":
        lengths = [len(result.source_tokens(row.source or "")) for row in result.rows]
    else:
        lengths = [len(result.tokens(row.references[0])) for row in result.rows]
    names = _bucket_names(LENGTHS)
    return [names[index] for index in _bucket(lengths, LENGTHS)]


def dropped_by_frequency(result: Result, frequencies: Mapping[str, int] | None = None) -> Table:
    """DROP by how often the source word occurs in the training text, or else in the source."""
    where = "the training text" if frequencies is not None else "the source text"
    classes = FrequencyClasses(result, frequencies)
    rows = _dropped(result, _bucket_names(FREQUENCIES), lambda word: classes[word.word])
    title = f"Dropped source words by their frequency in {where}"
    return Table(("frequency", *_DROPPED), tuple(rows), title, "frequency")


def right_by_frequency(result: Result, frequencies: Mapping[str, int] | None = None) -> Table:
    """Words that systems get right by how often they occur in the training text's target side.

    Args:
        result: The systems.
        frequencies: How often each word stands there; None to count the reference itself.
    """
    where = "the training text" if frequencies is not None else "the reference"
    if frequencies is None:
        frequencies = _count_words((row.references[0] for row in result.rows), result.tokens)
    classes = FrequencyClasses(result, frequencies)
    title = f"Words that systems get right, by their frequency in {where}"
    return right_by_class(result, classes.__getitem__, _bucket_names(FREQUENCIES), title)


class FrequencyClasses(dict[str, str]):
    """The frequency class of each word, computed on demand.

    Args:
        result: The systems.
        frequencies: How often each word stands in the training text; None to count the source.
    """

    def __init__(self, result: Result, frequencies: Mapping[str, int] | None = None) -> None:
        super().__init__()
        if frequencies is None:
            sources = (row.source or "" for row in result.rows)
            frequencies = _count_words(sources, result.source_tokens)
        self._frequencies = frequencies

    def __missing__(self, word: str) -> str:
        self[word] = found = frequency_class(self._frequencies.get(word, 0))
        return found


def read_frequencies(file: Source, tokens: Tokenizer) -> Counter[str]:
    """How often each word occurs in a text file.

    Args:
        file: The source side of the training text, say.
        tokens: The tokeniser to apply.
    """
    return _count_words(read_segments(file), tokens)


def _count_words(segments: Iterable[Segment], tokens: Tokenizer) -> Counter[str]:
    return Counter(word for segment in segments for word in tokens(segment))


def dropped_by_position(result: Result) -> Table:
    """DROP by the place of a word in the source."""
    rows = _dropped(result, FIFTHS, lambda word: position_class(word.position, word.length))
    title = "Dropped source words by their place in the source sentence"
    return Table(("place", *_DROPPED), tuple(rows), title, "source-position")


def _dropped(
    result: Result, classes: Sequence[str], class_of: Callable[[ExpectedWord], str]
) -> Iterator[tuple[Cell, ...]]:
    """Expected and dropped words of each class and system, and the percentage dropped."""
    expected: Counter[tuple[str, str]] = Counter()
    dropped: Counter[tuple[str, str]] = Counter()
    for system in result.systems:
        for word in expected_words(result, system):
            key = (class_of(word), system)
            expected[key] += 1
            dropped[key] += word.dropped
    for name in classes:
        for system in result.systems:
            if total := expected[name, system]:
                share = 100.0 * dropped[name, system] / total
                yield name, system, total, dropped[name, system], share


def repeated_by_position(result: Result) -> Table:
    """REP by the place of repetitions in the output; a system's parts sum to its REP."""
    name = required_metric(result, "repetitions")
    metric: Any = result.metrics[name]
    parts: defaultdict[tuple[str, str], float] = defaultdict(float)
    counts: Counter[tuple[str, str]] = Counter()
    for system in result.systems:
        for length, found in repetitions(result, system):
            for item in found:
                for position in superfluous_starts(item):
                    key = (position_class(position, length), system)
                    counts[key] += 1
                    parts[key] += metric.weigh(item)
    # The reference words of REP's own denominator.
    words = {
        system: int(result.statistics_of(name, system)[:, -1].sum()) for system in result.systems
    }
    keys = ((place, system) for place in FIFTHS for system in result.systems)
    rows = [(*key, counts[key], 100.0 * parts[key] / words[key[1]]) for key in keys]
    title = f"Repetitions by their place in the output, and what they add to {metric.name}"
    header = ("place", "system", "repetitions", f"part of {metric.name}")
    return Table(header, tuple(rows), title, "output-position")


T = TypeVar("T", str, tuple[str, str])

_KINDS = {"ngram": "n-gram", "word": "word twice in a row"}


def _most(counts: Counter[T], top: int) -> list[tuple[T, int]]:
    """The commonest entries with their counts; ties are in alphabetical order."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:top]


def most_dropped_words(result: Result, top: int) -> Table:
    """The source words that each system drops most often.

    Args:
        result: The systems, DROP among the metrics.
        top: Words of each system; ties are in alphabetical order.
    """
    rows: list[tuple[Cell, ...]] = []
    for system in result.systems:
        expected: Counter[str] = Counter()
        dropped: Counter[str] = Counter()
        for item in expected_words(result, system):
            expected[item.word] += 1
            dropped[item.word] += item.dropped
        rows += [
            (system, word, times, expected[word], 100.0 * times / expected[word])
            for word, times in _most(+dropped, top)
        ]
    header = ("system", "word", "dropped", "expected", "% dropped")
    title = "Source words dropped most often"
    return Table(header, tuple(rows), title, "dropped-words")


def words_dropped_by_one(result: Result, baseline: str, top: int) -> Table:
    """The source words that the baseline drops and another system does not, and the reverse.

    Args:
        result: The systems, DROP among the metrics.
        baseline: One of them.
        top: Words of each pair of systems; ties are in alphabetical order.
    """
    pairs = [(baseline, other) for other in result.systems if other != baseline]
    rows: list[tuple[Cell, ...]] = []
    for system, other in [pair for one in pairs for pair in (one, one[::-1])]:
        words = zip(expected_words(result, system), expected_words(result, other), strict=True)
        alone = Counter(ours.word for ours, theirs in words if ours.dropped and not theirs.dropped)
        rows += [(system, other, word, times) for word, times in _most(alone, top)]
    header = ("system", "but not", "word", "times")
    title = f"Source words that only {baseline} or only another system drops"
    return Table(header, tuple(rows), title, "dropped-by-one")


def most_repeated_ngrams(result: Result, top: int) -> Table:
    """The n-grams that each system repeats most often beyond the reference.

    Args:
        result: The systems, REP among the metrics.
        top: N-grams of each system; ties are in alphabetical order.
    """
    rows: list[tuple[Cell, ...]] = []
    for system in result.systems:
        excess: Counter[tuple[str, str]] = Counter()
        segments: Counter[tuple[str, str]] = Counter()
        for _, found in repetitions(result, system):
            for item in found:
                key = (" ".join(item.ngram), _KINDS[item.kind])
                excess[key] += item.excess
                segments[key] += 1
        rows += [(system, *key, times, segments[key]) for key, times in _most(excess, top)]
    header = ("system", "n-gram", "kind", "times", "segments")
    title = "N-grams that are repeated most often beyond the reference"
    return Table(header, tuple(rows), title, "repeated-ngrams")


_MARKS = {
    "repetitions": "[Brackets] in an output: words repeated beyond the reference.",
    "dropped": "[Brackets] in a source: words that the system named beside it drops.",
}


def most_different(result: Result, baseline: str, top: int) -> Table:
    """For each metric and system, the segments whose scores differ most from the baseline's.

    Each segment has a row for the reference and one for each output (of the baseline and the
    system). With REP among the metrics, brackets mark what the output repeats. With DROP, a row for
    the source before each output has the dropped words in brackets.

    Args:
        result: The systems.
        baseline: One of them.
        top: Segments of each metric and system; ties are in the order of the text.
    """
    rows = tuple(
        row
        for name in result.metrics
        for system in result.systems
        if system != baseline
        for row in _pair(result, name, (system, baseline), top)
    )
    return Table(
        ("metric", "segment", "text", "score", "words"),
        rows,
        f"Segments whose scores differ most from {baseline}'s",
        "differences",
        notes=tuple(note for kind, note in _MARKS.items() if find_metric(result, kind)),
    )


def _pair(result: Result, name: str, pair: tuple[str, str], top: int) -> Iterator[tuple[Cell, ...]]:
    system, baseline = pair
    ours, theirs = (segment_scores(result, name, who) for who in pair)
    for index in largest(np.abs(ours - theirs), top).tolist():
        segment, row = (result.metrics[name].name, index + 1), result.rows[index]
        for number, reference in enumerate(row.references, start=1):
            which = "reference" if len(row.references) == 1 else f"reference {number}"
            yield *segment, which, None, " ".join(result.tokens(reference))
        for who, scores in ((baseline, theirs), (system, ours)):
            if find_metric(result, "dropped") and row.source is not None:
                yield *segment, f"source of {who}", None, _marked_source(result, who, index)
            yield *segment, who, float(scores[index]), _marked_output(result, who, index)


def segment_scores(result: Result, name: str, system: str) -> NDArray[np.float64]:
    """A system's scores of segments by one metric, NaN where they are undefined."""
    return np.array(result.segment_scores(name, system), dtype=np.float64)


def largest(differences: NDArray[np.float64], top: int) -> NDArray[np.int64]:
    """Indices of the largest differences above zero, undefined ones left out."""
    order = np.argsort(-np.nan_to_num(differences), kind="stable")[:top]
    return order[np.nan_to_num(differences[order]) > 0]


def _marked_source(result: Result, system: str, index: int) -> str:
    """A source segment with what a system drops in brackets."""
    name = required_metric(result, "dropped")
    dropped = result.evidence(name)[index][result.systems.index(system)]["dropped"]
    # The source as the metric's own aligner tokenises it.
    source = result.answers(*result.metrics[name].requests())[index].source
    return _marked(source, {item.position for item in dropped})


def _marked_output(result: Result, system: str, index: int) -> str:
    """An output with what it repeats in brackets; the first occurrences are not marked."""
    repeated: set[int] = set()
    if name := find_metric(result, "repetitions"):
        for item in result.evidence(name)[index][result.systems.index(system)]["repetitions"]:
            repeated.update(*superfluous_words(item))
    return _marked(output_words(result, system, index), repeated)


def _marked(tokens: Sequence[str], positions: Collection[int]) -> str:
    words = enumerate(tokens)
    return " ".join(f"[{word}]" if place in positions else word for place, word in words)


DEFAULT_TOP = 5


@dataclass(frozen=True)
class Options:
    """Options of breakdowns.

    Attributes:
        top: Entries of each list of words, n-grams or segments.
        frequencies: How often each source word occurs in the training text; by default, in the
            source itself.
        baseline: The system that others are compared with; by default the first.
        target_frequencies: The same for target words; by default, in the reference itself.
        word_labels: For each segment, a label of each word of the first reference, such as its
            part of speech.

    Raises:
        TypeError: ``top`` is not a whole number.
        ValueError: It is below 1.
    """

    top: int = DEFAULT_TOP
    frequencies: Mapping[str, int] | None = None
    baseline: str | None = None
    target_frequencies: Mapping[str, int] | None = None
    word_labels: Sequence[Sequence[str]] | None = None

    def __post_init__(self) -> None:
        require_integer("top", self.top, 1)


@dataclass(frozen=True)
class Breakdown:
    """A breakdown that has a name.

    Attributes:
        make: Makes the table.
        needs: The evidence that one of the metrics must have, such as ``dropped``; None for none.
        needs_source: Whether it needs the source.
        needs_references: Whether it needs a reference.
        needs_labels: Whether it needs labels of the reference's words.
    """

    make: Callable[[Result, Options], Table]
    needs: str | None = None
    needs_source: bool = False
    needs_references: bool = False
    needs_labels: bool = False


BREAKDOWNS: Mapping[str, Breakdown] = {
    "source-length": Breakdown(lambda r, _: scores_by_length(r, "source"), needs_source=True),
    "reference-length": Breakdown(
        lambda r, _: scores_by_length(r, "reference"), needs_references=True
    ),
    "frequency": Breakdown(
        lambda r, o: dropped_by_frequency(r, o.frequencies), "dropped", needs_source=True
    ),
    "source-position": Breakdown(lambda r, _: dropped_by_position(r), "dropped", needs_source=True),
    "output-position": Breakdown(lambda r, _: repeated_by_position(r), "repetitions"),
    "dropped-words": Breakdown(
        lambda r, o: most_dropped_words(r, o.top), "dropped", needs_source=True
    ),
    "dropped-by-one": Breakdown(
        lambda r, o: words_dropped_by_one(r, o.baseline or r.systems[0], o.top),
        "dropped",
        needs_source=True,
    ),
    "repeated-ngrams": Breakdown(lambda r, o: most_repeated_ngrams(r, o.top), "repetitions"),
    "word-frequency": Breakdown(
        lambda r, o: right_by_frequency(r, o.target_frequencies), needs_references=True
    ),
    "word-labels": Breakdown(
        lambda r, o: right_by_label(r, o.word_labels or ()),
        needs_references=True,
        needs_labels=True,
    ),
    "telling-ngrams": Breakdown(
        lambda r, o: telling_ngrams(r, o.baseline or r.systems[0], o.top), needs_references=True
    ),
    "differences": Breakdown(lambda r, o: most_different(r, o.baseline or r.systems[0], o.top)),
}


_EVIDENCE = {"dropped": "DROP", "repetitions": "REP"}
"""Kind of evidence → the usual metric that gives it."""


def break_down(
    result: Result, names: Sequence[str] | None = None, options: Options | None = None
) -> list[Table]:
    """Make tables of where systems differ.

    Args:
        result: Measured with evidence, which keeps texts and alignments.
        names: Names of :data:`BREAKDOWNS`; by default all that the metrics allow.
        options: Their options.

    Raises:
        ValueError: An unknown name, or a metric or text that a breakdown needs is missing.
    """
    options = options or Options()
    if names is None:
        names = available_breakdowns(result, options)
    tables = []
    for name in names:
        if name not in BREAKDOWNS:
            raise ValueError(f"unknown breakdown {name!r}; one of {', '.join(BREAKDOWNS)}")
        if missing := _missing(result, BREAKDOWNS[name], options):
            raise ValueError(f"breakdown {name} needs {missing}")
        tables.append(BREAKDOWNS[name].make(result, options))
    return tables


def available_breakdowns(result: Result, options: Options | None = None) -> list[str]:
    """The names of the breakdowns that texts, metrics and options allow."""
    chosen = options or Options()
    return [name for name, item in BREAKDOWNS.items() if not _missing(result, item, chosen)]


def _missing(result: Result, item: Breakdown, options: Options) -> str | None:
    """What a breakdown lacks, or None."""
    if not result.kept:
        return "the texts, but there are only statistics"
    if item.needs is not None and find_metric(result, item.needs) is None:
        return f"{_EVIDENCE[item.needs]} among the metrics"
    if item.needs_source and not result.has_source:
        return "the source text"
    if item.needs_references and not result.references:
        return "a reference"
    if item.needs_labels and options.word_labels is None:
        return "labels of the reference's words"
    return None
