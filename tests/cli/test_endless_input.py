"""Endless input: soon one line, and signals end the command."""

from __future__ import annotations

import fcntl
import gzip
import io
import resource
import signal
import subprocess
import termios
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest

from coverage_eval.core import files
from coverage_eval.core.errors import DataError
from coverage_eval.core.files import read_segments
from tests.conftest import COMMAND, RunCli

MEMORY = 1 << 30
"""Enough for each of these commands, and less than their input."""


def refused(run_cli: RunCli, folder: Path, *arguments: object) -> str:
    """The one line with which a command fails under a limit of memory."""
    status = Path("/proc/self/status").read_text()
    used = 1024 * int(status.partition("VmData:")[2].split()[0])
    before = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (used + MEMORY, before[1]))
    signal.alarm(120)
    try:
        done = run_cli(*arguments, cwd=folder, check=False)
    finally:
        signal.alarm(0)
        resource.setrlimit(resource.RLIMIT_DATA, before)
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    assert done.stderr.count("\n") == 1
    return done.stderr.removeprefix("coverage-eval: error: ")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "text").write_text("a b\n")
    return tmp_path


@pytest.mark.slow
def test_an_endless_line_is_an_error_that_needs_little_memory(folder, run_cli):
    said = refused(run_cli, folder, "rep", "/dev/zero", "text")
    assert said.startswith("/dev/zero: line 1 is longer than 67,108,864 bytes, so ")


@pytest.mark.parametrize("length", [9, 10, 11])
@pytest.mark.parametrize("end", [b"", b"\n"])
def test_the_limit_counts_the_end_of_the_line(tmp_path, monkeypatch, length, end):
    (tmp_path / "text").write_bytes(b"ok\n" + b"x" * (length - len(end)) + end)
    monkeypatch.setattr(files, "MAX_LINE_BYTES", 10)
    if length > 10:
        with pytest.raises(DataError, match="text: line 2 is longer than 10 bytes"):
            list(read_segments(tmp_path / "text"))
    else:
        assert list(read_segments(tmp_path / "text"))[1] == "x" * (length - len(end))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_are_obeyed_while_a_line_is_read(folder, number):
    """From a pipe whose line does not end."""
    with subprocess.Popen(
        [COMMAND, "rep", "-", "text"], cwd=folder, stdin=subprocess.PIPE, bufsize=0,
        stderr=subprocess.DEVNULL,
    ) as run:  # fmt: skip
        assert run.stdin is not None
        run.stdin.write(
            b"x" * (1 << 18)
        )  # a pipe holds less, so this returns once the command reads
        while not waits_for_more(run):
            time.sleep(0.01)
        run.send_signal(number)
        try:
            assert run.wait(timeout=60) in {1, 128 + number}
        finally:
            run.kill()


def waits_for_more(run: subprocess.Popen[bytes]) -> bool:
    """Whether a command has read all of its standard input so far, and sleeps."""
    assert run.stdin is not None
    left = fcntl.ioctl(run.stdin, termios.FIONREAD, bytes(4))
    state = Path(f"/proc/{run.pid}/stat").read_text().rpartition(")")[2].split()[0]
    return not any(left) and state == "S"


def gzip_of(path: Path, block: bytes, times: int) -> None:
    with gzip.open(path, "wb", 9) as file:
        for _ in range(times):
            file.write(block)


def test_repetitive_text_is_read(folder):
    line = b"the " * 40 + b"\n"
    gzip_of(folder / "loop.gz", line * 1000, 500)  # 80 MB from 0.3 MB
    assert sum(1 for _ in read_segments(folder / "loop.gz")) == 500_000


def test_arrays_larger_than_memory_are_an_error(run_cli, folder):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": (1 << 20, 1 << 20)}
    )
    (folder / "big.npy").write_bytes(header.getvalue() + b"x")
    with zipfile.ZipFile(folder / "big.npz", "w") as archive:
        archive.writestr("attention_0.npy", header.getvalue() + b"x")
    for name in ("big.npy", "big.npz"):
        assert refused(run_cli, folder, "attention", "score", name).startswith(f"{name}: ")
