"""Find and run the aligner's executable.

The caller reads its standard output. Its standard error goes to a file. We read progress from this
file, and if the aligner fails, the reason.
"""

from __future__ import annotations

import json
import os
import queue
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO, cast

import fast_align_wrapper
from fast_align_wrapper import AlignerError, AlignerNotFoundError, AlignerWarning

VARIABLE = "FAST_ALIGN"
"""Environment variable with a fast_align executable: its path, that of its folder, or a command."""

THREADS_VARIABLE = "FAST_ALIGN_THREADS"
"""Environment variable with the number of threads, which does not change any result."""

MAX_THREADS = 1024

TIMEOUT = 1800.0
"""An aligner is stopped after this many seconds without any sign of life."""

Progress = Callable[[int, int, str], None]
"""Called with steps done, total steps (0 if unknown), and the name of the phase."""

_OUR_VERSION = "fast_align (coverage-eval) "
_VERSION_SECONDS = 20.0
_READ_SIZE = 1 << 18
_LOOK_MILLISECONDS = 100
"""How often the log is checked while waiting for output."""
_MAX_LOG = 1 << 20
_TAIL_BYTES, _TAIL_LINES = 1 << 14, 5
_PROGRESS = re.compile(rb"^progress ([0-9]+) ([0-9]+) (.*)\n", re.MULTILINE)
_REFUSED_THREADS = re.compile(r"warning: (the system refuses .*)")


@dataclass(frozen=True)
class Binary:
    """A fast_align executable.

    Attributes:
        path: Its path.
        version: The answer of our own aligner to ``--version``, which has more options than the
            original; None for any other fast_align.
        command: The start of the command line; our own aligner ends when this process ends.
    """

    path: Path
    version: str | None
    command: tuple[str, ...]


def installed_from() -> str:
    """What pip can build this package from: a clone or source archive if known, else its name."""
    from importlib import metadata  # these are slow to import
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    try:
        origin = metadata.distribution("coverage-eval").read_text("direct_url.json") or "{}"
    except metadata.PackageNotFoundError:
        return "coverage-eval"
    origin_path = Path(url2pathname(urlsplit(json.loads(origin).get("url", "")).path) or ".")
    is_archive = origin_path.name.endswith(".tar.gz") and origin_path.is_file()
    is_clone = (origin_path / "pyproject.toml").is_file()
    return str(origin_path) if is_archive or is_clone else "coverage-eval"


def bundled_folder() -> Path:
    """The folder with the executables that were built with this package.

    It is ``bin`` of the installed package, which need not be beside this file. An editable
    installation keeps Python files elsewhere (both folders are in ``__path__``), and in a clone the
    source folder hides the installed package, which is found further down in ``sys.path``.

    Raises:
        AlignerNotFoundError: There is none; the package was installed without its aligner.
    """
    installed = (Path(entry) / "fast_align_wrapper" for entry in sys.path)
    for package in (*map(Path, fast_align_wrapper.__path__), *installed):
        if shutil.which("fast_align", path=package / "bin"):
            return (package / "bin").resolve()
    raise AlignerNotFoundError(
        "this installation has no word aligner, because there was no C++17 compiler: install one "
        "(for example: apt-get install g++) and coverage-eval again (pip install "
        f"--force-reinstall --no-cache-dir --no-deps {shlex.quote(installed_from())}), or set "
        f"{VARIABLE} to a fast_align executable"
    )


def find_fast_align() -> Binary:
    """Find the executable: that of the environment variable ``FAST_ALIGN``, else the bundled one.

    Raises:
        AlignerNotFoundError: There is no such executable; the message says what to do.
    """
    named = os.environ.get(VARIABLE)
    if not named:
        path = bundled_folder() / "fast_align"
    else:
        is_folder = Path(named).is_dir()
        program = shutil.which("fast_align", path=named) if is_folder else shutil.which(named)
        if program is None:
            raise AlignerNotFoundError(
                f"{named}: named by {VARIABLE}, but is neither an executable nor a folder with "
                "fast_align"
            )
        path = Path(program).resolve()
    version = _version(path, path.stat().st_mtime_ns)
    options = () if version is None else ("--parent", str(os.getpid()))
    return Binary(path, version, (str(path), *options))


def find_threads(threads: int | None = None) -> int | None:
    """The number of threads: as given, or that of ``FAST_ALIGN_THREADS``; None for all cores.

    Raises:
        AlignerError: The variable is not a number from 1 to 1,024.
    """
    value = os.environ.get(THREADS_VARIABLE)
    if threads is not None or not value:
        return threads
    if not re.fullmatch("[0-9]{1,4}", value) or not 1 <= int(value) <= MAX_THREADS:
        raise AlignerError(
            f"{THREADS_VARIABLE} is {value!a:.40}: set a number from 1 to {MAX_THREADS}"
        )
    return int(value)


@lru_cache(maxsize=16)
def _version(path: Path, _modified: int) -> str | None:
    """The answer of our own aligner to ``--version``; None for the original, which has none."""
    try:
        done = subprocess.run(
            [str(path), "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=_VERSION_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return None
    except OSError as error:
        raise AlignerError(f"{path}: cannot be run: {error.strerror}") from error
    line = done.stdout.decode("utf-8", "replace").partition("\n")[0].strip()
    return line if line.startswith(_OUR_VERSION) and done.returncode == 0 else None


class Child:
    """A running aligner; :meth:`close` ends it and everything that it started.

    A thread writes what is sent to the aligner, so that the caller can read at the same time.

    Attributes:
        input: What is put here is written to its standard input; None closes that.
        on_idle: Called repeatedly while the aligner has read all that was sent and prints nothing.
    """

    def __init__(self, command: Sequence[str], on_progress: Progress | None = None) -> None:
        """Start a process.

        Args:
            command: Executable and arguments; no shell is used.
            on_progress: Called with the numbers and the label of ``--progress`` lines.

        Raises:
            AlignerError: It cannot be run.
        """
        self._name = Path(command[0]).name
        self._on_progress = on_progress
        self.on_idle: Callable[[], None] | None = None
        self._finished = False
        self._buffer = bytearray()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 (closed in close)
        self._log_seen = 0
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                # In its own process group, so that everything it starts can be ended with it.
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
        self.input: queue.Queue[bytes | None] = queue.Queue()
        self._owner = os.getpid()
        _RUNNING.add(self)
        self._writer = threading.Thread(target=self._write, daemon=True)
        self._writer.start()

    def close(self) -> None:
        """End it, whatever it is doing; in a forked process, which did not start it, do nothing."""
        if os.getpid() != self._owner:
            return
        if not self._finished:  # nobody needs its results
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self.input.put(None)
        self._writer.join()
        self._process.wait()
        self._stdout.close()
        self._log.close()

    def _write(self) -> None:
        # If the aligner has ended, its exit status and its log say why.
        with suppress(BrokenPipeError), self._stdin:
            while (data := self.input.get()) is not None:
                self._stdin.write(data)
                self._stdin.flush()
                self.input.task_done()

    def lines(self) -> Iterator[bytes]:
        """The lines of its standard output, without line ends.

        Raises:
            AlignerError: It failed, or gave no sign of life in time.
        """
        partial = bytearray()
        while data := self._read():
            partial += data
            if b"\n" in data:
                *complete, rest = bytes(partial).split(b"\n")
                partial[:] = rest
                yield from complete
        if partial:
            yield bytes(partial)

    def read(self, size: int) -> bytearray:
        """That many bytes of its standard output, fewer at the end; raises like :meth:`lines`."""
        while len(self._buffer) < size and (data := self._read()):
            self._buffer += data
        start = self._buffer[:size]
        del self._buffer[:size]
        return start

    def _read(self) -> bytes:
        """Its next output, as soon as there is any; empty when it has ended successfully."""
        quiet_since = time.monotonic()
        while not self._poll.poll(_LOOK_MILLISECONDS):
            if self.on_idle is not None and self.input.unfinished_tasks == 0:
                self.on_idle()
            if self._look_at_log():
                quiet_since = time.monotonic()
            if time.monotonic() - quiet_since > TIMEOUT:
                raise self.fail(f"no sign of life for {TIMEOUT:g} seconds; stopped")
        data = os.read(self._stdout.fileno(), _READ_SIZE)
        if not data and not self._finished:
            self._finish()
        return data

    def _look_at_log(self) -> bool:
        """Report progress; the result is whether it wrote to standard error since the last look."""
        size = os.fstat(self._log.fileno()).st_size
        grown = size > self._log_seen
        if grown and self._on_progress is not None:
            start = max(self._log_seen, size - _TAIL_BYTES)
            text = os.pread(self._log.fileno(), size - start, start)
            for done, total, label in _PROGRESS.findall(text)[-1:]:
                self._on_progress(int(done), int(total), label.decode("utf-8", "replace"))
        self._log_seen = size
        return grown

    def _finish(self) -> None:
        """Wait until it ends, and check its exit status."""
        status = self._process.wait()
        if self._on_progress is not None:
            self._look_at_log()
        if status < 0:
            killed = signal.Signals(-status).name
            hint = " (out of memory?)" if -status == signal.SIGKILL else ""
            raise self.fail(f"was killed by {killed}{hint}")
        if status > 0:
            raise self.fail(f"exit status {status}")
        for warning in _REFUSED_THREADS.findall(self.log) if self._log_seen else ():
            warnings.warn(warning, AlignerWarning, stacklevel=2)
        self._finished = True

    @property
    def log(self) -> str:
        """Its standard error, where the original prints some of its results."""
        # Not seek and read: the process shares the position in the file.
        return os.pread(self._log.fileno(), _MAX_LOG, 0).decode("utf-8", "replace")

    def fail(self, problem: str) -> AlignerError:
        """An error with the last lines of its standard error."""
        start = max(0, os.fstat(self._log.fileno()).st_size - _TAIL_BYTES)
        tail = os.pread(self._log.fileno(), _TAIL_BYTES, start).decode("utf-8", "replace")
        lines = [line.strip() for line in tail.split("\n") if not line.startswith("progress ")]
        last = "; ".join([line for line in lines if line][-_TAIL_LINES:])
        return AlignerError(f"{self._name}: {problem}" + (f": {last}" if last else ""))


_RUNNING: weakref.WeakSet[Child] = weakref.WeakSet()
"""Aligners that this process started."""


def _release_inputs() -> None:
    """Let go of the standard input of the aligners of the process that forked this one.

    An aligner waits for the end of its text until every process has closed that pipe.
    """
    for child in list(_RUNNING):
        if not child._stdin.closed:
            with Path(os.devnull).open("wb") as nothing:
                os.dup2(nothing.fileno(), child._stdin.fileno(), inheritable=False)


os.register_at_fork(after_in_child=_release_inputs)
