"""PREDICTED fertilities: a bidirectional LSTM tagger (Malaviya et al. 2018, section 4).

It is trained on the fertilities of the aligned training text; at test time a word's fertility is
the expected one under the tagger's probabilities.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from coverage_eval.attention.fertility import expected
from coverage_eval.nmt.bounds import ADDED, Bounds
from coverage_eval.nmt.minibatches import Minibatch
from coverage_eval.nmt.presets import Preset

PREDICTOR = "fertility-predictor"
"""The name of the trained tagger in a run, a folder's."""

CLASSES = 8
"""Fertilities from 1 to this many are told apart; larger ones count as the largest."""


class FertilityPredictor(nn.Module):
    """The tagger.

    Args:
        preset: Sizes, as those of the encoder.
        sources: Pieces in the source vocabulary.
    """

    def __init__(self, preset: Preset, sources: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(sources, preset.embedding)
        self.encoder = nn.LSTM(
            preset.embedding, preset.hidden // 2, batch_first=True, bidirectional=True
        )
        self.dropout = nn.Dropout(preset.dropout)
        self.output = nn.Linear(preset.hidden, CLASSES)
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -preset.initial, preset.initial)

    def forward(self, batch: Minibatch) -> Tensor:
        """``[B, S, CLASSES]`` scores of each piece's fertility."""
        packed = pack_padded_sequence(
            self.embedding(batch.sources), batch.lengths, batch_first=True, enforce_sorted=False
        )
        states, _ = pad_packed_sequence(self.encoder(packed)[0], batch_first=True)
        scores: Tensor = self.output(self.dropout(states))
        return scores

    def objective(self, batch: Minibatch) -> tuple[Tensor, int]:
        """Summed loss of the batch's pieces, sinks and padding aside, and how many they are.

        The batch has ACTUAL fertilities, with what is added to them.
        """
        assert batch.fertilities is not None
        counts = batch.fertilities - ADDED
        told = counts.isfinite() & (counts >= 1)
        classes = torch.where(told, counts - 1, 0.0).long().clamp(max=CLASSES - 1)
        loss = cross_entropy(self(batch)[told], classes[told], reduction="sum")
        return loss, int(told.sum())


@torch.no_grad()
def predict_fertilities(model: FertilityPredictor, batches: Sequence[Minibatch]) -> Bounds:
    """Expected fertilities of the sources of a text, without their sinks, in the text's order."""
    model.eval()
    device = next(model.parameters()).device
    found: dict[int, np.ndarray] = {}
    for batch in batches:
        probabilities = model(batch.to(device)).double().softmax(-1).cpu().numpy()
        for row, values, length in zip(
            batch.rows, probabilities, batch.lengths.tolist(), strict=True
        ):
            found[row] = expected(values[: length - 1])
    return [found[row] for row in sorted(found)]
