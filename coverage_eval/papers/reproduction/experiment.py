"""From a parallel corpus to the systems of a table: prepare, train, decode, and keep each part.

Each part is kept in the run's folder when it is complete, and made only if it is missing. So a
killed run continues where it stopped, and a finished system is never trained again.

COVPENALTY has two weights, α and β. The pair from the paper's grid with the best BLEU on the
validation text is chosen in one of two ways: decode the text with each pair in the beam, or rescore
the n-best lists of a beam without penalties. The second way needs one decoding only, but sees no
hypothesis that this beam has lost.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from itertools import product
from pathlib import Path
from typing import Any

import torch
from torch import nn
from tqdm import tqdm

from coverage_eval.attention_maps.fertility_files import format_fertilities
from coverage_eval.data.files import atomic_path, read_segments, write_lines
from coverage_eval.errors import DataError
from coverage_eval.metrics.sacrebleu_adapters import BLEU
from coverage_eval.metrics.score import Signature
from coverage_eval.papers.reproduction.bitext import (
    BYTE_PAIRS,
    SOURCE_VOCABULARY,
    TARGET_VOCABULARY,
    Bitext,
    Bounds,
    Minibatch,
    PieceText,
    make_minibatches,
    prepare,
)
from coverage_eval.papers.reproduction.decoding import (
    Penalties,
    Translation,
    best_texts,
    translate,
    write_attention,
    write_nbest,
)
from coverage_eval.papers.reproduction.fertilities import (
    PREDICTOR,
    FertilityBounds,
    FertilityPredictor,
    predict_fertilities,
)
from coverage_eval.papers.reproduction.paper_systems import Fertility, System, find_systems
from coverage_eval.papers.reproduction.run_folder import (
    FERTILITIES,
    HYPOTHESES,
    PRESETS,
    RESCORED,
    VALID_HYPOTHESES,
    Corpora,
    RunFolder,
    RunSettings,
    Tuning,
)
from coverage_eval.papers.reproduction.run_results import RunTable, candidates_of, score_run
from coverage_eval.papers.reproduction.training import Objective, train
from coverage_eval.papers.reproduction.translator import Translator, translation_loss
from coverage_eval.papers.rescoring import (
    GRID,
    GridPoint,
    best_point,
    grid_search,
)
from fast_align_wrapper.files import file_sha256

TUNING = "tuning.jsonl"
"""BLEU of the validation text for each pair of weights that the beam has tried."""

_DECODED = 32  # sentences decoded at once
_BLEU = BLEU(tokenize="none", lowercase=True)


@dataclass(frozen=True)
class TunedPenalties:
    """The chosen weights, and the grid that they were chosen from.

    Attributes:
        best: The chosen pair with its BLEU.
        points: All pairs with their BLEU.
        signature: The signature of that BLEU.
    """

    best: GridPoint
    points: tuple[GridPoint, ...]
    signature: str

    @property
    def penalties(self) -> Penalties:
        """The weights as the beam takes them."""
        return Penalties(self.best.alpha, self.best.beta)

    def note(self) -> dict[str, Any]:
        """The weights as the manifest records them."""
        return {
            "alpha": self.best.alpha,
            "beta": self.best.beta,
            "valid BLEU": self.best.bleu,
            "signature": self.signature,
            "grid": [[point.alpha, point.beta, round(point.bleu, 4)] for point in self.points],
        }


def tune_by_lists(path: Path, references: Sequence[str]) -> TunedPenalties:
    """Choose by rescoring n-best lists, as ``coverage-eval rescore`` does.

    Args:
        path: The lists' path, without the endings ``.nbest`` and ``.coverage.jsonl``.
        references: The references of the validation text.
    """
    search = grid_search(candidates_of(path), references, metric=_BLEU)
    return TunedPenalties(search.best, search.points, str(search.score.signature))


def tune_by_beam(
    decode: Callable[[Penalties], Sequence[str]],
    references: Sequence[str],
    kept: Path,
    *,
    label: str,
) -> TunedPenalties:
    """Choose by decoding with every pair of weights.

    Args:
        decode: Translates the validation text with penalties in the beam.
        references: The references of the decoded sentences.
        kept: A file with the BLEU of each pair, one JSON object per line. A killed search continues
            from it; pairs that were tried on another number of sentences are ignored.
        label: Text before the progress bar.
    """
    records = [json.loads(line) for line in read_segments(kept)] if kept.exists() else []
    points = [GridPoint(**r["point"]) for r in records if r["sentences"] == len(references)]
    found = {(point.alpha, point.beta): point for point in points}
    pairs = [pair for pair in product(GRID, GRID) if pair not in found]
    total = len(found) + len(pairs)
    with tqdm(
        pairs, initial=len(found), total=total, desc=label, unit="decoding", disable=None,
        leave=False,
    ) as bar:  # fmt: skip
        for alpha, beta in bar:
            score = _BLEU.corpus_score(decode(Penalties(alpha, beta)), references)
            found[alpha, beta] = GridPoint(alpha, beta, float(score))
            records = [{"sentences": len(references), "point": asdict(p)} for p in found.values()]
            write_lines(kept, map(json.dumps, records))
    points = list(found.values())
    best = best_point(points)
    signed = _BLEU.sign(references=1)
    settings = (*signed.settings[:-1], *Penalties(best.alpha, best.beta).settings)
    signature = Signature(signed.metric, (*settings, signed.settings[-1]))
    return TunedPenalties(best, tuple(points), str(signature))


@dataclass(frozen=True)
class Experiment:
    """A run with its corpora.

    Attributes:
        run: The folder.
        corpora: The text files.
        device: Where PyTorch computes.
    """

    run: RunFolder
    corpora: Corpora
    device: torch.device

    @cached_property
    def bitext(self) -> Bitext:
        """The corpora in pieces."""
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
                "sha256": {
                    name: file_sha256(self.run.path / "prepared" / name)
                    for name in (BYTE_PAIRS, SOURCE_VOCABULARY, TARGET_VOCABULARY)
                },
            },
        )
        return bitext

    @cached_property
    def bounds(self) -> FertilityBounds:
        """Fertilities; the predictor is trained when its first ones are needed."""
        return FertilityBounds(self.bitext, self._predicted)

    def _predicted(self) -> dict[str, Bounds]:
        torch.manual_seed(self.run.settings.seed)
        model = FertilityPredictor(self.run.settings.preset, len(self.bitext.source))
        model = model.to(self.device)
        fertility, label = Fertility("actual"), "fertility predictor"
        self._train(model, model.objective, PREDICTOR, fertility, label=label)
        return {
            part: predict_fertilities(model, self._batches(text))
            for part, text in (("valid", self.bitext.valid), ("test", self.bitext.test))
        }

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
        """Train and decode a system unless this is done; return whether anything was to do."""
        folder = self.run.folder("systems", system.folder)
        note = self.run.manifest.get("made", {}).get(system.folder, {})
        # Weights of penalties do not count if they were chosen in another way.
        tuned = note.get("tuning", asdict(Tuning())) == asdict(self.run.settings.tuning)
        if self.run.has_decoded(system.folder) and (tuned or not system.penalized):
            return False
        model = self._trained(system)
        (folder / HYPOTHESES).unlink(missing_ok=True)
        penalties = self._tuned(system, model) if system.penalized else None
        bounds = self.bounds.of("test", system.fertility)
        label = f"{system.name}: test set"
        lists = self._translate(model, self.bitext.test, bounds, penalties, label=label)
        if bounds is not None:
            write_lines(folder / FERTILITIES, map(format_fertilities, bounds))
        write_nbest(folder, "test", lists)
        write_attention(folder / "test.attention.npz", self.bitext.test, lists)
        write_lines(folder / HYPOTHESES, best_texts(lists))
        return True

    def _trained(self, system: System) -> Translator:
        """The model of a system, trained if necessary."""
        torch.manual_seed(self.run.settings.seed)
        sizes = (len(self.bitext.source), len(self.bitext.target))
        model = Translator(self.run.settings.preset, system.attention, *sizes).to(self.device)
        objective = partial(translation_loss, model)
        self._train(model, objective, system.model, system.fertility, label=system.model)
        return model

    def _train(
        self,
        model: nn.Module,
        objective: Objective,
        name: str,
        fertility: Fertility | None,
        *,
        label: str,
    ) -> None:
        """Train with the bounds of training and validation sources, and record the result."""
        train_bounds, valid_bounds = (self.bounds.of(p, fertility) for p in ("train", "valid"))
        state = train(
            model,
            objective,
            self._batches(self.bitext.train, train_bounds),
            self._batches(self.bitext.valid, valid_bounds),
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

        Two files are kept for comparison: the test set's translations that rescoring alone would
        choose, with weights chosen the same way, and the beam's translations of the validation
        text with the chosen weights.
        """
        self.make(replace(system, penalized=False))
        folder = self.run.folder("systems", system.folder)
        tuning = self.run.settings.tuning
        bounds = self.bounds.of("valid", system.fertility)
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
            chosen = self._translate(model, text, bounds, weights.penalties, label=label)
            write_lines(folder / VALID_HYPOTHESES, best_texts(chosen))
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


def reproduce_table(
    table: str,
    corpora: Mapping[str, str],
    folder: Path,
    *,
    resume: bool = False,
    preset_name: str = "small",
    size: int | None = None,
    epochs: int | None = None,
    halve_from: int | None = None,
    merges: int | None = None,
    seed: int = 1,
    scoring: str = "bilinear",
    beam: int = 10,
    tune_by: str = "beam",
    tune_on: int | None = None,
    dataset: str = "De-En",
    names: Sequence[str] = (),
    device: str = "cpu",
) -> RunTable:
    """Make the missing systems of a table, and score all of them.

    Args:
        table: ``table1`` or ``table2``.
        corpora: The fields of :class:`Corpora`.
        folder: The run's folder.
        resume: Whether the folder may have a run already.
        preset_name: One of :data:`PRESETS`; ``size`` to ``merges`` and ``scoring`` replace its
            settings.
        size: Size of word vectors and layers.
        epochs: Passes over the training text.
        halve_from: The epoch after which the rate is halved.
        merges: Operations of byte pair encoding.
        seed: Seed of parameters, order and dropout.
        scoring: How attention is scored.
        beam: Hypotheses per sentence.
        tune_by: How the weights of penalties are chosen, see :class:`Tuning`. A run may continue
            with another choice.
        tune_on: The number of validation sentences to choose them on; None for all.
        dataset: Column of the printed table.
        names: Rows to make; all printed ones if empty.
        device: A device, as PyTorch names it.

    Raises:
        DataError: Unreadable or unequal files, another run in the folder, an unknown row or device,
            or a training that diverged.
        AlignerError: The aligner failed.
    """
    changes: dict[str, Any] = {
        "embedding": size,
        "hidden": size,
        "epochs": epochs,
        "halve_from": halve_from,
        "merges": merges,
        "scoring": scoring,
    }
    given = {name: value for name, value in changes.items() if value is not None}
    preset = replace(PRESETS[preset_name], **given)
    try:
        place = torch.device(device)
        torch.empty(0, device=place)
    except (RuntimeError, AssertionError) as error:
        raise DataError(f"device {device}: {str(error).splitlines()[0]}") from None
    systems = find_systems(table, names)
    texts = Corpora(**corpora)
    settings = RunSettings(preset_name, preset, seed, beam, dataset, Tuning(tune_by, tune_on))
    run = RunFolder.open(folder, texts, settings, resume=resume)
    experiment = Experiment(run, texts, place)
    for system in systems[:-1]:
        if experiment.make(system):
            score_run(run, table, systems)  # a table of the finished systems, if the run is killed
    experiment.make(systems[-1])
    return score_run(run, table, systems)
