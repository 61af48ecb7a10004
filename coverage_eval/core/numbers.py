"""Numbers in files: what counts as one, for every reader of scores, weights and coverages.

Python's own ``float`` also reads ``1_0``, digits of other scripts, booleans, and numbers whose
squares are infinite; none of them stands in a file on purpose.
"""

from __future__ import annotations

import re
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from coverage_eval.core.errors import DataError

MAX_MAGNITUDE = 1e100
"""The greatest magnitude of a score, so that sums of squares stay finite."""

_NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*", re.ASCII)
_MAX_DIMENSIONS = 8  # attention has at most 4


def is_number(text: str) -> bool:
    """Whether a text is a decimal number.

    >>> [text for text in ("1", "-1.5e3", "1_0", "nan", "") if is_number(text)]
    ['1', '-1.5e3']
    """
    return _NUMBER.fullmatch(text) is not None


def parse_number(value: object, where: str) -> float:
    """A score, from a text or a number of JSON.

    Raises:
        DataError: It is something else, or its magnitude is more than :data:`MAX_MAGNITUDE`.
    """
    is_text = isinstance(value, str) and is_number(value)
    if is_text or (isinstance(value, (int, float)) and not isinstance(value, bool)):
        try:
            number = float(value)  # type: ignore[arg-type]
        except OverflowError:
            number = np.inf
        if abs(number) <= MAX_MAGNITUDE:
            return number
        if np.isfinite(number):
            raise DataError(f"{where}: {value!r:.60} is beyond {MAX_MAGNITUDE:g}")
    raise DataError(f"{where}: {value!r:.60} is not a finite number")


def as_array(value: object, where: str, *, columns: int = 0) -> NDArray[np.float64]:
    """Convert nested lists of numbers to an array with one dimension per level.

    An empty list becomes a matrix without rows and with the given number of columns.

    Args:
        value: A value of JSON.
        where: Its place, for messages.
        columns: As above.

    Raises:
        DataError: Not lists, lists of different lengths, or lists of anything but numbers.
    """
    if not isinstance(value, list):
        raise DataError(f"{where}: attention is not a list of rows")
    if not value:
        return np.zeros((0, columns))
    items, shape = value, [len(value)]
    while list in (kinds := set(map(type, items))):
        sizes = set(map(len, items)) if kinds == {list} else set()
        if len(sizes) != 1 or len(shape) == _MAX_DIMENSIONS:
            raise DataError(f"{where}: rows of attention differ in length, or nest too deep")
        shape += sizes
        items = list(chain.from_iterable(items))
    if not kinds <= {int, float}:
        raise DataError(f"{where}: attention has something other than numbers")
    try:
        return np.array(items, dtype=np.float64).reshape(shape)
    except OverflowError as error:
        raise DataError(f"{where}: attention has a number that is too large") from error
