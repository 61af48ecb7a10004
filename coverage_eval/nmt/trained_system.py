"""A system of a finished run, ready to translate other text than the run's."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch

from coverage_eval.attention.fertility import constant
from coverage_eval.errors import DataError
from coverage_eval.nmt.beam import Penalties
from coverage_eval.nmt.bitext import BYTE_PAIRS, SOURCE_VOCABULARY, TARGET_VOCABULARY, PieceText
from coverage_eval.nmt.bounds import ADDED, Bounds, with_sinks
from coverage_eval.nmt.bpe import BytePairs
from coverage_eval.nmt.checkpoints import load_checkpoint
from coverage_eval.nmt.decoding import Translation, translate
from coverage_eval.nmt.minibatches import make_minibatches
from coverage_eval.nmt.optimisation import BEST
from coverage_eval.nmt.predictor import PREDICTOR, FertilityPredictor, predict_fertilities
from coverage_eval.nmt.roster import System
from coverage_eval.nmt.run_folder import RunFolder
from coverage_eval.nmt.translator import Translator
from coverage_eval.nmt.vocabulary import Vocabulary
from coverage_eval.special_tokens import SINK
from fast_align_wrapper.text import tokenize

_BATCH = 32


@dataclass(frozen=True)
class TrainedSystem:
    """A system with its trained model.

    Attributes:
        run: Where it was trained.
        system: The row of the table.
        model: In evaluation mode, on the processor.
        source: Vocabulary of the source side.
        target: Of the target side.
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
            DataError: They are not there, or damaged.
        """
        source, target = (
            Vocabulary.load(run.path / "prepared" / name)
            for name in (SOURCE_VOCABULARY, TARGET_VOCABULARY)
        )
        model = Translator(run.settings.preset, system.attention, len(source), len(target))
        model.load_state_dict(_parameters(run, system.model))
        return cls(run, system, model.eval(), source, target)

    def translate(self, lines: Iterable[str]) -> tuple[PieceText, list[list[Translation]]]:
        """Translate tokenised text as the test set was translated.

        Args:
            lines: One segment each.

        Returns:
            The text in pieces, and for each segment its hypotheses, the best first.

        Raises:
            DataError: The system's fertilities need more than the source text, or the weights of
                its penalties are not known.
        """
        pairs = BytePairs.load(self.run.path / "prepared" / BYTE_PAIRS)
        sources = [(*pairs.split(tokenize(line)), SINK) for line in lines]
        text = PieceText(sources, [()] * len(sources))
        return text, translate(
            self.model,
            text,
            make_minibatches(text, self.source, self.target, self._bounds(text), size=_BATCH),
            self.target,
            beam=self.run.settings.beam,
            penalties=self._penalties(),
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
            batches = make_minibatches(text, self.source, self.target, size=_BATCH)
            rows = [row + ADDED for row in predict_fertilities(model, batches)]
        else:
            raise DataError(
                f"{self.system.name}: {fertility} fertilities need the training text, which is not "
                "kept with the run"
            )
        return with_sinks(rows)

    def _penalties(self) -> Penalties | None:
        if not self.system.penalized:
            return None
        note = self.run.manifest.get("made", {}).get(self.system.folder)
        if note is None:
            raise DataError(f"{self.run.path}: {self.system.name} is not finished yet")
        return Penalties(note["alpha"], note["beta"])


def _parameters(run: RunFolder, model: str) -> dict[str, torch.Tensor]:
    content = load_checkpoint(run.path / "models" / model / BEST)
    parameters: dict[str, torch.Tensor] = content["model"]
    return parameters
