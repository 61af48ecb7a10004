"""From a parallel corpus to the systems of a table: prepare, train, decode; what is done stays.

Each part is kept in the run's folder when it is complete, and made only if it is not there. So a
run that was killed goes on where it stood, and a system that is finished is never trained again.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from coverage_eval.alignment.fertility_files import format_fertilities
from coverage_eval.data.files import atomic_path, read_segments, write_lines
from coverage_eval.nmt.beam import Penalties
from coverage_eval.nmt.bitext import Bitext, PieceText, prepare
from coverage_eval.nmt.bounds import Bounds, Fertility, FertilityBounds
from coverage_eval.nmt.corpora import Corpora
from coverage_eval.nmt.decoding import (
    Translation,
    best_texts,
    translate,
    write_attention,
    write_nbest,
)
from coverage_eval.nmt.minibatches import Minibatch, make_minibatches
from coverage_eval.nmt.optimisation import Objective, train
from coverage_eval.nmt.predictor import PREDICTOR, FertilityPredictor, predict_fertilities
from coverage_eval.nmt.roster import System
from coverage_eval.nmt.run_folder import HYPOTHESES, RunFolder, Tuning
from coverage_eval.nmt.translator import Translator
from coverage_eval.nmt.tuning import candidates_of, tune_by_beam, tune_by_lists

RESCORED = "test.rescored.hyp"
"""What rescoring n-best lists chooses, in the folder of a system with penalties."""

TUNING = "tuning.jsonl"
"""BLEU of the validation text under each pair of weights in the beam, as far as it is known."""

FERTILITIES = "test.fertilities"
"""The bounds of the test sources, their sinks' included; of systems that have bounds."""

_DECODED = 32  # sentences decoded at once


@dataclass(frozen=True)
class Experiment:
    """A run with its corpora.

    Attributes:
        run: The folder.
        corpora: The text files.
        device: Where to compute.
    """

    run: RunFolder
    corpora: Corpora
    device: torch.device

    @cached_property
    def bitext(self) -> Bitext:
        """The corpora in pieces, prepared once."""
        preset = self.run.settings.preset
        bitext = prepare(
            self.run.folder("prepared"),
            self.corpora,
            merges=preset.merges,
            max_length=preset.max_length,
        )
        for option, name in (("test_src", "test.src"), ("test_ref", "test.ref")):
            with atomic_path(self.run.path / name) as temporary:
                shutil.copyfile(getattr(self.corpora, option), temporary)
        self.run.note(
            "corpora",
            {
                "training pairs": len(bitext.train.sources),
                "left out": bitext.left_out,
                "source vocabulary": len(bitext.source),
                "target vocabulary": len(bitext.target),
                "fertilities from": "fast_align on pieces, grow-diag-final-and",
            },
        )
        return bitext

    @cached_property
    def bounds(self) -> FertilityBounds:
        """Fertilities, with a predictor that is trained when they are first asked for."""
        return FertilityBounds(self.bitext, self._predicted)

    def _predicted(self) -> tuple[Bounds, Bounds]:
        torch.manual_seed(self.run.settings.seed)
        sizes = (self.run.settings.preset, len(self.bitext.source))
        model = FertilityPredictor(*sizes).to(self.device)
        actual, bounds = Fertility("actual"), FertilityBounds(self.bitext)
        self._train(
            model,
            model.objective,
            PREDICTOR,
            (bounds.train(actual), bounds.valid(actual)),
            label="fertility predictor",
        )
        valid, test = (
            predict_fertilities(model, self._batches(text))
            for text in (self.bitext.valid, self.bitext.test)
        )
        return valid, test

    def _batches(
        self, text: PieceText, bounds: Bounds | None = None, size: int | None = None
    ) -> list[Minibatch]:
        return make_minibatches(
            text,
            self.bitext.source,
            self.bitext.target,
            bounds,
            size=size or self.run.settings.preset.batch,
        )

    def make(self, system: System) -> bool:
        """Train and decode a system, as far as that is not done; False if all of it was."""
        folder = self.run.folder("systems", system.folder)
        if self._is_made(system):
            return False
        model = self.trained(system)
        (folder / HYPOTHESES).unlink(missing_ok=True)
        penalties = self._tuned(system, model) if system.penalized else None
        bounds = None if system.fertility is None else self.bounds.test(system.fertility)
        label = f"{system.name}: test set"
        lists = self._translate(model, self.bitext.test, bounds, penalties, label=label)
        if bounds is not None:
            write_lines(folder / FERTILITIES, map(format_fertilities, bounds))
        write_nbest(folder, "test", lists)
        write_attention(folder / "test.attention.npz", self.bitext.test, lists)
        write_lines(folder / HYPOTHESES, best_texts(lists))
        return True

    def _is_made(self, system: System) -> bool:
        """Whether it is decoded; if with penalties, with weights chosen as the run chooses them."""
        if not self.run.has_decoded(system.folder):
            return False
        note = self.run.manifest.get("made", {}).get(system.folder, {})
        tuned = note.get("tuning", asdict(Tuning()))
        return not system.penalized or tuned == asdict(self.run.settings.tuning)

    def trained(self, system: System) -> Translator:
        """The model of a system, trained if it is not."""
        torch.manual_seed(self.run.settings.seed)
        sizes = (len(self.bitext.source), len(self.bitext.target))
        model = Translator(self.run.settings.preset, system.attention, *sizes).to(self.device)
        bounds: tuple[Bounds | None, Bounds | None] = (None, None)
        if system.fertility is not None:
            bounds = (self.bounds.train(system.fertility), self.bounds.valid(system.fertility))
        self._train(
            model,
            lambda batch: translation_loss(model, batch),
            system.model,
            bounds,
            label=system.model,
        )
        return model

    def _train(
        self,
        model: nn.Module,
        objective: Objective,
        name: str,
        bounds: tuple[Bounds | None, Bounds | None],
        *,
        label: str,
    ) -> None:
        """Train under bounds of training and validation sources, and note what came of it."""
        state = train(
            model,
            objective,
            self._batches(self.bitext.train, bounds[0]),
            self._batches(self.bitext.valid, bounds[1]),
            self.run.settings.preset,
            self.run.folder("models", name),
            seed=self.run.settings.seed,
            label=label,
        )
        words = sum(record["words"] for record in state.epochs)
        seconds = sum(record["seconds"] for record in state.epochs)
        self.run.note(
            name,
            {
                "epochs": len(state.epochs),
                "best epoch": state.best["epoch"],
                "valid perplexity": state.best["valid_perplexity"],
                "words per second": round(words / max(seconds, 1e-9), 1),
            },
        )

    def _tuned(self, system: System, model: Translator) -> Penalties:
        """Choose α and β on the validation text.

        The translations that rescoring alone chooses of the lists of the system without penalties,
        with weights that were chosen on such lists, are kept beside.
        """
        self.make(replace(system, penalized=False))
        folder = self.run.folder("systems", system.folder)
        tuning = self.run.settings.tuning
        bounds = None if system.fertility is None else self.bounds.valid(system.fertility)
        references = list(read_segments(self.corpora.valid_tgt))
        label = f"{system.name}: validation set"
        write_nbest(folder, "valid", self._translate(model, self.bitext.valid, bounds, label=label))
        of_lists = weights = tune_by_lists(folder / "valid", references)
        plain = candidates_of(self.run.system(system.model) / "test")
        write_lines(folder / RESCORED, plain.chosen_texts(of_lists.best.alpha, of_lists.best.beta))
        self.run.note(f"{system.folder}, rescoring", of_lists.note())
        if tuning.by == "beam":
            text = self.bitext.valid.first(tuning.sentences)
            weights = tune_by_beam(
                lambda penalties: best_texts(
                    self._translate(model, text, bounds, penalties, label=label)
                ),
                references[: tuning.sentences],
                folder / TUNING,
                label=f"{system.name}: α and β",
            )
        self.run.note(system.folder, {"tuning": asdict(tuning), **weights.note()})
        return weights.penalties

    def _translate(
        self,
        model: Translator,
        text: PieceText,
        bounds: Bounds | None,
        penalties: Penalties | None = None,
        *,
        label: str,
    ) -> list[list[Translation]]:
        return translate(
            model,
            text,
            self._batches(text, bounds, _DECODED),
            self.bitext.target,
            beam=self.run.settings.beam,
            penalties=penalties,
            label=label,
        )


def translation_loss(model: Translator, batch: Minibatch) -> tuple[Tensor, int]:
    """Summed cross entropy of a batch's words; the output layer runs over all of them at once."""
    attentional, _ = model.decode(batch)
    scores = model.output(attentional.flatten(0, 1)[batch.places])
    loss = cross_entropy(scores, batch.after.flatten()[batch.places], reduction="sum")
    return loss, batch.words


def hypotheses_of(run: RunFolder, systems: Sequence[System]) -> dict[str, list[str]]:
    """The test set as each finished system translated it, by its name.

    Where penalties are in the beam, what they choose of the plain beam's lists comes next.
    """
    found = {}
    for system in systems:
        if run.has_decoded(system.folder):
            folder = run.system(system.folder)
            found[system.name] = list(read_segments(folder / HYPOTHESES))
            if system.penalized:
                found[f"{system.name}, rescoring"] = list(read_segments(folder / RESCORED))
    return found
