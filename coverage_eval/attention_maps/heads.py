"""Layers and heads: one matrix of the many that a Transformer has for a segment.

Arrays are ``[layers, heads, T, S]``, ``[heads, T, S]`` or ``[T, S]`` (or S before T). Nothing is
chosen silently: where there are several layers or heads, the user says which.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from coverage_eval.attention_maps.maps import Weights
from coverage_eval.errors import DataError

__all__ = ["Head", "one_head"]

Head: TypeAlias = "int | Literal['mean']"
"""Which head: an index from 0, or −1 for the last, or the mean of all."""


def one_head(array: NDArray[Any], where: str, layer: int | None, head: Head | None) -> Weights:
    """The matrix of one layer and one head, or of the mean of its heads.

    Args:
        array: Numbers, ``[layers, heads, T, S]``, ``[heads, T, S]`` or ``[T, S]``.
        where: Its place, for messages.
        layer: Which layer, an index as of any list; may be left out if there is one.
        head: Which head, likewise, or "mean".

    Raises:
        DataError: It has other dimensions; there is no such layer or head; there are several and
            none is chosen; one is chosen and the array does not tell layers or heads apart.
    """
    if not 2 <= array.ndim <= 4:
        raise DataError(
            f"{where}: attention has {array.ndim} dimensions; it must have 2 (target × source), "
            "3 (heads first) or 4 (layers, then heads)"
        )
    if array.ndim == 4:
        array = array[_index("layer", layer, len(array), where)]
    elif layer is not None:
        raise DataError(f"{where}: {array.ndim} dimensions, so no layers; leave --layer out")
    if array.ndim == 3 and head == "mean" and len(array):
        return np.asarray(array.mean(axis=0, dtype=np.float64))
    if array.ndim == 3:
        array = array[_index("head", head, len(array), where)]
    elif head is not None:
        raise DataError(f"{where}: 2 dimensions, so no heads; leave --head out")
    return np.asarray(array, dtype=np.float64)


def _index(kind: Literal["layer", "head"], index: Head | None, count: int, where: str) -> int:
    """Which of several, checked; one alone need not be chosen."""
    if count == 0:
        raise DataError(f"{where}: has no {kind}s")
    if index is None and count == 1:
        return 0
    if isinstance(index, int | np.integer) and -count <= index < count:
        return int(index)
    wrong = "say which" if index is None else f"there is no such {kind}"
    mean = ", or mean" if kind == "head" else ""
    raise DataError(
        f"{where}: {count} {kind}s; {wrong}: --{kind} 1 to {count}, or -1 for the last{mean} "
        f"(in Python {kind}=0 to {count - 1}, or -1)"
    )
