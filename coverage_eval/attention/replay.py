r"""Replay a given target through a trained model's encoder and decoder, forward only.

The model is OpenNMT-py's default as the authors used it (Malaviya et al. 2018, section 5, footnote
4), that of Luong et al. 2015 with input feeding:

.. math::
    s_t = \mathrm{LSTM}([E y_{t-1}; \tilde h_{t-1}], s_{t-1}), \quad c_t = H \alpha_t, \quad
    \tilde h_t = \tanh(W_{out} [c_t; s_t]), \quad p(y_t) = \mathrm{softmax}(W_g \tilde h_t + b_g)

The attention :math:`\alpha_t` is scored with the state just computed, :math:`s_t`. Section 2 of the
paper prints :math:`s_{t-1}` and feeds :math:`c_t` to the LSTM; its software does neither.

:math:`H = [h_1, \dots, h_J]` represents the source words (section 2); the encoder's final states
start the decoder, as in OpenNMT-py. The paper's encoder is bidirectional; the first commands of its
authors' README train one that reads forwards only.

The recurrent layers (two, footnote 4) are those of Hochreiter and Schmidhuber 1997 with forget
gates, with PyTorch's layout of the weights:

.. math::
    (i, f, g, o) = W_{ih} x + b_{ih} + W_{hh} h + b_{hh}, \quad
    c' = \sigma(f) c + \sigma(i) \tanh(g), \quad h' = \sigma(o) \tanh(c')

There is no dropout, because a trained model is replayed without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coverage_eval.attention.inputs import AttentionError, BoolArray, FloatArray, length_mask
from coverage_eval.attention.step import AttentionSource, AttentionState, AttentionStep, StepResult

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
    # tanh never overflows.
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
        AttentionError: an input whose size does not fit the weights.
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
        The states after the step; the hidden state of the last is the output.
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
    """Run a layer over whole sequences, as PyTorch does with packed ones.

    Args:
        inputs: ``[B, T, I]``; padding is at the end and may hold anything finite.
        weights: of the layer.
        lengths: ``[B]``; None if nothing is padded.
        reverse: whether to read each sequence from its last word to its first.
        initial: state before the first word read; None for zeros.

    Returns:
        Outputs ``[B, T, H]``, each at its word, 0 at padding; and each sequence's state after the
        last word read.

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


@dataclass(frozen=True)
class EncoderWeights:
    """An LSTM encoder.

    Attributes:
        embedding: ``[V, E]`` source word vectors.
        layers: each layer's weights by direction, lowest layer first: forward and backward, or
            only forward. The lowest layer reads word vectors, the others all directions of the
            layer below.
    """

    embedding: FloatArray
    layers: tuple[tuple[LSTMWeights, ...], ...]


@dataclass(frozen=True)
class Encoding:
    """Encoded sources.

    Attributes:
        memory: ``[B, S, K]`` forward and backward outputs of the highest layer, 0 at padding; K
            is the size of all directions together.
        final: each layer's states after the last word read, each ``[B, K]``: the forward
            direction (at the last word), then the backward one (at the first).
        lengths: ``[B]`` words of each source.
    """

    memory: FloatArray
    final: tuple[LSTMState, ...]
    lengths: NDArray[np.intp]


def _embed(tokens: ArrayLike, embedding: FloatArray) -> FloatArray:
    """``[..., E]`` the vectors of words ``[...]`` from an embedding ``[V, E]``."""
    return np.asarray(embedding[_checked_tokens(tokens, len(embedding))])


def _checked_tokens(tokens: ArrayLike, vocabulary: int) -> NDArray[Any]:
    """Word numbers as an array.

    Raises:
        AttentionError: a number that is not whole, or not from 0 to ``vocabulary - 1``.
    """
    numbers: NDArray[Any] = np.asarray(tokens)
    if numbers.dtype.kind not in "iu":
        raise AttentionError(f"word numbers must be whole, not {numbers.dtype}")
    if numbers.size and (numbers.min() < 0 or numbers.max() >= vocabulary):
        wrong = int(numbers.min() if numbers.min() < 0 else numbers.max())
        raise AttentionError(f"word number {wrong} is not in 0..{vocabulary - 1}")
    return numbers


def encode(
    tokens: ArrayLike, weights: EncoderWeights, *, lengths: ArrayLike | None = None
) -> Encoding:
    """Encode a batch of sources.

    Args:
        tokens: ``[B, S]`` word numbers; padding may be any number of the vocabulary. A ``<SINK>``
            counts as a word.
        weights: of the encoder.
        lengths: ``[B]`` words of each source; None if nothing is padded.

    Returns:
        The encoder's states. Time O(BS(E + H)H) per layer.

    Raises:
        AttentionError: numbers out of range, or shapes that do not fit.
    """
    vectors = _embed(tokens, weights.embedding)
    if vectors.ndim != 3:
        raise AttentionError(f"source words must be [batch, source], not {np.shape(tokens)}")
    inside = length_mask(lengths, vectors.shape[0], vectors.shape[1], "length")
    counts = inside.sum(axis=1)
    final: list[LSTMState] = []
    outputs = vectors
    for directions in weights.layers:
        read = [
            lstm(outputs, direction, lengths=counts, reverse=backward)
            for direction, backward in zip(directions, (False, True), strict=False)
        ]
        outputs = np.concatenate([states for states, _ in read], axis=2)
        hidden, cell = (
            np.concatenate(parts, axis=1) for parts in zip(*(last for _, last in read), strict=True)
        )
        final.append((hidden, cell))
    return Encoding(outputs, tuple(final), counts)


@dataclass(frozen=True)
class DecoderWeights:
    r"""A decoder without the parameters of its attention scores.

    Attributes:
        embedding: ``[V, E]`` target word vectors.
        layers: LSTM weights, lowest first; the lowest reads E + D numbers, all have D units.
        attention_output: ``[D, K + D]`` W_out, for context and state in this order.
        output: ``[V, D]`` W_g.
        output_bias: ``[V]`` b_g.
        attention_bias: ``[D]`` b_out of OpenNMT-py's additive attention ("mlp"), which has no tanh:
            :math:`\tilde h_t = W_{out} [c_t; s_t] + b_{out}`. None for the formula above.
    """

    embedding: FloatArray
    layers: tuple[LSTMWeights, ...]
    attention_output: FloatArray
    output: FloatArray
    output_bias: FloatArray
    attention_bias: FloatArray | None = None


@dataclass(frozen=True)
class DecoderState:
    """What a decoder carries from step to step. Immutable: a step returns a new state.

    Attributes:
        layers: LSTM states, lowest first.
        fed: ``[B, D]`` attentional state of the previous step (input feeding), at first 0.
        attention: cumulative attention.
    """

    layers: tuple[LSTMState, ...]
    fed: FloatArray
    attention: AttentionState


@dataclass(frozen=True)
class DecoderOutput:
    """What one step computed.

    Attributes:
        log_probabilities: ``[B, V]`` of the next word.
        attentional: ``[B, D]`` h̃.
        step: attention, context, scores and credit.
    """

    log_probabilities: FloatArray
    attentional: FloatArray
    step: StepResult


@dataclass(frozen=True)
class ForcedDecoding:
    """Probabilities and attention of given targets.

    Attributes:
        log_probabilities: ``[B, T]`` of each target word, 0 at padding.
        attention: ``[B, T, S]`` float64; row t is from the step that predicts word t; 0 at padding.
        cumulative: ``[B, S]`` β after the last word.
        state: after the last word of each target.
    """

    log_probabilities: FloatArray
    attention: FloatArray
    cumulative: FloatArray
    state: DecoderState


def start_decoder(
    encoding: Encoding, weights: DecoderWeights, step: AttentionStep, source: AttentionSource
) -> DecoderState:
    """The state before the first word: the encoder's final states, nothing fed, no attention.

    Raises:
        AttentionError: encoder and decoder differ in layers or sizes.
    """
    sizes = [np.shape(hidden)[1] for hidden, _ in encoding.final]
    wanted = [layer.size for layer in weights.layers]
    if sizes != wanted:
        raise AttentionError(
            f"the encoder's layers have {sizes} units in both directions, the decoder's {wanted}"
        )
    fed = np.zeros_like(encoding.final[-1][0])
    return DecoderState(encoding.final, fed, step.start(source))


def decoder_step(
    tokens: ArrayLike,
    state: DecoderState,
    source: AttentionSource,
    weights: DecoderWeights,
    step: AttentionStep,
    *,
    active: BoolArray | None = None,
) -> tuple[DecoderOutput, DecoderState]:
    """Read one word of each target and predict the next.

    Args:
        tokens: ``[B]`` numbers of the previous words; the start symbol's in the first step.
        state: before the step.
        source: what ``step.source(encoding.memory, lengths=..., fertilities=...)`` returned.
        weights: of the decoder.
        step: the attention.
        active: ``[B]`` bool, False for targets that have ended: they keep their state. None if all
            are active.

    Returns:
        The step's results and the state after it.

    Raises:
        AttentionError: word numbers out of range, shapes that do not fit, or attention that is
            undefined.
    """
    running = np.ones(len(state.fed), np.bool_) if active is None else np.asarray(active, np.bool_)
    vectors = _embed(tokens, weights.embedding)
    inputs = np.concatenate([vectors, state.fed], axis=1)
    layers = stacked_lstm_cell(inputs, state.layers, weights.layers)
    query = layers[-1][0]
    result, attention = step(query, source, state.attention, active=running)
    joined = np.concatenate([result.context, query], axis=1)
    attentional = joined @ weights.attention_output.T
    bias = weights.attention_bias
    attentional = np.tanh(attentional) if bias is None else attentional + bias
    logits = attentional @ weights.output.T + weights.output_bias
    shifted = logits - logits.max(axis=1, keepdims=True)
    log_probabilities = np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))
    keep = running[:, None]
    after = DecoderState(
        tuple(
            (np.where(keep, hidden, old[0]), np.where(keep, cell, old[1]))
            for (hidden, cell), old in zip(layers, state.layers, strict=True)
        ),
        np.where(keep, attentional, state.fed),
        attention,
    )
    return DecoderOutput(log_probabilities, attentional, result), after


def force_decode(
    targets: ArrayLike,
    encoding: Encoding,
    weights: DecoderWeights,
    step: AttentionStep,
    *,
    start: int,
    target_lengths: ArrayLike | None = None,
    fertilities: ArrayLike | None = None,
) -> ForcedDecoding:
    """Replay a model over given targets to get probability and attention of every word.

    Args:
        targets: ``[B, T]`` word numbers; include the end symbol to get its attention.
        encoding: of the sources.
        weights: of the decoder.
        step: the attention.
        start: number of the start symbol.
        target_lengths: ``[B]``; None if nothing is padded.
        fertilities: f, broadcast to ``[B, S]``; +inf makes a word a sink.

    Returns:
        Log-probabilities and attention.

    Raises:
        AttentionError: input that does not fit; names the row.
        InfeasibleBoundsError: a target longer than the fertilities allow; add a sink.
    """
    words = _checked_tokens(targets, len(weights.output))
    if words.ndim != 2:
        raise AttentionError(f"target words must be [batch, target], not {words.shape}")
    rows, steps = words.shape
    inside = length_mask(target_lengths, rows, steps, "target length")
    source = step.source(encoding.memory, lengths=encoding.lengths, fertilities=fertilities)
    state = start_decoder(encoding, weights, step, source)
    attention = np.zeros((rows, steps, source.usable.shape[1]))
    log_probabilities = np.zeros((rows, steps), dtype=state.fed.dtype)
    before = np.full(rows, start)
    for t in range(steps):
        output, state = decoder_step(before, state, source, weights, step, active=inside[:, t])
        attention[:, t] = output.step.attention
        chosen = np.take_along_axis(output.log_probabilities, words[:, t, None], axis=1)[:, 0]
        log_probabilities[:, t] = np.where(inside[:, t], chosen, 0)
        before = words[:, t]
    return ForcedDecoding(log_probabilities, attention, state.attention.cumulative, state)
