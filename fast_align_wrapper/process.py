"""Find and run the aligner's executable.

A thread writes its input, the caller reads its output,
and its standard error goes to a file, which shows progress and, if it fails, the reason.
"""

from __future__ import annotations

import os
import queue
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO, cast

import fast_align_wrapper
from fast_align_wrapper.errors import AlignerError, AlignerNotFoundError, AlignerWarning

VARIABLE = "FAST_ALIGN"
"""Environment variable with the path of a fast_align executable, or of the folder it is in."""

DEFAULT_TIMEOUT = 1800.0
"""Seconds without any sign of life after which an aligner is stopped."""

MOST_SECONDS = 1e6
"""The longest time limit; twice as long is too long for the system's own waiting."""

Progress = Callable[[int, int, str], None]
"""Receives steps done, total steps (0 if unknown), and the name of the phase."""

_OWN_VERSION = "fast_align (coverage-eval) "
_VERSION_SECONDS = 20.0
_READ_SIZE = 1 << 18
_LOOK_MILLISECONDS = 100
"""How often a caller that waits for output looks at the log."""
_LONGEST_LOG = 1 << 20
_TAIL_BYTES, _TAIL_LINES = 1 << 14, 5
_PROGRESS = re.compile(rb"^progress ([0-9]+) ([0-9]+) (.*)\n", re.MULTILINE)
_REFUSED_THREADS = re.compile(r"warning: (the system refuses .*)")
_MOST_UNREAD = 1 << 29
"""Bytes of one line, or of the log, after which an aligner is assumed to print without end."""

_HELD_SECONDS = 5.0
"""How long pipes may stay open when the aligner has ended."""


@dataclass(frozen=True)
class Binary:
    """A fast_align executable.

    Attributes:
        path: Where it is.
        version: What our own aligner answers to ``--version``; None for any other fast_align,
            which has the original's options only.
    """

    path: Path
    version: str | None

    @property
    def is_own(self) -> bool:
        """Whether it is this project's aligner, with its further options."""
        return self.version is not None

    @property
    def command(self) -> list[str]:
        """The command line; our own aligner ends when this process does."""
        return [str(self.path), *(["--parent", str(os.getpid())] if self.is_own else [])]


def bundled_folder() -> Path:
    """The folder with the executables built with this package.

    It is the installed package's ``bin``, which need not be beside this file: an editable
    installation keeps Python files elsewhere (both folders are entries of ``__path__``), and a
    source folder that is the working directory hides the installed package, which is then found
    further on in ``sys.path``.

    Raises:
        AlignerNotFoundError: There is none: the package was not installed.
    """
    installed = (Path(entry) / "fast_align_wrapper" for entry in sys.path)
    for package in (*map(Path, fast_align_wrapper.__path__), *installed):
        if _executable_in(package / "bin") is not None:
            return (package / "bin").resolve()
    raise AlignerNotFoundError(
        "this installation has no word aligner, as there was no C++17 compiler: install one (for "
        "example: apt-get install g++) and coverage-eval again (pip install --force-reinstall "
        f"--no-cache-dir --no-deps coverage-eval), or set {VARIABLE} to a fast_align executable"
    )


def find_fast_align(fast_align: str | os.PathLike[str] | None = None) -> Binary:
    """Find the executable: the one given, else that of ``FAST_ALIGN``, else the bundled one.

    Args:
        fast_align: Path of an executable or of its folder, or a command found on ``PATH``.

    Raises:
        AlignerNotFoundError: There is no such executable; the message says what to do.
    """
    origin = "given as fast_align"
    if fast_align is None:
        fast_align, origin = os.environ.get(VARIABLE) or None, f"named by {VARIABLE}"
    if fast_align is None:
        path = bundled_folder() / "fast_align"
    else:
        named = Path(fast_align)
        found = _executable_in(named) if named.is_dir() else shutil.which(os.fspath(fast_align))
        if found is None:
            raise AlignerNotFoundError(
                f"{named}: {origin}, but not an executable fast_align nor a folder with one"
            )
        path = Path(found).resolve()
    return Binary(path, _version(path, path.stat().st_mtime_ns))


def _executable_in(folder: Path) -> str | None:
    path = folder / "fast_align"
    return str(path) if path.is_file() and os.access(path, os.X_OK) else None


@lru_cache(maxsize=16)
def _version(path: Path, _modified: int) -> str | None:
    """The answer of our own aligner to ``--version``; the original answers with its usage."""
    with Child([str(path), "--version"], _VERSION_SECONDS) as child:
        child.end_input()
        try:
            line = next(child.lines(), b"").decode("utf-8", "replace").strip()
        except AlignerError:
            return None
    return line if line.startswith(_OWN_VERSION) else None


class Child:
    """A running aligner; it ends with the block, with everything that it started.

    Attributes:
        on_quiet: Called again and again while the aligner prints nothing.
    """

    def __init__(
        self,
        command: Sequence[str],
        timeout: float | None = DEFAULT_TIMEOUT,
        on_progress: Progress | None = None,
    ) -> None:
        """Start a process.

        Args:
            command: Executable and arguments; never seen by a shell.
            timeout: Seconds without any sign of life after which to give up; None never does.
            on_progress: Called with the numbers and the label of ``--progress`` lines.

        Raises:
            ValueError: A time that is not above 0, or more than :data:`MOST_SECONDS`.
            AlignerError: It cannot be run.
        """
        if timeout is not None and not 0 < timeout <= MOST_SECONDS:
            raise ValueError(f"timeout must be above 0 and at most {MOST_SECONDS:g}, not {timeout}")
        self._name = Path(command[0]).name
        self._timeout = timeout
        self._on_progress = on_progress
        self.on_quiet: Callable[[], None] | None = None
        self._finished = False
        self._buffer = bytearray()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the block)
        self._log_seen = 0
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                bufsize=0,
                # A group of its own, so that whatever it starts can be ended with it.
                start_new_session=True,
                env={**os.environ, "LC_ALL": "C"},
            )
        except OSError as error:
            self._log.close()
            raise AlignerError(f"{command[0]}: cannot be run: {error.strerror}") from error
        self._stdin = cast("IO[bytes]", self._process.stdin)
        self._stdout = cast("IO[bytes]", self._process.stdout)
        self._poll = select.poll()
        self._poll.register(self._stdout, select.POLLIN)

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self._process.wait()
        self.end_input()
        self._stdout.close()
        self._log.close()

    def kill(self) -> None:
        """Kill it and everything that it started, unless it ended well."""
        if not self._finished:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def write(self, data: bytes) -> None:
        """Write to its standard input, and wait until it takes that."""
        # If it ended early, its exit status and its log say why.
        rest = memoryview(data)
        with suppress(BrokenPipeError):
            while rest:
                rest = rest[os.write(self._stdin.fileno(), rest) :]

    def end_input(self) -> None:
        """Close its standard input."""
        self._stdin.close()

    def lines(self) -> Iterator[bytes]:
        """The lines of its standard output, without line ends.

        Raises:
            AlignerError: It failed, gave no sign of life for too long, or prints without end.
        """
        partial = bytearray()
        while data := self._read():
            partial += data
            if b"\n" in data:
                *complete, rest = bytes(partial).split(b"\n")
                partial[:] = rest
                yield from complete
            self._check_unread(len(partial))
        if partial:
            yield bytes(partial)

    def read(self, size: int) -> bytearray:
        """As many bytes of its standard output, fewer at the end; errors as of :meth:`lines`."""
        while len(self._buffer) < size and (data := self._read()):
            self._buffer += data
            self._check_unread(len(self._buffer))
        taken = self._buffer[:size]
        del self._buffer[:size]
        return taken

    def _read(self) -> bytes:
        """Some of its standard output as soon as there is any; nothing when it has ended well."""
        quiet_since = time.monotonic()
        while not self._poll.poll(_LOOK_MILLISECONDS):
            if self.on_quiet is not None:
                self.on_quiet()
            if self._look_at_log():
                quiet_since = time.monotonic()
            quiet = time.monotonic() - quiet_since
            if self._process.poll() is not None:
                if quiet > _HELD_SECONDS:
                    raise self.fail("ended, but a process that it started goes on")
            elif self._timeout is not None and quiet > self._timeout:
                raise self.fail(f"no sign of life for {self._timeout:g} seconds; given up")
        data = os.read(self._stdout.fileno(), _READ_SIZE)
        if not data and not self._finished:
            self._finish()
        return data

    def _look_at_log(self) -> bool:
        """Whether it wrote to standard error since the last look; progress is passed on."""
        size = os.fstat(self._log.fileno()).st_size
        self._check_unread(size)
        grown = size > self._log_seen
        if grown and self._on_progress is not None:
            start = max(self._log_seen, size - _TAIL_BYTES)
            for done, total, label in _PROGRESS.findall(self._log_bytes(start, size))[-1:]:
                self._on_progress(int(done), int(total), label.decode("utf-8", "replace"))
        self._log_seen = size
        return grown

    def _log_bytes(self, start: int, end: int) -> bytes:
        # The place in the file is the process's own.
        return os.pread(self._log.fileno(), end - start, start)

    def _check_unread(self, size: int) -> None:
        if size > _MOST_UNREAD:
            raise self.fail(f"printed {size:,} bytes that no pair of segments asked for; given up")

    def _finish(self) -> None:
        """Wait for the end and check the exit status."""
        try:
            status = self._process.wait(self._timeout)
        except subprocess.TimeoutExpired:
            raise self.fail(f"did not end within {self._timeout:g} seconds") from None
        self._look_at_log()
        if status < 0:
            killed = signal.Signals(-status).name
            hint = " (out of memory?)" if -status == signal.SIGKILL else ""
            raise self.fail(f"was killed by {killed}{hint}")
        if status > 0:
            raise self.fail(f"exit status {status}")
        for told in _REFUSED_THREADS.findall(self.log):
            warnings.warn(told, AlignerWarning, stacklevel=2)
        self._finished = True

    @property
    def log(self) -> str:
        """Its standard error, for the original's numbers that are printed nowhere else."""
        return self._log_bytes(0, _LONGEST_LOG).decode("utf-8", "replace")

    def fail(self, problem: str) -> AlignerError:
        """An error with the last lines of the process's standard error."""
        size = os.fstat(self._log.fileno()).st_size
        tail = self._log_bytes(max(0, size - _TAIL_BYTES), size).decode("utf-8", "replace")
        lines = [line.strip() for line in tail.split("\n") if not line.startswith("progress ")]
        said = "; ".join([line for line in lines if line][-_TAIL_LINES:])
        return AlignerError(f"{self._name}: {problem}" + (f": {said}" if said else ""))


class Sender:
    """Sends the same input to several aligners; they end with the block.

    A thread writes, so that the caller can read meanwhile. An aligner gets a piece of input after
    the aligners before it have taken that piece; so the caller must read all results of a piece
    from the
    first before it reads those of the second.
    """

    def __init__(self, children: Sequence[Child]) -> None:
        """Start the thread.

        Raises:
            AlignerError: The system refuses it.
        """
        self._children = children
        self._pieces: queue.Queue[bytes | None] = queue.Queue()
        self._writer = threading.Thread(target=self._write, daemon=True)
        try:
            self._writer.start()
        except RuntimeError as error:
            raise AlignerError(f"the aligner cannot be given text: {error}") from error

    def send(self, piece: bytes | None) -> None:
        """Send a piece of input, or its end, without waiting for the aligners to take it."""
        self._pieces.put(piece)

    @property
    def is_idle(self) -> bool:
        """Whether the aligners have read everything that was sent."""
        return self._pieces.unfinished_tasks == 0

    def _write(self) -> None:
        while (piece := self._pieces.get()) is not None:
            for child in self._children:
                child.write(piece)
            self._pieces.task_done()
        for child in self._children:
            child.end_input()

    def __enter__(self) -> Sender:
        return self

    def __exit__(self, *_: object) -> None:
        for child in self._children:
            child.kill()  # one that still runs is not wanted any more
        self._pieces.put(None)
        self._writer.join(_HELD_SECONDS)
