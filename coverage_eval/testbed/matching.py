"""Match labels with scores, translation by translation, and report what is left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from coverage_eval.arrays import Floats
from coverage_eval.data.mqm import Key
from coverage_eval.data.tokenizers import Tokenizer
from coverage_eval.errors import DataError
from coverage_eval.testbed.labels import Judgement, Labels
from coverage_eval.testbed.score_files import ScoreColumn
from fast_align_wrapper.text import Segment

BASELINES = "baselines"
"""The origin of scores that no user named."""


@dataclass(frozen=True)
class MatchedScore:
    """A score of the judged translations.

    Attributes:
        name: Its name in tables, after ``−`` if low values point at errors.
        suspicion: ``[translations]``, the higher the more likely an error.
        probability: Whether it is the probability of an error.
        words: For each translation, the source words that the score points at, with their
            strengths; None if it points at no words.
        asked: Whether the user named it; False for baselines that come by themselves.
    """

    name: str
    suspicion: Floats
    probability: bool = False
    words: tuple[Mapping[int, float], ...] | None = None
    asked: bool = True


@dataclass(frozen=True)
class Matched:
    """Judged translations with their scores.

    Attributes:
        judgements: One for each translation.
        scores: The scores, each for all translations.
        grade: The meaning of the judgements' grades, for people.
        notes: Notes about what was left out, for people.
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
        """``[translations]``, the number of the source, from 0."""
        numbers: dict[object, int] = {}
        return np.array([numbers.setdefault(i.source, len(numbers)) for i in self.judgements])

    @property
    def systems(self) -> Mapping[str, NDArray[np.intp]]:
        """System → the places of its translations."""
        found: dict[str, list[int]] = {}
        for number, item in enumerate(self.judgements):
            found.setdefault(item.system, []).append(number)
        return {name: np.array(numbers) for name, numbers in found.items()}

    def with_source_words(self, sources: Sequence[Segment], tokens: Tokenizer) -> Matched:
        """Add the number of words of each source if the labels lack it.

        Args:
            sources: The source segments; the judgements number them from 1.
            tokens: Splits them into words.
        """
        lengths = [len(tokens(source)) for source in sources]
        judgements = tuple(
            item
            if item.source_words is not None or item.segment > len(lengths)
            else replace(item, source_words=lengths[item.segment - 1])
            for item in self.judgements
        )
        return replace(self, judgements=judgements)


def match(labels: Labels, columns: Sequence[ScoreColumn]) -> Matched:
    """Look up the scores of every judged translation.

    Scores without systems are matched by segment number only; then each segment must have labels
    for a single translation. A translation that lacks one score is left out for all scores.

    Raises:
        DataError: A label has no score, or there is no common system.
    """
    judgements = list(labels.judgements)
    notes = []
    if not labels.complete:
        known = {item.segment for item in judgements}
        segments = dict.fromkeys(segment for c in columns for _, segment in c.values)
        judgements += [
            Judgement(segment, False, 0.0, source=segment, words=frozenset())
            for segment in segments
            if segment not in known
        ]
        judgements.sort(key=lambda item: item.segment)
    naming = [column for column in columns if column.by_system]
    if naming and labels.systems != ("",):
        scored = set.intersection(*(column.systems for column in naming))
        judgements = [item for item in judgements if item.system in scored]
        if not judgements:
            raise DataError(
                f"{labels.name}: no system has labels here and scores in {naming[0].origin}; the "
                f"labels are for {', '.join(labels.systems)}, the scores for "
                f"{', '.join(sorted(naming[0].systems))}"
            )
        others = [name for name in labels.systems if name not in scored]
        if others:
            notes.append(f"Labels of systems without scores are left out: {', '.join(others)}.")
    keys = [_keys(labels, judgements, column) for column in columns]
    found = [[c.values[key] for key in own] for c, own in zip(columns, keys, strict=True)]
    defined = np.array([[v is not None for v in values] for values in found]).all(axis=0)
    left_out = int((~defined).sum())
    if left_out:
        blank = [c.name for c, values in zip(columns, found, strict=True) if None in values]
        notes.append(
            f"{left_out:,} translations are left out, since {', '.join(blank)} is undefined there."
        )
    kept = np.flatnonzero(defined)
    if len({judgements[i].source for i in kept}) == 1:
        notes.append("All translations have one source, so there are no intervals and no tests.")
    scores = []
    for column, own, values in zip(columns, keys, found, strict=True):
        turned = column.higher_is_better and not column.probability
        suspicion = np.array([values[i] for i in kept], dtype=np.float64)
        words = None if column.words is None else tuple(column.words[own[i]] for i in kept)
        scores.append(
            MatchedScore(
                f"−{column.name}" if turned else column.name,
                -suspicion if turned else suspicion, column.probability, words,
                column.origin != BASELINES,
            )
        )  # fmt: skip
    return Matched(tuple(judgements[i] for i in kept), tuple(scores), labels.grade, tuple(notes))


def _keys(labels: Labels, judgements: Sequence[Judgement], column: ScoreColumn) -> list[Key]:
    """The column's key for each translation; every key has a value, perhaps None."""
    if column.by_system and labels.systems != ("",):
        keys = [item.key for item in judgements]
    elif column.by_system and len(column.systems) > 1:
        raise DataError(f"{column.origin}: has several systems, but {labels.name} names none")
    else:
        (system,) = column.systems
        keys = [(system, item.segment) for item in judgements]
        if len(set(keys)) < len(keys):
            raise DataError(
                f"{labels.name}: has several translations of a segment, but {column.origin} names "
                "no systems; choose one with --system, or score the texts that --texts writes"
            )
    for key, item in zip(keys, judgements, strict=True):
        if key not in column.values:
            place = f": line {item.line}" if item.line else ""
            named = f"{key[1]} of {key[0]}" if key[0] else str(key[1])
            raise DataError(
                f"{labels.name}{place}: segment {named} has no score in {column.origin}, which "
                f"has {len(column.values):,} of them"
            )
    return keys
