"""Files: written completely or not at all, identified by hash, unpacked only to a safe size.

A small packed file could fill the disk or the memory when it is unpacked. Among real files,
attention to one word at every step and looping text are packed best, about 340 times; DEFLATE can
reach 1032.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import stat
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

DAMAGE = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, OverflowError,
    RuntimeError, ValueError,
)  # fmt: skip
"""What zipfile raises on damaged files, besides OSError; found by fuzzing."""

_MAX_ENDING = 16
_MAX_LINKS = 40
"""As many links to links as Linux follows."""


def open_archive(path: str | os.PathLike[str]) -> zipfile.ZipFile:
    """Open a zip file for reading.

    Raises:
        FileNotFoundError: No such file.
        zipfile.BadZipFile: It is damaged, or it is a device or a pipe, which zipfile would read
            without end.
        OSError: It cannot be read.
    """
    place = Path(path)
    if place.exists() and not (place.is_file() or place.is_dir()):
        raise zipfile.BadZipFile("not a regular file")
    return zipfile.ZipFile(path)


def file_sha256(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for block in iter(partial(file.read, 1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def put_in_place(temporary: Path, target: Path) -> Path:
    """Rename a complete file, after it has been flushed to disk.

    Otherwise the target could be empty after a power cut.

    Args:
        temporary: The file, on the same file system as the target.
        target: Its new name; an existing file is replaced.

    Returns:
        The target.
    """
    with temporary.open("rb") as file:
        os.fsync(file.fileno())
    return temporary.replace(target)


@contextmanager
def replacing(path: str | os.PathLike[str], error: type[Exception]) -> Iterator[Path]:
    """Yield a temporary file beside a target, and rename it if the block ends without exception.

    An interrupted run leaves the old file or none, never a half-written one. The temporary
    name has the target's suffix, so that writers choose the right format. An existing target keeps
    its permissions. A symbolic link stays, and the file that it points to is replaced. A target
    that is not a regular file (``/dev/null``, a pipe) is written directly, because a rename would
    replace it. A name of an open file (``/dev/stdout``, a shell's ``>(command)``) gets the complete
    file at its end.

    Args:
        path: The target file; its folder must exist.
        error: The exception to raise.

    Yields:
        The file to write: the temporary file, which exists and is empty, or the pipe or device.

    Raises:
        error: The target is a folder or cannot be written, or writing failed in the block, for
            example on a full disk.
    """
    target = Path(os.path.realpath(path))
    mode = _mode(path, error)
    descriptor = open_file_number(path)
    try:
        if descriptor is not None:
            folder = Path(tempfile.gettempdir())
            with temporary_file(folder, target.suffix[:_MAX_ENDING]) as temporary:
                yield temporary
                with temporary.open("rb") as file, os.fdopen(os.dup(descriptor), "wb") as end:
                    shutil.copyfileobj(file, end)
            return
        if mode is not None and not stat.S_ISREG(mode):
            yield target
            return
        suffix = target.suffix if len(target.suffix) <= _MAX_ENDING else ""
        private = 0o666 if mode is None else 0o600
        with temporary_file(target.parent, suffix, private) as temporary:
            yield temporary
            if mode is not None:
                temporary.chmod(stat.S_IMODE(mode))
            put_in_place(temporary, target)
    except OSError as problem:
        # Errors of writing name no file; an error that names another file is not ours.
        named = problem.filename
        if named is not None and Path(os.fsdecode(named)).parent != target.parent:
            raise
        if isinstance(problem, BrokenPipeError):
            raise
        raise error(f"{path}: cannot be written: {problem.strerror or problem}") from problem


def check_target(path: str | os.PathLike[str], error: type[Exception]) -> None:
    """Raise the errors of :func:`replacing` early, before long work.

    Raises:
        error: The target is a folder, or its folder does not exist or cannot be written to.
    """
    target = Path(os.path.realpath(path))
    mode = _mode(path, error)
    if open_file_number(path) is not None:
        return
    if not target.parent.is_dir():
        raise error(f"{path}: cannot be written: there is no folder {Path(path).parent}")
    if (mode is None or stat.S_ISREG(mode)) and not os.access(target.parent, os.W_OK):
        raise error(f"{path}: cannot be written: {Path(path).parent} is read-only")


def open_file_number(path: str | os.PathLike[str]) -> int | None:
    """The number of the open file that a name stands for; None for any other name.

    Such names are ``/dev/stdout``, ``/dev/fd/63`` and links to them. Nothing else may be done with
    them by name: what they seem to be a link to has no name (``pipe:[1234]``), or is a file in
    which others have already written (``>> log``).
    """
    own = {f"/proc/{os.getpid()}/fd", f"/proc/{os.getpid()}/task/{os.getpid()}/fd", "/dev/fd"}
    place = os.fsdecode(path)
    for _ in range(_MAX_LINKS):
        folder, name = os.path.split(place)
        if name.isdecimal() and os.path.realpath(folder) in own:
            return int(name)
        try:
            place = os.path.join(folder, os.readlink(place))  # noqa: PTH115, PTH118
        except (OSError, ValueError):
            return None
    return None


def _mode(path: str | os.PathLike[str], error: type[Exception]) -> int | None:
    """File type and permissions of a target; None if it does not exist.

    The system follows links here, because names such as ``/dev/stdout`` are no links for others.
    """
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116
    except FileNotFoundError:
        if os.path.basename(path) in {"", os.curdir, os.pardir}:  # noqa: PTH119
            raise error(f"{path}: cannot be written: there is no such folder") from None
        return None
    except (OSError, ValueError) as problem:
        said = problem.strerror if isinstance(problem, OSError) else problem
        raise error(f"{path}: cannot be written: {said}") from problem
    if stat.S_ISDIR(mode):
        raise error(f"{path}: is a folder; name a file to write")
    return mode


@contextmanager
def temporary_file(folder: Path, suffix: str = "", mode: int = 0o600) -> Iterator[Path]:
    """Yield an empty new file, and remove it when the block ends, unless it was renamed.

    Args:
        folder: The folder of the file.
        suffix: The end of its name.
        mode: Its permissions, before the process's umask, which ``tempfile`` does not apply.

    Raises:
        OSError: It cannot be made.
    """
    path = folder / f".coverage-eval-{secrets.token_hex(8)}{suffix}"
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode))
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


def remove_folder(folder: Path, owner: int) -> None:
    """Remove a temporary folder with all its files.

    Args:
        folder: The folder.
        owner: The process that made it; a forked child leaves it to its parent.
    """
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
