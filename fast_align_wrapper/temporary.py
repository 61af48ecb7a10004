"""Temporary folders that disappear with what uses them, however a process ends."""

from __future__ import annotations

import fcntl
import os
import shutil
import weakref
from contextlib import suppress
from pathlib import Path
from tempfile import gettempdir, mkdtemp

PREFIX = "coverage-eval-"
"""The start of the names of temporary folders."""


class TemporaryFolder:
    """A folder that is removed when this object is freed or closed, or when the process ends.

    A process that is killed cannot remove its folder, so the next one that makes a folder does. A
    lock on the folder tells whether a process uses it: the system releases the lock of a process
    that ends. Forked processes share the lock with the folder, and only the process that made the
    folder removes it.

    Attributes:
        path: The folder.
    """

    def __init__(self) -> None:
        for left in Path(gettempdir()).glob(f"{PREFIX}*.folder"):
            _remove_if_unused(left)
        while True:
            self.path = Path(mkdtemp(prefix=PREFIX, suffix=".folder"))
            with suppress(FileNotFoundError):
                lock = os.open(self.path, os.O_RDONLY)
                fcntl.flock(lock, fcntl.LOCK_EX)
                if self.path.exists():
                    break
                os.close(lock)
            # Another process took it for a folder without a process, before it had a lock.
        self.close = weakref.finalize(self, _remove, self.path, lock, os.getpid())


def _remove_if_unused(folder: Path) -> None:
    """Remove a folder whose process has ended."""
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:  # it is gone, or another user's
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    except OSError:  # it is used
        pass
    finally:
        os.close(lock)


def _remove(folder: Path, lock: int, owner: int) -> None:
    """Remove a folder, except in a forked child of the process that owns it."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)
