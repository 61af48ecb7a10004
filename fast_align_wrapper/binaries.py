"""Which fast_align to run: the caller's, the environment's, or the one built with the package."""

from __future__ import annotations

import os
import shutil
import sys
import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import fast_align_wrapper
from fast_align_wrapper.errors import AlignerError, AlignerNotFoundError
from fast_align_wrapper.process import Children

VARIABLE = "FAST_ALIGN"
"""Environment variable with the path of a fast_align executable, or of the folder it is in."""

_OWN_VERSION = "fast_align (coverage-eval) "
_VERSION_SECONDS = 20
_MOST_LINES = 1000
"""More is no usage, but a program that prints without end."""


@dataclass(frozen=True)
class Binary:
    """A fast_align executable.

    Attributes:
        path: Where it is.
        version: What our own aligner answers to ``--version``; None for any other fast_align,
            which has the original's options only.
    """

    path: Path
    version: str | None

    @property
    def is_own(self) -> bool:
        """Whether it is this project's aligner, with its further options."""
        return self.version is not None


def bundled_folder() -> Path:
    """The folder with the executables built with this package.

    It is the installed package's ``bin``, which need not be beside this file: an editable
    installation keeps Python files elsewhere (both folders are entries of ``__path__``), and a
    source folder that is the working directory hides the installed package, which is then found
    further on in ``sys.path``.

    Raises:
        AlignerNotFoundError: There is none: the package was not installed.
    """
    installed = (Path(entry) / "fast_align_wrapper" for entry in sys.path)
    for package in (*map(Path, fast_align_wrapper.__path__), *installed):
        if _executable_in(package / "bin") is not None:
            return (package / "bin").resolve()
    raise AlignerNotFoundError(
        "this installation has no word aligner, as there was no C++17 compiler: install one (for "
        "example: apt-get install g++) and coverage-eval again (pip install --force-reinstall "
        f"--no-cache-dir --no-deps coverage-eval), or set {VARIABLE} to a fast_align executable"
    )


def find_fast_align(fast_align: str | os.PathLike[str] | None = None) -> Binary:
    """Find the executable: the one given, else that of ``FAST_ALIGN``, else the bundled one.

    Args:
        fast_align: Path of an executable or of its folder, or a command found on ``PATH``.

    Raises:
        AlignerNotFoundError: There is no such executable; the message says what to do.
    """
    if fast_align is not None:
        return _identify(_resolve(fast_align, "given as fast_align"))
    from_environment = os.environ.get(VARIABLE)
    if from_environment:
        return _identify(_resolve(from_environment, f"named by {VARIABLE}"))
    return _identify(bundled_folder() / "fast_align")


def _resolve(name: str | os.PathLike[str], origin: str) -> Path:
    path = Path(name)
    found = _executable_in(path) if path.is_dir() else shutil.which(os.fspath(name))
    if found is None:
        raise AlignerNotFoundError(
            f"{path}: {origin}, but not an executable fast_align nor a folder with one"
        )
    return Path(found).resolve()


def _executable_in(folder: Path) -> str | None:
    path = folder / "fast_align"
    return str(path) if path.is_file() and os.access(path, os.X_OK) else None


def _identify(path: Path) -> Binary:
    return Binary(path, _version(path, path.stat().st_mtime_ns))


@lru_cache(maxsize=16)
def _version(path: Path, _modified: int) -> str | None:
    """The answer to ``--version``; the original answers with its usage and status 1."""
    started = time.monotonic()
    with Children(_VERSION_SECONDS) as children:
        child = children.start([str(path), "--version"])
        try:
            for _ in children.run():
                late = time.monotonic() - started > _VERSION_SECONDS
                if late or len(child.lines) > _MOST_LINES:
                    return None
        except AlignerError:
            return None
        line = child.lines[0].decode("utf-8", "replace").strip() if child.lines else ""
    return line if line.startswith(_OWN_VERSION) else None
