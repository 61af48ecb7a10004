"""A shard of a test set: every n-th segment, so that shards need no count of lines beforehand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice
from typing import Any, TypeVar

from coverage_eval.data.rows import Row

T = TypeVar("T")

MOST_SHARDS = 100_000


@dataclass(frozen=True)
class Shard:
    """One of several parts of a test set, as even as can be.

    >>> list(Shard.parse("2/3").take("abcdefgh"))
    ['b', 'e', 'h']

    Attributes:
        number: Which, from 1.
        of: How many there are.

    Raises:
        ValueError: There is no such shard.
    """

    number: int
    of: int

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.of <= MOST_SHARDS:
            raise ValueError(f"no shard {self.number} of {self.of}")

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read ``i/n``.

        Raises:
            ValueError: Something else, or no such shard.
        """
        found = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", text)
        if found is None:
            raise ValueError(f"{text!r} is not of the form i/n, such as 3/8")
        return cls(int(found[1]), int(found[2]))

    def take(self, items: Iterable[T]) -> Iterator[T]:
        """The items of this shard; all are looked at, to the end."""
        return islice(items, self.number - 1, None, self.of)

    def size(self, total: int) -> int:
        """How many of so many items it has."""
        return len(range(self.number - 1, total, self.of))

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


@dataclass
class TextDigest:
    """Watches all texts of a test set, by which its parts are known to belong together."""

    _hash: Any = field(default_factory=sha256)

    def watch(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Pass rows through unchanged; segments are lines, so no line end is in them."""
        for row in rows:
            texts = (*row.hypotheses, *row.references, row.source or "")
            self._hash.update(("\n".join(map(str, texts)) + "\n").encode())
            yield row

    @property
    def value(self) -> str:
        """The hexadecimal digits of the hash of what was watched."""
        found: str = self._hash.hexdigest()
        return found
