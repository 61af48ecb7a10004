"""Aligners that wait for the next text, where starting them anew costs more than aligning it."""

from __future__ import annotations

import os
import weakref
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from fast_align_wrapper.process import Children

# With the process that started them: a forked child has the same object, and the same pipes.
Waiting = defaultdict[tuple[int, str], list[Children]]


class Standby:
    """Aligners without work, by what they do; ended when this object goes, or at exit."""

    def __init__(self) -> None:
        self._waiting: Waiting = defaultdict(list)
        self._finalizer = weakref.finalize(self, _end_all, self._waiting)

    def take(self, work: str) -> Children | None:
        """Aligners that do this work and have none, if there are any."""
        waiting = self._waiting[os.getpid(), work]
        while waiting:
            children = waiting.pop()
            if all(child.process.poll() is None for child in children.running):
                return children
            children.end()
        return None

    def put(self, work: str, children: Children) -> None:
        """Let aligners wait."""
        self._waiting[os.getpid(), work].append(children)

    def close(self) -> None:
        """End all."""
        self._finalizer()


def _end_all(waiting: Waiting) -> None:
    for (owner, _), idle in waiting.items():
        if owner == os.getpid():
            for children in idle:
                children.end()


@contextmanager
def running(
    commands: Sequence[Sequence[str]],
    side_option: str | None = None,
    *,
    timeout: float | None,
    standby: Standby | None,
) -> Iterator[Children]:
    """Aligners that run, those that wait if there are any; they end, or wait again, with the block.

    Args:
        commands: The command of each.
        side_option: As in :meth:`Children.start`.
        timeout: As in :class:`Children`.
        standby: Where they wait; None to start and end them here.
    """
    work = repr((commands, side_option))
    with ExitStack() as stack:
        waiting = None if standby is None else standby.take(work)
        children = stack.enter_context(waiting or Children(timeout))
        if waiting is None:
            for command in commands:
                children.start(command, side_option=side_option)
        yield children
        if standby is not None:
            stack.pop_all()
            standby.put(work, children)
