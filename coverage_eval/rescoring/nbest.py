"""N-best lists in Moses' format, and the attention that belongs to them.

A list has one hypothesis per line; the hypotheses of a segment stand together, in the order of the
segments::

    0 ||| das ist ein haus ||| F0= -1.5 ||| -1.5
    0 ||| dies ist ein haus ||| F0= -1.75 ||| -1.75
    1 ||| ja ||| F0= -0.5 ||| -0.5

The attention file has one JSON object per line, for the hypotheses in the same order: either
``attention``, target × source, as ``{"attention": [[0.9, 0.1], [0.2, 0.8]]}`` (the JSON Lines form
of :mod:`coverage_eval.attention_maps`, whose flag ``src_eos`` is heeded), or what is needed of it,
the total of each source word: ``{"coverage": [1.1, 0.9]}``. An ``.npz`` file with arrays
``attention_0``, ``attention_1``, … will do as well.

Fields after the score, and Marian's alignments before the features, are passed over.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coverage_eval.attention_maps.array_files import load_arrays
from coverage_eval.data.files import STDIN, Source, check_source, read_segments, source_name
from coverage_eval.data.tables import parse_json
from coverage_eval.errors import DataError
from fast_align_wrapper.text import tokenize

Float64Array = NDArray[np.float64]
_NUMBER = re.compile("[0-9]{1,9}")
_ROUNDING = 1e-3  # toolkits print weights with 4 digits or more


@dataclass(frozen=True, eq=False)
class NBest:
    """The hypotheses of all segments, in the order of the file.

    Attributes:
        name: The file, for messages.
        texts: N hypotheses.
        starts: ``[segments]`` index of each segment's first hypothesis.
        log_probabilities: ``[N]``.
    """

    name: str
    texts: tuple[str, ...]
    starts: NDArray[np.intp]
    log_probabilities: Float64Array

    @property
    def sizes(self) -> NDArray[np.intp]:
        """``[segments]`` number of hypotheses of each segment."""
        return np.diff(self.starts, append=len(self.texts))


def read_nbest(source: Source, *, feature: str | None = None) -> NBest:
    """Read an n-best list.

    Args:
        source: A file's name (``.gz`` and ``.zst`` are unpacked) or ``-`` for standard input.
        feature: Take the log-probability from this feature of the third field (as ``F0`` for
            ``F0= -1.5``) instead of the fourth field; Marian's fourth field may be normalised.

    Raises:
        DataError: Not such a list, segments missing or out of order (file, line).
    """
    name = source_name(source)
    texts: list[str] = []
    starts: list[int] = []
    scores: list[float] = []
    for number, line in enumerate(read_segments(source), start=1):
        try:
            segment, text, score = _parse(line, feature)
        except DataError as error:
            raise DataError(f"{name}: line {number}: {error}") from None
        if segment == len(starts):
            starts.append(len(texts))
        elif segment != len(starts) - 1:
            raise DataError(
                f"{name}: line {number}: segment {segment} follows segment {len(starts) - 1}; "
                "segments are numbered from 0, in order, none left out"
                if starts
                else f"{name}: line {number}: the first segment is {segment}; it must be 0"
            )
        texts.append(text)
        scores.append(score)
    if not texts:
        raise DataError(f"{name}: no hypotheses: the file is empty")
    return NBest(name, tuple(texts), np.array(starts), np.array(scores))


def _parse(line: str, feature: str | None) -> tuple[int, str, float]:
    fields = [field.strip(" ") for field in line.split("|||")]
    if len(fields) < 4 or not _NUMBER.fullmatch(fields[0]):
        raise DataError("not a line 'number ||| hypothesis ||| features ||| score'")
    # Marian writes word alignments before the features.
    place = 3 if len(fields) > 4 and "=" in fields[3] else 2
    printed = fields[place + 1] if feature is None else _feature(fields[place], feature)
    try:
        score = float(printed)
    except ValueError:
        raise DataError(f"the score '{printed}' is not a number") from None
    if not np.isfinite(score):
        raise DataError(f"the score '{printed}' is not finite")
    return int(fields[0]), fields[1], score


def _feature(field: str, name: str) -> str:
    tokens = tokenize(field)
    for place, token in enumerate(tokens[:-1]):
        if token in (f"{name}=", f"{name}:"):
            return tokens[place + 1]
    raise DataError(f"no feature '{name}=' in '{field}'")


def read_coverage(source: Source, nbest: NBest) -> Iterator[Float64Array]:
    """Read the total attention of each source word, hypothesis by hypothesis.

    All rows of an attention count, that of the end of sentence included. An empty attention (of an
    empty hypothesis) is 0 for each source word.

    Args:
        source: JSON Lines (``.gz`` and ``.zst`` are unpacked; ``-`` is standard input) or ``.npz``.
        nbest: The hypotheses that it belongs to.

    Yields:
        ``[S]`` for each hypothesis; S is the same for all hypotheses of a segment.

    Raises:
        DataError: Malformed, not as many as there are hypotheses, or an attention that does not
            fit its hypothesis or the others of its segment (file, line).
    """
    name = source_name(source)
    records = _archive(source) if str(source).endswith(".npz") else _json_lines(source)
    segments = np.repeat(np.arange(len(nbest.starts)), nbest.sizes)
    waiting: list[Float64Array] = []
    count = 0
    for where, weights in records:
        if count == len(nbest.texts):
            raise DataError(
                f"{where}: attention for more than the {count} hypotheses of {nbest.name}"
            )
        try:
            waiting.append(_totals(weights, nbest.texts[count]))
        except DataError as error:
            raise DataError(f"{where}: {error}") from None
        count += 1
        if count == len(nbest.texts) or segments[count] != segments[count - 1]:
            yield from _same_source(waiting, f"{name}: segment {segments[count - 1]}")
            waiting = []
    if count != len(nbest.texts):
        raise DataError(
            f"{name} has attention for {count} hypotheses, but {nbest.name} has {len(nbest.texts)}"
        )


def _totals(weights: Float64Array | list[Any], text: str) -> Float64Array:
    """Column sums of an attention, or totals as they are; ``[0]`` if there is no row."""
    array = _numbers(weights)
    if array.ndim == 1:
        if array.size and array.min() < 0:
            raise DataError("a total of attention is negative")
        return array
    if array.size and not (array.min() >= -_ROUNDING and array.max() <= 1 + _ROUNDING):
        raise DataError("a weight of attention is not in 0 to 1")
    words = len(tokenize(text))
    if len(array) not in (words, words + 1):
        raise DataError(
            f"attention of {len(array)} rows for a hypothesis of {words} tokens; there must be one "
            "per token, and at most one more for the end of sentence"
        )
    return np.asarray(np.maximum(array, 0.0).sum(axis=0))


def _numbers(values: Any) -> Float64Array:
    try:
        array: Float64Array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError("not a rectangle of numbers, target × source") from error
    if array.ndim not in (1, 2) or not np.isfinite(array).all():
        raise DataError("not a rectangle of numbers, target × source")
    return array


def _same_source(rows: list[Float64Array], where: str) -> list[Float64Array]:
    """The totals of one segment; attention without rows says nothing of the source's length."""
    sizes = {len(row) for row in rows if len(row)}
    if len(sizes) > 1:
        raise DataError(
            f"{where}: hypotheses with attention to {min(sizes)} and to {max(sizes)} source words; "
            "all hypotheses of a segment have the same source"
        )
    empty = np.zeros(sizes.pop() if sizes else 0)
    return [row if len(row) else empty for row in rows]


def _json_lines(source: Source) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(read_segments(source), start=1):
        where = f"{source_name(source)}: line {number}"
        yield where, _weights(parse_json(line, where), where)


def _weights(record: Any, where: str) -> Any:
    if not isinstance(record, dict) or ("attention" in record) == ("coverage" in record):
        raise DataError(f"{where}: not an object with either 'attention' or 'coverage'")
    sink = record.get("src_eos") is True
    if "coverage" in record:
        totals = record["coverage"]
        if not isinstance(totals, list) or any(isinstance(item, list) for item in totals):
            raise DataError(f"{where}: 'coverage' is not a list of numbers")
        return totals[:-1] if sink else totals
    rows = record["attention"]
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise DataError(f"{where}: 'attention' is not a list of rows")
    if not rows:
        return np.zeros((0, 0))
    return [row[:-1] for row in rows] if sink else rows


def _archive(source: Source) -> Iterator[tuple[str, Any]]:
    if str(source) == STDIN:
        raise DataError("an .npz file cannot be read from standard input")
    check_source(source)
    try:
        with load_arrays(str(source)) as archive:
            names = {name for name in archive.files if name.startswith("attention_")}
            flags = _archive_flags(archive, len(names))
            for index in range(len(names)):
                name = f"attention_{index}"
                if name not in names:
                    raise DataError(f"{source}: has {len(names)} attentions, but no '{name}'")
                array = archive[name]
                yield f"{source}: array {name}", array[:, :-1] if flags[index] else array
    except (OSError, ValueError, RecursionError, zipfile.BadZipFile) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{source}: not a readable .npz file ({error})") from error


def _archive_flags(archive: Any, count: int) -> list[bool]:
    """Whether the last column of each array is no word, from the records of ``attention_maps``."""
    if "segments" not in archive.files:
        return [False] * count
    records = json.loads(str(archive["segments"][()]))
    flags = [isinstance(record, dict) and record.get("src_eos") is True for record in records]
    if len(flags) != count:
        raise ValueError(f"{len(flags)} records for {count} arrays")
    return flags
