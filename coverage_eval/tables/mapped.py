"""Rows of a long table, made from what they tell of and not kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar, overload

T = TypeVar("T")


class Mapped(Sequence[T]):
    """What a function makes of the items of sequences, made whenever it is asked for.

    >>> rows = Mapped(lambda number, word: (number, word.upper()), range(1, 3), ["a", "b"])
    >>> list(rows), rows[-1], len(rows)
    ([(1, 'A'), (2, 'B')], (2, 'B'), 2)

    Args:
        function: Takes an item of each sequence.
        sequences: At least one, all of one length; arrays will do.
    """

    def __init__(self, function: Callable[..., T], *sequences: Any) -> None:
        self._function = function
        self._sequences = sequences

    def __len__(self) -> int:
        return len(self._sequences[0])

    def __iter__(self) -> Iterator[T]:
        return map(self._function, *self._sequences)

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> list[T]: ...

    def __getitem__(self, index: int | slice) -> T | list[T]:
        items = [sequence[index] for sequence in self._sequences]
        if isinstance(index, slice):
            return list(map(self._function, *items))
        return self._function(*items)
