"""Data sets of examples with any number of labels: the LIBSVM, Mulan and IDX formats.

LIBSVM has one example per line, labels before features, ``1,3 2:0.5 7:1``; features are numbered
from 1, or from 0 if a feature 0 occurs. Mulan has an ARFF file, and an XML file with the names of
the attributes that are labels::

    <labels xmlns="http://mulan.sourceforge.net/labels"><label name="amazed"/></labels>

IDX is MNIST's format: ``…-images-idx3-ubyte`` has pictures, and ``…-labels-idx1-ubyte`` in the same
folder has the class of each. Grey levels are divided by 255.
"""

from __future__ import annotations

import gzip
import math
import os
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
from numpy.typing import NDArray

from coverage_eval.data.files import read_segments
from coverage_eval.errors import DataError

_FREE_CELLS = 1 << 24
_CELLS_A_CHARACTER = 32
"""LIBSVM files are sparse; these limits keep a small file from taking gigabytes of memory."""


@dataclass(frozen=True, eq=False)
class LabelledData:
    """A data set.

    Attributes:
        name: Name of the data set.
        features: ``[N, F]`` float64.
        labels: ``[N, K]`` whether an example has a label.
        classes: The K names of labels.
    """

    name: str
    features: NDArray[np.float64]
    labels: NDArray[np.bool_]
    classes: tuple[str, ...]

    @property
    def targets(self) -> NDArray[np.float64]:
        """``[N, K]`` targets: uniform over the labels of an example, or over all classes."""
        marks = np.where(self.labels.any(axis=1, keepdims=True), self.labels, True)
        return np.asarray(marks / marks.sum(axis=1, keepdims=True))


def read_labelled(path: str | os.PathLike[str]) -> LabelledData:
    """Read a data set; the file's name decides the format.

    It is Mulan for ``.arff``, with an ``.xml`` in the same folder, IDX for a name with
    ``-images-idx3-ubyte``, and LIBSVM otherwise.

    Raises:
        DataError: The file is not valid in its format.
    """
    file = Path(path)
    if _IMAGES in file.name:
        return read_idx(file)
    return read_mulan(file) if file.suffix.lower() == ".arff" else read_libsvm(file)


def read_idx(path: str | os.PathLike[str]) -> LabelledData:
    """Read pictures, and their classes from the file beside them; ``.gz`` is unpacked.

    Raises:
        DataError: A file is missing, damaged or not IDX, or the files differ in length.
    """
    images = Path(path)
    labels = images.with_name(images.name.replace(_IMAGES, "-labels-idx1-ubyte"))
    pixels, marks = _idx_array(images, 3), _idx_array(labels, 1)
    if len(pixels) != len(marks):
        raise DataError(f"{images}: {len(pixels)} pictures, but {labels} has {len(marks)} labels")
    classes, columns = np.unique(marks, return_inverse=True)
    return LabelledData(
        images.name.removesuffix(".gz"),
        pixels.reshape(len(pixels), -1) / 255.0,
        np.eye(len(classes), dtype=np.bool_)[columns],
        tuple(map(str, classes)),
    )


_IMAGES = "-images-idx3-ubyte"


def _idx_array(path: Path, axes: int) -> NDArray[np.uint8]:
    """An IDX file of bytes: two zeros, 8 for bytes, the number of axes, their sizes, the values."""
    try:
        raw = path.read_bytes()
        raw = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path}: cannot be read: {error}") from error
    sizes = np.frombuffer(raw[4 : 4 + 4 * axes], dtype=">u4").astype(np.int64)
    body = raw[4 + 4 * axes :]
    if (
        raw[:4] != bytes((0, 0, 8, axes))
        or len(sizes) != axes
        or len(body) != math.prod(map(int, sizes))
    ):
        raise DataError(f"{path}: is not an IDX file of bytes with {axes} axes, or is cut short")
    if not body:
        raise DataError(f"{path}: has no example")
    return np.frombuffer(body, dtype=np.uint8).reshape(sizes)


def read_libsvm(path: str | os.PathLike[str]) -> LabelledData:
    """Read the LIBSVM format; ``.gz`` is unpacked, text after ``#`` is ignored.

    Raises:
        DataError: A malformed line (file, line), no examples, or too many features or classes for
            an array in proportion to the file.
    """
    labels: list[list[str]] = []
    features: list[dict[int, float]] = []
    characters = 0
    for number, line in enumerate(read_segments(path), start=1):
        characters += len(line)
        content = line.partition("#")[0]
        if not content.strip():
            continue
        try:
            marks, values = _parse_example(content)
        except ValueError as error:
            raise DataError(f"{path}: line {number}: {error}") from None
        labels.append(marks)
        features.append(values)
    if not features:
        raise DataError(f"{path}: no examples")
    classes = sorted({mark for marks in labels for mark in marks}, key=lambda x: (_value(x), x))
    first = 0 if any(0 in values for values in features) else 1
    width = max((max(values, default=first) for values in features), default=first) - first + 1
    if len(features) * max(width, len(classes)) > _FREE_CELLS + _CELLS_A_CHARACTER * characters:
        raise DataError(
            f"{path}: {len(features)} examples of {width} features and {len(classes)} classes are "
            "too many for an array; leave out features that few examples have"
        )
    matrix = np.zeros((len(features), width))
    for row, values in zip(matrix, features, strict=True):
        row[[index - first for index in values]] = list(values.values())
    marked = np.array([[name in marks for name in classes] for marks in labels], dtype=np.bool_)
    name = Path(path).name.removesuffix(".gz").partition(".")[0]
    return LabelledData(name, matrix, marked.reshape(len(labels), -1), tuple(classes))


def _parse_example(line: str) -> tuple[list[str], dict[int, float]]:
    """The labels, if any, and the features by index."""
    fields = line.split()
    marks = [] if ":" in fields[0] else fields.pop(0).split(",")
    for mark in marks:
        _value(mark)
    values: dict[int, float] = {}
    for field in fields:
        index, colon, value = field.partition(":")
        if not (colon and index.isascii() and index.isdigit() and len(index) <= 9):
            raise ValueError(f"'{field}' is not a feature such as 3:0.5")
        if int(index) in values:
            raise ValueError(f"feature {index} occurs twice")
        values[int(index)] = _value(value)
    return marks, values


def _value(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"'{text}' is not a number") from None
    if not np.isfinite(value):
        raise ValueError(f"'{text}' is not a finite number")
    return value


def read_mulan(
    path: str | os.PathLike[str], labels: str | os.PathLike[str] | None = None
) -> LabelledData:
    """Read an ARFF file with attributes that are labels.

    Args:
        path: The ``.arff`` file; ARFF's sparse form is not supported.
        labels: The ``.xml`` file; by default the one with the same name.

    Raises:
        DataError: A malformed file, or a label that is not an attribute with values 0 and 1.
    """
    from scipy.io import arff

    described = Path(path).with_suffix(".xml") if labels is None else Path(labels)
    names = _label_names(described)
    try:
        rows, meta = arff.loadarff(os.fspath(path))
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except Exception as error:  # loadarff raises many kinds of errors
        raise DataError(
            f"{path}: not an ARFF file with one value for each attribute: {error}"
        ) from error
    missing = [name for name in names if name not in meta.names()]
    if missing:
        raise DataError(f"{described}: '{missing[0]}' is not an attribute of {path}")
    if len(rows) == 0:
        raise DataError(f"{path}: no examples")
    others = [name for name in meta.names() if name not in names]
    try:
        features = np.array([_column(rows, meta, name) for name in others]).reshape(len(others), -1)
        marks = np.array([_column(rows, meta, name) for name in names])
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    if not np.isin(marks, (0, 1)).all():
        wrong = names[int(np.argmax(~np.isin(marks, (0, 1)).all(axis=1)))]
        raise DataError(f"{path}: label '{wrong}' has values other than 0 and 1")
    return LabelledData(Path(path).stem, features.T, marks.T.astype(np.bool_), tuple(names))


def _label_names(path: Path) -> list[str]:
    try:
        root = ET.parse(path).getroot()  # noqa: S314 (expat itself limits entities)
    except FileNotFoundError:
        raise DataError(f"{path}: no such file; it names the labels of the ARFF file") from None
    except ET.ParseError as error:
        raise DataError(f"{path}: not an XML file: {error}") from None
    found = [item.get("name", "") for item in root.iter() if item.tag.rpartition("}")[2] == "label"]
    if not found:
        raise DataError(f'{path}: names no labels, as in <label name="amazed"/>')
    return found


def _column(rows: Any, meta: Any, name: str) -> NDArray[np.float64]:
    """An attribute as numbers; nominal values that are not numbers are numbered from 0."""
    kind, values = meta[name]
    if kind == "numeric":
        found = np.asarray(rows[name], dtype=np.float64)
    elif kind == "nominal":
        try:
            numbers = {value: float(value) for value in values}
        except ValueError:
            numbers = {value: float(place) for place, value in enumerate(values)}
        cells = (value.decode("utf-8", "replace") for value in rows[name])
        found = np.array([numbers.get(cell, np.nan) for cell in cells])
    else:
        raise DataError(f"attribute '{name}' is of the kind {kind}, not a number")
    if not np.isfinite(found).all():
        raise DataError(f"attribute '{name}' has a value that is missing or not finite")
    return found
