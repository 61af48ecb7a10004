"""Progress of long work: a bar on a terminal, and its parts."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import accumulate
from typing import TypeVar

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


def split_progress(progress: Progress, *weights: float) -> list[Progress]:
    """The progress of each of several works that follow each other.

    >>> first, second = split_progress(print, 1, 3)
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


def track(
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
