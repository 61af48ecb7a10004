"""Settings, evidence and rows as JSON and back, of the classes listed here and no others.

Objects of JSON are all of the form ``{"is": NAME, "of": VALUE}``: lists, mappings, arrays of
numbers, and the dataclasses and named tuples of :func:`known_classes` by their fields. A bare list
is a tuple. An aligner becomes what it signed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

import numpy as np

from coverage_eval.alignment.aligned_rows import AlignedRow, CoveredRow
from coverage_eval.alignment.aligner import Aligner
from coverage_eval.alignment.recorded_aligner import RecordedAligner
from coverage_eval.comparison.breakdown import Options
from coverage_eval.comparison.testing import Testing
from coverage_eval.data.input_checks import Finding
from coverage_eval.data.rows import Row
from coverage_eval.data.tokenizers import Tokenizer
from coverage_eval.metrics.drop import DroppedWord
from coverage_eval.metrics.meteor.metric import MeteorMatch
from coverage_eval.metrics.profile.figures import FIGURES
from coverage_eval.metrics.registry import METRICS, metric_class
from coverage_eval.metrics.rep import Repetition
from coverage_eval.metrics.soft_drop import LostCoverage
from coverage_eval.metrics.stopwords import StopWords
from coverage_eval.omissions.calibration import Calibration
from coverage_eval.omissions.finder import (
    FoundSegment,
    FoundSpan,
    OmissionFinder,
    RecordedFinder,
    Scan,
)
from coverage_eval.omissions.share import AdditionShare, OmissionShare


@cache
def known_classes() -> Mapping[str, type[Any]]:
    """The classes by name: settings of figures, what they observe, what they find."""
    of_figures: set[type[Any]] = {*map(metric_class, METRICS), *(item.kind for item in FIGURES)}
    others: tuple[type[Any], ...] = (
        AdditionShare, AlignedRow, Calibration, CoveredRow, DroppedWord, Finding, FoundSegment,
        FoundSpan, LostCoverage, MeteorMatch, OmissionShare, Options, RecordedAligner,
        RecordedFinder, Repetition, Row, Scan, StopWords, Testing, Tokenizer,
    )  # fmt: skip
    return {kind.__name__: kind for kind in (*of_figures, *others)}


def to_plain(value: Any) -> Any:
    """A value as JSON has it.

    Raises:
        TypeError: It is, or holds, an object of another class.
    """
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, list):
        return {"is": "list", "of": [to_plain(item) for item in value]}
    if isinstance(value, np.ndarray):
        return {"is": "array", "of": value.tolist()}
    if isinstance(value, frozenset):
        return sorted(value)
    return _object_to_plain(value)


def _object_to_plain(value: Any) -> Any:
    if isinstance(value, Aligner):
        value = RecordedAligner.of(value)
    elif isinstance(value, OmissionFinder):
        value = RecordedFinder(dict(value.settings), value.calibration, value.scan)
    name = type(value).__name__
    if isinstance(value, Mapping):
        return {"is": "dict", "of": {key: to_plain(item) for key, item in value.items()}}
    if known_classes().get(name) is type(value):
        return {"is": name, "of": {key: to_plain(item) for key, item in _items(value)}}
    if isinstance(value, tuple):
        return [to_plain(item) for item in value]
    raise TypeError(f"no plain form of {name}")


def _items(value: Any) -> list[tuple[str, Any]]:
    if is_dataclass(value):
        return [(item.name, getattr(value, item.name)) for item in fields(value) if item.init]
    return list(value._asdict().items())


def from_plain(value: Any) -> Any:
    """The value that :func:`to_plain` has written.

    Raises:
        KeyError, TypeError, ValueError: Something else.
    """
    if isinstance(value, list):
        return tuple(map(from_plain, value))
    if not isinstance(value, dict):
        return value
    name, inner = value["is"], value["of"]
    if name == "list":
        return list(map(from_plain, inner))
    if name == "array":
        return np.array(inner, dtype=np.float64)
    found = {key: from_plain(item) for key, item in inner.items()}
    return found if name == "dict" else known_classes()[name](**found)
