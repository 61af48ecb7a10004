"""Little memory, an interruption, characters that a stream lacks: one line, no traceback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from coverage_eval.cli.commands import score
from coverage_eval.repetition.rep import REP
from tests.conftest import COMMAND

OUT_OF_MEMORY = (
    "coverage-eval: error: out of memory; allow this process more, or give it less text at once\n"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "hyp").write_text("ein häus häus 😀 😀\nred red house\n" * 40)
    (tmp_path / "ref").write_text("ein häus 😀\nred house\n" * 40)
    return tmp_path


def test_running_out_of_memory_is_one_line(run_cli, folder, monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(score, "Texts", fail)
    done = run_cli("rep", "hyp", "ref", cwd=folder, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", OUT_OF_MEMORY)


def test_a_killed_process_is_one_line(run_cli, folder, monkeypatch):
    own = os.getpid()

    def die(*_: object) -> None:
        assert os.getpid() != own
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(REP, "count", die)
    command = "compare hyp --ref ref --metrics rep --resamples 0 -j 2"
    done = run_cli(*command.split(), cwd=folder, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("coverage-eval: error: a process of --jobs was killed")
    assert done.stderr.count("\n") == 1


def run_in(encoding: dict[str, str], folder: Path, *arguments: str) -> tuple[int, bytes, bytes]:
    names = ("PYTHONIOENCODING", "PYTHONUTF8", "PYTHONCOERCECLOCALE", "LC_ALL", "LANG")
    environment = {name: value for name, value in os.environ.items() if name not in names}
    done = subprocess.run(
        [COMMAND, *arguments], cwd=folder, check=False, capture_output=True, timeout=120,
        env={**environment, **encoding},
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def test_characters_that_a_stream_lacks_are_escaped(folder, run_cli):
    run = {"PYTHONIOENCODING": "latin-1"}
    table = ["compare", "--ref", "ref", "hyp", "--metrics", "rep", "--resamples", "0"]
    status, output, said = run_in(run, folder, *table)
    assert (status, said) == (0, b"")
    assert "REP (lower is better)" in output.decode("latin-1")  # words in place of an arrow
    evidence = ["rep", "hyp", "ref", "--sentence-level", "-f", "json"]
    status, output, said = run_in(run, folder, *evidence)
    assert (status, said) == (0, b"")
    assert json.loads(output.decode("latin-1")) == json.loads(run_cli(*evidence, cwd=folder).stdout)
