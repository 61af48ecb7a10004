"""Writing files: each appears when it is complete, and an interrupted run leaves the old one."""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TextIO

from coverage_eval.core.errors import DataError


def replace_file(temporary: Path, target: Path) -> Path:
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
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary file beside a target, and rename it if the block ends without exception.

    An interrupted run leaves the old file or none, never a half-written one. The temporary
    name has the target's suffix, so that writers choose the right format. An existing target keeps
    its permissions. A symbolic link stays, and the file that it points to is replaced. A target
    that is not a regular file (``/dev/null``, a pipe) is written directly, because a rename would
    replace it. A name of an open file (``/dev/stdout``, a shell's ``>(command)``) gets the complete
    file at its end.

    Args:
        path: The target file; its folder must exist.

    Yields:
        The file to write: the temporary file, which exists and is empty, or the pipe or device.

    Raises:
        DataError: The target is a folder or cannot be written, or writing failed in the block, for
            example on a full disk.
    """
    target = Path(os.path.realpath(path))
    mode = _mode(path)
    descriptor = open_file_number(path)
    try:
        if descriptor is not None:
            folder = Path(tempfile.gettempdir())
            with temporary_file(folder, target.suffix) as temporary:
                yield temporary
                with temporary.open("rb") as file, os.fdopen(os.dup(descriptor), "wb") as end:
                    shutil.copyfileobj(file, end)
            return
        if mode is not None and not stat.S_ISREG(mode):
            yield target
            return
        private = 0o666 if mode is None else 0o600
        with temporary_file(target.parent, target.suffix, private) as temporary:
            yield temporary
            if mode is not None:
                temporary.chmod(stat.S_IMODE(mode))
            replace_file(temporary, target)
    except OSError as problem:
        # Errors of writing name no file; an error that names another file is not ours.
        named = problem.filename
        is_other = named is not None and Path(os.fsdecode(named)).parent != target.parent
        if is_other or isinstance(problem, BrokenPipeError):
            raise
        raise DataError(f"{path}: cannot be written: {problem.strerror or problem}") from problem


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    r"""Open a UTF-8 text file (``\n`` line ends) that appears only when the block succeeds.

    Half a character, which names of files and strings of JSON may have and UTF-8 cannot encode, is
    written as ``\ud800``, so no text fails to be written.

    Raises:
        DataError: As :func:`atomic_path`.
    """
    with (
        atomic_path(path) as temporary,
        temporary.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as file,
    ):
        yield file


def write_together(files: Mapping[str, Iterable[str]]) -> None:
    """Write the lines of several files, which appear together when all are complete, or not at all.

    Args:
        files: The lines of each file without line ends, by its name.

    Raises:
        DataError: As :func:`atomic_path`.
    """
    with ExitStack() as complete:
        for path, lines in files.items():
            file = complete.enter_context(atomic_write(path))
            file.writelines(f"{line}\n" for line in lines)
            file.flush()
            with suppress(OSError):  # not of a pipe
                os.fsync(file.fileno())  # what takes long, before the first one appears


def write_lines(path: str | os.PathLike[str], lines: Iterable[str]) -> None:
    """Write lines, given without line ends, to a file that appears only when it is complete.

    Raises:
        DataError: As :func:`atomic_path`.
    """
    with atomic_write(path) as file:
        file.writelines(f"{line}\n" for line in lines)


def check_target(path: str | os.PathLike[str]) -> None:
    """Raise the errors of :func:`atomic_path` early, before long work.

    Raises:
        DataError: The target is a folder, or its folder does not exist or cannot be written to.
    """
    target = Path(os.path.realpath(path))
    mode = _mode(path)
    if open_file_number(path) is not None:
        return
    if not target.parent.is_dir():
        raise DataError(f"{path}: cannot be written: there is no folder {Path(path).parent}")
    if (mode is None or stat.S_ISREG(mode)) and not os.access(target.parent, os.W_OK):
        raise DataError(f"{path}: cannot be written: {Path(path).parent} is read-only")


def open_file_number(path: str | os.PathLike[str]) -> int | None:
    """The number of the open file that a name stands for; None for any other name.

    Such names are ``/dev/stdout`` and, for a shell's ``>(command)``, ``/dev/fd/63``. Nothing else
    may be done with them by name: what they seem to be a link to has no name (``pipe:[1234]``), or
    is a file in which others have already written (``>> log``).
    """
    name = {"/dev/stdout": "/dev/fd/1", "/dev/stderr": "/dev/fd/2"}.get(str(path), str(path))
    found = re.fullmatch(r"/(?:dev|proc/self)/fd/(\d+)", name)
    return int(found[1]) if found else None


def _mode(path: str | os.PathLike[str]) -> int | None:
    """File type and permissions of a target; None if it does not exist.

    The system follows links here, because names such as ``/dev/stdout`` are no links for others.
    """
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116
    except FileNotFoundError:
        if os.path.basename(path) in {"", os.curdir, os.pardir}:  # noqa: PTH119
            raise DataError(f"{path}: cannot be written: there is no such folder") from None
        return None
    except OSError as problem:
        raise DataError(f"{path}: cannot be written: {problem.strerror}") from problem
    if stat.S_ISDIR(mode):
        raise DataError(f"{path}: is a folder; name a file to write")
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
    path = folder / f".coverage-eval-{os.urandom(8).hex()}{suffix}"
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode))
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)
