"""Each segment of a comparison with its marks and known errors."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from coverage_eval.comparison.breakdowns import FrequencyClasses, position_class
from coverage_eval.comparison.comparison import Comparison
from coverage_eval.comparison.evidence import (
    find_metric,
    findings,
    output_words,
    superfluous_starts,
    superfluous_words,
)
from coverage_eval.metrics.measure import Result
from coverage_eval.metrics.rep import Repetition
from coverage_eval.tables.table import Cell, Table
from fast_align_wrapper.links import Links
from fast_align_wrapper.text import Segment

if TYPE_CHECKING:
    from coverage_eval.attention_maps.maps import AttentionMap


class Label(Protocol):
    """A known error, such as a line of the gold file of ``coverage-eval inject``."""

    @property
    def segment(self) -> int:
        """Number of its segment, from 1."""

    @property
    def kind(self) -> str:
        """The kind of error."""

    @property
    def hypothesis(self) -> tuple[int, int]:
        """Its span in the output's words, from 0, end excluded; empty for an omission."""

    @property
    def source(self) -> Sequence[int] | None:
        """The positions of the source words concerned, from 0; None if unknown."""


Labels = Mapping[str, Sequence[Label]]
"""The labels of each system."""


def by_segment(labels: Iterable[Label]) -> defaultdict[int, list[Label]]:
    """The labels of each segment by its number, from 1."""
    found: defaultdict[int, list[Label]] = defaultdict(list)
    for label in labels:
        found[label.segment].append(label)
    return found


def check_labels(comparison: Comparison, labels: Labels) -> None:
    """Refuse labels of other systems or texts.

    Raises:
        ValueError: A label names an unknown system, or a segment or word out of range.
    """
    rows = comparison.measured.rows
    for system, items in labels.items():
        if system not in comparison.rows:
            raise ValueError(f"labels of {system!r}, which is not one of the systems")
        for label in items:
            if label.segment > len(rows):
                raise ValueError(
                    f"labels of {system}: segment {label.segment}, but there are {len(rows)}"
                )
            _check_places(comparison, system, label)


def _check_places(comparison: Comparison, system: str, label: Label) -> None:
    result = comparison.measured
    index = label.segment - 1
    source = result.rows[index].source
    places = {
        "output": (label.hypothesis[1], len(output_words(result, system, index))),
        "source": (
            max(label.source or (), default=-1) + 1,
            math.inf if source is None else len(result.source_tokens(source)),
        ),
    }
    for side, (last, length) in places.items():
        if last > length:
            raise ValueError(
                f"labels of {system}: segment {label.segment}: word {last} of the {side}, but it "
                f"has {length}; the labels belong to another text or tokenisation"
            )


def is_marked(label: Label, dropped: set[int], repeated: set[int]) -> bool:
    """Whether a mark overlaps with a label.

    Args:
        label: The label.
        dropped: Positions of the source words that the output drops.
        repeated: Positions of the words that it repeats.
    """
    return not dropped.isdisjoint(label.source or ()) or not repeated.isdisjoint(
        range(*label.hypothesis)
    )


def agreement(comparison: Comparison, labels: Labels) -> Table:
    """How many labels overlap with a mark of the scores, and how many marks with a label.

    Args:
        comparison: The systems, with REP or DROP or both.
        labels: Known errors of some of the systems; segments without one are taken to be correct.

    Raises:
        ValueError: As :func:`check_labels`.
    """
    check_labels(comparison, labels)
    rows: list[tuple[Cell, ...]] = []
    for system, items in labels.items():
        rows += _rows_of(comparison, system, items)
    return Table(
        ("system", "of", "kind", "number", "agreeing", "% agreeing"),
        tuple(rows),
        "Labels against marks",
        "agreement",
        notes=(
            "A label agrees if one of its source words is marked as dropped, or a word in its span "
            "of the output as repeated; a mark agrees if it lies on words of a label.",
        ),
    )


def _rows_of(
    comparison: Comparison, system: str, labels: Sequence[Label]
) -> Iterator[tuple[Cell, ...]]:
    of_segment = by_segment(labels)
    total: Counter[tuple[str, str]] = Counter()
    agreeing: Counter[tuple[str, str]] = Counter()
    for number, (dropped, repeated) in enumerate(_marks(comparison, system), start=1):
        here = of_segment[number]
        positions = {position for label in here for position in label.source or ()}
        spans = {position for label in here for position in range(*label.hypothesis)}
        repeated_words = {position for words in repeated for position in words}
        for label in here:
            total["labels", label.kind] += 1
            agreeing["labels", label.kind] += is_marked(label, dropped, repeated_words)
        total["marks", "dropped word"] += len(dropped)
        agreeing["marks", "dropped word"] += len(dropped & positions)
        total["marks", "repetition"] += len(repeated)
        agreeing["marks", "repetition"] += sum(not spans.isdisjoint(words) for words in repeated)
    for key in sorted(total):
        if total[key]:
            share = 100.0 * agreeing[key] / total[key]
            yield system, *key, total[key], agreeing[key], share


def _marks(comparison: Comparison, system: str) -> Iterator[tuple[set[int], list[range]]]:
    """Dropped source positions and repeated spans of each segment."""
    found = (findings(comparison.measured, kind, system) for kind in ("dropped", "repetitions"))
    for dropped, repetitions in zip(*found, strict=True):
        repeated = [words for item in repetitions for words in superfluous_words(item)]
        yield {item.position for item in dropped}, repeated


class Suspect(Protocol):
    """A span of the source that an output seems to leave out."""

    @property
    def start(self) -> int:
        """Position of its first word, from 0."""

    @property
    def end(self) -> int:
        """The position after its last word."""

    @property
    def strength(self) -> float:
        """Higher means more likely an omission."""


@dataclass(frozen=True)
class ReportOptions:
    """What a report shows besides the scores.

    Attributes:
        title: The title; by default it names the systems.
        command: The command that made it.
        warnings: What looked wrong about the input.
        model: Shares of words unknown to the aligner's model, by name.
        attention: Attention maps by system, one for each segment.
        labels: Known errors by system.
        suspects: For each system and segment, spans of the source that seem to be left out.
        finder: The signature of the metric that found them.
        frequencies: How often each source word occurs in the training text; by default, in the
            source itself.
    """

    title: str | None = None
    command: str | None = None
    warnings: Sequence[str] = ()
    model: Mapping[str, float] = field(default_factory=dict)
    attention: Mapping[str, Sequence[AttentionMap]] = field(default_factory=dict)
    labels: Labels = field(default_factory=dict)
    suspects: Mapping[str, Sequence[Sequence[Suspect]]] = field(default_factory=dict)
    finder: str | None = None
    frequencies: Mapping[str, int] | None = None


Record = dict[str, Any]

LEAST_LOSS = 0.1
"""Coverage that a source word must lose to be marked, since nearly every word loses some."""


def segment_records(
    comparison: Comparison, options: ReportOptions, only: Collection[int] | None = None
) -> Iterator[Record]:
    """A record for each segment: its texts as words, and for each output what is marked.

    ``source`` (None if it is not known) and ``references`` are lists of words; ``outputs``, in the
    order of the systems, have ``words``. The ``links`` of an output, and ``referenceLinks``, are
    alternating source and target positions, or None if not known. An output's ``marks`` have a
    ``kind``: ``repeated`` words from ``start`` to ``end`` (excluded), which occur before at
    ``first``; ``dropped`` source words; source words with ``lost`` coverage, the ``amount`` from 0
    to 1; and ``suspected`` spans of the source, with their strength as ``amount``. If given, an
    output also has ``labels`` and a map of ``attention`` with weights in hundredths. Positions
    count from 0.

    Args:
        comparison: The systems.
        options: What to show besides the marks.
        only: The segments to make records of, counted from 0; by default all.

    Raises:
        ValueError: The comparison was made from statistics alone.
    """
    result = comparison.measured
    systems = result.systems
    found = [
        zip(*(findings(result, kind, system) for system in systems), strict=True)
        for kind in ("repetitions", "dropped", "lost")
    ]
    aligned = _Aligned(result)
    classes = FrequencyClasses(result, options.frequencies) if result.has_source else None
    of_segment = {system: by_segment(items) for system, items in options.labels.items()}
    for index, (row, *evidence) in enumerate(zip(result.rows, *found, strict=True)):
        if only is not None and index not in only:
            continue
        source = aligned.source(index)
        outputs = []
        for number, system in enumerate(systems):
            words = output_words(result, system, index)
            repetitions, dropped, lost = (items[number] for items in evidence)
            marks = [
                *_repeated(repetitions, len(words)),
                *_dropped(dropped, source, classes),
                *_lost(lost),
                *_suspected(options.suspects[system][index] if system in options.suspects else ()),
            ]
            output: Record = {
                "words": words,
                "links": aligned.links(index, number, words),
                "marks": marks,
            }
            if system in of_segment:
                output["labels"] = _labels(of_segment[system][index + 1], marks)
            if system in options.attention:
                output["attention"] = _attention(options.attention[system][index])
            outputs.append(output)
        yield {
            "source": source,
            "references": [result.tokens(text) for text in row.references],
            "referenceLinks": aligned.reference_links(index),
            "outputs": outputs,
        }


class _Aligned:
    """Sources and links of a test set, as the metrics used them."""

    def __init__(self, result: Result) -> None:
        self._result = result
        self._metric: Any = None
        self._answers: Sequence[Any] = ()
        if name := find_metric(result, "dropped"):
            self._metric = result.metrics[name]
            self._answers = result.answers(*self._metric.requests())

    def source(self, index: int) -> Sequence[str] | None:
        """The words of a source segment; None if it is not known."""
        if self._answers:
            found: Sequence[str] | None = self._answers[index].source
            return found
        source = self._result.rows[index].source
        return None if source is None else self._result.source_tokens(source)

    def links(self, index: int, number: int, words: Sequence[str]) -> list[int] | None:
        """Links of an output; None without links, or if they count other tokens."""
        if not self._answers:
            return None
        links = self._answers[index].hypotheses[number]
        return self._flat(links, self._result.rows[index].hypotheses[number], words)

    def reference_links(self, index: int) -> list[list[int] | None]:
        """Links of each reference, in the same way."""
        references = self._result.rows[index].references
        if not self._answers:
            return [None] * len(references)
        return [
            self._flat(links, text, self._result.tokens(text))
            for text, links in zip(references, self._answers[index].references, strict=True)
        ]

    def _flat(self, links: Links, text: Segment, words: Sequence[str]) -> list[int] | None:
        """Source and target positions in turns, if the aligner tokenises the text in this way."""
        if list(self._metric.aligner.tokens(text)) != list(words):
            return None
        return [position for link in links for position in link]


def _repeated(found: Sequence[Repetition], length: int) -> Iterator[Record]:
    for item in found:
        for start, words in zip(superfluous_starts(item), superfluous_words(item), strict=True):
            yield {
                "kind": "repeated",
                "start": words.start,
                "end": words.stop,
                "first": item.positions[0],
                "ngram": " ".join(item.ngram),
                "place": position_class(start, length),
            }


def _dropped(
    found: Sequence[Any], source: Sequence[str] | None, classes: FrequencyClasses | None
) -> Iterator[Record]:
    for item in found:
        mark: Record = {"kind": "dropped", "position": item.position}
        if source is not None:
            mark["place"] = position_class(item.position, len(source))
        if classes is not None:
            mark["frequency"] = classes[item.word]
        yield mark


def _lost(found: Sequence[Any]) -> Iterator[Record]:
    for item in found:
        if item.lost >= LEAST_LOSS:
            yield {"kind": "lost", "position": item.position, "amount": round(item.lost, 2)}


def _suspected(spans: Sequence[Suspect]) -> Iterator[Record]:
    for span in spans:
        yield {
            "kind": "suspected",
            "start": span.start,
            "end": span.end,
            "amount": round(span.strength, 2),
        }


def _labels(labels: Sequence[Label], marks: Sequence[Record]) -> list[Record]:
    dropped = {mark["position"] for mark in marks if mark["kind"] == "dropped"}
    spans = (range(mark["start"], mark["end"]) for mark in marks if mark["kind"] == "repeated")
    repeated = {position for words in spans for position in words}
    return [
        {
            "kind": label.kind,
            "start": label.hypothesis[0],
            "end": label.hypothesis[1],
            "source": list(label.source or ()),
            "marked": is_marked(label, dropped, repeated),
        }
        for label in labels
    ]


def _attention(item: AttentionMap) -> Record:
    return {
        "source": item.source_labels,
        "words": item.hypothesis_labels,
        "weights": (item.weights * 100).round().astype(int).tolist(),
    }
