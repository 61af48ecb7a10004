"""The index of Meteor's paraphrase table in the user's cache folder, made at the first use.

Reading the table takes seconds, opening its index milliseconds. Several processes may want the
index at once: each builds its own under a temporary name, the first to be done gives it its place.
"""

from __future__ import annotations

import atexit
import os
import shutil
import struct
import tempfile
import warnings
from functools import cache
from pathlib import Path

from tqdm import tqdm

from coverage_eval.errors import DataError
from coverage_eval.metrics.meteor.phrase_builder import BLOCK, build_index, read_table
from coverage_eval.metrics.meteor.phrase_index import PhraseIndex

__all__ = ["cache_folder", "index_folder", "open_index", "table_hash"]

_FORMAT = 1
"""Part of the index's name; a change of the index's form must raise it."""


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
    """The hash that a gzip file carries: CRC-32 and length of its contents, in hexadecimal.

    It is there at no cost, and unpacking the table for the index checks it.
    """
    crc, length = _trailer(table)
    return f"{crc:08x}{length:08x}"


def _trailer(table: Path) -> tuple[int, int]:
    """CRC-32 of a gzip file's contents, and their length modulo 2**32."""
    try:
        with table.open("rb") as file:
            file.seek(-8, os.SEEK_END)
            crc, length = struct.unpack("<II", file.read(8))
    except OSError as error:
        raise DataError(f"{table}: damaged paraphrase table ({error})") from error
    return crc, length


def index_folder(table: Path) -> Path:
    """The folder of a whole index of a table; built now if there is none yet.

    If the cache folder cannot be written to, the index is built in the system's folder for
    temporary files, with a warning, and lasts as long as this process.

    Raises:
        DataError: The table is damaged, or there is no place at all to write the index.
    """
    cached = cache_folder() / f"meteor-paraphrases-{_FORMAT}-{table_hash(table)}"
    if _is_whole(cached):
        return cached
    try:
        _build(table, cached)
    except OSError as error:
        warnings.warn(
            f"cannot keep the paraphrase index in {cached.parent} ({error.strerror or error}), so "
            "it is built anew each time; set COVERAGE_EVAL_CACHE to a folder that can be written",
            stacklevel=2,
        )
        return _temporary_index(table)
    return cached


@cache
def open_index(folder: Path) -> PhraseIndex:
    """The index in a folder, opened once a process."""
    return PhraseIndex.load(folder)


def _is_whole(folder: Path) -> bool:
    if not folder.is_dir():
        return False
    try:
        PhraseIndex.load(folder)
    except DataError:
        return False
    return True


def _build(table: Path, folder: Path) -> None:
    """Build an index beside its place and move it there when it is complete."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        blocks = tqdm(
            read_table(table),
            desc="indexing METEOR's paraphrases, once",
            total=_trailer(table)[1] // BLOCK + 1,
            disable=None,
            leave=False,
        )
        build_index(blocks).save(temporary)
        temporary.chmod(0o755)
        _move(temporary, folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _move(temporary: Path, folder: Path) -> None:
    try:
        temporary.rename(folder)
    except OSError:
        # Another process was first. If what lies there is whole, it is the same index.
        if _is_whole(folder):
            return
        shutil.rmtree(folder, ignore_errors=True)
        temporary.rename(folder)


@cache
def _temporary_index(table: Path) -> Path:
    try:
        folder = Path(tempfile.mkdtemp(prefix="coverage-eval-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        _build(table, folder / "index")
    except OSError as error:
        raise DataError(
            f"no place to write the paraphrase index ({error.strerror or error}); "
            "set COVERAGE_EVAL_CACHE to a folder that can be written to"
        ) from error
    return folder / "index"
