"""The folder of an experiment: what it was made from, and where its parts are.

``manifest.json`` has everything that moved a number. A folder goes on only with the settings and
corpora that it began with::

    RUN/manifest.json       settings, corpora by hash, versions, what was trained and decoded
    RUN/prepared/           byte pairs, links, the word aligner
    RUN/models/NAME/        checkpoint.pt, best.pt and epochs.jsonl of a training
    RUN/systems/NAME/       translations, n-best lists and attention of a system
    RUN/test.src, test.ref  the test set
    RUN/TABLE.csv           a table's scores with intervals and signatures
    RUN/TABLE.scores.csv    the same figures for ``audit TABLE --scores``
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from coverage_eval.errors import DataError
from coverage_eval.nmt.corpora import Corpora
from coverage_eval.nmt.presets import Preset
from coverage_eval.nmt.run_manifest import MANIFEST, open_manifest, read_manifest, write_record

HYPOTHESES = "test.hyp"
"""The translations of a system's folder; written last, so that the folder is complete with it."""


@dataclass(frozen=True)
class Tuning:
    """How the weights of COVPENALTY are chosen, from the paper's grid and on validation text.

    Attributes:
        by: ``beam`` decodes the text with every pair of weights in the beam; ``lists`` rescores the
            n-best lists of a beam without them.
        sentences: Of the validation text, from the first; None for all. Lists are always of all.
    """

    by: str = "lists"
    sentences: int | None = None


@dataclass(frozen=True)
class RunSettings:
    """What all systems of a run share.

    Attributes:
        preset_name: Name of the preset, for people.
        preset: Sizes and training settings.
        seed: Of parameters, order and dropout.
        beam: Hypotheses a sentence.
        dataset: The column of the printed tables to set the scores beside.
        tuning: Of the systems with penalties. It may change when a run goes on, and these are then
            decoded again; runs whose manifest does not say had lists.
    """

    preset_name: str
    preset: Preset
    seed: int = 1
    beam: int = 10
    dataset: str = "De-En"
    tuning: Tuning = Tuning()


@dataclass(frozen=True)
class RunFolder:
    """An experiment's folder.

    Attributes:
        path: The folder.
        settings: What all systems share.
    """

    path: Path
    settings: RunSettings

    @classmethod
    def open(
        cls, path: Path, corpora: Corpora, settings: RunSettings, *, resume: bool
    ) -> RunFolder:
        """Begin a run, or go on with one.

        Args:
            path: The folder; made if it does not exist.
            corpora: The text files.
            settings: Of the run.
            resume: Whether there may be a run in the folder already.

        Raises:
            DataError: There is a run and ``resume`` is not set; it has other settings or corpora;
                or the folder has other files.
        """
        open_manifest(
            path,
            {"settings": asdict(settings), "corpora": _described(corpora)},
            resume=resume,
            packages=("torch", "tokenizers", "numpy", "sacrebleu"),
            completed=lambda found: found | {"settings": asdict(_settings(found, path / MANIFEST))},
            may_change={f"settings.tuning.{field.name}" for field in fields(Tuning)}
            | {f"corpora.{option}.file" for option in asdict(corpora)},
        )
        return cls(path, settings)

    @classmethod
    def existing(cls, path: Path) -> RunFolder:
        """A run to look at.

        Raises:
            DataError: There is none in the folder.
        """
        manifest = path / MANIFEST
        if not manifest.exists():
            raise DataError(f"{path}: no run is there (it would have a file {MANIFEST})")
        return cls(path, _settings(read_manifest(manifest), manifest))

    @property
    def manifest(self) -> dict[str, Any]:
        """What ``manifest.json`` says."""
        return read_manifest(self.path / MANIFEST)

    def folder(self, *names: str) -> Path:
        """A folder inside, made if it does not exist."""
        path = self.path.joinpath(*names)
        path.mkdir(parents=True, exist_ok=True)
        return path

    def system(self, name: str) -> Path:
        """The folder of a system's translations, which may not exist."""
        return self.path / "systems" / name

    def has_decoded(self, name: str) -> bool:
        """Whether a system's translations are complete."""
        return (self.system(name) / HYPOTHESES).exists()

    def note(self, part: str, content: Mapping[str, Any]) -> None:
        """Keep what is known of a part that was made."""
        manifest = self.manifest
        manifest.setdefault("made", {})[part] = dict(content)
        write_record(self.path / MANIFEST, manifest)


def _described(corpora: Corpora) -> dict[str, dict[str, str]]:
    """Name and hash of each file; the folders that they are in move no number."""
    hashes = corpora.hashes()
    return {
        option: {"file": Path(path).name, "sha256": hashes[option]}
        for option, path in asdict(corpora).items()
    }


def _settings(manifest: Mapping[str, Any], where: Path) -> RunSettings:
    """The settings that a manifest has; what a field says that it lacks is its default."""
    found = manifest["settings"]
    if not {"preset", "seed"} <= set(found):
        raise DataError(f"{where}: is not the manifest of a run of table1 or table2")
    try:
        parts = {"preset": Preset(**found["preset"]), "tuning": Tuning(**found.get("tuning", {}))}
        return RunSettings(**{**found, **parts})
    except (TypeError, ValueError) as error:
        raise DataError(f"{where}: settings of no run: {error}") from error
