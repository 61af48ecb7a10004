"""Checks that every run must pass, whatever its input; inputs that failed them are kept."""

from __future__ import annotations

import hashlib
from collections.abc import Container, Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["CORPUS", "Campaign", "Run", "kept_inputs", "objections"]

CORPUS = Path(__file__).parent / "corpus"
"""Inputs that once failed, one folder each; campaigns first run them, then also mutate them."""

MAX_LINES = 6
SECONDS = 30.0
_HIDDEN = "\u202e\u2028\u200b\ufeff\xad\U000e0041"
_CONTROLS = {*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0)), *_HIDDEN} - set("\n\t\r")


def kept_inputs(targets: Container[str]) -> dict[str, list[dict[str, bytes]]]:
    """The kept inputs of the given targets, by target."""
    found: dict[str, list[dict[str, bytes]]] = {}
    for kept in sorted(CORPUS.glob("*.*")):
        name = kept.name.partition(".")[0]
        if name in targets:
            paths = (path for path in kept.rglob("*") if path.is_file())
            files = {str(path.relative_to(kept)): path.read_bytes() for path in paths}
            found.setdefault(name, []).append(files)
    return found


@dataclass(frozen=True)
class Run:
    """A finished run.

    Attributes:
        status: Its exit status; negative for a signal.
        stdout: Its standard output.
        stderr: Its standard error.
        grown: Growth of its memory in bytes.
        prints_data: Whether it prints lines of its input unchanged.
    """

    status: int
    stdout: bytes
    stderr: str
    grown: int = 0
    prints_data: bool = False


def objections(run: Run, input_bytes: int) -> list[str]:
    """The faults of a run; empty if it has none."""
    said = run.stderr
    # A run may print a warning for every pair.
    errors = [line for line in said.splitlines() if "warning: " not in line]
    most = (1 << 28) + 2000 * input_bytes
    wrong = {
        f"exit status {run.status}": run.status not in {0, 1, 2, 3},
        "a traceback": "Traceback" in said,
        "a sanitizer's report": "Sanitizer" in said or "runtime error" in said,
        f"{len(errors)} lines of messages": run.status != 0 and len(errors) > MAX_LINES,
        "control characters in messages": bool(_CONTROLS & set(said)),
        "control characters in output": not run.prints_data
        and bool(_CONTROLS & set(run.stdout.decode("utf-8", "replace"))),
        "output of a run that failed": run.status in {1, 2} and bool(run.stdout),
        f"{run.grown >> 20} MiB for {input_bytes} bytes": run.grown > most,
    }
    return [what for what, is_so in wrong.items() if is_so]


class Campaign:
    """Counts runs, and keeps the inputs of failed ones.

    Args:
        folder: Where to keep them.
    """

    def __init__(self, folder: Path = CORPUS) -> None:
        self._folder = folder
        self.runs = 0
        self.failures: list[str] = []

    def judge(self, name: str, files: Mapping[str, bytes], run: Run) -> None:
        """Check a run of a target."""
        self.runs += 1
        wrong = objections(run, sum(map(len, files.values())))
        if not wrong:
            return
        content = b"".join(files[key] for key in sorted(files))
        kept = self._folder / f"{name}.{hashlib.sha256(content).hexdigest()[:12]}"
        for file, data in files.items():
            (kept / file).parent.mkdir(parents=True, exist_ok=True)
            (kept / file).write_bytes(data)
        tail = " / ".join(run.stderr.strip().splitlines()[-3:])
        self.failures.append(f"{kept}: {', '.join(wrong)}: {tail[-400:]}")
