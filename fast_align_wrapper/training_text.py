"""The training text as the aligner gets it, and its pairs' results as the caller gets them."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from fast_align_wrapper.errors import AlignerDataError, AlignerWarning
from fast_align_wrapper.text import PreparedPair

T = TypeVar("T")


@dataclass
class TrainingText:
    """The text as the aligner gets it: one file, without the pairs that it must not see.

    Those are pairs with an empty side, and pairs so long that their cells do not fit in memory.

    Attributes:
        path: The file.
        sha256: Of the file.
        pairs: Number of pairs, those with an empty side included.
        empty_pairs: Number of pairs with an empty side.
        withheld: Indices of the pairs that are left out.
        source_tokens: Source tokens of the pairs that are trained on.
        target_tokens: Target tokens of the pairs that are trained on.
    """

    path: Path
    sha256: str = ""
    pairs: int = 0
    empty_pairs: int = 0
    withheld: list[int] = field(default_factory=list)
    source_tokens: int = 0
    target_tokens: int = 0

    @classmethod
    def write(cls, pairs: Iterable[PreparedPair], path: Path) -> TrainingText:
        """Write the text of a stream of pairs.

        Raises:
            AlignerDataError: No pair has words on both sides.
        """
        text = cls(path)
        digest = hashlib.sha256()
        with path.open("wb") as file:
            for pair in pairs:
                if not pair.line or pair.is_oversize:
                    text._withhold(pair)
                else:
                    file.write(pair.line)
                    digest.update(pair.line)
                    text.source_tokens += pair.source_length
                    text.target_tokens += pair.target_length
                text.pairs += 1
        text.sha256 = digest.hexdigest()
        if text.trained_pairs == 0:
            raise AlignerDataError("no pair of segments to train on has words on both sides")
        return text

    def _withhold(self, pair: PreparedPair) -> None:
        self.withheld.append(self.pairs)
        self.empty_pairs += not pair.line
        if pair.is_oversize:
            warnings.warn(
                f"training pair {self.pairs + 1}: {pair.source_length} times "
                f"{pair.target_length} words are too many; it is left out, and gets no links",
                AlignerWarning,
                stacklevel=4,
            )

    @property
    def trained_pairs(self) -> int:
        """Number of pairs in the file."""
        return self.pairs - len(self.withheld)

    def restore(self, results: Iterable[T], of_withheld: T) -> Iterator[T]:
        """A result for each pair, from those of the pairs in the file."""
        trained, withheld = iter(results), set(self.withheld)
        for number in range(self.pairs):
            yield of_withheld if number in withheld else next(trained)
