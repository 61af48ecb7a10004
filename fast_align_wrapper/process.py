"""Running aligners: fed and read without deadlock, watched, and never left behind."""

from __future__ import annotations

import math
import os
import selectors
import signal
import subprocess
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, cast

from fast_align_wrapper.errors import AlignerError

DEFAULT_TIMEOUT = 1800.0
"""Seconds without any sign of life after which an aligner is given up."""

MOST_SECONDS = 1e6
"""The longest time limit; twice as long is too long for the system's own waiting."""

_READ_SIZE = 1 << 18
_INPUT_AHEAD = 1 << 17
_TAIL_LINES = 5
_LONGEST_LOG = 1 << 20
_MOST_UNREAD = 1 << 29
"""Bytes that nobody has taken, after which an aligner is taken to print without end."""

_HELD_SECONDS = 5.0
"""How long pipes may stay open when the aligner has ended."""


class Child:
    """A running aligner with its pipes.

    Attributes:
        lines: Complete lines of its standard output, without line ends; take them from the left.
        side_bytes: What it wrote to the side pipe; delete what was taken.
        side_began: For who reads there, whether it took what stands once at the beginning.
        log: Its standard error, for the original's numbers that are printed nowhere else.
    """

    def __init__(
        self,
        command: Sequence[str | os.PathLike[str]],
        *,
        side_option: str | None = None,
        on_progress: Callable[[int, int, str], None] | None = None,
    ) -> None:
        """Start a process.

        Args:
            command: Executable and arguments; never seen by a shell.
            side_option: An option that takes a file to write to; it gets a pipe.
            on_progress: Called with done, total and label of ``--progress`` lines.
        """
        self.lines: deque[bytes] = deque()
        self.side_bytes = bytearray()
        self.side_began = False
        self.log: list[str] = []
        self._name = Path(command[0]).name
        self._on_progress = on_progress
        self._input = bytearray()
        self._input_ended = False
        self._finished = False
        self._partial = bytearray()
        self._unread = 0
        self._partial_log = bytearray()
        self._log_size = 0
        self._side: IO[bytes] | None = None
        arguments = [os.fspath(part) for part in command]
        write_end = -1
        try:
            if side_option is not None:
                read_end, write_end = os.pipe()
                self._side = open(read_end, "rb", buffering=0)  # noqa: PTH123, SIM115
                arguments += [side_option, f"/dev/fd/{write_end}"]
            self.process = self._start(arguments, [write_end] if write_end >= 0 else [])
        finally:
            if write_end >= 0:
                os.close(write_end)

    def _start(self, arguments: list[str], descriptors: list[int]) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                arguments,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                pass_fds=descriptors,
                # A group of its own, so that whatever it starts can be ended with it.
                start_new_session=True,
                env={**os.environ, "LC_ALL": "C"},
            )
        except OSError as error:
            if self._side is not None:
                self._side.close()
            raise AlignerError(f"{arguments[0]}: cannot be run: {error.strerror}") from error

    @property
    def streams(self) -> dict[IO[bytes], Callable[[bytes], None]]:
        """Everything to be read, with the method that receives it."""
        pipes: dict[IO[bytes], Callable[[bytes], None]] = {
            cast("IO[bytes]", self.process.stdout): self._receive_output,
            cast("IO[bytes]", self.process.stderr): self._receive_log,
        }
        if self._side is not None:
            pipes[self._side] = self._receive_side
        return pipes

    @property
    def stdin(self) -> IO[bytes]:
        """The pipe to its standard input."""
        return cast("IO[bytes]", self.process.stdin)

    def _receive_output(self, data: bytes) -> None:
        # Who reads takes all lines, or waits for another aligner's.
        self._unread = (self._unread if self.lines else len(self._partial)) + len(data)
        self._check_unread(self._unread)
        self.lines.extend(_take_lines(self._partial, data))

    def _receive_side(self, data: bytes) -> None:
        self.side_bytes.extend(data)
        self._check_unread(len(self.side_bytes))

    def _check_unread(self, size: int) -> None:
        if size > _MOST_UNREAD:
            raise self.fail(f"printed {size:,} bytes that no pair of segments asked for; given up")

    def _receive_log(self, data: bytes) -> None:
        for line in _take_lines(self._partial_log, data):
            self._log_line(line.decode("utf-8", "replace"))
        del self._partial_log[_LONGEST_LOG:]

    def _log_line(self, line: str) -> None:
        words = line.split(" ", 3)
        if words[0] == "progress" and len(words) == 4 and (words[1] + words[2]).isdecimal():
            if self._on_progress is not None:
                self._on_progress(int(words[1]), int(words[2]), words[3])
        elif self._log_size < _LONGEST_LOG:
            self._log_size += len(line)
            self.log.append(line)

    def queue_input(self, data: bytes) -> None:
        """Hold bytes to be written when the process takes them."""
        self._input += data

    def end_input(self) -> None:
        """Close its standard input as soon as what is held has been written."""
        self._input_ended = True
        if not self._input:
            self.stdin.close()

    @property
    def wants_input(self) -> bool:
        """Whether little enough is held to be written."""
        return len(self._input) < _INPUT_AHEAD

    @property
    def has_input(self) -> bool:
        """Whether bytes wait to be written."""
        return bool(self._input)

    @property
    def refuses_input(self) -> bool:
        """Whether it ended, or closed its standard input, before the input's end."""
        return self.stdin.closed and not self._input_ended

    def write_some(self) -> None:
        """Write what the pipe takes."""
        try:
            written = os.write(self.stdin.fileno(), self._input[:_READ_SIZE])
        except BlockingIOError:
            return
        except BrokenPipeError:
            # It ended early; its exit status and its log say why.
            self._input.clear()
            self.stdin.close()
            return
        del self._input[:written]
        if self._input_ended and not self._input:
            self.stdin.close()

    def fail(self, problem: str) -> AlignerError:
        """An error with the last lines of the process's standard error."""
        lines = [line.strip() for line in [*self.log, self._partial_log.decode("utf-8", "replace")]]
        tail = "; ".join([line for line in lines if line][-_TAIL_LINES:])
        return AlignerError(f"{self._name}: {problem}" + (f": {tail}" if tail else ""))

    def finish(self, timeout: float | None) -> None:
        """Wait for the end and check the exit status.

        Raises:
            AlignerError: It failed, was killed, or does not end.
        """
        try:
            status = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise self.fail(f"did not end within {timeout:g} seconds") from None
        if status < 0:
            killed = signal.Signals(-status).name
            hint = " (out of memory?)" if -status == signal.SIGKILL else ""
            raise self.fail(f"was killed by {killed}{hint}")
        if status > 0:
            raise self.fail(f"exit status {status}")
        self._finished = True
        if self._partial:
            self.lines.append(bytes(self._partial))
            self._partial.clear()

    def end(self) -> None:
        """Kill it with all that it started, if it still runs, and close the pipes."""
        if not self._finished:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for pipe in [*self.streams, self.stdin]:
            pipe.close()


def _take_lines(partial: bytearray, data: bytes) -> list[bytes]:
    """Complete lines of what was read before and now; what follows them stays in ``partial``."""
    partial += data
    if b"\n" not in data:
        return []
    *complete, rest = bytes(partial).split(b"\n")
    partial[:] = rest
    return complete


class Children:
    """Aligners that run side by side on the same input; all end when the block ends."""

    def __init__(self, timeout: float | None = DEFAULT_TIMEOUT) -> None:
        """Prepare for children.

        Args:
            timeout: Seconds without any sign of life after which to give up; None never does.

        Raises:
            ValueError: A time that is not above 0, or more than :data:`MOST_SECONDS`.
        """
        if timeout is not None and not 0 < timeout <= MOST_SECONDS:
            raise ValueError(f"timeout must be above 0 and at most {MOST_SECONDS:g}, not {timeout}")
        self._timeout = timeout
        self._children: list[Child] = []

    @property
    def running(self) -> Sequence[Child]:
        """Those that were started."""
        return self._children

    def start(
        self,
        command: Sequence[str | os.PathLike[str]],
        *,
        side_option: str | None = None,
        on_progress: Callable[[int, int, str], None] | None = None,
    ) -> Child:
        """Start one, as :class:`Child`."""
        child = Child(command, side_option=side_option, on_progress=on_progress)
        self._children.append(child)
        return child

    def __enter__(self) -> Children:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """End all that still run."""
        for child in self._children:
            child.end()

    def run(
        self, chunks: Iterator[bytes] | None = None, *, enough: Callable[[], bool] | None = None
    ) -> Iterator[None]:
        """Run all to their end, yielding whenever something was read.

        Input is asked for only when every child has taken most of the last, so a slow one holds
        the others back, and memory does not grow with the input.

        Args:
            chunks: Input for every child's standard input; None for none.
            enough: Says whether all that was asked for has come; the children are then left to
                wait for another run. None runs them to their end.

        Raises:
            AlignerError: A child failed or gave no sign of life for too long.
        """
        with selectors.DefaultSelector() as selector:
            for child in self._children:
                for pipe, receive in child.streams.items():
                    os.set_blocking(pipe.fileno(), False)
                    selector.register(pipe, selectors.EVENT_READ, receive)
                os.set_blocking(child.stdin.fileno(), False)
            source = iter(()) if chunks is None else chunks
            while self._feed(selector, source):
                if self._turn(selector):
                    yield
            while selector.get_map() and not (enough and enough()):
                if enough is None or self._has_lost_one(selector):
                    for child in self._children:
                        child.end_input()
                if self._turn(selector):
                    yield
            ended = not selector.get_map()
        if ended:
            for child in self._children:
                child.finish(self._timeout)
        yield

    def _has_lost_one(self, selector: selectors.BaseSelector) -> bool:
        return any(child.process.stdout not in selector.get_map() for child in self._children)

    def _feed(self, selector: selectors.BaseSelector, chunks: Iterator[bytes]) -> bool:
        """Queue input if all children are ready for more; False when there is no more."""
        while all(child.wants_input for child in self._children):
            refused = any(child.refuses_input for child in self._children)
            chunk = None if refused else next(chunks, None)
            if chunk is None:
                return False
            for child in self._children:
                waiting = child.has_input
                child.queue_input(chunk)
                if child.has_input and not waiting:
                    selector.register(child.stdin, selectors.EVENT_WRITE, child)
        return True

    def _turn(self, selector: selectors.BaseSelector) -> bool:
        """Read and write what can be read and written; whether something was read."""
        if not selector.get_map():
            return False
        read = False
        for key, _ in self._wait(selector):
            pipe = cast("IO[bytes]", key.fileobj)
            if isinstance(key.data, Child):
                key.data.write_some()
                if not key.data.has_input:
                    selector.unregister(pipe)
                continue
            data = os.read(pipe.fileno(), _READ_SIZE)
            read = True
            if data:
                key.data(data)
            else:
                selector.unregister(pipe)
        return read

    def _wait(self, selector: selectors.BaseSelector) -> list[tuple[selectors.SelectorKey, int]]:
        """What can be read and written, which is something.

        Raises:
            AlignerError: Nothing for too long, of aligners that run or of what they left behind.
        """
        left = math.inf if self._timeout is None else self._timeout
        while True:
            part = min(left, _HELD_SECONDS)
            if events := selector.select(part):
                return events
            left -= part
            running = [child for child in self._children if child.process.poll() is None]
            if running and left <= 0:
                raise running[0].fail(f"no sign of life for {self._timeout:g} seconds; given up")
            if not running:
                raise self._children[0].fail("ended, but a process that it started goes on")
