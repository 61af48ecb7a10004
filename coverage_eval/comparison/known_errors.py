"""Errors that are known, marked by people or put in on purpose, against what the scores mark."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from coverage_eval.comparison.compared import Compared
from coverage_eval.comparison.evidence import (
    findings,
    output_words,
    required_counts,
    superfluous_words,
)
from coverage_eval.tables.table import Cell, Table


class Label(Protocol):
    """A known error, such as a line of the gold file of ``coverage-eval inject``."""

    @property
    def segment(self) -> int:
        """Number of its segment, from 1."""

    @property
    def kind(self) -> str:
        """What sort of error it is."""

    @property
    def hypothesis(self) -> tuple[int, int]:
        """Its span in the output's words, from 0, the end excluded; empty for an omission."""

    @property
    def source(self) -> Sequence[int] | None:
        """The source positions that it concerns, from 0; None if they are not known."""


Labels = Mapping[str, Sequence[Label]]
"""The labels of each system."""


def by_segment(labels: Iterable[Label]) -> defaultdict[int, list[Label]]:
    """The labels of each segment by its number, from 1."""
    found: defaultdict[int, list[Label]] = defaultdict(list)
    for label in labels:
        found[label.segment].append(label)
    return found


def check_labels(comparison: Compared, labels: Labels) -> None:
    """Refuse labels of other systems or texts than these.

    Raises:
        ValueError: Labels of a system, a segment or words that there are not.
    """
    rows = required_counts(comparison).texts.rows
    for system, items in labels.items():
        if system not in comparison.rows:
            raise ValueError(f"labels of {system!r}, which is none of the systems")
        for label in items:
            if label.segment > len(rows):
                raise ValueError(
                    f"labels of {system}: segment {label.segment}, and there are {len(rows)}"
                )
            _check_places(comparison, system, label)


def _check_places(comparison: Compared, system: str, label: Label) -> None:
    texts = required_counts(comparison).texts
    index = label.segment - 1
    source = texts.rows[index].source
    places = {
        "output": (label.hypothesis[1], len(output_words(comparison, system, index))),
        "source": (
            max(label.source or (), default=-1) + 1,
            math.inf if source is None else len(texts.source_tokens(source)),
        ),
    }
    for side, (last, length) in places.items():
        if last > length:
            raise ValueError(
                f"labels of {system}: segment {label.segment}: word {last} of the {side}, which "
                f"has {length}; they are of another text, or of one that is cut otherwise"
            )


def is_marked(label: Label, dropped: set[int], repeated: set[int]) -> bool:
    """Whether a mark touches a label.

    Args:
        label: The label.
        dropped: Positions of the source words that the output drops.
        repeated: Positions of the words that it repeats.
    """
    return not dropped.isdisjoint(label.source or ()) or not repeated.isdisjoint(
        range(*label.hypothesis)
    )


def agreement(comparison: Compared, labels: Labels) -> Table:
    """How many labels the scores' marks touch, and how many marks a label touches.

    Args:
        comparison: The systems, with REP or DROP or both.
        labels: Known errors of some of the systems; segments without one are free of them.

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
            "A label agrees if a dropped word is among the source words it concerns, or a repeated "
            "word in its span of the output; a mark agrees if a label touches it so.",
        ),
    )


def _rows_of(
    comparison: Compared, system: str, labels: Sequence[Label]
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


def _marks(comparison: Compared, system: str) -> Iterator[tuple[set[int], list[range]]]:
    """Dropped source positions and repeated spans of each segment."""
    found = (findings(comparison, kind, system) for kind in ("dropped", "repetitions"))
    for dropped, repetitions in zip(*found, strict=True):
        repeated = [words for item in repetitions for words in superfluous_words(item)]
        yield {item.position for item in dropped}, repeated
