r"""The LSTM encoder of Malaviya et al. 2018, section 2.

:math:`H = [h_1, \dots, h_J]` represents the source words; the final states start the decoder, as in
OpenNMT-py. The paper's encoder is bidirectional; the first commands of its authors' README train
one that reads forwards only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coverage_eval.attention._inputs import AttentionError, FloatArray
from coverage_eval.attention.replay.lstm import LSTMState, LSTMWeights, lstm
from coverage_eval.attention.source import length_mask


@dataclass(frozen=True)
class EncoderWeights:
    """An LSTM encoder.

    Attributes:
        embedding: ``[V, E]`` source word vectors.
        layers: the weights of each layer by direction, lowest first: forward and backward, or
            forward alone. The lowest reads word vectors, the others all directions of the layer
            below.
    """

    embedding: FloatArray
    layers: tuple[tuple[LSTMWeights, ...], ...]


@dataclass(frozen=True)
class Encoding:
    """Encoded sources.

    Attributes:
        memory: ``[B, S, K]`` forward and backward outputs of the highest layer, 0 at padding; K
            is the size of all directions together.
        final: for each layer the states after the last word read, each ``[B, K]``, the forward
            direction (at the last word) before the backward one (at the first).
        lengths: ``[B]`` words of each source.
    """

    memory: FloatArray
    final: tuple[LSTMState, ...]
    lengths: NDArray[np.intp]


def embed(tokens: ArrayLike, embedding: FloatArray) -> FloatArray:
    """Look up word vectors.

    Args:
        tokens: ``[...]`` word numbers; 0 <= number < V.
        embedding: ``[V, E]``.

    Returns:
        ``[..., E]``.

    Raises:
        AttentionError: numbers that are not whole, or out of range.
    """
    return np.asarray(embedding[check_tokens(tokens, len(embedding))])


def check_tokens(tokens: ArrayLike, vocabulary: int) -> NDArray[Any]:
    """Word numbers as an array, each from 0 to the size of the vocabulary less 1."""
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
            is a word like others.
        weights: of the encoder.
        lengths: ``[B]`` words of each source; None where nothing is padded.

    Returns:
        The encoder's states. Time O(BS(E + H)H) a layer.

    Raises:
        AttentionError: numbers out of range, shapes that do not fit.
    """
    vectors = embed(tokens, weights.embedding)
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
