"""Files that later runs trust: in their place only when whole, and known by their hash."""

from __future__ import annotations

import hashlib
import os
from functools import partial
from pathlib import Path


def file_sha256(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for block in iter(partial(file.read, 1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def put_in_place(temporary: Path, target: Path) -> Path:
    """Rename a file that is complete, once the disk has it.

    Without the wait, a power cut after the rename can leave the name with another content.

    Args:
        temporary: The file, on the same file system as the target.
        target: Its name from now on; what was there is replaced.

    Returns:
        The target.
    """
    with temporary.open("rb") as file:
        os.fsync(file.fileno())
    return temporary.replace(target)
