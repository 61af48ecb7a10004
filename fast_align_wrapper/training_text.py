"""The training text as the aligner gets it, and its lines of links as the caller gets them."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from coverage_eval.errors import DataError
from coverage_eval.text.corpus import SINK, CorpusWarning
from fast_align_wrapper.text import PreparedPair

__all__ = ["TrainingText"]

_END_IN_SINK = f" {SINK} ||| ".encode()


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
        sinks: Number of pairs that are trained on and whose source ends in ``<SINK>``.
    """

    path: Path
    sha256: str = ""
    pairs: int = 0
    empty_pairs: int = 0
    withheld: list[int] = field(default_factory=list)
    source_tokens: int = 0
    target_tokens: int = 0
    sinks: int = 0

    @classmethod
    def write(cls, pairs: Iterable[PreparedPair], path: Path) -> TrainingText:
        """Write the text of a stream of pairs.

        Raises:
            DataError: No pair has words on both sides.
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
                    text.sinks += _END_IN_SINK in b" " + pair.line
                text.pairs += 1
        text.sha256 = digest.hexdigest()
        if text.trained_pairs == 0:
            raise DataError("no pair of segments to train on has words on both sides")
        return text

    def _withhold(self, pair: PreparedPair) -> None:
        self.withheld.append(self.pairs)
        self.empty_pairs += not pair.line
        if pair.is_oversize:
            warnings.warn(
                f"training pair {self.pairs + 1}: {pair.source_length} times "
                f"{pair.target_length} words are too many; it is left out, and gets no links",
                CorpusWarning,
                stacklevel=4,
            )

    @property
    def has_sink(self) -> bool:
        """Whether every source that is trained on ends in ``<SINK>``."""
        return self.sinks == self.trained_pairs

    @property
    def trained_pairs(self) -> int:
        """Number of pairs in the file."""
        return self.pairs - len(self.withheld)

    def restore_lines(self, path: Path) -> Iterator[bytes]:
        """Lines of links of the file's pairs, with an empty line for each withheld pair."""
        withheld = iter(self.withheld)
        next_withheld = next(withheld, None)
        number = 0
        with path.open("rb") as file:
            for line in file:
                while number == next_withheld:
                    yield b"\n"
                    number += 1
                    next_withheld = next(withheld, None)
                yield line
                number += 1
        yield from (b"\n" for _ in range(number, self.pairs))
