r"""The encoder-decoder of Malaviya et al. 2018, with any of the four attention transformations.

A bidirectional LSTM encoder; an LSTM decoder with input feeding and the bilinear ("general")
attention of Luong et al. 2015, as OpenNMT-py has them, or with additive scores instead:

.. math::
    s_t = \mathrm{LSTM}([E y_{t-1}; \tilde h_{t-1}], s_{t-1}), \quad
    z_{tj} = s_t^\top (W h_j + v \beta_{t-1,j}), \quad \alpha_t = \rho(z_t + c u_t, u_t), \quad
    \tilde h_t = \tanh(W_{out} [H \alpha_t; s_t])

with :math:`\beta_{t-1}` the attention that a word has received so far (coverage vector, section 5)
and :math:`u_t = f - \beta_{t-1}` what is left of its fertility, its credit (sections 3 and 4).

Whatever does not depend on the step is computed for all steps together: the keys :math:`W h_j`, the
context's part of :math:`W_{out}`, the word vectors' part of the lowest LSTM layer, and the output
layer.

PREDICTED fertilities come from a bidirectional LSTM tagger, which is trained on the fertilities of
the aligned training text. Like the authors' system (``onmt/io/TextDataset.py`` of their fork), this
adds 1 to ACTUAL and PREDICTED fertilities, in training and decoding, and nothing to GUIDED ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from corpus import Bounds, Minibatch
from systems import Settings, System
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, linear
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from coverage_eval.attention.fertility import expected
from coverage_eval.torch import AdditiveScorer, BilinearScorer, ConstrainedAttention, Source


@dataclass(frozen=True)
class TranslatorState:
    """The decoder's state between two steps.

    Attributes:
        hidden: ``[B, D]`` for each layer, lowest first.
        cells: ``[B, D]`` for each layer.
        fed: ``[B, D]`` attentional state of the last step.
        received: ``[B, S]`` β, the attention that each word has received.
    """

    hidden: tuple[Tensor, ...]
    cells: tuple[Tensor, ...]
    fed: Tensor
    received: Tensor

    def rows(self, index: Tensor) -> TranslatorState:
        """The states of the rows in ``index``, which may reorder and repeat rows."""
        return TranslatorState(
            tuple(part[index] for part in self.hidden),
            tuple(part[index] for part in self.cells),
            self.fed[index],
            self.received[index],
        )


class Translator(nn.Module):
    """The model of a system, for vocabularies of so many pieces."""

    def __init__(self, settings: Settings, system: System, sources: int, targets: int) -> None:
        super().__init__()
        size = settings.hidden
        self.constrained = system.fertility is not None
        self.source_embedding = nn.Embedding(sources, settings.embedding)
        self.target_embedding = nn.Embedding(targets, settings.embedding)
        self.encoder = nn.LSTM(
            settings.embedding,
            size // 2,
            settings.layers,
            batch_first=True,
            bidirectional=True,
            dropout=settings.dropout if settings.layers > 1 else 0.0,
        )
        widths = [settings.embedding + size, *[size] * (settings.layers - 1)]
        self.decoder = nn.ModuleList(nn.LSTMCell(width, size) for width in widths)
        self.attention = ConstrainedAttention(
            AdditiveScorer(size, size, size, coverage=system.coverage)
            if settings.scoring == "additive"
            else BilinearScorer(size, size, coverage="text" if system.coverage else None),
            system.transformation,
            exhaustion=system.exhaustion,
        )
        self.joined = nn.Linear(2 * size, size, bias=False)
        self.output = nn.Linear(size, targets)
        self.dropout = nn.Dropout(settings.dropout)
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -settings.initial, settings.initial)

    @property
    def _layers(self) -> list[Any]:
        return list(self.decoder)

    def encode(self, batch: Minibatch) -> tuple[Source, TranslatorState]:
        """Encode sources.

        Returns:
            The encoded source, and the state before the first step: the encoder's last states of
            both directions, nothing fed, no attention.
        """
        vectors = self.source_embedding(batch.sources)
        if batch.inside is None:
            states, (hidden, cells) = self.encoder(vectors)
        else:
            packed = pack_padded_sequence(
                vectors, batch.lengths, batch_first=True, enforce_sorted=False
            )
            packed_states, (hidden, cells) = self.encoder(packed)
            states, _ = pad_packed_sequence(packed_states, batch_first=True)
        start = TranslatorState(
            _both_directions(hidden),
            _both_directions(cells),
            states.new_zeros(len(states), states.shape[2]),
            states.new_zeros(states.shape[:2]),
        )
        fertilities = batch.fertilities if self.constrained else None
        source = self.attention.source(states, mask=batch.inside, fertilities=fertilities)
        # These replace the memory, so that the context is already multiplied by its part of W_out.
        values = linear(states, self.joined.weight[:, : states.shape[2]])
        return source._replace(memory=values), start

    def decode(self, batch: Minibatch) -> tuple[Tensor, Tensor]:
        """Run the decoder on given targets.

        Returns:
            ``[B, T, D]`` attentional states, and ``[B, T, S]`` attention.
        """
        source, state = self.encode(batch)
        inputs = self.inputs(batch.before)
        weights = self.step_weights()
        attentional, attention = [], []
        for t in range(batch.before.shape[1]):
            state, weight = self.step(inputs[:, t], state, source, weights)
            attentional.append(state.fed)
            attention.append(weight)
        return torch.stack(attentional, 1), torch.stack(attention, 1)

    def inputs(self, words: Tensor) -> Tensor:
        """``[..., 4D]`` the words' part of the lowest layer's gates, without the fed state's."""
        lowest = self._layers[0]
        vectors = self.target_embedding(words)
        return linear(
            vectors,
            lowest.weight_ih[:, : vectors.shape[-1]],
            lowest.bias_ih + lowest.bias_hh,
        )

    def step_weights(self) -> tuple[tuple[Tensor, Tensor | None], ...]:
        """Each layer's joined matrix for input and hidden state, and its bias.

        They are made once per batch. The lowest layer's bias is in :meth:`inputs`.
        """
        size = self._layers[0].hidden_size
        return tuple(
            (
                torch.cat([layer.weight_ih[:, -size:], layer.weight_hh], 1),
                layer.bias_ih + layer.bias_hh if k else None,
            )
            for k, layer in enumerate(self._layers)
        )

    def step(
        self,
        inputs: Tensor,
        state: TranslatorState,
        source: Source,
        weights: Sequence[tuple[Tensor, Tensor | None]],
    ) -> tuple[TranslatorState, Tensor]:
        """One step of the decoder.

        Args:
            inputs: ``[B, 4D]``, :meth:`inputs` of the previous words.
            state: The state before the step.
            source: The encoded source, from :meth:`encode`.
            weights: The result of :meth:`step_weights`.

        Returns:
            The state after the step, and its attention ``[B, S]``.
        """
        hidden, cells = [], []
        below = state.fed
        for k, (weight, bias) in enumerate(weights):
            gates = linear(torch.cat([below, state.hidden[k]], 1), weight, bias)
            gates = gates + inputs if k == 0 else gates
            enter, forget, candidate, leave = gates.chunk(4, 1)
            cell = forget.sigmoid() * state.cells[k] + enter.sigmoid() * candidate.tanh()
            below = leave.sigmoid() * cell.tanh()
            hidden.append(below)
            cells.append(cell)
            if k + 1 < len(weights):
                below = self.dropout(below)
        context, attention, received = self.attention(below, source, state.received)
        size = below.shape[1]
        attentional = torch.tanh(context + linear(below, self.joined.weight[:, size:]))
        after = TranslatorState(tuple(hidden), tuple(cells), self.dropout(attentional), received)
        return after, attention


def translation_loss(model: Translator, batch: Minibatch) -> tuple[Tensor, int]:
    """The summed cross entropy of a batch's words, and their number."""
    attentional, _ = model.decode(batch)
    scores = model.output(attentional.flatten(0, 1)[batch.word_positions])
    loss = cross_entropy(scores, batch.after.flatten()[batch.word_positions], reduction="sum")
    return loss, batch.words


def _both_directions(states: Tensor) -> tuple[Tensor, ...]:
    """``[layers · 2, B, D/2]`` as one ``[B, D]`` a layer, forward before backward."""
    pairs = zip(states[::2], states[1::2], strict=True)
    return tuple(torch.cat(pair, 1) for pair in pairs)


ADDED = 1.0
"""The constant that is added to ACTUAL and PREDICTED fertilities."""

CLASSES = 8
"""Fertility classes 1 to 8; larger fertilities count as 8."""


class FertilityPredictor(nn.Module):
    """The tagger, with the sizes of the encoder."""

    def __init__(self, settings: Settings, sources: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(sources, settings.embedding)
        self.encoder = nn.LSTM(
            settings.embedding, settings.hidden // 2, batch_first=True, bidirectional=True
        )
        self.dropout = nn.Dropout(settings.dropout)
        self.output = nn.Linear(settings.hidden, CLASSES)
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -settings.initial, settings.initial)

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
    def predict(self, batches: Sequence[Minibatch]) -> Bounds:
        """Expected fertilities of a text's sources without their sinks, in the text's order."""
        self.eval()
        found: dict[int, np.ndarray] = {}
        for batch in batches:
            values = self(batch.to(self.output.weight.device)).double().softmax(-1).cpu().numpy()
            for row, probabilities, length in zip(batch.rows, values, batch.lengths.tolist()):
                found[row] = expected(probabilities[: length - 1])
        return [found[row] for row in sorted(found)]
