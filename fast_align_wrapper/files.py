"""Files: written whole or not at all, identified by hash, unpacked only to a harmless size.

A temporary file is held by a lock (``flock``), which ends with its process, even after SIGKILL. So
a file with our name that nobody locks was left behind, and the next run that makes such a file
removes it.

A small packed file may unpack to fill the disk or the memory. Among real files, attention to one
word at every step and looping text shrink most, about 340 times; DEFLATE can reach 1032.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import secrets
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

MOST_INFLATION = 400
"""The greatest ratio of unpacked to packed bytes, unless less is known to be enough."""

DAMAGE = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, OverflowError,
    RuntimeError, ValueError,
)  # fmt: skip
"""Everything that zipfile was seen to raise on damaged files, besides OSError."""

_LONGEST_ENDING = 16
_ALWAYS_FREE = 1 << 26
"""Unpacked size that is always allowed."""


def check_inflation(
    name: object,
    packed: int,
    unpacked: int,
    error: type[Exception],
    *,
    ratio: int = MOST_INFLATION,
) -> None:
    """Refuse a file that unpacks to too much.

    Args:
        name: The file.
        packed: Bytes of the file, or of what was read of it.
        unpacked: Bytes that they unpack to.
        error: What is raised.
        ratio: The most that is taken.

    Raises:
        error: It unpacks to more than ``ratio`` times its size, and to more than 64 MiB.
    """
    if unpacked > max(_ALWAYS_FREE, ratio * packed):
        raise error(
            f"{name}: unpacks to more than {ratio} times its size, which only damaged or hostile "
            "files do; if it is meant, unpack it yourself"
        )


def open_archive(path: str | os.PathLike[str]) -> zipfile.ZipFile:
    """Open a zip file for reading.

    Raises:
        FileNotFoundError: There is none.
        zipfile.BadZipFile: It is damaged, or a device or a pipe, of which zipfile would look for
            the end, and take all memory.
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
    """Rename a file that is complete, once the disk has it.

    Without the wait, a power cut after the rename can leave the name with other content.

    Args:
        temporary: The file, on the same file system as the target.
        target: Its name from now on; what was there is replaced.

    Returns:
        The target.
    """
    with temporary.open("rb") as file:
        os.fsync(file.fileno())
    return temporary.replace(target)


@contextmanager
def replacing(path: str | os.PathLike[str], error: type[Exception]) -> Iterator[Path]:
    """Give a temporary name beside a target, renamed to it when the block ends without exception.

    An interrupted run leaves the old file, or none; never a half-written one. Files that a killed
    run left beside the target are removed. The temporary name has the target's ending, so that
    writers choose the right format. An existing target keeps its permissions. A symbolic link
    stays, and the file that it names is replaced; a target that is not a regular file
    (``/dev/null``, a pipe) is written to directly, because a rename would replace it.

    Args:
        path: The target file; its folder must exist.
        error: What is raised.

    Yields:
        The file to write: the temporary one, which exists and is empty, or the pipe or device.

    Raises:
        error: The target is a folder; it cannot be written; or the block's own writing failed, as
            on a full disk.
    """
    target = Path(os.path.realpath(path))
    mode = _mode(path, target, error)
    try:
        if mode is not None and not stat.S_ISREG(mode):
            yield target
            return
        # The target's own name could be too long with anything added.
        prefix = f".{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:12]}."
        suffix = target.suffix if len(target.suffix) <= _LONGEST_ENDING else ""
        private = 0o666 if mode is None else 0o600
        with held_file(target.parent, prefix, suffix, private) as temporary:
            yield temporary
            if mode is not None:
                temporary.chmod(stat.S_IMODE(mode))
            put_in_place(temporary, target)
    except OSError as problem:
        # Errors of writing name no file; errors of other files name theirs.
        named = problem.filename
        if named is not None and Path(os.fsdecode(named)).parent != target.parent:
            raise
        if isinstance(problem, BrokenPipeError):
            raise
        raise error(f"{path}: cannot be written: {problem.strerror or problem}") from problem


def check_target(path: str | os.PathLike[str], error: type[Exception]) -> None:
    """Raise now what :func:`replacing` would raise when long work is done.

    Raises:
        error: The target is a folder, or its folder does not exist or cannot be written to.
    """
    target = Path(os.path.realpath(path))
    mode = _mode(path, target, error)
    if not target.parent.is_dir():
        raise error(f"{path}: cannot be written: there is no folder {Path(path).parent}")
    if (mode is None or stat.S_ISREG(mode)) and not os.access(target.parent, os.W_OK):
        raise error(f"{path}: cannot be written: {Path(path).parent} is read-only")


def _mode(path: str | os.PathLike[str], target: Path, error: type[Exception]) -> int | None:
    """Kind and permissions of a target; None if there is none."""
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise error(f"{path}: cannot be written: {problem.strerror}") from problem
    if stat.S_ISDIR(mode):
        raise error(f"{path}: is a folder; name a file to write")
    return mode


@contextmanager
def held_file(folder: Path, prefix: str, suffix: str, mode: int) -> Iterator[Path]:
    """An empty new file, removed when the block ends if it is still there.

    Args:
        folder: Where.
        prefix: What its name begins with; abandoned files of this prefix are removed.
        suffix: What its name ends with.
        mode: Its permissions, of which the process's mask takes away.

    Raises:
        OSError: It cannot be made.
    """
    remove_abandoned(folder, prefix)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    while True:
        path = folder / f"{prefix}{secrets.token_hex(8)}{suffix}"
        descriptor = os.open(path, flags, mode)
        if _lock(descriptor) and _is_at(descriptor, path):
            break
        os.close(descriptor)
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def remove_abandoned(folder: Path, prefix: str) -> None:
    """Remove files of ours with this prefix that no process holds."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if not entry.name.startswith(prefix):
                continue
            with suppress(OSError), os.fdopen(os.open(entry.path, flags), "rb") as file:
                if os.fstat(file.fileno()).st_uid == os.geteuid():
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # OSError: it is in use
                    Path(entry.path).unlink(missing_ok=True)


def _lock(descriptor: int) -> bool:
    """Lock a file; on a file system without locks, no file ever counts as abandoned."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    except OSError as error:
        return error.errno in {errno.ENOLCK, errno.ENOTSUP, errno.EINVAL, errno.ENOSYS}
    return True


def _is_at(descriptor: int, path: str | Path) -> bool:
    """Whether an open file is still the one of this name."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except FileNotFoundError:
        return False
