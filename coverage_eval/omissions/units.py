"""The units that coverage is measured in: words, and words cut to their first letters.

Each unit has a model of its own, trained on the same text. Cut words are fewer and seen more often,
so their model knows more words of new text; whole words tell more apart. The finder takes the mean
of both. What belongs to omissions travels in the file of the words' model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, tee
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coverage_eval.alignment.aligner import Aligner, ModelAligner
from coverage_eval.omissions.coverage_losses import NormalCoverage
from coverage_eval.text.rows import Row
from fast_align_wrapper.settings import Direction

Floats = NDArray[np.float64]

SIDES: dict[str, Direction] = {"source": "forward", "target": "reverse"}
"""Whose words are looked at → the direction whose posteriors say how much they are covered."""

STEM = 5
"""Letters that a word is cut to."""

MOST_PAIRS = 100_000
"""Training pairs that normal coverages are learnt from."""

_STEMS = "stems.model"


@dataclass(frozen=True)
class Unit:
    """A way of writing words, with the model trained on text that is written so.

    Attributes:
        name: ``words`` or ``stems``.
        aligner: The model.
        normal: The words' normal coverage on the side that is looked at; None if the model's
            training did not learn any.
    """

    name: str
    aligner: ModelAligner
    normal: NormalCoverage | None


class MeasuredRow(NamedTuple):
    """How much the words of one side of a segment are covered.

    Attributes:
        words: The words, as the unit writes them.
        references: Coverages by each reference, ``[words]``; none of the target side.
        hypothesis: Coverages by the hypothesis, or of its words by the source.
        target_length: Words of the hypothesis.
        source_length: Words of the source.
    """

    words: Sequence[str]
    references: tuple[Floats, ...]
    hypothesis: Floats
    target_length: int
    source_length: int


def measure(aligner: ModelAligner, rows: Iterable[Row], side: str) -> Iterator[MeasuredRow]:
    """Coverages of the words of one side of each segment.

    Args:
        aligner: The model of a unit.
        rows: Segments with their source and one hypothesis.
        side: One of :data:`SIDES`; of the target side, references are not looked at.

    Raises:
        DataError, AlignerError: As :meth:`~coverage_eval.alignment.aligner.ModelAligner.posteriors`
            raises them.
    """
    if side == "source":
        for row in aligner.posteriors(rows):
            (found,) = row.hypotheses
            references = tuple(one.coverage for one in row.references)
            yield MeasuredRow(row.source, references, found.coverage, *found.matrix.shape)
        return
    texts, aligned = tee(row._replace(references=()) for row in rows)
    for text, row in zip(texts, aligner.posteriors(aligned, SIDES[side]), strict=True):
        (found,) = row.hypotheses
        words = aligner.tokens(text.hypotheses[0])
        yield MeasuredRow(words, (), found.coverage, *found.matrix.shape)


def load_units(aligner: ModelAligner, side: str = "source") -> tuple[Unit, ...]:
    """The units that a model file has: words alone, unless it was made for omissions.

    Args:
        aligner: The model of words.
        side: One of :data:`SIDES`.

    Raises:
        AlignerError, DataError: A damaged model file.
    """
    found = [Unit("words", aligner, _load_normal(aligner, "words", side))]
    stems = aligner.model.attached_model(_STEMS)
    if stems is not None:
        # As the words are cut, so that positions agree.
        names = (aligner.tokens.name, aligner.source_tokens.name)
        cut = ModelAligner(stems, tokenize=names[0], src_tokenize=names[1], sink=aligner.sink)
        found.append(Unit("stems", cut, _load_normal(aligner, "stems", side)))
    return tuple(found)


def _load_normal(aligner: ModelAligner, unit: str, side: str) -> NormalCoverage | None:
    path = aligner.model.attachment(_normal_name(unit, side))
    return None if path is None else NormalCoverage.load(path)


def _normal_name(unit: str, side: str) -> str:
    return f"normal.{unit}.{side}.json"


def equip(
    aligner: ModelAligner, read: Callable[[], Iterable[tuple[str, ...]]], **options: Any
) -> None:
    """Add to a model what finding omissions needs beyond it, to be saved with it.

    Args:
        aligner: The model of words, newly trained.
        read: Gives the training text again, pairs of source and target.
        **options: The options that it was trained with, but for the case.

    Raises:
        AlignerError: The aligner failed.
    """
    stems = Aligner.train_pairs(
        read(),
        tokenize=aligner.tokens.name,
        src_tokenize=aligner.source_tokens.name,
        lowercase=True,
        stem=STEM,
        **options,
    )
    with stems:
        aligner.model.attach(_STEMS, stems.model.save)
        step = max(1, -(-aligner.model.manifest.pairs // MOST_PAIRS))
        for name, unit in (("words", aligner), ("stems", stems)):
            for side in SIDES:
                normal = _learn(unit, islice(read(), 0, None, step), side)
                aligner.model.attach(_normal_name(name, side), normal.save)


def _learn(aligner: ModelAligner, pairs: Iterable[tuple[str, ...]], side: str) -> NormalCoverage:
    rows = measure(aligner, (Row((target,), (), source) for source, target in pairs), side)
    return NormalCoverage.learn((row.words, row.hypothesis) for row in rows)
