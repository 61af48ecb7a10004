"""Fertilities of source pieces by each strategy of Malaviya et al. 2018, section 4.

Like the authors' system (``onmt/io/TextDataset.py`` of their fork), this adds 1 to ACTUAL and
PREDICTED fertilities, in training and decoding, and nothing to GUIDED ones.

PREDICTED fertilities come from a bidirectional LSTM tagger, which is trained on the fertilities of
the aligned training text. A word's fertility is its expectation under the tagger's probabilities.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from coverage_eval.attention.fertility import FertilityTable, actual, constant, expected, guided
from coverage_eval.papers.reproduction.bitext import Bitext, Bounds, Minibatch, PieceText
from coverage_eval.papers.reproduction.paper_systems import Fertility
from coverage_eval.papers.reproduction.run_folder import Preset

ADDED = 1.0
"""The constant that is added to ACTUAL and PREDICTED fertilities."""


class FertilityBounds:
    """The upper bounds of a bitext's sources, +inf for each source's sink.

    Args:
        bitext: The corpora.
        predict: Returns the expected fertilities of the sources of ``valid`` and ``test``, without
            their sinks; called when they are first needed. None without PREDICTED systems.
    """

    def __init__(
        self, bitext: Bitext, predict: Callable[[], Mapping[str, Bounds]] | None = None
    ) -> None:
        self._bitext = bitext
        self._predict = predict

    def of(self, part: str, fertility: Fertility | None) -> Bounds | None:
        """The bounds of one part of the bitext.

        Args:
            part: ``train``, ``valid`` or ``test``.
            fertility: The strategy; None for no bounds. In ``train``, PREDICTED means ACTUAL.

        Raises:
            ValueError: ACTUAL for the test set, which would need the reference.
        """
        if fertility is None:
            return None
        text: PieceText = getattr(self._bitext, part)
        words = [source[:-1] for source in text.sources]
        if fertility.strategy == "constant":
            return with_sinks([constant(len(source), fertility.value) for source in words])
        if fertility.strategy == "guided":
            return with_sinks([self._table.fertilities(source) for source in words])
        if fertility.strategy == "predicted" and part != "train":
            return with_sinks([row + ADDED for row in self._predicted[part]])
        if part == "test":
            raise ValueError("actual fertilities need the reference: decode with predicted ones")
        pairs = zip(words, text.links, strict=True)
        return with_sinks([actual(links, len(source)) + ADDED for source, links in pairs])

    @cached_property
    def _predicted(self) -> Mapping[str, Bounds]:
        assert self._predict is not None
        return self._predict()

    @cached_property
    def _table(self) -> FertilityTable:
        train = self._bitext.train
        return guided(zip(train.sources, train.links, strict=True))


def with_sinks(rows: Bounds) -> Bounds:
    """Append an infinite fertility for the sink to those of each source's words."""
    return [np.append(row, np.inf) for row in rows]


PREDICTOR = "fertility-predictor"
"""The name of the trained tagger, and of its folder."""

CLASSES = 8
"""Fertility classes 1 to 8; larger fertilities count as 8."""


class FertilityPredictor(nn.Module):
    """The tagger.

    Args:
        preset: Sizes, as for the encoder.
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
        """The summed loss of the batch's pieces without sinks and padding, and their number.

        The batch has ACTUAL fertilities, :data:`ADDED` included.
        """
        assert batch.fertilities is not None
        counts = batch.fertilities - ADDED
        words = counts.isfinite() & (counts >= 1)
        classes = torch.where(words, counts - 1, 0.0).long().clamp(max=CLASSES - 1)
        loss = cross_entropy(self(batch)[words], classes[words], reduction="sum")
        return loss, int(words.sum())


@torch.no_grad()
def predict_fertilities(model: FertilityPredictor, batches: Sequence[Minibatch]) -> Bounds:
    """Expected fertilities of a text's sources without their sinks, in the text's order."""
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
