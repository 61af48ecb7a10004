r"""Long short-term memory, forward only, with PyTorch's layout of the weights.

The recurrent layers of Malaviya et al. 2018 (section 2; footnote 4: two layers), as Hochreiter and
Schmidhuber 1997 with forget gates:

.. math::
    (i, f, g, o) = W_{ih} x + b_{ih} + W_{hh} h + b_{hh}, \quad
    c' = \sigma(f) c + \sigma(i) \tanh(g), \quad h' = \sigma(o) \tanh(c')

Dropout does not act when a trained model is replayed, so there is none here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from coverage_eval.attention._inputs import AttentionError, FloatArray
from coverage_eval.attention.source import length_mask

LSTMState: TypeAlias = tuple[FloatArray, FloatArray]
"""Hidden state h and cell state c, each ``[B, H]``."""


@dataclass(frozen=True)
class LSTMWeights:
    """One layer, one direction.

    Attributes:
        weight_ih: ``[4H, I]``, for input, forget, cell and output gate in this order.
        weight_hh: ``[4H, H]``.
        bias_ih: ``[4H]``.
        bias_hh: ``[4H]``.

    Raises:
        AttentionError: on construction, arrays that do not fit together.
    """

    weight_ih: FloatArray
    weight_hh: FloatArray
    bias_ih: FloatArray
    bias_hh: FloatArray

    def __post_init__(self) -> None:
        rows, size = np.shape(self.weight_hh)
        shapes = [np.shape(a) for a in (self.weight_ih, self.bias_ih, self.bias_hh)]
        if rows != 4 * size or [s[0] for s in shapes] != [rows] * 3 or len(shapes[0]) != 2:
            raise AttentionError(
                f"LSTM weights do not fit: weight_hh {(rows, size)}, weight_ih {shapes[0]}, "
                f"biases {shapes[1]} and {shapes[2]}; H hidden units need 4H rows in each"
            )

    @property
    def size(self) -> int:
        """H, the number of hidden units."""
        return int(np.shape(self.weight_hh)[1])

    @property
    def inputs(self) -> int:
        """I, the size of the input."""
        return int(np.shape(self.weight_ih)[1])


def _sigmoid(x: FloatArray) -> FloatArray:
    # By tanh, which overflows for no input.
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * x)))


def lstm_cell(inputs: FloatArray, state: LSTMState, weights: LSTMWeights) -> LSTMState:
    """One step of one layer.

    Args:
        inputs: ``[B, I]``.
        state: hidden and cell state before the step.
        weights: of the layer.

    Returns:
        Hidden and cell state after the step; the hidden state is the layer's output.

    Raises:
        AttentionError: an input of another size than the weights'.
    """
    if inputs.shape[-1] != weights.inputs:
        raise AttentionError(
            f"the LSTM's input has size {inputs.shape[-1]}, its weights are for {weights.inputs}"
        )
    hidden, cell = state
    gates = inputs @ weights.weight_ih.T + weights.bias_ih
    gates = gates + hidden @ weights.weight_hh.T + weights.bias_hh
    enter, forget, candidate, leave = np.split(gates, 4, axis=-1)
    cell = _sigmoid(forget) * cell + _sigmoid(enter) * np.tanh(candidate)
    return np.asarray(_sigmoid(leave) * np.tanh(cell)), np.asarray(cell)


def stacked_lstm_cell(
    inputs: FloatArray, states: Sequence[LSTMState], layers: Sequence[LSTMWeights]
) -> tuple[LSTMState, ...]:
    """One step of several layers, each reading the hidden state of the one below.

    Args:
        inputs: ``[B, I]`` for the lowest layer.
        states: of each layer, lowest first.
        layers: weights of each layer.

    Returns:
        The states after the step; the last one's hidden state is the output.
    """
    after: list[LSTMState] = []
    for state, weights in zip(states, layers, strict=True):
        after.append(lstm_cell(inputs, state, weights))
        inputs = after[-1][0]
    return tuple(after)


def lstm(
    inputs: FloatArray,
    weights: LSTMWeights,
    *,
    lengths: NDArray[Any] | None = None,
    reverse: bool = False,
    initial: LSTMState | None = None,
) -> tuple[FloatArray, LSTMState]:
    """A layer over whole sequences, as PyTorch runs it over packed ones.

    Args:
        inputs: ``[B, T, I]``; padding is at the end and may hold anything finite.
        weights: of the layer.
        lengths: ``[B]``; None where nothing is padded.
        reverse: read each sequence from its last word to its first.
        initial: state before the first word read; None for zeros.

    Returns:
        Outputs ``[B, T, H]``, at the words they belong to and 0 at padding, and the state after the
        last word read of each sequence.

    Raises:
        AttentionError: shapes that do not fit.
    """
    rows, steps = inputs.shape[:2]
    inside = length_mask(lengths, rows, steps, "length")
    dtype = np.result_type(inputs.dtype, np.asarray(weights.weight_hh).dtype)
    outputs = np.zeros((rows, steps, weights.size), dtype)
    zeros = np.zeros((rows, weights.size), dtype)
    hidden, cell = (zeros, zeros) if initial is None else initial
    for t in reversed(range(steps)) if reverse else range(steps):
        here = inside[:, t, None]
        after = lstm_cell(inputs[:, t], (hidden, cell), weights)
        hidden, cell = np.where(here, after[0], hidden), np.where(here, after[1], cell)
        outputs[:, t] = np.where(here, hidden, 0)
    return outputs, (hidden, cell)
