"""The folder of a run: its settings, and where its parts are.

``manifest.json`` has every setting that affects a number. A run continues only with the settings
and corpora that it began with::

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
import platform
import shlex
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path
from typing import Any

from coverage_eval.data.files import atomic_write, check_source
from coverage_eval.data.json_objects import parse_object
from coverage_eval.errors import DataError
from coverage_eval.version import __version__
from fast_align_wrapper.files import file_sha256

MANIFEST = "manifest.json"

HYPOTHESES = "test.hyp"
"""A system's translations of the test set; written last, so its folder is complete with it."""

RESCORED = "test.rescored.hyp"
"""The translations that rescoring n-best lists chooses, for a system with penalties."""

VALID_HYPOTHESES = "valid.hyp"
"""The beam's translations of the validation text, with the weights that were chosen on it."""

FERTILITIES = "test.fertilities"
"""The bounds of the test sources and their sinks, for systems that have bounds."""

EPOCHS = "epochs.jsonl"
"""The records of a training, one line per epoch."""

WORD_ALIGNER = "words.model"
"""The aligner of whole words, for DROP; one of the prepared files."""


@dataclass(frozen=True)
class Preset:
    """The sizes and training settings that all systems share.

    The authors' values are from section 5 and footnote 4 of Malaviya et al. 2018; the hidden size
    (500, 250 per direction), batches of 64 and SGD at rate 1 are only in their training logs.
    Initial values, clipping and the epoch from which the rate is always halved are the defaults of
    the toolkit they used.

    Attributes:
        embedding: E, size of word vectors.
        hidden: D, units of a decoder layer; each direction of the encoder has half of them.
        layers: LSTM layers of encoder and decoder.
        dropout: Share of units dropped between layers, and of the attentional state.
        merges: Operations of joint byte pair encoding.
        max_length: Training pairs with more pieces on a side are left out.
        batch: Sentences per batch.
        epochs: Passes over the training text.
        rate: SGD's first learning rate.
        halve_from: The rate is halved after this epoch and every later one; from an earlier epoch
            on if validation perplexity rises there.
        patience: Stop after this many epochs without a better validation perplexity.
        clip: The largest norm of the gradient of all parameters.
        initial: Parameters are drawn from −initial to initial.
        scoring: How attention is scored: ``bilinear`` ("general" of Luong et al. 2015), the
            paper's, or ``additive`` ("MLP", Bahdanau et al. 2014).
    """

    embedding: int
    hidden: int
    layers: int = 2
    dropout: float = 0.3
    merges: int = 32_000
    max_length: int = 50
    batch: int = 64
    epochs: int = 13
    rate: float = 1.0
    halve_from: int = 8
    patience: int = 4
    clip: float = 5.0
    initial: float = 0.1
    scoring: str = "bilinear"


PRESETS = {
    "paper": Preset(embedding=500, hidden=500),
    "small": Preset(256, 256, dropout=0.2, merges=4_000, batch=32, epochs=10, halve_from=6),
    "tiny": Preset(32, 64, dropout=0.0, merges=500, batch=16, epochs=4, halve_from=3),
}
"""``paper`` as published (for a GPU), ``small`` for a few CPU hours, ``tiny`` for tests and first
tries. Small corpora need small batches, so that there are enough steps."""


@dataclass(frozen=True)
class Corpora:
    """The text files of an experiment: tokenised, one segment per line, both sides parallel.

    Attributes:
        train_src: Source side of the training text.
        train_tgt: Target side.
        valid_src: Source side of the validation text, which decides rates and penalties.
        valid_tgt: Target side.
        test_src: Source side of the test set.
        test_ref: Its reference.
    """

    train_src: str
    train_tgt: str
    valid_src: str
    valid_tgt: str
    test_src: str
    test_ref: str

    def described(self) -> dict[str, dict[str, str]]:
        """Option → name and SHA-256 of its file, without the folder, which affects no number."""
        check_source(*asdict(self).values())
        return {
            option: {"file": Path(path).name, "sha256": file_sha256(Path(path))}
            for option, path in asdict(self).items()
        }


def open_manifest(
    folder: Path,
    content: Mapping[str, Any],
    *,
    resume: bool,
    packages: Sequence[str],
    completed: Callable[[dict[str, Any]], dict[str, Any]] = dict,
    may_change: Collection[str] = (),
) -> None:
    """Begin a run in a folder, or continue one; record the command and the versions.

    Args:
        folder: The run's folder; made if it does not exist.
        content: The parts of the manifest; an existing manifest must have the same.
        resume: Whether the folder may have a run already.
        packages: Packages whose versions are recorded.
        completed: Adds to an existing manifest what earlier versions did not write.
        may_change: Settings, as ``part.name``, that may differ.

    Raises:
        DataError: There is a run and ``resume`` is not set; it has other settings; or the folder
            has other files.
    """
    path = folder / MANIFEST
    manifest = {**content, "sessions": []}
    if path.exists():
        if not resume:
            raise DataError(
                f"{folder}: already has a run; continue it with --resume, or name a new folder"
            )
        found = completed(read_manifest(path))
        for part, wanted in content.items():
            old, new = _flat(found.get(part, {}), part), _flat(wanted, part)
            for name in {**new, **old}:
                if name not in may_change and old.get(name) != new.get(name):
                    raise DataError(
                        f"{path}: the run began with {name.partition('.')[2]} {old.get(name)}, "
                        f"not {new.get(name)}; name a new folder"
                    )
        manifest = {**found, **content, "sessions": found["sessions"]}
    elif folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DataError(f"{folder}: exists already, but is not a run; name a new folder")
    folder.mkdir(parents=True, exist_ok=True)
    manifest["sessions"].append(_session(packages))
    write_record(path, manifest)


def read_manifest(path: Path) -> dict[str, Any]:
    """The content of a manifest.

    Raises:
        DataError: It cannot be read, or is not a manifest.
    """
    content = read_record(path)
    parts = {"settings": dict, "sessions": list, "corpora": dict, "made": dict}
    known = {"corpora": {}, "made": {}, **content}
    if not all(isinstance(known.get(name), kind) for name, kind in parts.items()):
        raise DataError(f"{path}: is not the manifest of a run")
    return content


def read_record(path: Path) -> dict[str, Any]:
    """The content of a run's JSON file, an object.

    Raises:
        DataError: It cannot be read, or is not an object.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be read: {error}") from error
    return parse_object(text, f"{path}: cannot be read")


def write_record(path: Path, content: Mapping[str, Any]) -> None:
    """Write such a file; if the process is killed, the old one or the new one is there."""
    with atomic_write(path) as file:
        json.dump(content, file, indent=1, ensure_ascii=False)
        file.write("\n")


def _session(packages: Sequence[str]) -> dict[str, Any]:
    """The command, when it started, the versions and the machine.

    Results may depend on the number of threads, and on the kernels that the libraries choose for a
    processor: sums differ in their last bits, and two trainings diverge within an epoch.
    """
    import torch

    return {
        # Folders affect no number, and are private.
        "command": shlex.join(
            ["coverage-eval", *(Path(a).name if os.sep in a else a for a in sys.argv[1:])]
        ),
        "started": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "coverage-eval": __version__,
        "threads": torch.get_num_threads(),
        "processor": _processor(),
        **({"gpu": torch.cuda.get_device_name()} if torch.cuda.is_available() else {}),
        "kernels": {
            "torch": torch.backends.cpu.get_cpu_capability(),
            "mkl": torch.backends.mkl.is_available(),
            "mkldnn": torch.backends.mkldnn.is_available(),
        },
        **{name: version(name) for name in packages},
    }


def _processor() -> str:
    """Name, family and model of the processor from Linux; elsewhere what Python knows."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    pairs = (line.partition(":") for line in lines)
    facts = {name.strip(): value.strip() for name, _, value in pairs}
    known = [facts[name] for name in ("model name", "cpu family", "model") if name in facts]
    return " / ".join(known) or platform.machine()


def _flat(value: Any, name: str) -> dict[str, Any]:
    """The values of nested dictionaries, by names such as ``part.name``."""
    if not isinstance(value, Mapping):
        return {name: value}
    parts = (_flat(inner, f"{name}.{key}") for key, inner in value.items())
    return {key: inner for part in parts for key, inner in part.items()}


@dataclass(frozen=True)
class Tuning:
    """How the weights of COVPENALTY are chosen, from the paper's grid and on validation text.

    Attributes:
        by: ``beam`` decodes the text with every pair of weights in the beam; ``lists`` rescores the
            n-best lists of a beam without them.
        sentences: How many validation sentences the beam decodes, from the first; None for all.
            Rescoring always uses all.
    """

    by: str = "lists"
    sentences: int | None = None


@dataclass(frozen=True)
class RunSettings:
    """What all systems of a run share.

    Attributes:
        preset_name: Name of the preset, for people.
        preset: Sizes and training settings.
        seed: Seed of parameters, order and dropout.
        beam: Hypotheses per sentence.
        dataset: The column of the printed tables to compare scores with.
        tuning: How penalties are chosen. If it changes when a run continues, the systems with
            penalties are decoded again. Older manifests lack it; their runs used lists.
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
        """Begin a run, or continue one.

        Args:
            path: The folder; made if it does not exist.
            corpora: The text files.
            settings: Of the run.
            resume: Whether the folder may have a run already.

        Raises:
            DataError: There is a run and ``resume`` is not set; it has other settings or corpora;
                or the folder has other files.
        """
        open_manifest(
            path,
            {"settings": asdict(settings), "corpora": corpora.described()},
            resume=resume,
            packages=("torch", "tokenizers", "numpy", "sacrebleu"),
            completed=lambda found: found | {"settings": asdict(_settings(found, path / MANIFEST))},
            may_change={f"settings.tuning.{field.name}" for field in fields(Tuning)}
            | {f"corpora.{option}.file" for option in asdict(corpora)},
        )
        return cls(path, settings)

    @classmethod
    def existing(cls, path: Path) -> RunFolder:
        """Open a run to read it.

        Raises:
            DataError: The folder has no run.
        """
        manifest = path / MANIFEST
        if not manifest.exists():
            raise DataError(f"{path}: is not the folder of a run: it has no {MANIFEST}")
        return cls(path, _settings(read_manifest(manifest), manifest))

    @property
    def manifest(self) -> dict[str, Any]:
        """The content of ``manifest.json``."""
        return read_manifest(self.path / MANIFEST)

    def folder(self, *names: str) -> Path:
        """A folder inside, made if it does not exist."""
        path = self.path.joinpath(*names)
        path.mkdir(parents=True, exist_ok=True)
        return path

    def system(self, name: str) -> Path:
        """The folder of a system's translations; it may not exist."""
        return self.path / "systems" / name

    def has_decoded(self, name: str) -> bool:
        """Whether a system's translations are complete."""
        return (self.system(name) / HYPOTHESES).exists()

    def note(self, part: str, content: Mapping[str, Any]) -> None:
        """Record facts about a finished part."""
        manifest = self.manifest
        manifest.setdefault("made", {})[part] = dict(content)
        write_record(self.path / MANIFEST, manifest)


def _settings(manifest: Mapping[str, Any], where: Path) -> RunSettings:
    """The settings in a manifest; missing fields get their defaults."""
    found = manifest["settings"]
    if not {"preset", "seed"} <= set(found):
        raise DataError(f"{where}: is not the manifest of a run of table1 or table2")
    try:
        parts = {"preset": Preset(**found["preset"]), "tuning": Tuning(**found.get("tuning", {}))}
        return RunSettings(**{**found, **parts})
    except (TypeError, ValueError) as error:
        raise DataError(f"{where}: its settings are not those of a run: {error}") from error
