"""Each segment of a comparison with its marks and known errors."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from coverage_eval.alignment.aligner import AlignedRow, Aligner
from coverage_eval.comparison.breakdowns import FrequencyClasses, position_class
from coverage_eval.comparison.comparison import Comparison
from coverage_eval.comparison.evidence import (
    marked_tokenizers,
    marks_of,
    original_pieces,
    output_words,
    positions_on,
    source_words,
    start_of,
)
from coverage_eval.metrics.mark import SIDES, WORDS, Mark, MarkKind
from coverage_eval.metrics.measure import Result
from coverage_eval.tables.table import Cell, Table
from fast_align_wrapper.links import Links
from fast_align_wrapper.text import Segment

if TYPE_CHECKING:
    from coverage_eval.attention_maps.maps import AttentionMap


class KnownError(Protocol):
    """A known error, such as a line of the gold file of ``coverage-eval inject``."""

    @property
    def segment(self) -> int:
        """Number of its segment, from 1."""

    @property
    def kind(self) -> str:
        """The kind of error."""

    @property
    def marks(self) -> Sequence[Mark]:
        """The words concerned, in the source or the output or both."""


Labels = Mapping[str, Sequence[KnownError]]
"""Known errors of each system."""


def by_segment(labels: Iterable[KnownError]) -> defaultdict[int, list[KnownError]]:
    """The labels of each segment by its number, from 1."""
    found: defaultdict[int, list[KnownError]] = defaultdict(list)
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


def _check_places(comparison: Comparison, system: str, label: KnownError) -> None:
    result = comparison.measured
    index = label.segment - 1
    source = result.rows[index].source
    lengths = {
        "output": len(output_words(result, system, index)),
        "source": math.inf if source is None else len(result.source_tokens(source)),
    }
    for side, positions in _words(label.marks).items():
        last, length = max(positions, default=-1) + 1, lengths[side]
        if last > length:
            raise ValueError(
                f"labels of {system}: segment {label.segment}: word {last} of the {side}, but it "
                f"has {length}; the labels belong to another text or tokenisation"
            )


def overlap(marks: Iterable[Mark], words: Mapping[str, set[int]]) -> bool:
    """Whether one of the marks is on some words.

    Args:
        marks: The marks.
        words: Positions by side.
    """
    return any(not words[mark.side].isdisjoint(mark.positions) for mark in marks)


def _words(marks: Sequence[Mark]) -> dict[str, set[int]]:
    """All positions of marks by side."""
    return {side: positions_on(side, marks) for side in SIDES}


def agreement(comparison: Comparison, labels: Labels, marked: Result | None = None) -> Table:
    """How many labels overlap with a mark of the scores, and how many marks with a label.

    Marks that nearly every word has do not count.

    Args:
        comparison: The systems.
        labels: Known errors of some of the systems; segments without one are taken to be correct.
        marked: The same texts by all metrics whose marks count; by default the comparison's.

    Raises:
        ValueError: As :func:`check_labels`.
    """
    check_labels(comparison, labels)
    rows: list[tuple[Cell, ...]] = []
    for system, items in labels.items():
        rows += _rows_of(marked or comparison.measured, system, items)
    return Table(
        ("system", "of", "kind", "number", "agreeing", "% agreeing"),
        tuple(rows),
        "Labels against marks",
        "agreement",
        notes=(
            "A label agrees if a score marks one of its words in the source or in the output; a "
            "mark agrees if it lies on words of a label.",
        ),
    )


def _rows_of(
    result: Result, system: str, labels: Sequence[KnownError]
) -> Iterator[tuple[Cell, ...]]:
    of_segment = by_segment(labels)
    total: Counter[tuple[str, str]] = Counter()
    agreeing: Counter[tuple[str, str]] = Counter()
    for number, found in enumerate(marks_of(result, system), start=1):
        marks = [(kind, mark) for kind, mark in found if not kind.faint]
        here = of_segment[number]
        labelled = _words([mark for label in here for mark in label.marks])
        marked = _words([mark for _, mark in marks])
        for label in here:
            total["labels", label.kind] += 1
            agreeing["labels", label.kind] += overlap(label.marks, marked)
        for kind, mark in marks:
            total["marks", kind.one] += 1
            agreeing["marks", kind.one] += overlap([mark], labelled)
    for key in sorted(total):
        share = 100.0 * agreeing[key] / total[key]
        yield system, *key, total[key], agreeing[key], share


@dataclass(frozen=True)
class ReportOptions:
    """What a report shows besides the scores.

    Attributes:
        title: The title; by default it names the systems.
        command: The command that made it.
        model: Shares of words unknown to the aligner's model, by name.
        attention: Attention maps by system, one for each segment.
        labels: Known errors by system.
        marked: The same texts by further metrics, whose marks are shown, too; by default only those
            of the comparison are.
        frequencies: How often each source word occurs in the training text; by default, in the
            source itself.
    """

    title: str | None = None
    command: str | None = None
    model: Mapping[str, float] = field(default_factory=dict)
    attention: Mapping[str, Sequence[AttentionMap]] = field(default_factory=dict)
    labels: Labels = field(default_factory=dict)
    marked: Result | None = None
    frequencies: Mapping[str, int] | None = None


Record = dict[str, Any]


def segment_records(
    comparison: Comparison, options: ReportOptions, only: Collection[int] | None = None
) -> Iterator[Record]:
    """A record for each segment: its texts as words, and for each output what is marked.

    ``source`` (None if it is not known) and ``references`` are lists of words; ``outputs``, in the
    order of the systems, have ``words``. Where the text was written otherwise than its words with
    spaces, ``sourcePieces``, ``referencePieces`` and an output's ``pieces`` are its parts by
    :func:`~coverage_eval.comparison.evidence.original_pieces`. The ``links`` of an output, and
    ``referenceLinks``, are alternating source and target positions, or None if not known. An
    output's ``marks`` have a ``kind`` (a
    :attr:`~coverage_eval.metrics.mark.MarkKind.key`), their ``side``, ``positions``,
    ``text`` and ``amount``; some have the position where it is said ``first``, and the class of
    their ``place`` and ``frequency``. If given, an output also has ``labels`` and a map of
    ``attention`` with weights in hundredths. Positions count from 0.

    Args:
        comparison: The systems.
        options: What to show besides the marks.
        only: The segments to make records of, counted from 0; by default all.

    Raises:
        ValueError: The comparison was made from statistics alone.
    """
    result = comparison.measured
    systems = result.systems
    found = zip(*(marks_of(options.marked or result, system) for system in systems), strict=True)
    linked: Any = next((m for m in result.metrics.values() if "links" in m.needs), None)
    aligned: Sequence[AlignedRow] = result.answers(linked.requests()[0]) if linked else ()
    source_tokens, tokens = marked_tokenizers(result)
    classes = FrequencyClasses(result, options.frequencies) if result.has_source else None
    of_segment = {system: by_segment(items) for system, items in options.labels.items()}
    for index, (row, of_systems) in enumerate(zip(result.rows, found, strict=True)):
        if only is not None and index not in only:
            continue
        links = aligned[index] if linked else None
        source = links.source if links else source_words(result, index)
        outputs = []
        for number, system in enumerate(systems):
            words = output_words(result, system, index)
            marks = [
                _mark(kind, mark, source, words, classes)
                for kind, mark in of_systems[number]
                if mark.amount >= kind.least or not kind.faint
            ]
            text = row.hypotheses[number]
            output: Record = {"words": words, "links": None, "marks": marks}
            if links:
                output["links"] = _flat(links.hypotheses[number], linked.aligner, text, words)
            if pieces := original_pieces(text, tokens):
                output["pieces"] = pieces
            if system in of_segment:
                usual = [mark for kind, mark in of_systems[number] if not kind.faint]
                output["labels"] = _labels(of_segment[system][index + 1], _words(usual))
            if system in options.attention:
                output["attention"] = pack_attention(options.attention[system][index])
            outputs.append(output)
        references = [result.tokens(text) for text in row.references]
        record: Record = {
            "source": source,
            "references": references,
            "referenceLinks": [None] * len(references),
            "outputs": outputs,
        }
        if links:
            record["referenceLinks"] = [
                _flat(own, linked.aligner, text, words)
                for own, text, words in zip(
                    links.references, row.references, references, strict=True
                )
            ]
        pieces = original_pieces(row.source or "", source_tokens)
        if pieces and len(pieces) == len(source or ()):
            record["sourcePieces"] = pieces
        found_pieces = [original_pieces(text, result.tokens) for text in row.references]
        if any(found_pieces):
            record["referencePieces"] = found_pieces
        yield record


def _flat(links: Links, aligner: Aligner, text: Segment, words: Sequence[str]) -> list[int] | None:
    """Source and target positions in turns; None if the aligner tokenises the text otherwise."""
    if list(aligner.tokens(text)) != list(words):
        return None
    return [position for link in links for position in link]


def _mark(
    kind: MarkKind,
    mark: Mark,
    source: Sequence[str] | None,
    words: Sequence[str],
    classes: FrequencyClasses | None,
) -> Record:
    record: Record = {
        "kind": kind.key,
        "side": mark.side,
        "positions": list(mark.positions),
        "text": mark.text,
        "amount": round(mark.amount, 2),
    }
    if mark.first:
        record["first"] = mark.first[0]
    if kind.listed:  # a table counts it, and its rows lead here
        text = words if mark.side == "output" else source
        if text:
            record["place"] = position_class(start_of(mark), len(text))
        if kind.listed == WORDS and classes is not None:
            record["frequency"] = classes[mark.text]
    return record


def _labels(labels: Sequence[KnownError], marked: Mapping[str, set[int]]) -> list[Record]:
    return [
        {
            "kind": label.kind,
            **{side: sorted(positions) for side, positions in _words(label.marks).items()},
            "marked": overlap(label.marks, marked),
        }
        for label in labels
    ]


def pack_attention(item: AttentionMap) -> Record:
    """A map as the page reads it: words of both sides, and weights in percent."""
    return {
        "source": item.source_labels,
        "words": item.hypothesis_labels,
        "weights": (item.weights * 100).round().astype(int).tolist(),
    }
