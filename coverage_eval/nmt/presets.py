"""Sizes and training settings: the authors', and smaller ones for processors and tests.

Section 5 and footnote 4 of Malaviya et al. 2018, with what only the authors' training logs say:
hidden size 500 (250 a direction), batches of 64, SGD at rate 1. Initial values, clipping and the
epoch from which the rate is halved in any case are the defaults of the toolkit they used.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Preset:
    """Everything about a model and its training that all systems share.

    Attributes:
        embedding: E, size of word vectors.
        hidden: D, units of a decoder layer; half of them in each direction of the encoder.
        layers: LSTM layers of encoder and decoder.
        dropout: Share of units dropped between layers, and of the attentional state.
        merges: Operations of joint byte pair encoding.
        max_length: Training pairs with more pieces on a side are left out.
        batch: Sentences a batch.
        epochs: Passes over the training text.
        rate: SGD's learning rate at first.
        halve_from: The epoch after which the rate is halved each time, whether validation
            perplexity still falls or not; it starts earlier where that rises.
        patience: Stop after so many epochs without a better validation perplexity.
        clip: The largest norm of the gradient of all parameters.
        initial: Parameters are drawn from the interval of ± this number.
        scoring: How attention is scored: ``bilinear`` ("general" of Luong et al. 2015), the
            paper's, or ``additive`` ("MLP", Bahdanau et al. 2014).
    """

    embedding: int
    hidden: int
    layers: int = 2
    dropout: float = 0.3
    merges: int = 32_000
    max_length: int = 50
    batch: int = 64
    epochs: int = 13
    rate: float = 1.0
    halve_from: int = 8
    patience: int = 4
    clip: float = 5.0
    initial: float = 0.1
    scoring: str = "bilinear"


PRESETS = {
    "paper": Preset(embedding=500, hidden=500),
    "small": Preset(256, 256, dropout=0.2, merges=4_000, batch=32, epochs=10, halve_from=6),
    "tiny": Preset(32, 64, dropout=0.0, merges=500, batch=16, epochs=4, halve_from=3),
}
"""``paper`` as published (a GPU's work), ``small`` for some hours of a processor, ``tiny`` for
tests and first tries. Few sentences need small batches, to be learned from in many steps."""
