"""Processes that count texts beside this one, and end with it."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from coverage_eval.core.errors import CoverageEvalError

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor


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
