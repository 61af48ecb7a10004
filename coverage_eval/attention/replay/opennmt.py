"""Weights of a model trained by OpenNMT-py 0.x, by the names that its checkpoints have.

Give the arrays of a checkpoint's ``model`` and ``generator`` (as NumPy arrays) in one mapping::

    encoder.embeddings.make_embedding.emb_luts.0.weight      source word vectors
    encoder.rnn.{weight,bias}_{ih,hh}_l{0,1}                 forward direction
    encoder.rnn.{weight,bias}_{ih,hh}_l{0,1}_reverse         backward direction, if there is one
    decoder.embeddings.make_embedding.emb_luts.0.weight      target word vectors
    decoder.rnn.layers.{0,1}.{weight,bias}_{ih,hh}           with input feeding
    decoder.attn.linear_in.weight                            "general": transpose of W of the score
    decoder.attn.linear_query.{weight,bias}                  "mlp": A and b of the additive score
    decoder.attn.linear_context.weight                       "mlp": U
    decoder.attn.v.weight                                    "mlp": e
    decoder.attn.linear_cover.weight                         coverage vector, if there is one
    decoder.attn.linear_out.weight                           W_out
    decoder.attn.linear_out.bias                             "mlp": b_out
    generator.0.{weight,bias}                                W_g, b_g

Early versions leave out ``make_embedding.`` and, in ``generator``, the prefix ``generator.``; both
are understood. The number of layers, the directions of the encoder and the attention are read off
the names; a model without names of "general" and "mlp" has "dot".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coverage_eval.attention._inputs import AttentionError
from coverage_eval.attention.replay.decoder import DecoderWeights
from coverage_eval.attention.replay.encoder import EncoderWeights
from coverage_eval.attention.replay.lstm import LSTMWeights
from coverage_eval.attention.scoring import AdditiveScore, BilinearScore, CoverageFormula, Score

_PARTS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
_COVERAGE = "decoder.attn.linear_cover.weight"
_GENERAL, _MLP = "decoder.attn.linear_in.weight", "decoder.attn.linear_query.weight"


@dataclass(frozen=True)
class ModelWeights:
    """A whole model.

    Attributes:
        encoder: for :func:`~coverage_eval.attention.encode`.
        decoder: for :func:`~coverage_eval.attention.force_decode`.
        score: for an :class:`~coverage_eval.attention.AttentionStep`.
    """

    encoder: EncoderWeights
    decoder: DecoderWeights
    score: Score


def opennmt_weights(
    parameters: Mapping[str, ArrayLike], *, coverage: CoverageFormula | None = None
) -> ModelWeights:
    """Build a model from a checkpoint's arrays.

    Args:
        parameters: name → array, see above.
        coverage: by which formula the coverage vector acts; needed where there is one, since the
            paper's text and its scripts differ.

    Raises:
        AttentionError: a name missing, one that this model has no place for (it would be replayed
            wrongly), or arrays that do not fit together.
    """
    arrays = {_plain(name): np.asarray(value) for name, value in parameters.items()}
    reader = _Reader(arrays)
    directions = ("", "_reverse") if "encoder.rnn.weight_ih_l0_reverse" in arrays else ("",)
    encoder = EncoderWeights(
        reader.take("encoder.embeddings.emb_luts.0.weight"),
        tuple(
            tuple(reader.layer(f"encoder.rnn.{{}}_l{k}{direction}") for direction in directions)
            for k in range(_count(arrays, r"encoder\.rnn\.weight_ih_l(\d+)"))
        ),
    )
    layers = _count(arrays, r"decoder\.rnn\.layers\.(\d+)\.weight_ih")
    score = _score(reader, arrays, coverage)
    decoder = DecoderWeights(
        reader.take("decoder.embeddings.emb_luts.0.weight"),
        tuple(reader.layer(f"decoder.rnn.layers.{k}.{{}}") for k in range(layers)),
        reader.take("decoder.attn.linear_out.weight"),
        reader.take("generator.0.weight"),
        reader.take("generator.0.bias"),
        reader.take("decoder.attn.linear_out.bias") if isinstance(score, AdditiveScore) else None,
    )
    reader.check_all_taken()
    return ModelWeights(encoder, decoder, score)


def _score(
    reader: _Reader, arrays: Mapping[str, NDArray[Any]], coverage: CoverageFormula | None
) -> Score:
    """The attention, whose kind shows in the names."""
    if _MLP in arrays:
        if _COVERAGE in arrays:
            raise AttentionError(
                f"a coverage vector ({_COVERAGE}) beside 'mlp' attention: no such "
                "model of the authors is known, and it cannot be replayed"
            )
        return AdditiveScore(
            reader.take(_MLP),
            reader.take("decoder.attn.linear_context.weight"),
            reader.take("decoder.attn.v.weight").reshape(-1),
            reader.take("decoder.attn.linear_query.bias"),
        )
    weight = reader.take(_GENERAL).T if _GENERAL in arrays else None
    if _COVERAGE not in arrays:
        return BilinearScore(weight)
    if coverage is None:
        raise AttentionError(
            f"the model has a coverage vector ({_COVERAGE}): say by which formula it acts, "
            "'text' or 'scripts'"
        )
    return BilinearScore(weight, reader.take(_COVERAGE).reshape(-1), coverage)


def _plain(name: str) -> str:
    """The name as later versions have it, without the parts that versions disagree about."""
    name = name.replace(".make_embedding.", ".")
    return f"generator.{name}" if name in ("0.weight", "0.bias") else name


def _count(arrays: Mapping[str, NDArray[Any]], pattern: str) -> int:
    found = [re.fullmatch(pattern, name) for name in arrays]
    numbers = [int(match.group(1)) for match in found if match]
    return max(numbers, default=0) + 1


class _Reader:
    """Takes arrays by name and knows which were left."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._arrays = arrays
        self._taken: set[str] = set()

    def take(self, name: str) -> NDArray[Any]:
        if name not in self._arrays:
            raise AttentionError(f"the checkpoint has no '{name}'")
        self._taken.add(name)
        return self._arrays[name]

    def layer(self, pattern: str) -> LSTMWeights:
        return LSTMWeights(*(self.take(pattern.format(part)) for part in _PARTS))

    def check_all_taken(self) -> None:
        left = sorted(set(self._arrays) - self._taken)
        if left:
            raise AttentionError(
                f"the checkpoint has '{left[0]}', for which this model has no place"
                + (f" (and {len(left) - 1} more such)" if len(left) > 1 else "")
            )
