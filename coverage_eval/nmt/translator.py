r"""The encoder-decoder of Malaviya et al. 2018, with any of the four attention transformations.

A bidirectional LSTM encoder; an LSTM decoder with input feeding and the bilinear ("general")
attention of Luong et al. 2015, as OpenNMT-py has them:

.. math::
    s_t = \mathrm{LSTM}([E y_{t-1}; \tilde h_{t-1}], s_{t-1}), \quad
    z_{tj} = s_t^\top (W h_j + v \beta_{t-1,j}), \quad \alpha_t = \rho(z_t + c u_t, u_t), \quad
    \tilde h_t = \tanh(W_{out} [H \alpha_t; s_t])

with :math:`\beta_{t-1}` the attention that a word has received so far (coverage vector, section 5)
and :math:`u_t = f - \beta_{t-1}` the credit that its fertility leaves it (sections 3 and 4).

What does not depend on the step is computed for the whole target at once: keys :math:`W h_j`, the
context's part of :math:`W_{out}`, the word vectors' part of the lowest LSTM layer, and the output
layer.
:mod:`coverage_eval.attention.replay` computes the same step by step in NumPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn.functional import linear
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from coverage_eval.nmt.minibatches import Minibatch
from coverage_eval.nmt.presets import Preset
from coverage_eval.torch import constrained_softmax, constrained_sparsemax, sparsemax

__all__ = ["Attention", "Memory", "Translator", "TranslatorState"]


@dataclass(frozen=True)
class Attention:
    """What makes a system's attention.

    Attributes:
        transformation: ``softmax``, ``sparsemax``, ``constrained_softmax`` or
            ``constrained_sparsemax``.
        coverage: Whether a coverage vector conditions the scores (Tu et al. 2016, adapted).
        exhaustion: c; acts on words with a finite fertility, hence not on the sink.
    """

    transformation: str = "softmax"
    coverage: bool = False
    exhaustion: float = 0.0

    @property
    def constrained(self) -> bool:
        """Whether fertilities bound the attention."""
        return self.transformation.startswith("constrained_")


@dataclass(frozen=True)
class Memory:
    """Encoded sources, and what all steps of the decoder share of them.

    Attributes:
        keys: ``[B, S, D]`` W h_j.
        values: ``[B, S, D]`` h_j through the context's part of W_out.
        inside: ``[B, S]`` False at padding; None where nothing is padded.
        fertilities: ``[B, S]`` f; None where attention is not bounded.
        bounded: ``[B, S]`` True for words with a finite fertility, False for sinks; None likewise.
    """

    keys: Tensor
    values: Tensor
    inside: Tensor | None
    fertilities: Tensor | None
    bounded: Tensor | None

    def rows(self, index: Tensor) -> Memory:
        """Some of the sources, or some of them several times."""
        return Memory(
            self.keys[index],
            self.values[index],
            *(
                None if p is None else p[index]
                for p in (self.inside, self.fertilities, self.bounded)
            ),
        )


@dataclass(frozen=True)
class TranslatorState:
    """All that the decoder carries from step to step.

    Attributes:
        hidden: ``[B, D]`` of each layer, lowest first.
        cells: Likewise.
        fed: ``[B, D]`` attentional state of the step before.
        received: ``[B, S]`` β, attention that each word has received.
    """

    hidden: tuple[Tensor, ...]
    cells: tuple[Tensor, ...]
    fed: Tensor
    received: Tensor

    def rows(self, index: Tensor) -> TranslatorState:
        """The states of some rows, in another order, or several times."""
        return TranslatorState(
            tuple(part[index] for part in self.hidden),
            tuple(part[index] for part in self.cells),
            self.fed[index],
            self.received[index],
        )


class Translator(nn.Module):
    """A model with its parameters.

    Args:
        preset: Sizes.
        attention: Which attention.
        sources: Pieces in the source vocabulary.
        targets: In the target vocabulary.
    """

    def __init__(self, preset: Preset, attention: Attention, sources: int, targets: int) -> None:
        super().__init__()
        size = preset.hidden
        self.attention = attention
        self.source_embedding = nn.Embedding(sources, preset.embedding)
        self.target_embedding = nn.Embedding(targets, preset.embedding)
        self.encoder = nn.LSTM(
            preset.embedding,
            size // 2,
            preset.layers,
            batch_first=True,
            bidirectional=True,
            dropout=preset.dropout if preset.layers > 1 else 0.0,
        )
        widths = [preset.embedding + size, *[size] * (preset.layers - 1)]
        self.decoder = nn.ModuleList(nn.LSTMCell(width, size) for width in widths)
        self.keys = nn.Linear(size, size, bias=False)
        self.joined = nn.Linear(2 * size, size, bias=False)
        self.coverage = nn.Parameter(torch.empty(size)) if attention.coverage else None
        self.output = nn.Linear(size, targets)
        self.dropout = nn.Dropout(preset.dropout)
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -preset.initial, preset.initial)

    @property
    def _layers(self) -> list[nn.LSTMCell]:
        return cast("list[nn.LSTMCell]", list(self.decoder))

    def forward(self, batch: Minibatch) -> Tensor:
        """``[B, T, V]`` scores of every next piece, given the pieces before."""
        attentional, _ = self.decode(batch)
        scores: Tensor = self.output(attentional)
        return scores

    def encode(self, batch: Minibatch) -> tuple[Memory, TranslatorState]:
        """Encode sources.

        Returns:
            The memory, and the state before the first step: the encoder's last states of both
            directions, nothing fed, no attention.
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
        fertilities = batch.fertilities if self.attention.constrained else None
        bounded = None if fertilities is None else fertilities.isfinite()
        size = states.shape[2]
        memory = Memory(
            self.keys(states),
            linear(states, self.joined.weight[:, :size]),
            batch.inside,
            fertilities,
            bounded,
        )
        return memory, start

    def decode(self, batch: Minibatch) -> tuple[Tensor, Tensor]:
        """Read given targets.

        Returns:
            ``[B, T, D]`` attentional states, and ``[B, T, S]`` attention.
        """
        memory, state = self.encode(batch)
        inputs = self.inputs(batch.before)
        weights = self.step_weights()
        attentional, attention = [], []
        for t in range(batch.before.shape[1]):
            state, weight = self.step(inputs[:, t], state, memory, weights)
            attentional.append(state.fed)
            attention.append(weight)
        return torch.stack(attentional, 1), torch.stack(attention, 1)

    def inputs(self, words: Tensor) -> Tensor:
        """``[..., 4D]`` what word vectors, the fed state aside, add to the lowest layer's gates."""
        lowest = self._layers[0]
        vectors = self.target_embedding(words)
        return linear(
            vectors,
            lowest.weight_ih[:, : vectors.shape[-1]],
            lowest.bias_ih + lowest.bias_hh,
        )

    def step_weights(self) -> tuple[tuple[Tensor, Tensor | None], ...]:
        """Each layer's matrix for input and hidden state side by side, and its bias.

        Made once a batch. The lowest layer's bias is in :meth:`inputs`.
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
        memory: Memory,
        weights: Sequence[tuple[Tensor, Tensor | None]],
    ) -> tuple[TranslatorState, Tensor]:
        """One step of the decoder.

        Args:
            inputs: ``[B, 4D]`` of the words before, by :meth:`inputs`.
            state: Before the step.
            memory: Of the sources.
            weights: By :meth:`step_weights`.

        Returns:
            The state after the step, and ``[B, S]`` its attention.
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
        attention = self.attend(hidden[-1], state.received, memory)
        size = below.shape[1]
        context = torch.bmm(attention[:, None], memory.values)[:, 0]
        attentional = torch.tanh(context + linear(below, self.joined.weight[:, size:]))
        after = TranslatorState(
            tuple(hidden), tuple(cells), self.dropout(attentional), state.received + attention
        )
        return after, attention

    def attend(self, query: Tensor, received: Tensor, memory: Memory) -> Tensor:
        """``[B, S]`` attention of decoder states ``[B, D]``, where β is ``[B, S]`` so far."""
        scores = torch.bmm(memory.keys, query[:, :, None])[:, :, 0]
        if self.coverage is not None:
            scores = scores + received * (query @ self.coverage)[:, None]
        if memory.fertilities is None or memory.bounded is None:
            return _unbounded(self.attention.transformation, scores, memory.inside)
        # Not clamp, whose gradient at an exhausted word would be 1.
        credit = (memory.fertilities - received).relu()
        if self.attention.exhaustion:
            finite = credit.masked_fill(~memory.bounded, 0.0)
            scores = scores + self.attention.exhaustion * finite
        bounded = (
            constrained_softmax
            if self.attention.transformation == "constrained_softmax"
            else constrained_sparsemax
        )
        return bounded(scores, credit, mask=memory.inside)


def _unbounded(transformation: str, scores: Tensor, inside: Tensor | None) -> Tensor:
    if transformation == "sparsemax":
        return sparsemax(scores, mask=inside)
    if inside is not None:
        scores = scores.masked_fill(~inside, -torch.inf)
    return torch.softmax(scores, -1)


def _both_directions(states: Tensor) -> tuple[Tensor, ...]:
    """``[layers · 2, B, D/2]`` as one ``[B, D]`` a layer, forward before backward."""
    pairs = zip(states[::2], states[1::2], strict=True)
    return tuple(torch.cat(pair, 1) for pair in pairs)
