"""Labels and scores put together, translation by translation; none is lost unsaid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from coverage_eval.errors import DataError
from coverage_eval.meta.judgements import Judgement, Labels
from coverage_eval.meta.score_files import Key, ScoreColumn

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class MatchedScore:
    """A score of the judged translations.

    Attributes:
        name: What tables call it; with ``−`` before it where low values point at errors.
        suspicion: ``[translations]``, the higher the more likely an error.
        probability: Whether it is the probability of an error.
        words: The source words that it points at, with their strength, of each translation; None
            if it points at none.
    """

    name: str
    suspicion: Floats
    probability: bool = False
    words: tuple[Mapping[int, float], ...] | None = None


@dataclass(frozen=True)
class Matched:
    """Judged translations with their scores.

    Attributes:
        judgements: One a translation.
        scores: Each of all of them.
        grade: What the judgements' grades are, for people.
        notes: What was left out, for people.
    """

    judgements: tuple[Judgement, ...]
    scores: tuple[MatchedScore, ...]
    grade: str = "label"
    notes: tuple[str, ...] = ()

    @property
    def positive(self) -> NDArray[np.bool_]:
        """``[translations]``, whether each has an error."""
        return np.array([item.positive for item in self.judgements])

    @property
    def grades(self) -> Floats:
        """``[translations]``, how bad the errors are."""
        return np.array([item.grade for item in self.judgements])

    @property
    def sources(self) -> NDArray[np.intp]:
        """``[translations]``, the number of each one's source, from 0."""
        numbers: dict[object, int] = {}
        return np.array([numbers.setdefault(i.source, len(numbers)) for i in self.judgements])

    @property
    def systems(self) -> Mapping[str, NDArray[np.intp]]:
        """The translations of each system."""
        found: dict[str, list[int]] = {}
        for number, item in enumerate(self.judgements):
            found.setdefault(item.system, []).append(number)
        return {name: np.array(numbers) for name, numbers in found.items()}


def of_system(labels: Labels, system: str) -> Labels:
    """The labels of one system alone.

    Raises:
        DataError: There is no such system.
    """
    kept = tuple(item for item in labels.judgements if item.system == system)
    if not kept:
        known = ", ".join(labels.systems)
        raise DataError(f"{labels.name}: no labels of {system!r}; there are: {known}")
    return replace(labels, judgements=kept)


def match(labels: Labels, columns: Sequence[ScoreColumn]) -> Matched:
    """Look up the scores of every judged translation.

    Scores without systems are matched by the number of the segment alone, and labels then must be
    of one translation a segment. A translation that a score leaves undefined is left out for all.

    Raises:
        DataError: A label without score, scores of unequal sets of segments, or no match at all.
    """
    judgements = _judged(labels, columns)
    judgements, notes = _of_scored_systems(labels, judgements, columns)
    keys = [_keys(labels, judgements, column) for column in columns]
    found = [[c.values[key] for key in own] for c, own in zip(columns, keys, strict=True)]
    defined = np.array([[v is not None for v in values] for values in found]).all(axis=0)
    left_out = int((~defined).sum())
    if left_out:
        blank = [c.name for c, values in zip(columns, found, strict=True) if None in values]
        notes.append(
            f"Left out, as {', '.join(blank)} leaves them undefined: {left_out:,} translations."
        )
    kept = np.flatnonzero(defined)
    scores = tuple(
        _score(column, [own[i] for i in kept]) for column, own in zip(columns, keys, strict=True)
    )
    return Matched(tuple(judgements[i] for i in kept), scores, labels.grade, tuple(notes))


def _judged(labels: Labels, columns: Sequence[ScoreColumn]) -> list[Judgement]:
    """All judged translations, with those that have no error because no line says so."""
    judgements = list(labels.judgements)
    if not labels.complete:
        known = {item.segment for item in judgements}
        segments = dict.fromkeys(segment for c in columns for _, segment in c.values)
        clean = frozenset[int]()
        judgements += [
            Judgement(segment, False, 0.0, source=segment, words=clean)
            for segment in segments
            if segment not in known
        ]
        judgements.sort(key=lambda item: item.segment)
    return judgements


def _of_scored_systems(
    labels: Labels, judgements: list[Judgement], columns: Sequence[ScoreColumn]
) -> tuple[list[Judgement], list[str]]:
    """Leave out systems without any score, where files name systems; and say so."""
    naming = [column for column in columns if column.by_system]
    if not naming or labels.systems == ("",):
        return judgements, []
    scored = set.intersection(*(column.systems for column in naming))
    kept = [item for item in judgements if item.system in scored]
    if not kept:
        raise DataError(
            f"{labels.name}: no label is of a system that {naming[0].origin} scores; labels are "
            f"of {', '.join(labels.systems)}, scores of {', '.join(sorted(naming[0].systems))}"
        )
    others = [name for name in labels.systems if name not in scored]
    notes = [f"Labels of systems without scores are left out: {', '.join(others)}."]
    return kept, notes if others else []


def _keys(labels: Labels, judgements: Sequence[Judgement], column: ScoreColumn) -> list[Key]:
    """What the column calls the translations; each has a value."""
    keys = _names(labels, judgements, column)
    for key, item in zip(keys, judgements, strict=True):
        if key not in column.values:
            place = f": line {item.line}" if item.line else ""
            named = f"{key[1]} of {key[0]}" if key[0] else str(key[1])
            raise DataError(
                f"{labels.name}{place}: segment {named} has no score in {column.origin}, which "
                f"has {len(column.values):,} of them"
            )
    return keys


def _names(labels: Labels, judgements: Sequence[Judgement], column: ScoreColumn) -> list[Key]:
    if column.by_system and labels.systems != ("",):
        return [item.key for item in judgements]
    if column.by_system and len(column.systems) > 1:
        raise DataError(f"{column.origin}: has several systems, and {labels.name} names none")
    (system,) = column.systems
    keys = [(system, item.segment) for item in judgements]
    if len(set(keys)) < len(keys):
        raise DataError(
            f"{labels.name}: has several translations of a segment, and {column.origin} names no "
            "systems: choose one with --system, or score the texts that --texts writes"
        )
    return keys


def _score(column: ScoreColumn, keys: Sequence[Key]) -> MatchedScore:
    sign = -1.0 if column.higher_is_better and not column.probability else 1.0
    name = f"−{column.name}" if sign < 0 else column.name
    suspicion = sign * np.array([column.values[key] for key in keys], dtype=np.float64)
    words = None if column.words is None else tuple(column.words[key] for key in keys)
    return MatchedScore(name, suspicion, column.probability, words)
