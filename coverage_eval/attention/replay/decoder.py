r"""One decoder step of the paper's model, and a given target replayed through all of them.

The model is OpenNMT-py's default as the authors used it (Malaviya et al. 2018, section 5, footnote
4), that of Luong et al. 2015 with input feeding:

.. math::
    s_t = \mathrm{LSTM}([E y_{t-1}; \tilde h_{t-1}], s_{t-1}), \quad c_t = H \alpha_t, \quad
    \tilde h_t = \tanh(W_{out} [c_t; s_t]), \quad p(y_t) = \mathrm{softmax}(W_g \tilde h_t + b_g)

The attention :math:`\alpha_t` is scored with the state just computed, :math:`s_t`; section 2 of the
paper prints :math:`s_{t-1}` and feeds :math:`c_t` to the LSTM instead, which its software does not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from coverage_eval.attention._inputs import AttentionError, BoolArray, FloatArray
from coverage_eval.attention.replay.encoder import Encoding, check_tokens, embed
from coverage_eval.attention.replay.lstm import LSTMState, LSTMWeights, stacked_lstm_cell
from coverage_eval.attention.source import AttentionSource, length_mask
from coverage_eval.attention.state import AttentionState
from coverage_eval.attention.step import AttentionStep, StepResult


@dataclass(frozen=True)
class DecoderWeights:
    r"""A decoder, without the attention's own parameters.

    Attributes:
        embedding: ``[V, E]`` target word vectors.
        layers: LSTM weights, lowest first; the lowest reads E + D numbers, all have D units.
        attention_output: ``[D, K + D]`` W_out, the context before the state.
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
    """All that a decoder carries from step to step. Immutable: a step returns a new state.

    Attributes:
        layers: LSTM states, lowest first.
        fed: ``[B, D]`` attentional state of the step before (input feeding), at first 0.
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
    """A given target under the model.

    Attributes:
        log_probabilities: ``[B, T]`` of each target word, 0 at padding.
        attention: ``[B, T, S]`` float64, row t of the step that predicts word t; 0 at padding.
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
        AttentionError: an encoder with other layers or sizes than the decoder.
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
        tokens: ``[B]`` numbers of the words before, that of the start symbol at first.
        state: before the step.
        source: what ``step.source(encoding.memory, lengths=..., fertilities=...)`` returned.
        weights: of the decoder.
        step: the attention.
        active: ``[B]`` bool, False for targets that have ended: their state stays. None for all.

    Returns:
        The step's results and the state after it.

    Raises:
        AttentionError: as the embedding, the LSTM and the attention.
    """
    running = np.ones(len(state.fed), np.bool_) if active is None else np.asarray(active, np.bool_)
    vectors = embed(tokens, weights.embedding)
    inputs = np.concatenate([vectors, state.fed], axis=1)
    layers = stacked_lstm_cell(inputs, state.layers, weights.layers)
    query = layers[-1][0]
    result, attention = step(query, source, state.attention, active=running)
    joined = np.concatenate([result.context, query], axis=1)
    attentional = joined @ weights.attention_output.T
    bias = weights.attention_bias
    attentional = np.tanh(attentional) if bias is None else attentional + bias
    logits = attentional @ weights.output.T + weights.output_bias
    after = DecoderState(
        tuple(
            (_keep(running, hidden, old[0]), _keep(running, cell, old[1]))
            for (hidden, cell), old in zip(layers, state.layers, strict=True)
        ),
        _keep(running, attentional, state.fed),
        attention,
    )
    return DecoderOutput(_log_softmax(logits), attentional, result), after


def _keep(running: BoolArray, new: FloatArray, old: FloatArray) -> FloatArray:
    return np.where(running[:, None], new, old)


def _log_softmax(logits: FloatArray) -> FloatArray:
    shifted = logits - logits.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


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
    """Replay a model over given targets: probability and attention of every word.

    Args:
        targets: ``[B, T]`` word numbers, the end symbol included if its attention is wanted.
        encoding: of the sources.
        weights: of the decoder.
        step: the attention.
        start: number of the start symbol.
        target_lengths: ``[B]``; None where nothing is padded.
        fertilities: f, broadcast to ``[B, S]``; +inf makes a word a sink.

    Returns:
        Log-probabilities and attention.

    Raises:
        AttentionError: input that does not fit; names the row.
        InfeasibleBoundsError: a target longer than the fertilities allow; add a sink.
    """
    words = check_tokens(targets, len(weights.output))
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
