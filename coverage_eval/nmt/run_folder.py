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

import json
import os
import shlex
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from coverage_eval.errors import DataError
from coverage_eval.nmt.corpora import Corpora
from coverage_eval.nmt.presets import Preset
from coverage_eval.text.files import atomic_write
from coverage_eval.version import __version__

__all__ = ["MANIFEST", "RunFolder", "RunSettings"]

MANIFEST = "manifest.json"


@dataclass(frozen=True)
class RunSettings:
    """What all systems of a run share.

    Attributes:
        preset_name: Name of the preset, for people.
        preset: Sizes and training settings.
        seed: Of parameters, order and dropout.
        beam: Hypotheses a sentence.
        dataset: The column of the printed tables to set the scores beside.
    """

    preset_name: str
    preset: Preset
    seed: int = 1
    beam: int = 10
    dataset: str = "De-En"


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
        wanted = {"settings": asdict(settings), "corpora": _described(corpora)}
        manifest = path / MANIFEST
        if manifest.exists():
            if not resume:
                raise DataError(
                    f"{path}: has a run already; go on with --resume, or name a new folder"
                )
            _check_same(_read(manifest), wanted, manifest)
        elif path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise DataError(f"{path}: is there already, and is no run; name a new folder")
        path.mkdir(parents=True, exist_ok=True)
        run = cls(path, settings)
        if not manifest.exists():
            run._write({**wanted, "made": {}, "sessions": []})
        run._note_session()
        return run

    @classmethod
    def existing(cls, path: Path) -> RunFolder:
        """A run to look at.

        Raises:
            DataError: There is none in the folder.
        """
        if not (path / MANIFEST).exists():
            raise DataError(f"{path}: no run is there (it would have a file {MANIFEST})")
        settings = _read(path / MANIFEST)["settings"]
        try:
            preset = Preset(**settings["preset"])
            return cls(path, RunSettings(**{**settings, "preset": preset}))
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"{path / MANIFEST}: settings of no run: {error}") from error

    @property
    def manifest(self) -> dict[str, Any]:
        """What ``manifest.json`` says."""
        return _read(self.path / MANIFEST)

    def folder(self, *names: str) -> Path:
        """A folder inside, made if it does not exist."""
        path = self.path.joinpath(*names)
        path.mkdir(parents=True, exist_ok=True)
        return path

    def note(self, part: str, content: Mapping[str, Any]) -> None:
        """Keep what is known of a part that was made."""
        manifest = self.manifest
        manifest["made"][part] = dict(content)
        self._write(manifest)

    def _note_session(self) -> None:
        """Keep the command and the versions; results may depend on the number of threads."""
        import torch

        manifest = self.manifest
        session = {
            "command": shlex.join(["coverage-eval", *map(_without_folders, sys.argv[1:])]),
            "coverage-eval": __version__,
            "threads": torch.get_num_threads(),
            **{name: version(name) for name in ("torch", "tokenizers", "numpy", "sacrebleu")},
        }
        if session not in manifest["sessions"]:
            manifest["sessions"].append(session)
            self._write(manifest)

    def _write(self, content: dict[str, Any]) -> None:
        with atomic_write(self.path / MANIFEST) as file:
            json.dump(content, file, indent=1, ensure_ascii=False)
            file.write("\n")


def _without_folders(argument: str) -> str:
    """Where files are on this machine moves no number, and is nobody's business."""
    return Path(argument).name if os.sep in argument else argument


def _described(corpora: Corpora) -> dict[str, dict[str, str]]:
    """Name and hash of each file; the folders that they are in move no number."""
    hashes = corpora.hashes()
    return {
        option: {"file": Path(path).name, "sha256": hashes[option]}
        for option, path in asdict(corpora).items()
    }


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: cannot be read: {error}") from error
    parts = {"settings": dict, "corpora": dict, "made": dict, "sessions": list}
    if not isinstance(content, dict) or any(
        not isinstance(content.get(name), kind) for name, kind in parts.items()
    ):
        raise DataError(f"{path}: is not the manifest of a run")
    return content


def _check_same(found: dict[str, Any], wanted: dict[str, Any], where: Path) -> None:
    """Refuse to mix results of other settings or other text into a run."""
    for part in ("settings", "corpora"):
        old, new = _flat(found[part]), _flat(wanted[part])
        for name in sorted(set(old) | set(new)):
            if old.get(name) != new.get(name) and not name.endswith(".file"):
                raise DataError(
                    f"{where}: the run began with {name} {old.get(name)}, not {new.get(name)}; "
                    "name a new folder"
                )


def _flat(values: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{before}{name}.")
        else:
            flat[f"{before}{name}"] = value
    return flat
