"""Training: the aligner run, its results checked."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from fast_align_wrapper.binaries import Binary
from fast_align_wrapper.errors import AlignerError
from fast_align_wrapper.links import Links, parse_links, symmetrize
from fast_align_wrapper.process import Child, Children
from fast_align_wrapper.settings import DIRECTIONS, Direction, DirectionParameters, Settings
from fast_align_wrapper.training_text import TrainingText

Progress = Callable[[int, int, str], None]
"""Receives steps done, steps in all (0 if unknown), and what is being done."""

_LOG_NUMBERS = {
    "multiplier": re.compile(r"expected target length = source length \* (\S+)"),
    "tension": re.compile(r"final tension: (\S+)"),
    "likelihood": re.compile(r"log_e likelihood: (\S+)"),
}
_NAN = re.compile(rb"\t-?nan\n", re.IGNORECASE)


@dataclass(frozen=True)
class TrainingRun:
    """One training: what to run, on what, and where the results go.

    Attributes:
        binary: The aligner.
        settings: Settings of the model.
        text: The training text.
        folder: Where ``forward.params``, ``forward.full``, ``forward.links`` and their like go.
        threads: Number of threads; None for all cores. The original uses its own number.
        memory: Limit of the index of word pairs in bytes; None for half of the machine's.
        timeout: Seconds without a sign of life after which to give up.
        progress: Receives progress.
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
        """The text's links in a direction."""
        return self.folder / f"{direction}.links"

    def restored_links(self, method: str) -> Iterator[Links]:
        """The text's links joined, none for a pair that the aligner did not get."""
        forward, reverse = map(self.links_path, DIRECTIONS)
        with forward.open() as one, reverse.open() as two:
            joined = (
                symmetrize(parse_links(first), parse_links(second), method)
                for first, second in zip(map(str.rstrip, one), map(str.rstrip, two), strict=True)
            )
            yield from self.text.restore(joined, ())


def train(run: TrainingRun) -> dict[Direction, DirectionParameters]:
    """Train both directions; tables and links of the text are left in the run's folder.

    Raises:
        AlignerError: The aligner failed, or its results are damaged.
    """
    parameters = (_train_own if run.binary.is_own else _train_original)(run)
    for direction in DIRECTIONS:
        _check_numbers(run, direction, parameters[direction])
        _check_table(run, run.folder / f"{direction}.params")
        _check_line_count(run, run.links_path(direction))
    return parameters


def _train_own(run: TrainingRun) -> dict[Direction, DirectionParameters]:
    command = [str(run.binary.path), "-i", str(run.text.path), "--both", "--progress"]
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
    with Children(run.timeout) as children:
        child = children.start(command, on_progress=run.progress)
        for _ in children.run():
            pass
        for option, path in outputs.items():
            if not path.is_file():
                raise child.fail(f"wrote nothing for {option}")
        return _read_statistics(child, statistics)


def _read_statistics(child: Child, path: Path) -> dict[Direction, DirectionParameters]:
    try:
        values = json.loads(path.read_bytes())
        return {
            direction: DirectionParameters(
                tension=float(values[direction]["tension"]),
                length_multiplier=float(values[direction]["length_multiplier"]),
                log_likelihood=tuple(map(float, values[direction]["log_likelihood"])),
            )
            for direction in DIRECTIONS
        }
    except (KeyError, TypeError, ValueError) as error:
        raise child.fail(f"damaged statistics ({type(error).__name__}: {error})") from error


def _train_original(run: TrainingRun) -> dict[Direction, DirectionParameters]:
    """Train with any fast_align, one direction after the other; its log has the numbers."""
    return {direction: _train_direction(run, direction) for direction in DIRECTIONS}


def _train_direction(run: TrainingRun, direction: Direction) -> DirectionParameters:
    command = [str(run.binary.path), "-i", str(run.text.path), *run.settings.training_options()]
    command += ["-p", str(run.folder / f"{direction}.params")]
    command += ["-r"] if direction == "reverse" else []
    if run.progress is not None:
        run.progress(DIRECTIONS.index(direction), len(DIRECTIONS), direction)
    path = run.links_path(direction)
    with Children(run.timeout) as children, path.open("wb") as file:
        child = children.start(command)
        lines = 0
        for _ in children.run():
            lines += len(child.lines)
            if lines > run.text.trained_pairs:
                raise child.fail(f"more lines of links than {run.text.trained_pairs} pairs")
            file.writelines(line + b"\n" for line in child.lines)
            child.lines.clear()
        log = "\n".join(child.log)
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


def _check_numbers(run: TrainingRun, direction: str, parameters: DirectionParameters) -> None:
    if not all(map(math.isfinite, parameters.numbers)):
        raise AlignerError(
            f"{run.binary.path.name}: the {direction} model is not a number (NaN): "
            "the aligner failed on this text; try the aligner that comes with coverage-eval"
        )


def _check_table(run: TrainingRun, path: Path) -> None:
    """Check that there is a table, and no NaN in it, without holding it in memory."""
    broken = "is missing" if not path.is_file() else "is empty" if not path.stat().st_size else ""
    if not broken:
        with path.open("rb") as file:
            previous = b""
            for block in iter(partial(file.read, 1 << 20), b""):
                if _NAN.search(previous + block):
                    broken = "has NaN for a probability"
                    break
                previous = block[-8:]
    if broken:
        raise AlignerError(
            f"{run.binary.path.name}: its {path.stem} table of translation probabilities {broken}"
        )


def _check_line_count(run: TrainingRun, path: Path) -> None:
    with path.open("rb") as file:
        lines = sum(block.count(b"\n") for block in iter(partial(file.read, 1 << 20), b""))
    if lines != run.text.trained_pairs:
        raise AlignerError(
            f"{run.binary.path.name}: {lines} lines of {path.stem} links "
            f"for {run.text.trained_pairs} pairs of segments"
        )
