"""A trained model replayed in NumPy: :mod:`coverage_eval.attention.replay` against PyTorch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from coverage_eval.attention.checkpoint import ModelWeights
from coverage_eval.attention.replay import (
    DecoderWeights,
    EncoderWeights,
    ForcedDecoding,
    LSTMWeights,
    encode,
    force_decode,
)
from coverage_eval.attention.scoring import AdditiveScore, BilinearScore, Score
from coverage_eval.attention.step import AttentionStep
from coverage_eval.nmt.minibatches import Minibatch
from coverage_eval.nmt.translator import Attention, Translator
from coverage_eval.nmt.vocabulary import BLANK, START
from coverage_eval.torch import AdditiveScorer

_PARTS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


def numpy_weights(model: Translator) -> ModelWeights:
    """The model's parameters as arrays, in the places where the replay wants them."""
    arrays = {name: _array(value) for name, value in model.state_dict().items()}
    layers = range(len(model.decoder))
    encoder = EncoderWeights(
        arrays["source_embedding.weight"],
        tuple(
            (_layer(arrays, f"encoder.{{}}_l{k}"), _layer(arrays, f"encoder.{{}}_l{k}_reverse"))
            for k in layers
        ),
    )
    decoder = DecoderWeights(
        arrays["target_embedding.weight"],
        tuple(_layer(arrays, f"decoder.{k}.{{}}") for k in layers),
        arrays["joined.weight"],
        arrays["output.weight"],
        arrays["output.bias"],
    )
    return ModelWeights(encoder, decoder, _score(model.attention.scorer))


def _score(scorer: nn.Module) -> Score:
    """The fields of both scores are called as the parameters of both scorers are."""
    arrays = {name: _array(value) for name, value in scorer.named_parameters()}
    if isinstance(scorer, AdditiveScorer):
        return AdditiveScore(**arrays)
    return BilinearScore(arrays["weight"], arrays.get("coverage"), "text")


def _array(value: Tensor) -> NDArray[np.float64]:
    return value.detach().cpu().double().numpy()


def _layer(arrays: Mapping[str, NDArray[Any]], pattern: str) -> LSTMWeights:
    return LSTMWeights(*(arrays[pattern.format(part)] for part in _PARTS))


def replay(weights: ModelWeights, attention: Attention, batch: Minibatch) -> ForcedDecoding:
    """Read a batch's targets, end symbols included, in NumPy and in double precision.

    Args:
        weights: Of the model.
        attention: Of the model.
        batch: On the processor; its sources end in sinks.
    """
    step = AttentionStep(weights.score, attention.transformation, attention.exhaustion)
    encoding = encode(batch.sources.numpy(), weights.encoder, lengths=batch.lengths.numpy())
    targets = batch.after.numpy()
    fertilities = batch.fertilities if attention.constrained else None
    return force_decode(
        targets,
        encoding,
        weights.decoder,
        step,
        start=START,
        target_lengths=np.asarray((targets != BLANK).sum(axis=1)),
        fertilities=None if fertilities is None else fertilities.numpy(),
    )
