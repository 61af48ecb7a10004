"""Speed of whole training steps with each attention, as ratios to softmax in the same run.

Run by ``make bench``; needs the extra ``nmt``. A batch is 64 sentences of 14 pieces; the first
sizes are like the paper's: hidden 256, vocabularies of 8,000. In the authors' logs csparsemax takes
1.65 times the time of softmax + COVVECTOR, and csoftmax twice. With the name of a file, the seconds
of all turns are written there, for the tables of ``notebooks/reproduction``.
"""

from __future__ import annotations

import csv
import random
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

try:
    import tokenizers  # noqa: F401
    import torch
except ImportError as error:
    print(f"bench_nmt: not run, {error.name} is not installed (extra nmt)")
    sys.exit()

import numpy as np

from coverage_eval.papers.reproduction.bitext import (
    Minibatch,
    PieceText,
    Vocabulary,
    make_minibatches,
)
from coverage_eval.papers.reproduction.decoding import beam_search
from coverage_eval.papers.reproduction.experiment import translation_loss
from coverage_eval.papers.reproduction.run_folder import PRESETS
from coverage_eval.papers.reproduction.timing import ratio_of_turns
from coverage_eval.papers.reproduction.translator import Attention, Translator
from coverage_eval.special_tokens import SINK

SENTENCES, PIECES = 64, 14
SIZES = ((256, 8000), (128, 500))
"""Hidden units, and pieces of each vocabulary."""
LIMIT = 1.15
TURNS = 20
ATTENTIONS = {
    "softmax": Attention(),
    "softmax + COVVECTOR": Attention(coverage=True),
    "sparsemax": Attention("sparsemax"),
    "csoftmax, c = 0.2": Attention("constrained_softmax", exhaustion=0.2),
    "csparsemax, c = 0.2": Attention("constrained_sparsemax", exhaustion=0.2),
}


def batch(pieces: int) -> tuple[Minibatch, Vocabulary]:
    """Random pieces, with fertilities from 1 to 3, and that of the sink."""
    vocabulary = Vocabulary([SINK, *map(str, range(pieces - 5))])
    chosen = random.Random(0)
    sides = [
        [tuple(chosen.choices(vocabulary.pieces[5:], k=PIECES)) for _ in range(SENTENCES)]
        for _ in range(2)
    ]
    text = PieceText([(*source, SINK) for source in sides[0]], sides[1])
    fertilities = np.random.default_rng(0).uniform(1, 3, (SENTENCES, PIECES))
    bounds = [np.append(row, np.inf) for row in fertilities]
    (made,) = make_minibatches(text, vocabulary, vocabulary, bounds, size=SENTENCES)
    return made, vocabulary


def training_step(
    attention: Attention, hidden: int, pieces: int
) -> tuple[Callable[[], None], Translator]:
    """One step of SGD on the batch."""
    torch.manual_seed(0)
    made, vocabulary = batch(pieces)
    preset = replace(PRESETS["small"], embedding=hidden, hidden=hidden)
    model = Translator(preset, attention, len(vocabulary), len(vocabulary))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step() -> None:
        loss, _ = translation_loss(model, made)
        optimizer.zero_grad(set_to_none=True)
        (loss / SENTENCES).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()

    return step, model


def time_steps(hidden: int, pieces: int) -> dict[str, list[float]]:
    """Seconds of a step of each system in each turn, printed as ratios to softmax."""
    steps = {name: training_step(each, hidden, pieces)[0] for name, each in ATTENTIONS.items()}
    for step in steps.values():
        step()
    times: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(TURNS):
        for name, step in steps.items():  # in turns: a busy machine slows all of them
            start = time.process_time()
            step()
            times[name].append(time.process_time() - start)
    words = SENTENCES * (PIECES + 1)
    for name, seconds in times.items():
        ratio, low, high = ratio_of_turns(seconds, times["softmax"])
        limit = f"(at most {LIMIT})" if name.startswith("c") and hidden == SIZES[0][0] else ""
        print(
            f"training step, hidden {hidden}, {name:<20} {min(seconds):7.3f} s "
            f"{words / min(seconds):8.0f} target pieces/s "
            f"{ratio:6.2f} × softmax ({low:.2f} to {high:.2f}) {limit}"
        )
    return times


def main() -> None:
    torch.set_num_threads(1)
    rows = []
    for hidden, pieces in SIZES:
        for name, seconds in time_steps(hidden, pieces).items():
            rows += [(hidden, pieces, name, turn, f"{s:.6f}") for turn, s in enumerate(seconds, 1)]
    if sys.argv[1:]:
        with Path(sys.argv[1]).open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(("hidden", "vocabulary", "system", "turn", "seconds"))
            writer.writerows(rows)
        return
    hidden, pieces = SIZES[0]
    made, _ = batch(pieces)
    for name, attention in ATTENTIONS.items():
        model = training_step(attention, hidden, pieces)[1].eval()
        start = time.process_time()
        beam_search(model, made, size=10)
        seconds = time.process_time() - start
        print(f"beam search of 10, {name:<18} {SENTENCES / seconds:7.1f} sentences/s (untrained)")


if __name__ == "__main__":
    main()
