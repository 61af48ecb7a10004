r"""The source side of the attention: memory, padding, fertilities, and the sink.

The sink is a word after the last one whose fertility is unbounded,
:math:`f_{J+1} = \infty`, so that a translation can be longer than the sum of the fertilities
(Malaviya et al. 2018, section 4). A word **is** a sink if its fertility is infinite; the exhaustion
strategy leaves such words alone, since c·∞ would take all attention.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coverage_eval.attention._inputs import AttentionError, Float64Array, FloatArray


@dataclass(frozen=True)
class AttentionSource:
    """A batch of sources, checked.

    Attributes:
        memory: ``[B, S, K]`` encoder states H.
        keys: ``[B, S, P]`` what the score needs of them, the same for all steps.
        usable: ``[B, S]`` bool, False at padding.
        fertilities: ``[B, S]`` float64, 0 at padding, +inf for sinks; None if there are none.
    """

    memory: FloatArray
    keys: FloatArray
    usable: NDArray[np.bool_]
    fertilities: Float64Array | None

    @property
    def bounded(self) -> NDArray[np.bool_]:
        """``[B, S]`` True for words with a finite fertility, False for sinks and padding."""
        assert self.fertilities is not None
        return np.asarray(np.isfinite(self.fertilities) & self.usable)


def length_mask(
    lengths: ArrayLike | None, rows: int, positions: int, what: str
) -> NDArray[np.bool_]:
    """``[rows, positions]`` True before each row's length; all True for None.

    Raises:
        AttentionError: not one whole number from 0 to ``positions`` for each row.
    """
    if lengths is None:
        return np.ones((rows, positions), dtype=np.bool_)
    counts = np.asarray(lengths)
    if counts.shape != (rows,) or counts.dtype.kind not in "iu":
        raise AttentionError(f"{what} must be {rows} whole numbers, one for each row of the batch")
    if rows and (counts.min() < 0 or counts.max() > positions):
        row = int(np.argmax((counts < 0) | (counts > positions)))
        raise AttentionError(f"row {row}: {what} {counts[row]} is not in 0..{positions}", (row,))
    return np.asarray(np.arange(positions) < counts[:, None])


def check_states(states: ArrayLike, what: str, axes: str) -> FloatArray:
    """Encoder or decoder states as an array of float32 or float64 with three axes."""
    array = np.asarray(states)
    if array.ndim != 3 or array.dtype.kind not in "fiu":
        raise AttentionError(
            f"{what} must be real numbers [{axes}], not {array.dtype} {array.shape}"
        )
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)


def check_fertilities(fertilities: ArrayLike, usable: NDArray[np.bool_]) -> Float64Array:
    """Fertilities broadcast to ``[B, S]``, 0 at padding.

    Raises:
        AttentionError: shapes that do not fit; NaN or a negative fertility (names the row).
    """
    try:
        values = np.broadcast_to(np.asarray(fertilities, dtype=np.float64), usable.shape)
    except ValueError as error:
        raise AttentionError(
            f"fertilities of shape {np.shape(fertilities)} do not fit [batch, source] = "
            f"{usable.shape}"
        ) from error
    bounds = np.where(usable, values, 0.0)
    bad = ~(bounds >= 0)
    if bad.any():
        row, word = (int(i) for i in np.argwhere(bad)[0])
        raise AttentionError(f"row {row}: fertility {bounds[row, word]} of word {word}", (row,))
    return bounds


def sink_at_end(fertilities: ArrayLike, lengths: ArrayLike | None = None) -> Float64Array:
    """Give the last word of each row, which the data has as ``<SINK>``, an unbounded fertility.

    Args:
        fertilities: ``[B, S]``.
        lengths: ``[B]`` words of each row, the sink included; None where nothing is padded.

    Returns:
        ``[B, S]`` fertilities with +inf at each row's last word.

    Raises:
        AttentionError: a row without a word.
    """
    bounds = np.array(fertilities, dtype=np.float64)
    if bounds.ndim != 2:
        raise AttentionError(f"fertilities must be [batch, source], not {bounds.shape}")
    rows, positions = bounds.shape
    counts = length_mask(lengths, rows, positions, "length").sum(axis=1)
    if rows and counts.min() == 0:
        row = int(np.argmin(counts))
        raise AttentionError(f"row {row}: no word that could be the sink", (row,))
    bounds[np.arange(rows), counts - 1] = np.inf
    return bounds


def append_sink(
    memory: ArrayLike,
    fertilities: ArrayLike,
    *,
    lengths: ArrayLike | None = None,
    vector: Sequence[float] | FloatArray | None = None,
) -> tuple[FloatArray, Float64Array, NDArray[np.intp]]:
    r"""Add a sink after the last word of each row (Malaviya et al. 2018, section 4, "Sink token").

    Args:
        memory: ``[B, S, K]`` encoder states.
        fertilities: broadcast to ``[B, S]``.
        lengths: ``[B]`` words of each row, 0 allowed; None where nothing is padded.
        vector: ``[K]`` encoder state of the sink; None for zeros, which score 0 when bilinear.

    Returns:
        Memory ``[B, S + 1, K]``, fertilities ``[B, S + 1]``, +inf at the sinks, lengths ``[B]``.

    Raises:
        AttentionError: shapes that do not fit.
    """
    states = check_states(memory, "the memory", "batch, source, size")
    rows, positions, size = states.shape
    usable = length_mask(lengths, rows, positions, "length")
    bounds = check_fertilities(fertilities, usable)
    sink = np.zeros(size, states.dtype) if vector is None else np.asarray(vector, states.dtype)
    if sink.shape != (size,):
        raise AttentionError(f"the sink's vector has shape {sink.shape}, the memory {states.shape}")
    place = (np.arange(rows), usable.sum(axis=1))
    longer = np.concatenate([states, np.zeros((rows, 1, size), states.dtype)], axis=1)
    longer[place] = sink
    wider = np.concatenate([bounds, np.zeros((rows, 1))], axis=1)
    wider[place] = np.inf
    return longer, wider, place[1] + 1
