"""One attention map: the target × source weights of a segment, with its tokens and hard links.

Toolkits' arrays are ``[layers, heads, T, S]``, ``[heads, T, S]`` or ``[T, S]`` (or S before T). If
there are several layers or heads, the user must choose. Hard links are in Pharaoh order (source,
target), as DROP needs them.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coverage_eval.core.errors import DataError, check_encodable

Weights: TypeAlias = NDArray[np.float64]
Level: TypeAlias = Literal["bpe", "word"]
LEVELS: tuple[Level, ...] = ("bpe", "word")
Head: TypeAlias = "int | Literal['mean']"
"""Which head: an index from 0, −1 for the last, or the mean of all."""

_ROUNDING = 1e-3  # toolkits print weights with 4 digits or more, or compute in half precision
_SHOWN = 60  # rows and columns in the HTML table


class UnclearMapsError(DataError):
    """Only the user can say how a file is to be read; the message asks.

    Attributes:
        options: The options of ``attention convert`` that say it, with examples of their values.
    """

    def __init__(self, message: str, options: str) -> None:
        super().__init__(message)
        self.options = options


MAX_TOKENS = 1 << 16
MAX_WEIGHTS = 1 << 24
"""The largest map that is read: tokens of a side, and weights, 128 MiB of them."""


def check_size(target: int, source: int, where: str = "attention") -> None:
    """Raise if a map is too large, before it takes memory.

    A file of some bytes can state any size: of an array without rows, or by the lengths of texts.

    Raises:
        DataError: It has more than :data:`MAX_TOKENS` rows or columns, or :data:`MAX_WEIGHTS`.
    """
    if max(target, source) > MAX_TOKENS or target * source > MAX_WEIGHTS:
        raise DataError(
            f"{where}: {target:,} × {source:,} weights; a map of one segment has at most "
            f"{MAX_TOKENS:,} tokens on a side and {MAX_WEIGHTS:,} weights"
        )


@dataclass(frozen=True, eq=False)
class AttentionMap:
    """Attention of one segment: one row per target token, one column per source token.

    Attributes:
        weights: ``[T, S]`` float64 in [0, 1], with the EOS row and column where flagged; any
            array-like of that shape may be given. T or S may be 0.
        source: S tokens, the EOS token included, or None if unknown.
        hypothesis: T tokens, likewise.
        tgt_eos: Whether the last row is the end of sentence rather than a word.
        src_eos: Whether the last column is the end of sentence or a ``<SINK>`` rather than a word.
        level: Whether tokens are subwords ("bpe") or words.
        hard: Whether the weights are links, 0 or 1; a row may have none or several.
        chosen: The chosen layer and head, by name, as signatures print them.

    Raises:
        DataError: The array is not two-dimensional or too large, an entry is not in [0, 1], or the
            tokens are a single string, have half a character, or do not match the rows and columns
            in number.
    """

    weights: Weights
    source: tuple[str, ...] | None = None
    hypothesis: tuple[str, ...] | None = None
    tgt_eos: bool = False
    src_eos: bool = False
    level: Level = "bpe"
    hard: bool = False
    chosen: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", checked_weights(self.weights))
        rows, columns = self.weights.shape
        check_size(rows, columns)
        for name, size in (("hypothesis", rows), ("source", columns)):
            tokens: Sequence[str] | None = getattr(self, name)
            if tokens is None:
                continue
            if isinstance(tokens, str):
                raise DataError(f"the {name} is a list of tokens, not a single string: {tokens!r}")
            check_encodable(tokens, f"the {name}")
            if len(tokens) != size:
                kind = "rows" if name == "hypothesis" else "columns"
                raise DataError(
                    f"attention of {rows} × {columns} (target × source) has {size} {kind}, "
                    f"but {len(tokens)} {name} tokens are given"
                )
            object.__setattr__(self, name, tuple(tokens))
        if (self.tgt_eos and rows == 0) or (self.src_eos and columns == 0):
            raise DataError(f"attention of {rows} × {columns} has no entry that could be EOS")
        if self.level not in LEVELS:
            raise DataError(f"level {self.level!r} is not one of {', '.join(LEVELS)}")

    def __repr__(self) -> str:
        target, source = self.weights.shape
        return f"<AttentionMap of {target} target × {source} source tokens>"

    @property
    def word_weights(self) -> Weights:
        """The weights without the EOS row and column, a view."""
        rows, columns = self.weights.shape
        return self.weights[: rows - self.tgt_eos, : columns - self.src_eos]

    @property
    def source_labels(self) -> tuple[str, ...]:
        """One label per column: its token, or its number from 1 if the tokens are unknown."""
        return _labels(self.source, self.weights.shape[1])

    @property
    def hypothesis_labels(self) -> tuple[str, ...]:
        """One label per row, likewise."""
        return _labels(self.hypothesis, self.weights.shape[0])

    @property
    def source_words(self) -> tuple[str, ...]:
        """The source tokens without EOS, or numbers from 1 if they are unknown."""
        return self.source_labels[: self.weights.shape[1] - self.src_eos]

    @property
    def hypothesis_words(self) -> tuple[str, ...]:
        """The hypothesis tokens without EOS, or numbers from 1 if they are unknown."""
        return self.hypothesis_labels[: self.weights.shape[0] - self.tgt_eos]

    @property
    def row_sums(self) -> Weights:
        """``[T]`` total attention that each target token pays."""
        return np.asarray(self.weights.sum(axis=1))

    @property
    def row_stochastic(self) -> bool:
        """Whether every row sums to 1, up to the rounding of printed weights."""
        # Each of the S printed weights is off by up to half a unit in its last digit.
        tolerance = _ROUNDING + 1e-6 * self.weights.shape[1]
        return bool(np.all(np.abs(self.row_sums - 1.0) <= tolerance))

    def _repr_html_(self) -> str:
        """A table with the source down and the hypothesis across; exactly zero is white."""
        source, hypothesis = self.source_labels[:_SHOWN], self.hypothesis_labels[:_SHOWN]
        head = "".join(f"<th>{html.escape(token)}</th>" for token in hypothesis)
        body = "".join(
            f"<tr><th style='text-align:right'>{html.escape(token)}</th>"
            + "".join(_cell(float(weight)) for weight in self.weights[:_SHOWN, column])
            + "</tr>"
            for column, token in enumerate(source)
        )
        rows, columns = self.weights.shape
        kind = "links" if self.hard else "attention"
        caption = f"{kind}, {rows} target × {columns} source tokens ({self.level})"
        if max(rows, columns) > _SHOWN:
            caption += f"; the first {_SHOWN} of each side are shown"
        return (
            f"<table style='border-collapse:collapse'><caption>{caption}</caption>"
            f"<thead><tr><th></th>{head}</tr></thead><tbody>{body}</tbody></table>"
        )


def _array_of(value: Any) -> NDArray[Any]:
    """Convert an array-like, or a tensor on any device and of any precision, to an array."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = value.float() if value.is_floating_point() else value
    return np.asarray(value)


def checked_array(value: Any, where: str) -> NDArray[Any]:
    """Convert an array-like or a tensor to an array.

    Args:
        value: The array-like or tensor.
        where: What it is, for messages.

    Raises:
        DataError: NumPy cannot convert it.
    """
    try:
        return _array_of(value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise DataError(f"{where}: not an array of numbers ({error})") from error


def checked_weights(weights: ArrayLike) -> Weights:
    """Attention weights as float64; entries that rounding moved outside [0, 1] are clipped.

    Raises:
        DataError: Not numbers, not two-dimensional, or an entry outside [0, 1] beyond rounding.
    """
    try:
        array = np.array(_array_of(weights), dtype=np.float64)
    except (TypeError, ValueError, OverflowError, RuntimeError) as error:
        raise DataError("attention is not a rectangle of numbers") from error
    if array.ndim != 2:
        raise DataError(f"attention has {array.ndim} dimensions; it must have 2, target × source")
    wrong = ~((array >= -_ROUNDING) & (array <= 1 + _ROUNDING))
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise DataError(
            f"attention has {array[row, column]} in row {row + 1}, column {column + 1}; "
            "weights are from 0 to 1"
        )
    return np.clip(array, 0.0, 1.0, out=array)


def _labels(tokens: tuple[str, ...] | None, size: int) -> tuple[str, ...]:
    return tokens if tokens is not None else tuple(str(i) for i in range(1, size + 1))


def _cell(weight: float) -> str:
    text = f"{weight:.2f}"
    shade = "" if weight == 0 else f" style='background:rgba(31,119,180,{max(weight, 0.05):.2f})'"
    return f"<td title='{weight:.6g}'{shade}>{'' if weight == 0 else text}</td>"


def named_choice(layer: int | None, head: Head | None) -> tuple[tuple[str, str], ...]:
    """A choice of layer and head as signatures print it: from 1, or −1 for the last.

    >>> named_choice(0, "mean")
    (('layer', '1'), ('head', 'mean'))
    """
    return tuple(
        (kind, str(index if index == "mean" or index < 0 else index + 1))
        for kind, index in (("layer", layer), ("head", head))
        if index is not None
    )


def one_head(array: Any, where: str, layer: int | None, head: Head | None) -> Weights:
    """The matrix of one layer and one head, or of the mean of its heads.

    Args:
        array: A NumPy array ``[layers, heads, T, S]``, ``[heads, T, S]`` or ``[T, S]``.
        where: Its place, for messages.
        layer: Which layer, a Python index; optional if there is only one.
        head: Which head, likewise, or "mean".

    Raises:
        DataError: Not an array of numbers, or one with other dimensions; the chosen layer or head
            does not exist, or the array has no such dimension; there are several and none is
            chosen.
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
        options = " ".join(f"--{kind} 1" for kind, size in sizes.items() if size > 1)
        raise UnclearMapsError(
            f"{where}: {'; '.join(wrong)} (in Python layer= and head=, from 0)", options
        )
    if "layer" in sizes:
        array = array[layer or 0]
    if "head" in sizes and head != "mean":
        array = array[head or 0]
    with np.errstate(all="ignore"):  # AttentionMap refuses bad weights, and says where
        weights: Weights = array.astype(np.float64)
        return weights if weights.ndim == 2 else np.asarray(weights.mean(axis=0))


def _wrong(kind: str, index: Head | None, size: int) -> str | None:
    """Why a choice of layer or head is invalid, or None; a single one need not be chosen."""
    mean = ", or mean" if kind == "head" else ""
    among = f"--{kind} 1 to {size}, or -1 for the last{mean}"
    if size == 0:
        return f"no {kind}s"
    if (index is None and size == 1) or (mean and index == "mean"):
        return None
    if isinstance(index, int | np.integer):
        return None if -size <= index < size else f"{size} {kind}s, no such {kind}: choose {among}"
    return f"{size} {kind}s: choose {among}"


def argmax_links(attention: Weights) -> list[tuple[int, int]]:
    """Link each target word to the source word that it attends to most.

    Ties go to the first. A target word without any weight has no link.

    Args:
        attention: ``[T, S]`` without EOS row and column; fairseq leaves them out here, too.

    Returns:
        Links (source, target) from 0, sorted; at most one per target word.
    """
    if attention.size == 0:
        return []
    best = attention.argmax(axis=1)
    linked = attention.max(axis=1) > 0
    return sorted((int(best[t]), int(t)) for t in np.flatnonzero(linked))


def threshold_links(attention: Weights, threshold: float) -> list[tuple[int, int]]:
    """All links with a weight above a threshold (many to many), as in Marian and Sockeye.

    Args:
        attention: ``[T, S]`` without EOS row and column.
        threshold: In [0, 1); 0 gives the support of a sparse map.

    Returns:
        Links (source, target) from 0, sorted.
    """
    return sorted((int(s), int(t)) for t, s in np.argwhere(attention > threshold))


def hard_links(item: AttentionMap, threshold: float | None = None) -> list[tuple[int, int]]:
    """The links of one map: by argmax, or by a threshold; a map of links returns its links."""
    if item.hard and threshold is None:
        threshold = 0.0
    if threshold is None:
        return argmax_links(item.word_weights)
    return threshold_links(item.word_weights, threshold)
