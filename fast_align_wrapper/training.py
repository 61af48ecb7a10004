"""Training: write the text for the aligner, run the aligner, check its results."""

from __future__ import annotations

import hashlib
import json
import math
import re
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

from fast_align_wrapper.errors import AlignerDataError, AlignerError, AlignerWarning
from fast_align_wrapper.links import Links, parse_links, symmetrize
from fast_align_wrapper.process import Binary, Child, Progress
from fast_align_wrapper.settings import DIRECTIONS, Direction, DirectionParameters, Settings
from fast_align_wrapper.text import PreparedPair

T = TypeVar("T")

_LOG_NUMBERS = {
    "multiplier": re.compile(r"expected target length = source length \* (\S+)"),
    "tension": re.compile(r"final tension: (\S+)"),
    "likelihood": re.compile(r"log_e likelihood: (\S+)"),
}
_NAN = re.compile(rb"\t-?nan\n", re.IGNORECASE)


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
                    text.withheld.append(text.pairs)
                    text.empty_pairs += not pair.line
                else:
                    file.write(pair.line)
                    digest.update(pair.line)
                    text.source_tokens += pair.source_length
                    text.target_tokens += pair.target_length
                text.pairs += 1
                if pair.is_oversize:
                    warnings.warn(
                        f"training pair {text.pairs}: {pair.source_length} times "
                        f"{pair.target_length} words are too many; it is left out and gets no "
                        "links",
                        AlignerWarning,
                        stacklevel=3,
                    )
        text.sha256 = digest.hexdigest()
        if text.trained_pairs == 0:
            raise AlignerDataError("cannot train: no pair of segments has words on both sides")
        return text

    @property
    def trained_pairs(self) -> int:
        """Number of pairs in the file."""
        return self.pairs - len(self.withheld)

    def restore(self, results: Iterable[T], of_withheld: T) -> Iterator[T]:
        """Insert results of the pairs that were left out into those of the pairs in the file."""
        trained, withheld = iter(results), set(self.withheld)
        for number in range(self.pairs):
            yield of_withheld if number in withheld else next(trained)


@dataclass(frozen=True)
class TrainingRun:
    """One training run: what to run, on which text, and where the results go.

    Attributes:
        binary: The aligner.
        settings: Settings of the model.
        text: The training text.
        folder: The folder for ``forward.params``, ``forward.full``, ``forward.links`` and those of
            ``reverse``.
        threads: Number of threads; None for all cores. The original ignores it.
        memory: Limit of the aligner's index in bytes; None for half of the machine's memory. The
            original ignores it.
        timeout: Give up when the aligner has printed nothing for this many seconds.
        progress: Called with the progress.
    """

    binary: Binary
    settings: Settings
    text: TrainingText
    folder: Path
    threads: int | None = None
    memory: int | None = None
    timeout: float | None = None
    progress: Progress | None = None

    def links_path(self, direction: Direction) -> Path:
        """The file of the training text's links in a direction."""
        return self.folder / f"{direction}.links"

    def restored_links(self, method: str) -> Iterator[Links]:
        """The symmetrised links of the training text; a pair that was left out has none."""
        forward, reverse = map(self.links_path, DIRECTIONS)
        with forward.open() as one, reverse.open() as two:
            joined = (
                symmetrize(parse_links(first), parse_links(second), method)
                for first, second in zip(map(str.rstrip, one), map(str.rstrip, two), strict=True)
            )
            yield from self.text.restore(joined, ())


def train(run: TrainingRun) -> dict[Direction, DirectionParameters]:
    """Train both directions, and leave tables and links of the text in the run's folder.

    Raises:
        AlignerError: The aligner failed, or its results are damaged.
    """
    if run.binary.is_own:
        parameters = _train_own(run)
    else:
        parameters = {direction: _train_original(run, direction) for direction in DIRECTIONS}
    name = run.binary.path.name
    for direction in DIRECTIONS:
        if not all(map(math.isfinite, parameters[direction].numbers)):
            raise AlignerError(
                f"{name}: the {direction} model is not a number (NaN): "
                "the aligner failed on this text; try the aligner that comes with coverage-eval"
            )
        broken = _table_damage(run.folder / f"{direction}.params")
        if broken:
            raise AlignerError(
                f"{name}: its {direction} table of translation probabilities {broken}"
            )
        lines = sum(block.count(b"\n") for block in _blocks(run.links_path(direction)))
        if lines != run.text.trained_pairs:
            raise AlignerError(
                f"{name}: {lines} lines of {direction} links "
                f"for {run.text.trained_pairs} pairs of segments"
            )
    return parameters


def _train_own(run: TrainingRun) -> dict[Direction, DirectionParameters]:
    command = [*run.binary.command, "-i", str(run.text.path), "--both", "--progress"]
    command += run.settings.training_options()
    statistics = run.folder / "statistics.json"
    outputs = {"--stats": statistics}
    for direction in DIRECTIONS:
        outputs[f"--{direction}-links"] = run.links_path(direction)
        outputs[f"--{direction}-params"] = run.folder / f"{direction}.params"
        outputs[f"--{direction}-full"] = run.folder / f"{direction}.full"
    for option, path in outputs.items():
        command += [option, str(path)]
    for option, value in (("--threads", run.threads), ("--memory", run.memory)):
        command += [option, str(value)] if value is not None else []
    with Child(command, run.timeout, run.progress) as child:
        child.end_input()
        for _ in child.lines():
            pass
        for option, path in outputs.items():
            if not path.is_file():
                raise child.fail(f"wrote nothing for {option}")
        try:
            values = json.loads(statistics.read_bytes())
            return {
                direction: DirectionParameters(
                    tension=float(values[direction]["tension"]),
                    length_multiplier=float(values[direction]["length_multiplier"]),
                    log_likelihood=tuple(map(float, values[direction]["log_likelihood"])),
                )
                for direction in DIRECTIONS
            }
        except (KeyError, TypeError, ValueError) as error:
            problem = f"damaged statistics ({type(error).__name__}: {error})"
            raise child.fail(problem) from error


def _train_original(run: TrainingRun, direction: Direction) -> DirectionParameters:
    command = [*run.binary.command, "-i", str(run.text.path), *run.settings.training_options()]
    command += ["-p", str(run.folder / f"{direction}.params")]
    command += ["-r"] if direction == "reverse" else []
    if run.progress is not None:
        run.progress(DIRECTIONS.index(direction), len(DIRECTIONS), direction)
    path = run.links_path(direction)
    with Child(command, run.timeout) as child, path.open("wb") as file:
        child.end_input()
        for number, line in enumerate(child.lines()):
            if number == run.text.trained_pairs:
                raise child.fail(f"more lines of links than {run.text.trained_pairs} pairs")
            file.write(line + b"\n")
        log = child.log
        found = {name: pattern.findall(log) for name, pattern in _LOG_NUMBERS.items()}
        if not found["multiplier"]:
            raise child.fail("its log does not give the length multiplier")
        try:
            return DirectionParameters(
                tension=float((found["tension"] or [run.settings.tension])[-1]),
                length_multiplier=float(found["multiplier"][-1]),
                log_likelihood=tuple(map(float, found["likelihood"])),
            )
        except ValueError as error:
            raise child.fail(f"its log is not understood ({error})") from error


def _table_damage(path: Path) -> str:
    """The damage of a table, empty if it has none; the table is never held in memory."""
    if not path.is_file():
        return "is missing"
    previous = b""
    for block in _blocks(path):
        if _NAN.search(previous + block):
            return "has NaN for a probability"
        previous = block[-8:]
    return "" if previous else "is empty"


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from iter(partial(file.read, 1 << 20), b"")


@contextmanager
def progress_bar(*, wanted: bool) -> Iterator[Progress | None]:
    """Yield a function that shows training progress as a bar on standard error.

    Yield None unless ``wanted``, and unless standard error is a terminal.
    """
    if not wanted or sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True, redirect_stdout=False) as bar:
        task = bar.add_task("training", total=None)

        def show(done: int, total: int, label: str) -> None:
            bar.update(task, completed=done, total=total or None, description=f"training {label}")

        yield show
