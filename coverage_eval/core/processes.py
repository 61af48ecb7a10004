"""Processes that share the work of one command, and end with it."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from coverage_eval.core.errors import CoverageEvalError

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor


@contextmanager
def started_processes(
    count: int, prepare: Callable[..., None] | None = None, *arguments: Any
) -> Iterator[ProcessPoolExecutor | None]:
    """Started processes; None if one is enough.

    Args:
        count: How many.
        prepare: Called first in each of them.
        *arguments: What it gets.

    Raises:
        CoverageEvalError: One of them was killed.
    """
    if count <= 1:
        yield None
        return
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import active_children

    others = active_children()
    pool = ProcessPoolExecutor(count, initializer=_start, initargs=(prepare, *arguments))
    try:
        # Fork all processes now: one forked later would hold the pipe to an aligner open, and the
        # aligner would never see the end of its text.
        pool.submit(int).result()
    except RuntimeError:  # a thread was refused, and the processes would wait for ever
        for process in set(active_children()).difference(others):
            process.kill()
        raise
    try:
        yield pool
    except BrokenProcessPool:
        raise CoverageEvalError(
            "a process of --jobs was killed (out of memory?); use fewer of them"
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _start(prepare: Callable[..., None] | None, *arguments: Any) -> None:
    """Prepare this worker, and let it end when its parent does, however that ends.

    A worker waits for work in a pipe that the other workers hold open, too, so after SIGKILL of
    their parent they would wait for ever, and hold its standard output open.
    """
    parent = multiprocessing.parent_process()
    assert parent is not None

    def wait() -> None:
        parent.join()  # on a pipe that the system closes with the parent
        os._exit(1)

    with suppress(RuntimeError):  # a thread was refused, as our parent will notice, too
        threading.Thread(target=wait, daemon=True).start()
    if prepare:
        prepare(*arguments)
