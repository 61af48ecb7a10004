"""Where systems differ: scores by class, the commonest errors, the most different segments.

Every breakdown is a function from a :class:`~coverage_eval.metrics.measure.Result` to a table.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from coverage_eval.comparison.evidence import (
    ExpectedWord,
    expected_words,
    find_metric,
    marking,
    metrics_that_list,
    output_words,
    positions_on,
    required_metric,
    source_words,
    start_of,
)
from coverage_eval.comparison.right_words import right_by_class, right_by_label, telling_ngrams
from coverage_eval.data.files import Source, read_segments
from coverage_eval.data.tokenizers import Tokenizer
from coverage_eval.errors import require_integer
from coverage_eval.metrics.mark import PHRASES, WORDS, Mark, MarkKind
from coverage_eval.metrics.measure import Result
from coverage_eval.metrics.registry import metric_class
from coverage_eval.tables.table import Cell, Table
from fast_align_wrapper.text import Segment

LENGTHS = (0, 1, 11, 21, 31, 41, 51)
"""The lower end of each class of lengths, in words."""

FREQUENCIES = (0, 1, 2, 10, 100, 1000)
"""The lower end of each class of frequencies."""

FIFTHS = tuple(f"{20 * i}–{20 * (i + 1)}%" for i in range(5))
"""Names of the fifths of a sentence."""


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
    kind, header, rows = _by_class(
        result, "frequency", _bucket_names(FREQUENCIES), lambda word: classes[word.word]
    )
    title = f"{kind.key.capitalize()} source words by their frequency in {where}"
    return Table(header, rows, title, "frequency")


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
    kind, header, rows = _by_class(
        result, "place", FIFTHS, lambda word: position_class(word.position, word.length)
    )
    title = f"{kind.key.capitalize()} source words by their place in the source sentence"
    return Table(header, rows, title, "source-position")


def _by_class(
    result: Result, name: str, classes: Sequence[str], class_of: Callable[[ExpectedWord], str]
) -> tuple[MarkKind, tuple[str, ...], tuple[tuple[Cell, ...], ...]]:
    """Expected and marked words of each class and system, and the percentage marked.

    Returns:
        The kind of mark, the header, and the rows.
    """
    metric, kind = required_metric(result, WORDS)
    expected: Counter[tuple[str, str]] = Counter()
    marked: Counter[tuple[str, str]] = Counter()
    for system in result.systems:
        for word in expected_words(result, metric, system):
            key = (class_of(word), system)
            expected[key] += 1
            marked[key] += word.marked
    keys = [(one, system) for one in classes for system in result.systems]
    rows = (
        (*key, expected[key], marked[key], 100.0 * marked[key] / expected[key])
        for key in keys
        if expected[key]
    )
    return kind, (name, "system", "expected", kind.key, f"% {kind.key}"), tuple(rows)


def repeated_by_position(result: Result) -> Table:
    """REP by the place of repetitions in the output; a system's parts sum to its REP."""
    name, kind = required_metric(result, PHRASES)
    metric = result.metrics[name]
    parts: defaultdict[tuple[str, str], float] = defaultdict(float)
    counts: Counter[tuple[str, str]] = Counter()
    for system in result.systems:
        for index, found in enumerate(result.evidence_of(name, system)):
            length = len(output_words(result, system, index)) if found.marks else 0
            for mark in found.marks:
                key = (position_class(start_of(mark), length), system)
                counts[key] += 1
                parts[key] += mark.amount
    # The reference words of REP's own denominator.
    words = {
        system: int(result.statistics_of(name, system)[:, -1].sum()) for system in result.systems
    }
    keys = ((place, system) for place in FIFTHS for system in result.systems)
    rows = [(*key, counts[key], 100.0 * parts[key] / words[key[1]]) for key in keys]
    many = f"{kind.one}s"
    title = f"{many.capitalize()} by their place in the output, and what they add to {metric.name}"
    header = ("place", "system", many, f"part of {metric.name}")
    return Table(header, tuple(rows), title, "output-position")


T = TypeVar("T", str, tuple[str, str])


def _most(counts: Counter[T], top: int) -> list[tuple[T, int]]:
    """The commonest entries with their counts; ties are in alphabetical order."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:top]


def most_dropped_words(result: Result, top: int) -> Table:
    """The source words that each system drops most often.

    Args:
        result: The systems, DROP among the metrics.
        top: Words of each system; ties are in alphabetical order.
    """
    name, kind = required_metric(result, WORDS)
    rows: list[tuple[Cell, ...]] = []
    for system in result.systems:
        expected: Counter[str] = Counter()
        marked: Counter[str] = Counter()
        for item in expected_words(result, name, system):
            expected[item.word] += 1
            marked[item.word] += item.marked
        rows += [
            (system, word, times, expected[word], 100.0 * times / expected[word])
            for word, times in _most(+marked, top)
        ]
    header = ("system", "word", kind.key, "expected", f"% {kind.key}")
    title = f"Source words {kind.key} most often"
    return Table(header, tuple(rows), title, "dropped-words")


def words_dropped_by_one(result: Result, baseline: str, top: int) -> Table:
    """The source words that the baseline drops and another system does not, and the reverse.

    Args:
        result: The systems, DROP among the metrics.
        baseline: One of them.
        top: Words of each pair of systems; ties are in alphabetical order.
    """
    name, kind = required_metric(result, WORDS)
    pairs = [(baseline, other) for other in result.systems if other != baseline]
    rows: list[tuple[Cell, ...]] = []
    for system, other in [pair for one in pairs for pair in (one, one[::-1])]:
        sides = (expected_words(result, name, who) for who in (system, other))
        words = zip(*sides, strict=True)
        alone = Counter(ours.word for ours, theirs in words if ours.marked and not theirs.marked)
        rows += [(system, other, word, times) for word, times in _most(alone, top)]
    header = ("system", "but not", "word", "times")
    title = f"Source words {kind.key} only by {baseline}, or only by another system"
    return Table(header, tuple(rows), title, "dropped-by-one")


def most_repeated_ngrams(result: Result, top: int) -> Table:
    """The n-grams that each system repeats most often, beyond the reference if there is one.

    Args:
        result: The systems, REP among the metrics.
        top: N-grams of each system; ties are in alphabetical order.
    """
    name, kind = required_metric(result, PHRASES)
    rows: list[tuple[Cell, ...]] = []
    for system in result.systems:
        times: Counter[tuple[str, str]] = Counter()
        segments: Counter[tuple[str, str]] = Counter()
        for found in result.evidence_of(name, system):
            keys = [(mark.text, mark.kind) for mark in found.marks]
            times.update(keys)
            segments.update(set(keys))
        rows += [(system, *key, count, segments[key]) for key, count in _most(times, top)]
    header = ("system", "n-gram", "kind", "times", "segments")
    beyond = " beyond the reference" if result.references else ""
    title = f"N-grams {kind.key} most often{beyond}"
    return Table(header, tuple(rows), title, "repeated-ngrams")


def most_different(result: Result, baseline: str, top: int) -> Table:
    """For each metric and system, the segments whose scores differ most from the baseline's.

    Each segment has a row for the reference and one for each output (of the baseline and the
    system), with the words in brackets that metrics mark. If a metric marks source words, a row for
    the source before each output has them in brackets.

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
        notes=tuple(_bracket_notes(result)),
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
            marks = _marks(result, who, index)
            source = source_words(result, index)
            if source is not None and any(kind.side == "source" for kind in _bracketed(result)):
                text = _marked(source, positions_on("source", marks))
                yield *segment, f"source of {who}", None, text
            text = _marked(output_words(result, who, index), positions_on("output", marks))
            yield *segment, who, float(scores[index]), text


def segment_scores(result: Result, name: str, system: str) -> NDArray[np.float64]:
    """A system's scores of segments by one metric, NaN where they are undefined."""
    return np.array(result.segment_scores(name, system), dtype=np.float64)


def largest(differences: NDArray[np.float64], top: int) -> NDArray[np.int64]:
    """Indices of the largest differences above zero, undefined ones left out."""
    order = np.argsort(-np.nan_to_num(differences), kind="stable")[:top]
    return order[np.nan_to_num(differences[order]) > 0]


def _bracketed(result: Result) -> list[MarkKind]:
    """The kinds of marks that are brackets: not those that nearly every word has."""
    return [kind for kinds in marking(result).values() for kind in kinds if not kind.faint]


def _bracket_notes(result: Result) -> Iterator[str]:
    """What brackets in outputs and in sources mean."""
    for side, where, whose in (
        ("output", "an output", ""),
        ("source", "a source", " of the system named beside it"),
    ):
        if words := {kind.many: None for kind in _bracketed(result) if kind.side == side}:
            yield f"[Brackets] in {where}: {' or '.join(words)}{whose}."


def _marks(result: Result, system: str, index: int) -> list[Mark]:
    """The marks of a system's segment that are brackets."""
    place = result.systems.index(system)
    names = {kind.name for kind in _bracketed(result)}
    found = [result.evidence(name)[index][place].marks for name in marking(result)]
    return [mark for marks in found for mark in marks if mark.kind in names]


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
        needs: ``"words"`` or ``"phrases"`` if tables must list marks of one of the metrics so; None
            for neither.
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
        lambda r, o: dropped_by_frequency(r, o.frequencies), WORDS, needs_source=True
    ),
    "source-position": Breakdown(lambda r, _: dropped_by_position(r), WORDS, needs_source=True),
    "output-position": Breakdown(lambda r, _: repeated_by_position(r), PHRASES),
    "dropped-words": Breakdown(lambda r, o: most_dropped_words(r, o.top), WORDS, needs_source=True),
    "dropped-by-one": Breakdown(
        lambda r, o: words_dropped_by_one(r, o.baseline or r.systems[0], o.top),
        WORDS,
        needs_source=True,
    ),
    "repeated-ngrams": Breakdown(lambda r, o: most_repeated_ngrams(r, o.top), PHRASES),
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
    if not result.kept:
        raise ValueError("this needs the texts, but there are only statistics")
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
        return f"{metric_class(metrics_that_list(item.needs)[0]).name} among the metrics"
    if item.needs_source and not result.has_source:
        return "the source text"
    if item.needs_references and not result.references:
        return "a reference"
    if item.needs_labels and options.word_labels is None:
        return "labels of the reference's words"
    return None
