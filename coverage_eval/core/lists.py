"""Lists that are computed on demand, or kept on the disk."""

from __future__ import annotations

import os
import pickle
import weakref
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from tempfile import TemporaryFile
from typing import Any, TypeVar

T = TypeVar("T")


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
