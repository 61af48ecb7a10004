r"""The encoder-decoder of Madsen et al. 2017, eq. 12.

A GRU reads the letters; a second one writes symbols, and all that it is given at each step is the
context :math:`c_i = \sum_t \alpha_{it} h_t`, not what it wrote before. Its first state is the last
of the encoder, which the report leaves open.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from coverage_eval.digits.number_words import LETTERS, SYMBOLS
from coverage_eval.torch import AdditiveScorer, ConstrainedAttention


class DigitReader(nn.Module):
    """Letters in, scores of symbols and attention out.

    Args:
        transformation: Of the attention: ``softmax`` or ``sparsemax``.
        size: Of embeddings, states and the attention's layer.
    """

    def __init__(self, transformation: str, size: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(len(LETTERS) + 1, size)
        self.encoder = nn.GRU(size, size, batch_first=True)
        self.attention = ConstrainedAttention(
            AdditiveScorer(size, size, size, bias=False), transformation
        )
        self.decoder = nn.GRUCell(size, size)
        self.out = nn.Linear(size, len(SYMBOLS))
        for name, parameter in self.named_parameters():  # section 3.3
            if "bias" in name:
                nn.init.zeros_(parameter)
            else:
                nn.init.trunc_normal_(parameter, std=0.1, a=-0.2, b=0.2)

    def forward(self, letters: Tensor, steps: int) -> tuple[Tensor, Tensor]:
        """Read and write.

        Args:
            letters: ``[B, S]`` as numbers, 0 at padding.
            steps: T, the symbols to write.

        Returns:
            ``[B, T, 11]`` scores of symbols, and ``[B, T, S]`` attention.
        """
        memory, _ = self.encoder(self.embedding(letters))
        mask = letters > 0
        last = mask.sum(1) - 1
        state = memory[torch.arange(len(letters), device=letters.device), last]
        source = self.attention.source(memory, mask=mask)
        cumulative = self.attention.start(source)
        states, attention = [], []
        for _ in range(steps):
            context, alpha, cumulative = self.attention(state, source, cumulative)
            state = self.decoder(context, state)
            states.append(state)
            attention.append(alpha)
        return self.out(torch.stack(states, 1)), torch.stack(attention, 1)
