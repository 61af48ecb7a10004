"""One attention map: the target × source weights of a segment, with its tokens and hard links.

Toolkits' arrays are ``[layers, heads, T, S]``, ``[heads, T, S]`` or ``[T, S]`` (or S before T). If
there are several layers or heads, the user must choose. Hard links are in Pharaoh order (source,
target), as DROP needs them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from coverage_eval.core.errors import CorpusWarning, DataError, check_encodable
from coverage_eval.core.tokenizers import PAD_TOKENS
from fast_align_wrapper.links import Link

Weights: TypeAlias = NDArray[np.float64]
Level: TypeAlias = Literal["bpe", "word"]
LEVELS: tuple[Level, ...] = ("bpe", "word")
Head: TypeAlias = "int | Literal['mean']"
"""Which head: an index from 0, −1 for the last, or the mean of all."""

_ROUNDING = 1e-3  # toolkits print weights with 4 digits or more, or compute in half precision

MAX_SUM_ERROR = 0.01
"""How far rows may be from summing to 1: bfloat16 rounds by .004, and four digits by less."""


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


@dataclass(eq=False)
class AttentionMap:
    """Attention of one segment: one row per target token, one column per source token.

    Attributes:
        weights: ``[T, S]`` float64 in [0, 1], with the EOS row and column where flagged; any
            array-like of that shape may be given, and what rounding moved outside [0, 1] is
            clipped. T or S may be 0.
        source: S tokens, the EOS token included, or None if unknown.
        hypothesis: T tokens, the EOS token included, or None if unknown.
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
        array = checked_array(self.weights, "attention", np.float64)
        if array.ndim != 2:
            raise DataError(
                f"attention has {array.ndim} dimensions; it must have 2, target × source"
            )
        wrong = ~((array >= -_ROUNDING) & (array <= 1 + _ROUNDING))
        if wrong.any():
            row, column = np.argwhere(wrong)[0]
            raise DataError(
                f"attention has {array[row, column]} in row {row + 1}, column {column + 1}; "
                "weights are from 0 to 1"
            )
        if self.level not in LEVELS:  # it stands in signatures
            raise DataError(f"level {self.level!r} is not one of {', '.join(LEVELS)}")
        self.weights = np.clip(array, 0.0, 1.0, out=array)
        rows, columns = array.shape
        check_size(rows, columns)
        sides = (("hypothesis", self.hypothesis, rows, "rows"),
                 ("source", self.source, columns, "columns"))  # fmt: skip
        for name, tokens, size, kind in sides:
            if tokens is None:
                continue
            if isinstance(tokens, str):
                raise DataError(f"the {name} is a list of tokens, not a single string: {tokens!r}")
            check_encodable(tokens, f"the {name}")
            if len(tokens) != size:
                raise DataError(
                    f"attention of {rows} × {columns} (target × source) has {size} {kind}, "
                    f"but {len(tokens)} {name} tokens are given"
                )
            setattr(self, name, tuple(tokens))

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
        """One label per row: its token, or its number from 1 if the tokens are unknown."""
        return _labels(self.hypothesis, self.weights.shape[0])

    @property
    def source_words(self) -> tuple[str, ...]:
        """The source tokens without EOS, or numbers from 1 if they are unknown."""
        return self.source_labels[: self.weights.shape[1] - self.src_eos]

    @property
    def hypothesis_words(self) -> tuple[str, ...]:
        """The hypothesis tokens without EOS, or numbers from 1 if they are unknown."""
        return self.hypothesis_labels[: self.weights.shape[0] - self.tgt_eos]


def checked_array(value: Any, where: str, dtype: type[np.float64] | None = None) -> NDArray[Any]:
    """A new array of an array-like, or of a tensor on any device and of any precision.

    Args:
        value: The array-like or tensor, or a list of tensors.
        where: What it is, for messages.
        dtype: The type of the array's items; by default those of the value.

    Raises:
        DataError: NumPy cannot convert it.
    """
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = value.float() if value.is_floating_point() else value
    elif isinstance(value, (list, tuple)) and any(hasattr(item, "detach") for item in value):
        value = [checked_array(item, where) for item in value]
    try:
        return np.array(value, dtype)
    except (TypeError, ValueError, RuntimeError) as error:
        raise DataError(f"{where} is not a rectangle of numbers ({error})") from error


def without_padding(
    weights: Weights, tokens: Sequence[str], axis: int
) -> tuple[Weights, Sequence[str]]:
    """Weights and tokens of a side without those of padding, which the tokens name.

    Args:
        weights: The weights; those of padding are there if an axis is as long as the tokens.
        tokens: The tokens of the side.
        axis: The axis of the side.
    """
    is_word = np.array([token not in PAD_TOKENS for token in tokens], dtype=np.bool_)
    if weights.shape[axis] == len(tokens) and not is_word.all():
        weights = np.compress(is_word, weights, axis)
    return weights, [token for token in tokens if token not in PAD_TOKENS]


def _labels(tokens: tuple[str, ...] | None, size: int) -> tuple[str, ...]:
    return tokens if tokens is not None else tuple(str(i) for i in range(1, size + 1))


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


def choose_head(array: Any, where: str, layer: int | None, head: Head | None) -> Weights:
    """The matrix of one layer and one head, or of the mean of its heads.

    Args:
        array: A NumPy array ``[layers, heads, T, S]``, ``[heads, T, S]`` or ``[T, S]``.
        where: Where it is, for messages.
        layer: Which layer, a Python index; optional if there is only one.
        head: Which head, a Python index, or "mean"; optional if there is only one.

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
    check_size(array.shape[-2], array.shape[-1], where)
    sizes = dict(zip(("layer", "head")[4 - array.ndim :], array.shape[:-2], strict=True))
    wrong, options = [], []
    for kind, index in (("layer", layer), ("head", head)):
        if kind not in sizes and index is not None:
            raise DataError(f"{where}: {array.ndim} dimensions, no {kind}s; leave --{kind} out")
        size = sizes.get(kind, 1)
        options += [f"--{kind} 1"] if size > 1 else []
        exists = isinstance(index, int | np.integer) and -size <= index < size
        if not (exists or (kind, index) == ("head", "mean") or (index is None and size == 1)):
            missing = "" if index is None else f", no such {kind}"
            mean = ", or mean" if kind == "head" else ""
            wrong.append(
                f"{size} {kind}s{missing}: choose --{kind} 1 to {size}, or -1 for the last{mean}"
            )
    if wrong:
        raise UnclearMapsError(
            f"{where}: {'; '.join(wrong)} (in Python layer= and head=, from 0)", " ".join(options)
        )
    if "layer" in sizes:
        array = array[layer or 0]
    with np.errstate(all="ignore"):  # AttentionMap refuses bad weights, and says where
        if "head" in sizes:
            array = array.mean(axis=0, dtype=np.float64) if head == "mean" else array[head or 0]
        return np.asarray(array, dtype=np.float64)


def hard_links(item: AttentionMap) -> list[Link]:
    """The links of one map, source and target words from 0, sorted.

    Each target word is linked to the source word that it attends to most, the first of equal ones;
    a target word without any weight has no link. EOS is left out, as in fairseq. A map of links
    returns its links.
    """
    weights = item.word_weights
    linked = weights > 0
    if not item.hard and weights.size:
        linked &= np.arange(weights.shape[1]) == weights.argmax(axis=1)[:, np.newaxis]
    return sorted((int(s), int(t)) for t, s in np.argwhere(linked))


def warn_of_row_sums(name: str, maps: Iterable[AttentionMap], stacklevel: int = 3) -> None:
    """Warn if rows of weights do not sum to 1. EOS rows and links are not checked.

    Args:
        name: Where the maps come from.
        maps: The maps of all segments.
        stacklevel: As in :func:`warnings.warn`.

    Warns:
        CorpusWarning: There are such rows; the message gives their number, the first one, and a
            possible reason.
    """
    rows = wrong_rows = wrong_maps = turned = 0
    first = ""
    for number, item in enumerate(maps, start=1):
        weights = item.weights
        sums = weights.sum(axis=1)[: len(item.hypothesis_words)]
        wrong = np.flatnonzero(np.abs(sums - 1.0) > MAX_SUM_ERROR)
        rows += len(sums)
        if item.hard or not len(wrong) or not np.any((weights > 0) & (weights < 1)):
            continue  # links have any number in a row
        first = first or f"map {number}, row {wrong[0] + 1}: {sums[wrong[0]]:.2f}"
        wrong_rows += len(wrong)
        wrong_maps += 1
        turned += bool((np.abs(weights.sum(axis=0) - 1.0) <= MAX_SUM_ERROR).all())
    if not wrong_rows:
        return
    reason = "weights were left out, such as those of padding or EOS, or they are no attention"
    if turned == wrong_maps:
        reason = "columns do: rows must be target words, so transpose it, or say source-target"
    message = (
        f"{name}: {wrong_rows} of {rows} rows of attention do not sum to 1 ({first}); {reason}"
    )
    warnings.warn(message, CorpusWarning, stacklevel=stacklevel)
