"""Layers and heads: one matrix of the many that a Transformer has for a segment.

Arrays are ``[layers, heads, T, S]``, ``[heads, T, S]`` or ``[T, S]`` (or S before T). Nothing is
chosen silently: where there are several layers or heads, the user says which.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np

from coverage_eval.attention_maps.maps import Weights
from coverage_eval.errors import DataError

Head: TypeAlias = "int | Literal['mean']"
"""Which head: an index from 0, or −1 for the last, or the mean of all."""


def named_choice(layer: int | None, head: Head | None) -> tuple[tuple[str, str], ...]:
    """A choice of layer and head as signatures name it: from 1, or −1 for the last.

    >>> named_choice(0, "mean")
    (('layer', '1'), ('head', 'mean'))
    """
    chosen = (("layer", layer), ("head", head))
    return tuple((kind, _from_one(index)) for kind, index in chosen if index is not None)


def _from_one(index: Head) -> str:
    return str(index if index == "mean" or index < 0 else index + 1)


def one_head(array: Any, where: str, layer: int | None, head: Head | None) -> Weights:
    """The matrix of one layer and one head, or of the mean of its heads.

    Args:
        array: A NumPy array ``[layers, heads, T, S]``, ``[heads, T, S]`` or ``[T, S]``.
        where: Its place, for messages.
        layer: Which layer, an index as of any list; may be left out if there is one.
        head: Which head, likewise, or "mean".

    Raises:
        DataError: It is no array of numbers, or has other dimensions; there is no such layer or
            head; there are several and none is chosen; one is chosen and the array does not tell
            layers or heads apart.
    """
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "biuf":
        raise DataError(f"{where}: not an array of numbers")
    if not 2 <= array.ndim <= 4:
        raise DataError(
            f"{where}: attention has {array.ndim} dimensions; it must have 2 (target × source), "
            "3 (heads first) or 4 (layers, then heads)"
        )
    chosen: dict[str, Head | None] = {"layer": layer, "head": head}
    sizes = dict(zip(("layer", "head")[4 - array.ndim :], array.shape[:-2], strict=True))
    for kind, index in chosen.items():
        if index is not None and kind not in sizes:
            raise DataError(f"{where}: {array.ndim} dimensions, no {kind}s; leave --{kind} out")
    if wrong := list(filter(None, (_wrong(kind, chosen[kind], sizes[kind]) for kind in sizes))):
        raise DataError(f"{where}: {'; '.join(wrong)} (in Python layer= and head=, from 0)")
    if "layer" in sizes:
        array = array[layer or 0]
    if "head" in sizes and head != "mean":
        array = array[head or 0]
    with np.errstate(all="ignore"):  # what is no weight is refused with its place, by the map
        weights: Weights = array.astype(np.float64)
        return weights if weights.ndim == 2 else np.asarray(weights.mean(axis=0))


def _wrong(kind: str, index: Head | None, size: int) -> str | None:
    """What is wrong with a choice among so many, if anything; one alone need not be chosen."""
    mean = ", or mean" if kind == "head" else ""
    among = f"--{kind} 1 to {size}, or -1 for the last{mean}"
    if size == 0:
        return f"no {kind}s"
    if index is None:
        return None if size == 1 else f"{size} {kind}s: say which by {among}"
    if isinstance(index, int | np.integer):
        return None if -size <= index < size else f"{size} {kind}s, none of that number: {among}"
    return None if mean and index == "mean" else f"{size} {kind}s: choose {among}"
