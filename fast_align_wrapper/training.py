"""Training: write the text for the aligner, run the aligner, check its results."""

from __future__ import annotations

import hashlib
import json
import math
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import count, islice
from pathlib import Path
from typing import Any

from fast_align_wrapper import AlignerDataError, AlignerError, AlignerWarning
from fast_align_wrapper.links import Links, parse_links, symmetrize
from fast_align_wrapper.model import DIRECTIONS, Direction, DirectionParameters, Settings
from fast_align_wrapper.process import Binary, Child
from fast_align_wrapper.text import Pair, prepare_block, prepare_pair

_BLOCK_PAIRS = 256

_LOG_NUMBERS = {
    "multiplier": re.compile(r"expected target length = source length \* (\S+)"),
    "tension": re.compile(r"final tension: (\S+)"),
    "likelihood": re.compile(r"log_e likelihood: (\S+)"),
}


@dataclass
class TrainingText:
    """The text file for the aligner, without pairs that cannot be used for training.

    These are pairs with an empty side and pairs that are too long for memory.

    Attributes:
        path: The file.
        sha256: SHA-256 of the file.
        pairs: Number of pairs, including those that are left out.
        empty_pairs: Number of pairs with an empty side.
        withheld: Indices of the pairs that are left out.
        source_tokens: Number of source tokens in the file.
        target_tokens: Number of target tokens in the file.
    """

    path: Path
    sha256: str = ""
    pairs: int = 0
    empty_pairs: int = 0
    withheld: list[int] = field(default_factory=list)
    source_tokens: int = 0
    target_tokens: int = 0

    @classmethod
    def write(cls, pairs: Iterable[Pair], path: Path) -> TrainingText:
        """Write the text of a stream of pairs.

        Raises:
            AlignerDataError: No pair has words on both sides.
            TypeError: An item is not a pair.
        """
        text = cls(path)
        digest = hashlib.sha256()
        remaining = iter(pairs)
        with path.open("wb") as file:
            while block := [*islice(remaining, _BLOCK_PAIRS)]:
                first = text.pairs + 1
                text.pairs += len(block)
                whole = prepare_block(block)
                prepared = [whole] if whole else map(prepare_pair, count(first), block)
                for number, pair in enumerate(prepared, start=first):
                    if pair.is_oversize:
                        warnings.warn(
                            f"training pair {number}: {pair.source_length} times "
                            f"{pair.target_length} words are too many; it is left out and gets no "
                            "links",
                            AlignerWarning,
                            stacklevel=3,
                        )
                    if not pair.line or pair.is_oversize:
                        text.withheld.append(number - 1)
                        text.empty_pairs += not pair.line
                        continue
                    file.write(pair.line)
                    digest.update(pair.line)
                    text.source_tokens += pair.source_length
                    text.target_tokens += pair.target_length
        text.sha256 = digest.hexdigest()
        if text.trained_pairs == 0:
            raise AlignerDataError("cannot train: no pair of segments has words on both sides")
        return text

    @property
    def trained_pairs(self) -> int:
        """Number of pairs in the file."""
        return self.pairs - len(self.withheld)

    def sibling(self, name: str) -> Path:
        """A file beside the text: the aligner's results are in the same folder."""
        return self.path.with_name(name)

    def links(self, method: str) -> Iterator[Links]:
        """The symmetrised links of the text; a pair that was left out has none."""
        withheld = set(self.withheld)
        forward, reverse = (self.sibling(f"{direction}.links") for direction in DIRECTIONS)
        with forward.open() as first, reverse.open() as second:
            for number in range(self.pairs):
                if number in withheld:
                    yield ()
                else:
                    yield symmetrize(parse_links(next(first)), parse_links(next(second)), method)


def train(
    binary: Binary,
    settings: Settings,
    text: TrainingText,
    threads: int | None,
    memory: int | None,
    progress: Callable[[float], None] | None,
) -> dict[Direction, DirectionParameters]:
    """Train both directions, and leave tables and links of the text beside it.

    Args:
        binary: The aligner.
        settings: Settings of the model.
        text: The training text; ``forward.params``, ``forward.full``, ``forward.links`` and those
            of ``reverse`` are written beside it.
        threads: Number of threads; None for all cores. The original ignores it.
        memory: Limit of the aligner's index in bytes; None for half of the machine's memory. The
            original ignores it.
        progress: Called with the share of the work that is done, from 0 to 1.

    Raises:
        AlignerError: The aligner failed, or its results are damaged.
    """
    command = [*binary.command, "-i", str(text.path), *settings.training_options()]
    if binary.version:
        for option, value in (("--threads", threads), ("--memory", memory)):
            command += [option, str(value)] if value is not None else []
        values = _train_ours(command, text, progress)
    else:
        values = {}
        for number, direction in enumerate(DIRECTIONS):
            if progress is not None:
                progress(number / len(DIRECTIONS))
            values[direction] = _train_original(command, settings, text, direction)
    name = binary.path.name
    parameters: dict[Direction, DirectionParameters] = {}
    for direction in DIRECTIONS:
        found = values[direction]
        tension, multiplier = float(found["tension"]), float(found["length_multiplier"])
        likelihood = tuple(map(float, found["log_likelihood"]))
        if not all(map(math.isfinite, (tension, multiplier, *likelihood))):
            raise AlignerError(
                f"{name}: the {direction} model is not a number (NaN): "
                "the aligner failed on this text; try the aligner that comes with coverage-eval"
            )
        parameters[direction] = DirectionParameters(tension, multiplier, likelihood)
        with text.sibling(f"{direction}.links").open("rb") as links:
            lines = sum(1 for _ in links)
        if lines != text.trained_pairs:
            raise AlignerError(
                f"{name}: {lines} lines of {direction} links "
                f"for {text.trained_pairs} pairs of segments"
            )
    return parameters


def _train_ours(
    command: Sequence[str], text: TrainingText, progress: Callable[[float], None] | None
) -> dict[str, Any]:
    """Train both directions at once; the parameters of each, by its name."""
    statistics = text.sibling("statistics.json")
    options = ["--both", "--progress", "--stats", str(statistics)]
    for direction in DIRECTIONS:
        for ending in ("links", "params", "full"):
            options += [f"--{direction}-{ending}", str(text.sibling(f"{direction}.{ending}"))]

    def report(done: int, total: int, direction: str) -> None:
        if progress is not None:
            progress((list[str](DIRECTIONS).index(direction) + done / total) / len(DIRECTIONS))

    with closing(Child([*command, *options], report)) as child:
        child.input.put(None)
        for _ in child.lines():
            pass
    values: dict[str, Any] = json.loads(statistics.read_bytes())
    return values


def _train_original(
    command: Sequence[str], settings: Settings, text: TrainingText, direction: Direction
) -> dict[str, Any]:
    """Train a direction by the options of the original; the parameters that its log has."""
    options = ["-p", str(text.sibling(f"{direction}.params"))]
    options += ["-r"] if direction == "reverse" else []
    with (
        closing(Child([*command, *options])) as child,
        text.sibling(f"{direction}.links").open("wb") as file,
    ):
        child.input.put(None)
        file.writelines(line + b"\n" for line in child.lines())
        numbers = {name: pattern.findall(child.log) for name, pattern in _LOG_NUMBERS.items()}
        try:
            return {
                "tension": float((numbers["tension"] or [settings.tension])[-1]),
                "length_multiplier": float(numbers["multiplier"][-1]),
                "log_likelihood": list(map(float, numbers["likelihood"])),
            }
        except (IndexError, ValueError) as error:
            raise child.fail(f"its log is not understood ({error})") from error
