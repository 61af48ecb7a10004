"""Writing files so that a reader never sees half of one."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from coverage_eval.errors import DataError

__all__ = ["atomic_path", "atomic_write", "check_target"]


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary name beside a target, renamed to it when the block ends without exception.

    An interrupted run leaves the old file, or none; never a half-written one. The temporary name
    has the target's ending, so that writers which look at it choose the right format. A symbolic
    link stays, and the file that it names is replaced; what is no file (``/dev/null``, a pipe) is
    written to as it is, for a rename would put a file in its place.

    Args:
        path: The target file; its folder must exist.

    Yields:
        The file to write: the temporary one, which exists and is empty, or the pipe or device.

    Raises:
        DataError: The folder does not exist or cannot be written to, or the target is a folder.
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise DataError(f"{path}: is a folder; name a file to write")
    if target.exists() and not target.is_file():
        yield target
        return
    try:
        descriptor, name = tempfile.mkstemp(
            prefix=f".{target.name}.", suffix="".join(target.suffixes), dir=target.parent
        )
    except OSError as error:
        raise DataError(f"{path}: cannot be written: {error.strerror}") from error
    os.close(descriptor)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def check_target(path: str | os.PathLike[str]) -> None:
    """Raise now what :func:`atomic_path` would raise when long work is done.

    Raises:
        DataError: The target is a folder, or its folder does not exist or cannot be written to.
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise DataError(f"{path}: is a folder; name a file to write")
    if not target.parent.is_dir():
        raise DataError(f"{path}: cannot be written: there is no folder {target.parent}")
    if not os.access(target.parent, os.W_OK):
        raise DataError(f"{path}: cannot be written: {target.parent} is read-only")


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    r"""Open a UTF-8 text file (``\n`` line ends) that appears only when the block ends well.

    Raises:
        DataError: As :func:`atomic_path`.
    """
    with (
        atomic_path(path) as temporary,
        temporary.open("w", encoding="utf-8", newline="\n") as file,
    ):
        yield file


def _umask() -> int:
    """The process's file mode mask, which mkstemp's private 0600 ignores."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
