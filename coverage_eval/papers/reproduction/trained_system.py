"""A system of a finished run: translate other text with it, and replay it in NumPy.

PyTorch computed each translation's attention in a beam of several hypotheses, in batches. The
replay runs the same pieces through the NumPy encoder, decoder and attention step of
:mod:`coverage_eval.attention`, and must give the attention that decoding wrote.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch

from coverage_eval.attention import (
    AdditiveScore,
    AttentionStep,
    BilinearScore,
    DecoderWeights,
    EncoderWeights,
    ForcedDecoding,
    LSTMWeights,
    ModelWeights,
    encode,
    force_decode,
)
from coverage_eval.attention.fertility import constant
from coverage_eval.attention_maps.fertility_files import read_fertilities
from coverage_eval.attention_maps.load import load
from coverage_eval.errors import DataError
from coverage_eval.papers.claims import Claim, Fact, agree
from coverage_eval.papers.reproduction.bitext import (
    BLANK,
    BYTE_PAIRS,
    SOURCE_VOCABULARY,
    START,
    TARGET_VOCABULARY,
    Bounds,
    BytePairs,
    Minibatch,
    PieceText,
    Vocabulary,
    make_minibatches,
)
from coverage_eval.papers.reproduction.decoding import Penalties, Translation, read_best, translate
from coverage_eval.papers.reproduction.fertilities import (
    ADDED,
    PREDICTOR,
    FertilityPredictor,
    predict_fertilities,
    with_sinks,
)
from coverage_eval.papers.reproduction.paper_systems import Attention, System, all_systems
from coverage_eval.papers.reproduction.run_folder import FERTILITIES, RunFolder
from coverage_eval.papers.reproduction.training import BEST, load_checkpoint
from coverage_eval.papers.reproduction.translator import Translator
from coverage_eval.special_tokens import SINK
from coverage_eval.torch import AdditiveScorer
from fast_align_wrapper.text import tokenize

ATTENTION_LIMIT = 1e-4
"""Largest difference of attention; one side has single precision."""

LOG_LIMIT = 1e-2
"""Largest difference of a translation's log-probability, a sum over its pieces."""

_TRANSLATED, _REPLAYED = 32, 50  # sentences at once


@dataclass(frozen=True)
class TrainedSystem:
    """A system with its trained model.

    Attributes:
        run: The run that trained it.
        system: The row of the table.
        model: The model, in evaluation mode, on the CPU.
        source: Vocabulary of the source side.
        target: Vocabulary of the target side.
    """

    run: RunFolder
    system: System
    model: Translator
    source: Vocabulary
    target: Vocabulary

    @classmethod
    def load(cls, run: RunFolder, system: System) -> TrainedSystem:
        """Read vocabularies and the best epoch's parameters.

        Raises:
            DataError: They are missing or damaged.
        """
        source, target = (
            Vocabulary.load(run.path / "prepared" / name)
            for name in (SOURCE_VOCABULARY, TARGET_VOCABULARY)
        )
        model = Translator(run.settings.preset, system.attention, len(source), len(target))
        model.load_state_dict(_parameters(run, system.model))
        return cls(run, system, model.eval(), source, target)

    def translate(self, lines: Iterable[str]) -> tuple[PieceText, list[list[Translation]]]:
        """Translate tokenised text in the same way as the test set.

        Args:
            lines: The segments.

        Returns:
            The text in pieces, and for each segment its hypotheses, the best first.

        Raises:
            DataError: The system's fertilities need more than the source text, or the weights of
                its penalties are unknown.
        """
        penalties = None
        if self.system.penalized:
            note = self.run.manifest.get("made", {}).get(self.system.folder)
            if note is None:
                raise DataError(f"{self.run.path}: {self.system.name} is not finished yet")
            penalties = Penalties(note["alpha"], note["beta"])
        pairs = BytePairs.load(self.run.path / "prepared" / BYTE_PAIRS)
        sources = [(*pairs.split(tokenize(line)), SINK) for line in lines]
        text = PieceText(sources, [()] * len(sources))
        return text, translate(
            self.model,
            text,
            make_minibatches(text, self.source, self.target, self._bounds(text), size=_TRANSLATED),
            self.target,
            beam=self.run.settings.beam,
            penalties=penalties,
            label=self.system.name,
        )

    def _bounds(self, text: PieceText) -> Bounds | None:
        fertility = self.system.fertility
        if fertility is None:
            return None
        if fertility.strategy == "constant":
            rows = [constant(len(source) - 1, fertility.value) for source in text.sources]
        elif fertility.strategy == "predicted":
            model = FertilityPredictor(self.run.settings.preset, len(self.source))
            model.load_state_dict(_parameters(self.run, PREDICTOR))
            batches = make_minibatches(text, self.source, self.target, size=_TRANSLATED)
            rows = [row + ADDED for row in predict_fertilities(model, batches)]
        else:
            raise DataError(
                f"{self.system.name}: {fertility} fertilities need the training text, which is not "
                "kept with the run"
            )
        return with_sinks(rows)


def _parameters(run: RunFolder, model: str) -> dict[str, torch.Tensor]:
    content = load_checkpoint(run.path / "models" / model / BEST)
    parameters: dict[str, torch.Tensor] = content["model"]
    return parameters


def numpy_weights(model: Translator) -> ModelWeights:
    """The model's parameters as arrays, arranged for the replay."""
    arrays = {name: value.cpu().double().numpy() for name, value in model.state_dict().items()}

    def layer(pattern: str) -> LSTMWeights:
        parts = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        return LSTMWeights(*(arrays[pattern.format(part)] for part in parts))

    layers = range(len(model.decoder))
    encoder = EncoderWeights(
        arrays["source_embedding.weight"],
        tuple((layer(f"encoder.{{}}_l{k}"), layer(f"encoder.{{}}_l{k}_reverse")) for k in layers),
    )
    decoder = DecoderWeights(
        arrays["target_embedding.weight"],
        tuple(layer(f"decoder.{k}.{{}}") for k in layers),
        arrays["joined.weight"],
        arrays["output.weight"],
        arrays["output.bias"],
    )
    # The scores' fields have the names of the scorers' parameters.
    prefix = "attention.scorer."
    scorer = {n.removeprefix(prefix): a for n, a in arrays.items() if n.startswith(prefix)}
    if isinstance(model.attention.scorer, AdditiveScorer):
        return ModelWeights(encoder, decoder, AdditiveScore(**scorer))
    score = BilinearScore(scorer["weight"], scorer.get("coverage"), "text")
    return ModelWeights(encoder, decoder, score)


def replay(weights: ModelWeights, attention: Attention, batch: Minibatch) -> ForcedDecoding:
    """Decode a batch's given targets, with end symbols, in NumPy and in double precision.

    Args:
        weights: The model's weights.
        attention: The model's attention.
        batch: A batch on the CPU; its sources end in sinks.
    """
    step = AttentionStep(weights.score, attention.transformation, attention.exhaustion)
    encoding = encode(batch.sources.numpy(), weights.encoder, lengths=batch.lengths.numpy())
    targets = batch.after.numpy()
    fertilities = batch.fertilities if attention.constrained else None
    return force_decode(
        targets,
        encoding,
        weights.decoder,
        step,
        start=START,
        target_lengths=np.asarray((targets != BLANK).sum(axis=1)),
        fertilities=None if fertilities is None else fertilities.numpy(),
    )


def replay_claim(run: RunFolder, *, segments: int) -> Claim:
    """The claim that the replay gives the attention of all finished systems of a run.

    Args:
        run: The run.
        segments: The number of test sentences to replay, from the first.

    Raises:
        DataError: No system is finished, or a file of the run is damaged.
    """
    finished = [system for system in all_systems() if run.has_decoded(system.folder)]
    if not finished:
        raise DataError(f"{run.path}: no system is finished yet")
    facts = [fact for system in finished for fact in _replayed(run, system, segments)]
    return Claim(
        "the NumPy encoder, decoder and attention step give the attention that decoding wrote",
        run.path.name,
        tuple(facts),
        f"For the best translation of each of the first {segments} test sentences (of all, if "
        f"there are fewer); attention to {ATTENTION_LIMIT:g}, log-probabilities to {LOG_LIMIT:g}.",
    )


def _replayed(run: RunFolder, system: System, segments: int) -> tuple[Fact, Fact]:
    folder = run.system(system.folder)
    trained = TrainedSystem.load(run, system)
    maps = load(folder / "test.attention.npz")[:segments]
    best = read_best(folder, trained.target)[:segments]
    bounds = None
    if system.attention.constrained:
        bounds = list(read_fertilities(folder / FERTILITIES))[:segments]
    targets = [tuple(trained.target.pieces[n] for n in numbers) for numbers, _ in best]
    text = PieceText([item.source or () for item in maps], targets)
    batches = make_minibatches(text, trained.source, trained.target, bounds, size=_REPLAYED)
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
