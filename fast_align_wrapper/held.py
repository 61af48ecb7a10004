"""Temporary files and folders that outlive no run: held by a lock while used, removed when not.

A lock (``flock``) goes with its process however that ends, SIGKILL included. So what bears our name
and is locked by nobody was left behind, and the next run that would make its like removes it.
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


class HeldFolder:
    """A folder for temporary files, removed when this object goes, at exit, or by a later run.

    Attributes:
        name: Its path.
    """

    def __init__(self, prefix: str) -> None:
        """Make a folder where the system keeps temporary files.

        Args:
            prefix: What its name begins with; abandoned folders of this prefix are removed.
        """
        remove_abandoned(Path(tempfile.gettempdir()), prefix)
        while True:  # another run may take it for abandoned before it is locked
            folder = tempfile.mkdtemp(prefix=prefix)
            try:
                descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
            except FileNotFoundError:
                continue
            if _lock(descriptor) and _is_at(descriptor, folder):
                break
            os.close(descriptor)
        self.name = folder
        self._finalizer = weakref.finalize(self, _remove_held, folder, descriptor, os.getpid())

    def cleanup(self) -> None:
        """Remove it with all that is in it."""
        self._finalizer()

    def __enter__(self) -> Path:
        return Path(self.name)

    def __exit__(self, *_: object) -> None:
        self.cleanup()


def _remove_held(folder: str, descriptor: int, owner: int) -> None:
    if os.getpid() == owner:  # a forked child has the same object
        shutil.rmtree(folder, ignore_errors=True)
    os.close(descriptor)


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
    """Remove files and folders of ours with this prefix that no process holds."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(prefix):
                with suppress(OSError):
                    _remove_if_abandoned(entry.path)


def _remove_if_abandoned(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if os.fstat(descriptor).st_uid != os.geteuid():
            return
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # OSError: it is in use
        if Path(path).is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            Path(path).unlink(missing_ok=True)
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    """Hold a file; where the file system has no locks, nothing is ever found abandoned either."""
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
