"""``manifest.json`` of a run: its settings, and the commands and versions that it was made with.

A folder that has one is a run's, and the run goes on only with the settings that it began with.
"""

from __future__ import annotations

import json
import os
import platform
import shlex
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from coverage_eval.data.files import atomic_write
from coverage_eval.data.tables import parse_object
from coverage_eval.errors import DataError
from coverage_eval.version import __version__

MANIFEST = "manifest.json"


def open_manifest(
    folder: Path,
    content: Mapping[str, Any],
    *,
    resume: bool,
    packages: Sequence[str],
    completed: Callable[[dict[str, Any]], dict[str, Any]] = dict,
    may_change: Collection[str] = (),
) -> None:
    """Begin a run in a folder, or go on with one; the command and versions are noted.

    Args:
        folder: Of the run; made if it does not exist.
        content: What a new manifest has; each part of one that is there must be the same.
        resume: Whether there may be a run in the folder already.
        packages: Whose versions are noted.
        completed: Adds to a manifest that is there what earlier versions did not write.
        may_change: Names, as ``part.name``, that need not be the same.

    Raises:
        DataError: There is a run and ``resume`` is not set; it has other settings; or the folder
            has other files.
    """
    path = folder / MANIFEST
    manifest = {**content, "sessions": []}
    if path.exists():
        if not resume:
            raise DataError(
                f"{folder}: has a run already; go on with --resume, or name a new folder"
            )
        found = completed(read_manifest(path))
        for part, wanted in content.items():
            _check_same(_flat(found.get(part, {}), part), _flat(wanted, part), path, may_change)
        manifest = {**found, **content, "sessions": found["sessions"]}
    elif folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DataError(f"{folder}: is there already, and is no run; name a new folder")
    folder.mkdir(parents=True, exist_ok=True)
    session = _session(packages)
    if session not in manifest["sessions"]:
        manifest["sessions"].append(session)
    write_record(path, manifest)


def read_manifest(path: Path) -> dict[str, Any]:
    """What a manifest says.

    Raises:
        DataError: It cannot be read, or is none.
    """
    content = read_record(path)
    parts = {"settings": dict, "sessions": list, "corpora": dict, "made": dict}
    known = {"corpora": {}, "made": {}, **content}
    if not all(isinstance(known.get(name), kind) for name, kind in parts.items()):
        raise DataError(f"{path}: is not the manifest of a run")
    return content


def read_record(path: Path) -> dict[str, Any]:
    """What a file of a run says, one JSON object.

    Raises:
        DataError: It cannot be read, or is none.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be read: {error}") from error
    return parse_object(text, f"{path}: cannot be read")


def write_record(path: Path, content: Mapping[str, Any]) -> None:
    """Write such a file; a kill leaves the old one or the new one."""
    with atomic_write(path) as file:
        json.dump(content, file, indent=1, ensure_ascii=False)
        file.write("\n")


def _session(packages: Sequence[str]) -> dict[str, Any]:
    """The command, the versions and the machine.

    Results may depend on the number of threads and, in the last bits of every sum, on the kernels
    that the libraries choose for a processor: from those a training grows apart within an epoch.
    """
    import torch

    return {
        "command": shlex.join(["coverage-eval", *map(_without_folders, sys.argv[1:])]),
        "coverage-eval": __version__,
        "threads": torch.get_num_threads(),
        "processor": _processor(),
        "kernels": {
            "torch": torch.backends.cpu.get_cpu_capability(),
            "mkl": torch.backends.mkl.is_available(),
            "mkldnn": torch.backends.mkldnn.is_available(),
        },
        **{name: version(name) for name in packages},
    }


def _processor() -> str:
    """Name, family and model of the processor, as Linux has them; elsewhere what Python knows."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    facts = {
        name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)
    }
    known = [facts[name] for name in ("model name", "cpu family", "model") if name in facts]
    return " / ".join(known) or platform.machine()


def _without_folders(argument: str) -> str:
    """Where files are on this machine moves no number, and is nobody's business."""
    return Path(argument).name if os.sep in argument else argument


def _check_same(
    old: Mapping[str, Any], new: Mapping[str, Any], where: Path, may_change: Collection[str]
) -> None:
    """Refuse to mix results of other settings or other text into a run."""
    for name in {**new, **old}:
        if name not in may_change and old.get(name) != new.get(name):
            raise DataError(
                f"{where}: the run began with {name.partition('.')[2]} {old.get(name)}, "
                f"not {new.get(name)}; name a new folder"
            )


def _flat(values: Mapping[str, Any], before: str) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in values.items():
        inner = _flat(value, f"{before}.{name}") if isinstance(value, dict) else None
        flat |= {f"{before}.{name}": value} if inner is None else inner
    return flat
