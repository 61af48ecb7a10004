"""What long work needs of the machine: processes, a list on disk, and a bar that shows progress."""

from __future__ import annotations

import os
import pickle
import sys
import threading
import time
import weakref
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import accumulate
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, TypeVar

from coverage_eval.core.errors import CoverageEvalError

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

T = TypeVar("T")


Progress = Callable[[float], None]
"""Called with the share of some work that is done, from 0 to 1."""


def no_progress(_: float) -> None:
    """Progress that nobody looks at."""


@contextmanager
def progress_bar(label: str) -> Iterator[Progress]:
    """One bar for all of a run, on standard error if that is a terminal.

    It starts at 0 %, and ends at 100 % unless the run fails. What is printed on standard error in
    the meantime is above it.

    Args:
        label: Text before the bar.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield no_progress
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    # Without a thread that draws it, because processes may be forked while it is shown.
    with Bar(
        console=Console(stderr=True), transient=True, auto_refresh=False, redirect_stdout=False
    ) as bar:
        task = bar.add_task(label, total=1)
        yield lambda share: bar.update(task, completed=share, refresh=True)
        bar.update(task, completed=1, refresh=True)


def parts(progress: Progress, *weights: float) -> list[Progress]:
    """The progress of each of several works that follow each other.

    >>> first, second = parts(print, 1, 3)
    >>> first(0.5), second(1)
    0.125
    1.0
    (None, None)

    Args:
        progress: The progress of all of them.
        weights: How long each takes, in any unit.
    """
    whole = sum(weights)

    def part(weight: float, end: float) -> Progress:
        return lambda share: progress((end - weight * (1 - share)) / whole)

    return list(map(part, weights, accumulate(weights)))


def counted(
    items: Iterable[T], progress: Progress, total: int, length: Callable[[T], int] = lambda _: 1
) -> Iterator[T]:
    """Pass items through, and report how much of them has passed, ten times a second at most.

    Args:
        items: The items.
        progress: Where to.
        total: The length of all items.
        length: The length of an item.
    """
    done, due = 0, 0.0
    for item in items:
        yield item
        done += length(item)
        if time.monotonic() >= due:
            progress(done / total)
            due = time.monotonic() + 0.1
    progress(1.0)


@contextmanager
def started_processes(count: int) -> Iterator[ProcessPoolExecutor | None]:
    """Started processes; None if one is enough.

    Args:
        count: How many.

    Raises:
        CoverageEvalError: One of them was killed.
    """
    if count <= 1:
        yield None
        return
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    pool = ProcessPoolExecutor(count, initializer=_end_with_parent)
    # Fork all processes now: one forked later would hold the pipe to an aligner open, and the
    # aligner would never see the end of its text.
    pool.submit(int).result()
    try:
        yield pool
    except BrokenProcessPool:
        raise CoverageEvalError(
            "a process of --jobs was killed (out of memory?); use fewer of them"
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _end_with_parent() -> None:
    """Let this worker end when its parent does, however that ends.

    A worker waits for work in a pipe that the other workers hold open, too, so after SIGKILL of
    their parent they would wait for ever, and hold its standard output open.
    """
    import multiprocessing  # slow to import, and used in other processes only

    parent = multiprocessing.parent_process()
    assert parent is not None

    def wait() -> None:
        parent.join()  # on a pipe that the system closes with the parent
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


class LazyRows(Sequence[T]):
    """Rows computed on demand: a function of the items of other sequences.

    >>> rows = LazyRows(lambda number, word: (number, word.upper()), range(1, 3), ["a", "b"])
    >>> rows[:2], rows[-1], len(rows)
    ([(1, 'A'), (2, 'B')], (2, 'B'), 2)

    Args:
        function: Takes an item of each sequence.
        sequences: At least one, all of one length; arrays are allowed.
    """

    def __init__(self, function: Callable[..., T], *sequences: Any) -> None:
        self._function = function
        self._sequences = sequences

    def __len__(self) -> int:
        return len(self._sequences[0])

    def __iter__(self) -> Iterator[T]:
        return map(self._function, *self._sequences)

    def __getitem__(self, index: Any) -> Any:
        numbers = range(len(self))[index]
        if isinstance(numbers, range):
            return [self[number] for number in numbers]
        return self._function(*(sequence[numbers] for sequence in self._sequences))


class DiskList(Sequence[T]):
    """A list of items that can be pickled, in a temporary file.

    >>> items = DiskList(iter(["a", "b", "c"]))
    >>> list(items), items[-1], len(items)
    (['a', 'b', 'c'], 'c', 3)

    The file has no name, so nobody can tamper with the pickles, and it disappears with the process,
    however that ends. Each item takes 8 bytes of memory.

    Args:
        items: The first items.

    Raises:
        OSError: The disk is full.
    """

    def __init__(self, items: Iterable[T] = ()) -> None:
        self._ends = array("q", [0])
        for item in items:
            self.append(item)

    @cached_property
    def _file(self) -> int:
        """The descriptor of the file, which is made for the first item."""
        file = TemporaryFile(buffering=0)  # noqa: SIM115 (it lasts as long)
        weakref.finalize(self, file.close)
        return file.fileno()

    def append(self, item: T) -> None:
        """Append an item."""
        data = memoryview(pickle.dumps(item, pickle.HIGHEST_PROTOCOL))
        end = self._ends[-1]
        while data:
            written = os.pwrite(self._file, data, end)
            data, end = data[written:], end + written
        self._ends.append(end)

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, index: Any) -> Any:
        places = range(len(self))[index]
        if isinstance(places, range):
            return [self[place] for place in places]
        start, end = self._ends[places : places + 2]
        # Without a position that is shared: an aligner reads its text in another thread.
        return pickle.loads(os.pread(self._file, end - start, start))  # noqa: S301 (our own)
