"""A corpus made by the test bed's grammar, and the run of Table 1 that tests of results share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from coverage_eval.testbed.grammar import Pair, generate
from tests.conftest import RunCli

TUNED_ON = "5"
"""Number of validation sentences; systems with penalties decode each 36 times."""

TINY = ("--preset", "tiny", "--epochs", "3", "--beam", "4")
"""Settings of the run; ``--resume`` needs the same ones."""

PARTS = {"train": 600, "valid": 30, "test": 30}
"""Sentences of each part: enough that no output is empty; no test needs good translations."""


def write_corpus(folder: Path, parts: dict[str, int], seed: int = 2018) -> dict[str, str]:
    """Files of generated sentences; the options of ``reproduce`` that name them."""
    pairs = generate(sum(parts.values()), seed)
    options = {}
    for part, size in parts.items():
        chosen, pairs = pairs[:size], pairs[size:]
        target = "ref" if part == "test" else "tgt"
        for side, texts in (("src", _side(chosen, "source")), (target, _side(chosen, "target"))):
            path = folder / f"{part}.{side}"
            path.write_text("".join(f"{line}\n" for line in texts), encoding="utf-8")
            options[f"{part}_{side}"] = str(path)
    return options


def _side(pairs: Sequence[Pair], side: str) -> list[str]:
    return [" ".join(getattr(pair, side)) for pair in pairs]


def as_arguments(options: dict[str, str]) -> list[str]:
    """The options as arguments of a command."""
    return [a for name, path in options.items() for a in (f"--{name.replace('_', '-')}", path)]


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Files of generated sentences, by option."""
    return write_corpus(tmp_path_factory.mktemp("corpus"), PARTS)


@pytest.fixture(scope="session")
def finished_run(
    corpus: dict[str, str], tmp_path_factory: pytest.TempPathFactory, run_cli: RunCli
) -> Path:
    """A run of all eight systems."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    run_cli(
        "reproduce", "table1", *as_arguments(corpus), "-o", folder, *TINY, "--tune-on", TUNED_ON
    )
    return folder
