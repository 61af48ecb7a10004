"""Trained models replayed in NumPy: the attention that decoding wrote down must come out again.

What the beam search wrote of each translation was computed by PyTorch, in batches, one hypothesis
among several; here the same pieces are read by the NumPy encoder, decoder and attention step.
"""

from __future__ import annotations

from coverage_eval.attention_maps.fertility_files import read_fertilities
from coverage_eval.attention_maps.load import load
from coverage_eval.attention_maps.maps import AttentionMap
from coverage_eval.errors import DataError
from coverage_eval.nmt.bitext import PieceText
from coverage_eval.nmt.bounds import Bounds
from coverage_eval.nmt.decoding import read_best
from coverage_eval.nmt.experiment import FERTILITIES
from coverage_eval.nmt.minibatches import Minibatch, make_minibatches
from coverage_eval.nmt.replaying import numpy_weights, replay
from coverage_eval.nmt.roster import System, all_systems
from coverage_eval.nmt.run_folder import RunFolder
from coverage_eval.nmt.trained_system import TrainedSystem
from coverage_eval.published.audits.facts import agree
from coverage_eval.published.claims import Claim, Fact

ATTENTION_LIMIT = 1e-4
"""Attention may differ by so much: one side is in single precision."""

LOG_LIMIT = 1e-2
"""So may the log-probability of a whole translation, a sum over its pieces."""

_BATCH = 50


def replay_claim(run: RunFolder, *, segments: int) -> Claim:
    """The claim that all finished systems of a run come out of the replay.

    Args:
        run: The run.
        segments: How many sentences of the test set to replay, from the first.

    Raises:
        DataError: No system is finished, or files of the run are damaged.
    """
    finished = [system for system in all_systems() if run.has_decoded(system.folder)]
    if not finished:
        raise DataError(f"{run.path}: no system is finished yet")
    facts = [fact for system in finished for fact in _replayed(run, system, segments)]
    return Claim(
        "the NumPy encoder, decoder and attention step give the attention that decoding wrote",
        run.path.name,
        tuple(facts),
        f"The best translation of each of the first {segments} test sentences, or of all if there "
        f"are fewer; attention to {ATTENTION_LIMIT:g}, log-probabilities to {LOG_LIMIT:g}.",
    )


def _replayed(run: RunFolder, system: System, segments: int) -> tuple[Fact, Fact]:
    folder = run.system(system.folder)
    trained = TrainedSystem.load(run, system)
    maps = load(folder / "test.attention.npz")[:segments]
    best = read_best(folder, trained.target)[:segments]
    bounds = None
    if system.attention.constrained:
        bounds = list(read_fertilities(folder / FERTILITIES))[:segments]
    batches = _batches(maps, [numbers for numbers, _ in best], trained, bounds)
    weights = numpy_weights(trained.model)
    attention, logs = [], []
    for batch in batches:
        replayed = replay(weights, system.attention, batch)
        for place, row in enumerate(batch.rows):
            rows, columns = maps[row].weights.shape
            attention.append((maps[row].weights, replayed.attention[place, :rows, :columns]))
            logs.append((best[row][1], replayed.log_probabilities[place].sum()))
    return (
        agree(f"{system.name}: attention", attention, limit=ATTENTION_LIMIT),
        agree(f"{system.name}: log-probability", logs, limit=LOG_LIMIT),
    )


def _batches(
    maps: list[AttentionMap],
    numbers: list[list[int]],
    trained: TrainedSystem,
    bounds: Bounds | None,
) -> list[Minibatch]:
    targets = [tuple(trained.target.pieces[n] for n in row) for row in numbers]
    text = PieceText([item.source or () for item in maps], targets)
    return make_minibatches(text, trained.source, trained.target, bounds, size=_BATCH)
