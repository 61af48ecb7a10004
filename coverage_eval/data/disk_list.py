"""A list that may be longer than memory: its items wait on the disk."""

from __future__ import annotations

import os
import pickle
import weakref
from array import array
from collections.abc import Iterable, Sequence
from tempfile import SpooledTemporaryFile
from threading import Lock
from typing import TypeVar, overload

T = TypeVar("T")

_HELD_IN_MEMORY = 1 << 20
"""Bytes of items that need no file."""


class DiskList(Sequence[T]):
    """A list of anything that can be pickled, kept in a temporary file if it is long.

    >>> items = DiskList(iter(["a", "b", "c"]))
    >>> list(items), items[-1], len(items)
    (['a', 'b', 'c'], 'c', 3)

    The file has no name, so nobody can tamper with what is unpickled here, and it disappears with
    the process, however that ends. In memory, an item takes 8 bytes.

    Args:
        items: Whatever can be pickled.

    Raises:
        OSError: The disk is full.
    """

    def __init__(self, items: Iterable[T] = ()) -> None:
        self._file = SpooledTemporaryFile(_HELD_IN_MEMORY)  # noqa: SIM115 (it lasts as long)
        weakref.finalize(self, self._file.close)
        self._ends = array("q", [0])
        self._at_end = True
        self._lock = Lock()  # an aligner reads its text in a thread of its own
        for item in items:
            self.append(item)

    def append(self, item: T) -> None:
        """Append an item."""
        data = pickle.dumps(item, pickle.HIGHEST_PROTOCOL)
        with self._lock:
            if not self._at_end:
                self._file.seek(0, os.SEEK_END)
                self._at_end = True
            self._file.write(data)
            self._ends.append(self._ends[-1] + len(data))

    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> list[T]: ...

    def __getitem__(self, index: int | slice) -> T | list[T]:
        places = range(len(self))[index]
        if isinstance(places, range):
            return [self[place] for place in places]
        with self._lock:
            self._at_end = False
            self._file.seek(self._ends[places])
            data = self._file.read(self._ends[places + 1] - self._ends[places])
        item: T = pickle.loads(data)  # noqa: S301 (our own)
        return item
