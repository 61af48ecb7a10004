"""Writing files so that a reader never sees half of one, and nothing else of a file changes."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fast_align_wrapper.held import held_file
from fast_align_wrapper.whole_files import put_in_place

_LONGEST_ENDING = 16


@contextmanager
def replacing(path: str | os.PathLike[str], error: type[Exception]) -> Iterator[Path]:
    """Give a temporary name beside a target, renamed to it when the block ends without exception.

    An interrupted run leaves the old file, or none; never a half-written one. What a killed run
    left beside the target is removed. The temporary name has the target's ending, so that writers
    which look at it choose the right format. A target that exists keeps its permissions. A symbolic
    link stays, and the file that it names is replaced; what is no file (``/dev/null``, a pipe) is
    written to as it is, for a rename would put a file in its place.

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
        # Writes have no name of a file; other files' errors have theirs.
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
