"""The aligner's executable, run as in users' scripts, and files of the original."""

from __future__ import annotations

import gzip
import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

Pair = tuple[str, str]


@dataclass(frozen=True)
class Done:
    """A finished run: status, output as bytes, messages as text."""

    status: int
    stdout: bytes
    stderr: str

    @property
    def lines(self) -> list[str]:
        assert not self.stdout or self.stdout.endswith(b"\n")
        return self.stdout.decode().split("\n")[:-1]


@dataclass(frozen=True)
class Tools:
    """``fast_align`` in its folder."""

    folder: Path

    def fast_align(
        self, *arguments: object, stdin: bytes = b"", check: bool = True, timeout: float = 120
    ) -> Done:
        done = subprocess.run(
            [str(self.folder / "fast_align"), *(str(argument) for argument in arguments)],
            input=stdin,
            capture_output=True,
            check=False,
            timeout=timeout,
        )
        result = Done(done.returncode, done.stdout, done.stderr.decode())
        if check:
            assert result.status == 0, result.stderr
        return result

    def train_both(self, corpus: Path, out: Path, *flags: object) -> dict[str, bytes]:
        """Run ``--both`` with every output; the outputs' bytes by their option's name."""
        names = ["stats"] + [
            f"{direction}-{what}"
            for direction in ("forward", "reverse")
            for what in ("links", "params", "full")
        ]
        out.mkdir(exist_ok=True)
        outputs = [argument for name in names for argument in (f"--{name}", out / name)]
        self.fast_align("-i", corpus, "--both", *outputs, *flags)
        assert sorted(path.name for path in out.iterdir()) == sorted(names), "nothing but outputs"
        return {name: (out / name).read_bytes() for name in names}


def find_folder() -> Path:
    """The folder named by FAST_ALIGN, or that of the installed package."""
    named = os.environ.get("FAST_ALIGN")
    if named:
        path = Path(named)
        return path if path.is_dir() else path.parent
    from fast_align_wrapper.process import bundled_folder

    return bundled_folder()


@pytest.fixture(scope="session")
def tools() -> Tools:
    return Tools(find_folder())


def write_corpus(path: Path, pairs: Sequence[Pair]) -> Path:
    """One ``source ||| target`` line per pair."""
    path.write_bytes("".join(f"{source} ||| {target}\n" for source, target in pairs).encode())
    return path


def read_table(content: bytes) -> dict[tuple[str, str], float]:
    """Saved parameters: log θ by (conditioning, generated) word."""
    table = {}
    for line in content.decode().split("\n")[:-1]:
        conditioning, generated, logarithm = line.split("\t")
        assert (conditioning, generated) not in table
        table[conditioning, generated] = float(logarithm)
    return table


METHODS = ["intersect", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and"]


def read_golden(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        return file.read().split("\n")[:-1]


def assert_same_lines(actual: list[str], expected: list[str], *, tolerated: float = 1e-4) -> None:
    """All lines are equal, except a tolerated share, for floating-point ties."""
    assert len(actual) == len(expected)
    differing = [pair for pair in zip(actual, expected, strict=True) if pair[0] != pair[1]]
    assert len(differing) <= tolerated * len(expected), differing[:5]


_ORIGINALS_OWN = re.compile(r"ARG=.|\.+|  \d  model al-feat: .*|conditional probabilities: .*")


def comparable_log(log: str) -> list[str]:
    """The lines of a log, without file names and lines that only the original prints.

    Those are the options, a dot for each thousand lines, and the steps of the search for the
    tension.
    """
    return [line for line in log.splitlines() if not _ORIGINALS_OWN.fullmatch(line)]
