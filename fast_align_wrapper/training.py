"""Training: the aligner run, its results checked."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from coverage_eval.errors import AlignerError
from fast_align_wrapper.binaries import Binary
from fast_align_wrapper.links import format_links, parse_links, symmetrize
from fast_align_wrapper.process import Child, Children
from fast_align_wrapper.settings import DIRECTIONS, Direction, DirectionParameters, Settings
from fast_align_wrapper.training_text import TrainingText

__all__ = ["Progress", "TrainingRun", "train"]

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

    def links_path(self, name: str) -> Path:
        """The links of a direction, or ``symmetrized``."""
        return self.folder / f"{name}.links"


def train(run: TrainingRun, method: str | None) -> dict[Direction, DirectionParameters]:
    """Train both directions; tables and links of the text are left in the run's folder.

    Args:
        run: What to run.
        method: The symmetrisation of the links of the text, left as ``symmetrized``; None for none.

    Raises:
        AlignerError: The aligner failed, or its results are damaged.
    """
    parameters = (_train_own if run.binary.is_own else _train_original)(run, method)
    for direction in DIRECTIONS:
        _check_numbers(run, direction, parameters[direction])
        _check_table(run, run.folder / f"{direction}.params")
        _check_line_count(run, run.links_path(direction))
    return parameters


def _train_own(run: TrainingRun, method: str | None) -> dict[Direction, DirectionParameters]:
    command = [str(run.binary.path), "-i", str(run.text.path), "--both", "--progress"]
    command += run.settings.training_options()
    statistics = run.folder / "statistics.json"
    outputs = {"--stats": statistics}
    for direction in DIRECTIONS:
        outputs[f"--{direction}-links"] = run.links_path(direction)
        outputs[f"--{direction}-params"] = run.folder / f"{direction}.params"
        outputs[f"--{direction}-full"] = run.folder / f"{direction}.full"
    own_method = method not in {None, *DIRECTIONS}
    if own_method:
        command += ["--symmetrize", str(method)]
        outputs["--links"] = run.links_path("symmetrized")
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
        parameters = _read_statistics(child, statistics)
    if own_method:
        _check_line_count(run, run.links_path("symmetrized"))
    elif method is not None:
        run.links_path("symmetrized").write_bytes(run.links_path(method).read_bytes())
    return parameters


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


def _train_original(run: TrainingRun, method: str | None) -> dict[Direction, DirectionParameters]:
    """Train with any fast_align, one direction after the other; its log has the numbers."""
    parameters = {direction: _train_direction(run, direction) for direction in DIRECTIONS}
    if method is not None:
        forward, reverse, joined = map(run.links_path, (*DIRECTIONS, "symmetrized"))
        with forward.open() as one, reverse.open() as two, joined.open("w") as out:
            for lines in zip(one, two, strict=True):
                first, second = (parse_links(line.rstrip("\n")) for line in lines)
                out.write(format_links(symmetrize(first, second, method)) + "\n")
    return parameters


def _train_direction(run: TrainingRun, direction: Direction) -> DirectionParameters:
    command = [str(run.binary.path), "-i", str(run.text.path), *run.settings.training_options()]
    command += ["-p", str(run.folder / f"{direction}.params")]
    command += ["-r"] if direction == "reverse" else []
    if run.progress is not None:
        run.progress(DIRECTIONS.index(direction), len(DIRECTIONS), direction)
    path = run.links_path(direction)
    with Children(run.timeout) as children, path.open("wb") as file:
        child = children.start(command)
        for _ in children.run():
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
