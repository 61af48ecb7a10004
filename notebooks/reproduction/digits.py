r"""The number-words task of Madsen et al. 2017 (section 3.3): "three seven four" becomes "374#".

    python notebooks/reproduction/digits.py -o digits --seeds 5

A GRU reads the letters. A second GRU writes the symbols; its input at each step is only the context
:math:`c_i = \sum_t \alpha_{it} h_t`, not its last symbol (eq. 12). Its first state is the encoder's
last state, which the report does not specify. The report gives the model, the optimiser and the
number of examples; the lengths come from its draft; we chose the sizes and the clipping norm
(without one, trainings lose what they have learned within a few steps). Seed and step determine the
examples of a step, so two runs on one machine are equal to the bit.

RUN gets the accuracies (``digits.csv``), the log of every training, and the attention for a few
validation examples with its pictures (Figures 2 and 3).
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn

from coverage_eval.attention_maps import AttentionMap, save
from coverage_eval.core.progress import progress_bar, track
from coverage_eval.papers.printed import read_data
from coverage_eval.plotting import attention_heatmap
from coverage_eval.plotting.saving import save_figure
from coverage_eval.torch import AdditiveScorer, ConstrainedAttention, sparsemax_loss

WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
LETTERS = "".join(sorted(set(" ".join(WORDS))))  # numbered from 1; 0 is padding
SYMBOLS = "0123456789#"  # numbered from 0; −1 is padding
ATTENTIONS = ("softmax", "sparsemax")
BATCH, SIZE, RATE, CLIP, VALID = 100, 32, 0.005, 1.0, 300
_LOGGED, _SHOWN = 20, 4  # steps between two lines of the log; examples whose attention is kept


def spell(number: str) -> str:
    """Spell digits as words."""
    return " ".join(WORDS[int(digit)] for digit in number)


def draw(count: int, lengths: tuple[int, int], seed: list[int]) -> tuple[list[str], Tensor, Tensor]:
    """Draw numbers, every length equally likely.

    Returns:
        The numbers, and as ``[count, …]`` the numbered letters of their words and their symbols.
    """
    rng = np.random.default_rng(seed)
    sizes = rng.integers(lengths[0], lengths[1] + 1, size=count)
    numbers = ["".join(map(str, rng.integers(0, 10, size=size))) for size in sizes]
    letters = [[LETTERS.index(letter) + 1 for letter in spell(number)] for number in numbers]
    symbols = [[SYMBOLS.index(symbol) for symbol in f"{number}#"] for number in numbers]
    pad = nn.utils.rnn.pad_sequence
    return (
        numbers,
        pad([torch.tensor(row) for row in letters], batch_first=True),
        pad([torch.tensor(row) for row in symbols], batch_first=True, padding_value=-1),
    )


class DigitReader(nn.Module):
    """Letters in, scores of symbols and attention out."""

    def __init__(self, transformation: str) -> None:
        super().__init__()
        self.embedding = nn.Embedding(len(LETTERS) + 1, SIZE)
        self.encoder = nn.GRU(SIZE, SIZE, batch_first=True)
        scorer = AdditiveScorer(SIZE, SIZE, SIZE, bias=False)
        self.attention = ConstrainedAttention(scorer, transformation)
        self.decoder = nn.GRUCell(SIZE, SIZE)
        self.out = nn.Linear(SIZE, len(SYMBOLS))
        for name, parameter in self.named_parameters():  # section 3.3
            if "bias" in name:
                nn.init.zeros_(parameter)
            else:
                nn.init.trunc_normal_(parameter, std=0.1, a=-0.2, b=0.2)

    def forward(self, letters: Tensor, steps: int) -> tuple[Tensor, Tensor]:
        """``[B, steps, 11]`` scores of symbols, and ``[B, steps, S]`` attention."""
        memory, _ = self.encoder(self.embedding(letters))
        mask = letters > 0
        state = memory[torch.arange(len(letters)), mask.sum(1) - 1]
        source = self.attention.source(memory, mask=mask)
        cumulative = self.attention.start(source)
        states, attention = [], []
        for _ in range(steps):
            context, alpha, cumulative = self.attention(state, source, cumulative)
            state = self.decoder(context, state)
            states.append(state)
            attention.append(alpha)
        return self.out(torch.stack(states, 1)), torch.stack(attention, 1)


@torch.no_grad()
def evaluate(model: DigitReader, letters: Tensor, symbols: Tensor) -> dict[str, float]:
    """Percentages of right symbols and numbers, and letters attended per step."""
    scores, attention = model(letters, symbols.shape[1])
    real = symbols >= 0
    right = (scores.argmax(-1) == symbols) & real
    return {
        "symbols": 100 * float(right.sum() / real.sum()),
        "numbers": 100 * float((right == real).all(1).double().mean()),
        "attended": float((attention > 0).sum(-1)[real].double().mean()),
    }


def train(
    attention: str, seed: int, examples: int, lengths: tuple[int, int], layer: str
) -> tuple[DigitReader, list[dict[str, Any]]]:
    """Train with Adam; return the model and the log."""
    torch.manual_seed(seed)
    model = DigitReader(attention)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    _, *valid = draw(VALID, lengths, [0])
    steps, losses, log = -(-examples // BATCH), [], []
    with progress_bar(f"{attention}, seed {seed}") as progress:
        for step in track(range(1, steps + 1), progress, steps):
            _, letters, symbols = draw(BATCH, lengths, [1, seed, step])
            scores, _ = model(letters, symbols.shape[1])
            real = symbols >= 0
            if layer == "softmax":
                loss = nn.functional.cross_entropy(scores[real], symbols[real])
            else:
                targets = nn.functional.one_hot(symbols[real], len(SYMBOLS))
                loss = sparsemax_loss(scores[real], targets.to(scores.dtype)).mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), CLIP)
            optimizer.step()
            losses.append(float(loss.detach()))
            if step % _LOGGED == 0 or step == steps:
                means = {"step": step, "examples": step * BATCH, "loss": float(np.mean(losses))}
                log.append({**means, **evaluate(model, *valid)})
                losses.clear()
    return model, log


@torch.no_grad()
def attention_maps(model: DigitReader, lengths: tuple[int, int]) -> list[AttentionMap]:
    """Attention for the first validation examples, for the symbols that the model writes."""
    numbers, letters, symbols = draw(VALID, lengths, [0])
    scores, attention = model(letters[:_SHOWN], symbols.shape[1])
    maps = []
    for row, number in enumerate(numbers[:_SHOWN]):
        words, steps = spell(number).replace(" ", "␣"), len(number) + 1
        written = [SYMBOLS[symbol] for symbol in scores[row, :steps].argmax(-1)]
        weights = attention[row, :steps, : len(words)].double().numpy()
        maps.append(AttentionMap(weights, tuple(words), tuple(written)))
    return maps


def main() -> None:
    """Train both attentions with every seed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("-o", "--output", type=Path, required=True, help="a new folder")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--examples", type=int, default=100_000)
    parser.add_argument("--digits", type=int, nargs=2, default=(5, 20), metavar=("LEAST", "MOST"))
    parser.add_argument("--output-layer", choices=ATTENTIONS, default="softmax")
    arguments = parser.parse_args()
    run, lengths = arguments.output, tuple(arguments.digits)
    run.mkdir(parents=True)
    rows = []
    for seed in range(1, arguments.seeds + 1):
        for name in ATTENTIONS:
            model, log = train(name, seed, arguments.examples, lengths, arguments.output_layer)
            folder = run / name / f"seed-{seed}"
            folder.mkdir(parents=True)
            lines = "".join(f"{json.dumps(record)}\n" for record in log)
            (folder / "epochs.jsonl").write_text(lines, encoding="utf-8")
            last = {key: log[-1][key] for key in ("symbols", "numbers", "attended")}
            rows.append({"attention": name, "seed": seed, **last})
            if seed == 1:
                maps = attention_maps(model, lengths)
                save(maps, run / f"{name}.attention.jsonl")
                labels = maps[0].source_labels, maps[0].hypothesis_labels
                axes = attention_heatmap(
                    maps[0].weights, *labels, repeated=(), dropped=(), title=name
                )
                save_figure(axes, str(run / f"{name}.png"), tight=True)
    table = pd.DataFrame(rows)
    table.to_csv(run / "digits.csv", index=False)
    print("printed, % of symbols:", read_data("report_figures")["accuracy"])
    print("ours:", table.groupby("attention")["symbols"].mean().round(1).to_dict())


if __name__ == "__main__":
    main()
