"""A list that may be larger than memory: its items are on disk."""

from __future__ import annotations

import os
import pickle
import weakref
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from tempfile import SpooledTemporaryFile, gettempdir
from threading import Lock
from typing import TypeVar, overload

T = TypeVar("T")

_HELD_IN_MEMORY = 1 << 20
"""Most bytes of items that are kept without a file."""


class DiskList(Sequence[T]):
    """A list of items that can be pickled, in a temporary file if it is long.

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
        self._file = SpooledTemporaryFile(_HELD_IN_MEMORY)  # noqa: SIM115 (it lasts as long)
        weakref.finalize(self, self._file.close)
        self._ends = array("q", [0])
        self._at_end = True
        self._lock = Lock()  # an aligner reads its text in another thread
        for item in items:
            self.append(item)

    def append(self, item: T) -> None:
        """Append an item."""
        data = pickle.dumps(item, pickle.HIGHEST_PROTOCOL)
        with self._lock, self._named_errors():
            if not self._at_end:
                self._file.seek(0, os.SEEK_END)
                self._at_end = True
            self._file.write(data)
            self._ends.append(self._ends[-1] + len(data))

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        """Say where the disk is full, and drop what Python would try to write again at its end."""
        try:
            yield
        except OSError as error:
            with suppress(OSError):
                self._file.close()
            place = f"temporary files in {gettempdir()}"
            raise OSError(error.errno, error.strerror, place) from error

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
        with self._lock, self._named_errors():
            self._at_end = False
            self._file.seek(self._ends[places])
            data = self._file.read(self._ends[places + 1] - self._ends[places])
        item: T = pickle.loads(data)  # noqa: S301 (our own)
        return item
