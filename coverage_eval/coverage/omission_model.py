"""What a model's file knows of omissions or additions, attached to the model of words.

Articles are seldom linked with certainty, and names always are: a coverage of 0.4 says nothing
about an article, but much about a name. So the normal coverage of each word is learnt from text
with complete translations. A word that is rare in this text, or missing, is treated like the
average rare word.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from coverage_eval.align.aligner import ModelAligner
from coverage_eval.core.metric import Floats
from coverage_eval.coverage.null_scores import NullScores

RARE = 2
"""The most occurrences of a rare word."""


@dataclass(frozen=True)
class NormalCoverage:
    """Mean and spread of the coverage of words.

    >>> normal = NormalCoverage.learn([(["a", "b"], np.array([1.0, 0.5]))] * 9)
    >>> means, spreads = normal.of(["b", "never seen"])
    >>> round(float(means[0]), 2)
    0.53

    Attributes:
        words: Mean and standard deviation of each word's coverage.
        other: Mean and standard deviation for all other words.
    """

    words: Mapping[str, Sequence[float]]
    other: Sequence[float]

    @classmethod
    def learn(cls, segments: Iterable[tuple[Sequence[str], Floats]]) -> NormalCoverage:
        """Learn from segments with complete translations.

        Each word's figures come from its occurrences and one occurrence of the average rare word.

        Args:
            segments: The words of each segment and their coverages ``[words]``; at least one word.
        """
        numbers: dict[str, int] = {}
        indices: list[int] = []
        coverages = []
        for words, covered in segments:
            indices += [numbers.setdefault(word, len(numbers)) for word in words]
            coverages.append(covered)
        values = np.concatenate(coverages)
        counts = np.bincount(indices)
        sums, squares = np.bincount(indices, values), np.bincount(indices, values * values)
        is_rare = counts <= max(RARE, counts.min())
        count = int(counts[is_rare].sum())
        mean, square = (sum(each[is_rare].tolist()) / count for each in (sums, squares))
        columns = zip(numbers, counts.tolist(), sums.tolist(), squares.tolist(), strict=True)
        figures = {
            word: _figures(times + 1, first + mean, second + square)
            for word, times, first, second in columns
        }
        return cls(figures, _figures(1, mean, square))

    def of(self, words: Sequence[str]) -> tuple[Floats, Floats]:
        """Means and spreads ``[words]`` of words."""
        pairs = (self.words.get(word, self.other) for word in words)
        figures = np.fromiter(chain.from_iterable(pairs), np.float64, 2 * len(words))
        return figures[::2], figures[1::2]


def _figures(count: float, first: float, second: float) -> tuple[float, float]:
    """Mean and standard deviation of a sum and a sum of squares, to 4 digits."""
    mean = first / count
    return round(mean, 4), round(math.sqrt(max(0.0, second / count - mean * mean)), 4)


STEMS = "stems.model"
"""The attachment of a model with the model of stems."""

NORMAL, NULL = "normal.{name}.{side}.json", "null.{side}.json"
"""The attachments with normal coverages, and with what complete translations score."""

REFERENCES, ALONE = "references", "alone"
"""Names of the distributions of complete translations, with references and without."""


def save_figures(figures: object, path: Path) -> None:
    """Write what a model keeps, as JSON."""
    path.write_text(json.dumps(figures, sort_keys=True), encoding="utf-8")


@dataclass(frozen=True)
class UnitModel:
    """An aligner of words, or of stems, and how well it covers each of them normally.

    Attributes:
        aligner: The model.
        normal: The normal coverage of words on the side of interest; None if the model has none.
    """

    aligner: ModelAligner
    normal: NormalCoverage | None


@dataclass(frozen=True)
class OmissionModel:
    """What a model's file knows of omissions, or of additions.

    Attributes:
        side: ``source`` for omissions, ``target`` for additions.
        units: The model of words, and that of stems if the model was made for omissions.
        nulls: What complete translations score, with ``references`` and ``alone``; empty if it is
            not known.
        settings: What signatures say of it.
    """

    side: str
    units: tuple[UnitModel, ...]
    nulls: Mapping[str, NullScores]
    settings: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def load(cls, aligner: ModelAligner, side: str) -> OmissionModel:
        """Read what a model of words has attached.

        Raises:
            AlignerError, DataError: A damaged model file.
        """
        aligners, names = {"words": aligner}, ["words"]
        stems = aligner.model.attached_model(STEMS)
        if stems is not None:
            # It was trained with the tokenisers of the words, so positions agree.
            aligners["stems"] = ModelAligner(stems, sink=aligner.sink)
            names.append(f"stems:{stems.manifest.hash[:12]}")
        attachments = [*(NORMAL.format(name=name, side=side) for name in aligners)]
        attachments.append(NULL.format(side=side))
        figures, digests = [], []
        for attachment in attachments:
            path = aligner.model.attachment(attachment)
            text = "" if path is None else path.read_text(encoding="utf-8").strip()
            figures.append(json.loads(text or "null"))
            digests.append(sha256(text.encode()).hexdigest()[:8] if text else "")
        *normals, nulls = figures
        return cls(
            side,
            tuple(
                UnitModel(model, NormalCoverage(**normal) if normal else None)
                for model, normal in zip(aligners.values(), normals, strict=True)
            ),
            {
                name: NullScores(**{**null, "complete": tuple(null.get("complete", ()))})
                for name, null in (nulls or {}).items()
            },
            {
                "units": "+".join(names),
                "normal": ",".join(filter(None, digests[:-1])) or None,
                "null": digests[-1] or "assumed",
            },
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """It is pickled as the model, whose file has everything."""
        return OmissionModel.load, (self.units[0].aligner, self.side)
