"""Weights of a model trained by OpenNMT-py 0.x, by their names in its checkpoints.

Pass the NumPy arrays of a checkpoint's ``model`` and ``generator`` in one mapping::

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

Names from early versions, without ``make_embedding.`` or the prefix ``generator.``, work too. The
names also show the number of layers, the directions of the encoder and the kind of attention; a
model without the names of "general" and "mlp" has "dot".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coverage_eval.attention.inputs import AttentionError
from coverage_eval.attention.replay import DecoderWeights, EncoderWeights, LSTMWeights
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
        coverage: the formula of the coverage vector; required if the model has one, because the
            paper's text and its scripts differ.

    Raises:
        AttentionError: a missing name, one that this model has no place for (it would be replayed
            wrongly), or arrays that do not fit together.
    """
    arrays = {_plain_name(name): np.asarray(value) for name, value in parameters.items()}
    taken: set[str] = set()

    def take(name: str) -> NDArray[Any]:
        if name not in arrays:
            raise AttentionError(f"the checkpoint has no '{name}'")
        taken.add(name)
        return arrays[name]

    def layer(pattern: str) -> LSTMWeights:
        return LSTMWeights(*(take(pattern.format(part)) for part in _PARTS))

    def numbers(pattern: str) -> range:
        found = [re.fullmatch(pattern, name) for name in arrays]
        return range(max((int(match[1]) for match in found if match), default=0) + 1)

    directions = ("", "_reverse") if "encoder.rnn.weight_ih_l0_reverse" in arrays else ("",)
    encoder = EncoderWeights(
        take("encoder.embeddings.emb_luts.0.weight"),
        tuple(
            tuple(layer(f"encoder.rnn.{{}}_l{k}{direction}") for direction in directions)
            for k in numbers(r"encoder\.rnn\.weight_ih_l(\d+)")
        ),
    )
    score = _score(take, arrays, coverage)
    layers = numbers(r"decoder\.rnn\.layers\.(\d+)\.weight_ih")
    decoder = DecoderWeights(
        take("decoder.embeddings.emb_luts.0.weight"),
        tuple(layer(f"decoder.rnn.layers.{k}.{{}}") for k in layers),
        take("decoder.attn.linear_out.weight"),
        take("generator.0.weight"),
        take("generator.0.bias"),
        take("decoder.attn.linear_out.bias") if isinstance(score, AdditiveScore) else None,
    )
    if left := sorted(arrays.keys() - taken):
        raise AttentionError(
            f"the checkpoint has '{left[0]}', for which this model has no place"
            + (f" (and {len(left) - 1} more such)" if len(left) > 1 else "")
        )
    return ModelWeights(encoder, decoder, score)


def _plain_name(name: str) -> str:
    """The name without the parts that differ between versions."""
    name = name.replace(".make_embedding.", ".")
    return f"generator.{name}" if name in ("0.weight", "0.bias") else name


def _score(
    take: Callable[[str], NDArray[Any]],
    names: Container[str],
    coverage: CoverageFormula | None,
) -> Score:
    """The attention's score function, chosen by the names of its weights."""
    if _MLP in names:
        if _COVERAGE in names:
            raise AttentionError(
                f"a coverage vector ({_COVERAGE}) beside 'mlp' attention: no such "
                "model of the authors is known, and it cannot be replayed"
            )
        return AdditiveScore(
            take(_MLP),
            take("decoder.attn.linear_context.weight"),
            take("decoder.attn.v.weight").reshape(-1),
            take("decoder.attn.linear_query.bias"),
        )
    weight = take(_GENERAL).T if _GENERAL in names else None
    if _COVERAGE not in names:
        return BilinearScore(weight)
    if coverage is None:
        raise AttentionError(
            f"the model has a coverage vector ({_COVERAGE}): choose its formula, 'text' or "
            "'scripts'"
        )
    return BilinearScore(weight, take(_COVERAGE).reshape(-1), coverage)
