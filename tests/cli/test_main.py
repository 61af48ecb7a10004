"""``main``: the command as a function that leaves the process as it was."""

from __future__ import annotations

import os
import signal
import warnings
from pathlib import Path
from typing import Any

import pytest

from coverage_eval.cli import main


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "hyp").write_text("a b a b\nc\n")
    (tmp_path / "ref").write_text("a b\nc d\n")
    (tmp_path / "returns").write_bytes(b"a b\r\nc d\r\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _state() -> dict[str, Any]:
    return {
        "signals": [signal.getsignal(number) for number in signal.valid_signals()],
        "warnings": (warnings.showwarning, list(warnings.filters)),
        "environment": dict(os.environ),
        "folder": Path.cwd(),
    }


LINES = [
    ("rep hyp ref", 0),
    ("rep returns ref --strict", 1),
    ("rep hyp returns", 0),
    ("compare hyp other=ref --ref ref --metrics rep --resamples 10 -o x.png", 0),
    ("rep hyp nowhere", 1),
    ("rep hyp", 2),
    ("--help", 0),
]


@pytest.mark.parametrize(("line", "status"), LINES)
def test_main_returns_the_status_and_restores_the_process(folder, capfd, line, status):
    before = _state()
    assert main(line.split()) == status
    assert _state() == before


@pytest.mark.parametrize(("line", "status"), LINES[1:2])
def test_it_prints_what_the_installed_command_prints(folder, run_cli, run_process, line, status):
    mine, installed = (run(*line.split(), check=False) for run in (run_cli, run_process))
    assert (mine.returncode, mine.stdout, mine.stderr) == (
        installed.returncode, installed.stdout, installed.stderr,
    )  # fmt: skip
    assert mine.returncode == status
