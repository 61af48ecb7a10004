"""The SQLite form of Meteor's paraphrase table in the user's cache folder, made at the first use.

Reading the table takes seconds, looking up phrases of its SQLite form milliseconds. The file's name
ends in a hash of its content, so that a damaged file is noticed, and made again. Several processes
may want it at once: each makes its own under a temporary name and renames it when whole. The same
table gives the same bytes, so that all of them make one file.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path

from coverage_eval.errors import DataError
from coverage_eval.metrics.meteor.phrase_table import PhraseTable, read_table, write_table
from fast_align_wrapper.files import file_sha256, held_file, put_in_place, remove_abandoned

_FAMILY = "meteor-paraphrases"
_VERSION = 4
"""A change of the files' form must raise it."""
_PREFIX = f"{_FAMILY}-{_VERSION}"
"""How the files' names begin."""
_TEMPORARY = f".{_PREFIX}-"
"""How they begin until they are whole; what a kill left of them is removed by the next run."""


def cache_folder() -> Path:
    """Where files that can be made again are kept.

    ``COVERAGE_EVAL_CACHE`` names it, else it is ``coverage-eval`` in ``XDG_CACHE_HOME``, else in
    ``.cache`` of the home folder.
    """
    named = os.environ.get("COVERAGE_EVAL_CACHE")
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG specification says that a relative path is to be ignored.
    return (Path(base) if Path(base).is_absolute() else Path.home() / ".cache") / "coverage-eval"


def table_hash(table: Path) -> str:
    """The hash that a gzip file ends in: CRC-32 and length of its contents, in hexadecimal.

    It is there at no cost, and unpacking the table for the index checks it.
    """
    try:
        with table.open("rb") as file:
            file.seek(-8, os.SEEK_END)
            return file.read().hex()
    except OSError as error:
        raise DataError(f"{table}: damaged paraphrase table ({error})") from error


def phrase_index(table: Path) -> Path:
    """The whole index of a table; built now if there is none yet.

    If the cache folder cannot be written to, the index is built in the system's folder for
    temporary files, with a warning, and lasts as long as this process.

    Raises:
        DataError: The table is damaged, or there is no place at all to write the index.
    """
    folder = cache_folder().absolute()
    name = f"{_PREFIX}-{table_hash(table)}"
    try:
        remove_abandoned(folder, _TEMPORARY)
        for path in sorted(folder.glob(f"{name}-*.sqlite")):
            if _is_whole(path):
                return path
            path.unlink(missing_ok=True)
        return _build(table, folder, name)
    except (OSError, sqlite3.Error) as error:
        warnings.warn(
            f"cannot keep the paraphrase index in {folder} ({_reason(error)}), so "
            "it is built anew each time; set COVERAGE_EVAL_CACHE to a folder that can be written",
            stacklevel=2,
        )
        return _temporary_index(table)


def open_index(path: Path) -> PhraseTable:
    """The index of :func:`phrase_index`, opened once a process."""
    return _open(path, _state(path), os.getpid())


@cache
def _open(path: Path, state: tuple[int, ...], process: int) -> PhraseTable:  # noqa: ARG001
    # A child process must not use its parent's connection: they would share the place in the file.
    return PhraseTable(path)


def _state(path: Path) -> tuple[int, ...]:
    """What changes when a file is replaced or written to."""
    stat = path.stat()
    return stat.st_ino, stat.st_size, stat.st_mtime_ns


def _is_whole(path: Path) -> bool:
    """Whether a file has the content that its name tells."""
    return path.stem.endswith(f"-{_hash(path, _state(path))}")


@cache
def _hash(path: Path, state: tuple[int, ...]) -> str:  # noqa: ARG001
    """The hash of a file for its name; the file is read once a process unless it changes."""
    return file_sha256(path)[:16]


def _remove_earlier_versions(folder: Path) -> None:
    """Remove what earlier releases made, in whose place an index has been built.

    An earlier release that is still in use makes its own again, once.
    """
    for path in folder.glob(f"{_FAMILY}-*"):
        version = path.name.removeprefix(f"{_FAMILY}-").partition("-")[0]
        if version.isdecimal() and int(version) < _VERSION:
            with suppress(OSError):
                shutil.rmtree(path) if path.is_dir() else path.unlink()


def _build(table: Path, folder: Path, name: str) -> Path:
    """Build an index beside its place and move it there when it is complete."""
    folder.mkdir(parents=True, exist_ok=True)
    with held_file(folder, _TEMPORARY, ".sqlite", 0o644) as temporary:
        write_table(read_table(table), temporary)
        content = _hash(temporary, _state(temporary))
        index = put_in_place(temporary, folder / f"{name}-{content}.sqlite")
    _remove_earlier_versions(folder)
    return index


@cache
def _temporary_index(table: Path) -> Path:
    try:
        return _build(table, Path(_temporary_folder().name), _PREFIX)
    except (OSError, sqlite3.Error) as error:
        raise DataError(
            f"no place to write the paraphrase index ({_reason(error)}); "
            "set COVERAGE_EVAL_CACHE to a folder that can be written to"
        ) from error


@cache
def _temporary_folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="meteor-phrases-")


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
