"""Speed of whole training steps with each attention, as ratios to softmax in the same run.

Run by ``make bench``; needs the extra ``nmt``. A batch is 64 sentences of 14 pieces; sizes are like
the paper's: hidden 256, vocabularies of 8,000. In the authors' logs csparsemax takes 1.65 times the
time of softmax, and csoftmax twice.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable

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
from coverage_eval.papers.reproduction.translator import Attention, Translator
from coverage_eval.special_tokens import SINK

SENTENCES, PIECES, VOCABULARY = 64, 14, 8000
LIMIT = 1.15
ROUNDS = 8
ATTENTIONS = {
    "softmax": Attention(),
    "softmax + COVVECTOR": Attention(coverage=True),
    "sparsemax": Attention("sparsemax"),
    "csoftmax, c = 0.2": Attention("constrained_softmax", exhaustion=0.2),
    "csparsemax, c = 0.2": Attention("constrained_sparsemax", exhaustion=0.2),
}


def batch() -> tuple[Minibatch, Vocabulary]:
    """Random pieces, with fertilities from 1 to 3, and that of the sink."""
    vocabulary = Vocabulary([SINK, *map(str, range(VOCABULARY - 5))])
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


def training_step(attention: Attention) -> tuple[Callable[[], None], Translator]:
    """One step of SGD on the batch."""
    torch.manual_seed(0)
    made, vocabulary = batch()
    model = Translator(PRESETS["small"], attention, len(vocabulary), len(vocabulary))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step() -> None:
        loss, _ = translation_loss(model, made)
        optimizer.zero_grad(set_to_none=True)
        (loss / SENTENCES).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()

    return step, model


def main() -> None:
    torch.set_num_threads(1)
    steps = {name: training_step(attention)[0] for name, attention in ATTENTIONS.items()}
    times: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(ROUNDS):
        for name, step in steps.items():  # in turns: a busy machine slows all of them
            start = time.process_time()
            step()
            times[name].append(time.process_time() - start)
    least = {name: min(values) for name, values in times.items()}
    words = SENTENCES * (PIECES + 1)
    for name, seconds in least.items():
        ratio = seconds / least["softmax"]
        limit = f"(at most {LIMIT})" if name.startswith("c") else ""
        print(
            f"training step, {name:<20} {seconds:7.3f} s {words / seconds:8.0f} target pieces/s "
            f"{ratio:6.2f} × softmax {limit}"
        )
    made, _ = batch()
    for name, attention in ATTENTIONS.items():
        model = training_step(attention)[1].eval()
        start = time.process_time()
        beam_search(model, made, size=10)
        seconds = time.process_time() - start
        print(f"beam search of 10, {name:<18} {SENTENCES / seconds:7.1f} sentences/s (untrained)")


if __name__ == "__main__":
    main()
