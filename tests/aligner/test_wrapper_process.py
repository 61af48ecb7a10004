"""Aligners that fail, lie, hang or are interrupted: one clear error, nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fast_align_wrapper import AlignerError, AlignerNotFoundError, FastAlign
from fast_align_wrapper.process import Binary, bundled_folder, find_fast_align
from tests.aligner.fake_aligners import (
    OUR_VERSION,
    all_gone,
    is_running,
    pretender,
    someone_elses,
    write_script,
)

PAIRS = [("a b c", "x y z"), ("b c", "y z"), ("c a", "z x")] * 20


@pytest.fixture(autouse=True)
def temporary_folder(tmp_path: Path, monkeypatch):
    """Every test checks that no temporary file is left."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield folder
    assert list(folder.iterdir()) == []


@pytest.fixture
def model_file(tmp_path: Path) -> Path:
    path = tmp_path / "good.model"
    with FastAlign.train(PAIRS) as model:
        model.save(path)
    return path


REAL = str(find_fast_align().path)


@pytest.fixture
def pretend(tmp_path: Path, monkeypatch) -> Callable[[str], Path]:
    """Puts a program in the aligner's place that claims to be ours."""

    def put(body: str) -> Path:
        fake = pretender(tmp_path / "fast_align", body)
        monkeypatch.setenv("FAST_ALIGN", str(fake))
        return fake

    return put


def fails_to_train() -> str:
    with pytest.raises(AlignerError) as caught:
        FastAlign.train(PAIRS)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_an_error_has_exit_status_and_last_lines(pretend):
    pretend('sys.stderr.write("one\\ntwo\\n\\nthree"); sys.exit(3)')
    assert fails_to_train() == "fast_align: exit status 3: one; two; three"
    pretend("os.kill(os.getpid(), 9)")
    assert fails_to_train() == "fast_align: was killed by SIGKILL (out of memory?)"


# Writes all outputs as our aligner does, then spoils one of them.
SPOIL = """
import subprocess
arguments = sys.argv[1:]
status = subprocess.run([{real!r}, *arguments], stderr=subprocess.DEVNULL).returncode
path = arguments[arguments.index({option!r}) + 1]
data = open(path).read()
open(path, "w").write({change})
sys.exit(status)
"""


@pytest.mark.parametrize(
    ("option", "change", "message"),
    [
        ("--forward-links", "data[:data.rindex('\\n', 0, -1) + 1]",
         "fast_align: 59 lines of forward links for 60 pairs of segments"),
        ("--stats", "data.replace('tension\": ', 'tension\": NaN, \"was\": ')",
         "fast_align: the forward model is not a number (NaN): the aligner failed on this text; "
         "try the aligner that comes with coverage-eval"),
    ],
)  # fmt: skip
def test_damaged_results_of_training_are_errors(pretend, option, change, message):
    pretend(SPOIL.format(real=REAL, option=option, change=change))
    assert fails_to_train() == message


FORCED = """
lines = sys.stdin.buffer.read().decode().splitlines()
{print}
"""


@pytest.mark.parametrize(
    ("printing", "message"),
    [
        ("for line in lines[:-1]: print(line, '||| 0-0 ||| -1')",
         "fast_align: 59 results for 60 pairs of segments"),
        ("for line in lines: print(line, '||| 0-0 ||| nan')",
         "fast_align: a score is not a number (NaN): the model or the aligner is damaged"),
        ("for line in lines: print('0-0')",
         "fast_align: printed a line without links and score, ending in '0-0'"),
    ],
)  # fmt: skip
def test_damaged_results_of_forced_alignment_are_errors(pretend, model_file, printing, message):
    pretend(FORCED.format(print=printing))
    with FastAlign.load(model_file) as model, pytest.raises(AlignerError) as caught:
        list(model.align(PAIRS, symmetrize="forward"))
    assert str(caught.value) == message


def test_forced_lines_without_links(pretend, model_file):
    ends = [" ||| ||| -1", " |||  ||| -1e+06", " ||| ||| -inf"] * 20
    pretend(FORCED.format(print=f"for line, end in zip(lines, {ends}): print(line + end)"))
    with FastAlign.load(model_file) as model:
        assert list(model.align(PAIRS)) == [()] * len(PAIRS)


def test_abandoned_results_leave_no_process(tmp_path, pretend, model_file):
    pid = tmp_path / "pid"
    body = f"""
print(os.getpid(), file=open({str(pid)!r}, "w"), flush=True)
os.execv({REAL!r}, ["fast_align", *sys.argv[1:]])
"""
    pretend(body)
    with FastAlign.load(model_file) as model:
        rows = model.align([("a b c", "x y z")] * 100_000, symmetrize="forward")
        assert next(rows)
        process = int(pid.read_text())
        assert is_running(process)
        del rows
        assert all_gone([process])


@pytest.mark.slow
def test_a_batch_larger_than_any_pipe(model_file):
    with FastAlign.load(model_file) as model:
        (links,) = model.align([("a b c " * 2000, "x y z " * 10)])
        assert list(model.align([("a b c " * 2000, "x y z " * 10)] * 50)) == [links] * 50


def interrupted(tmp_path: Path, fake: Path, ready: Path, number: int, temporary_folder: Path):
    """Train from the command line, send a signal; the result is its status and output."""
    for name, lines in zip(("src", "tgt"), zip(*PAIRS, strict=True), strict=True):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    command = [Path(sys.executable).parent / "coverage-eval", "align", "train"]
    command += [tmp_path / "src", tmp_path / "tgt", "-o", tmp_path / "out.model"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "TMPDIR": str(temporary_folder), "FAST_ALIGN": str(fake)},
        # A test run in the background of a shell inherits an ignored SIGINT.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    ) as process:  # fmt: skip
        try:
            for _ in range(600):
                if ready.exists() and ready.read_text().endswith("\n"):
                    break
                time.sleep(0.1)
            process.send_signal(number)
            output, messages = process.communicate(timeout=60)
        finally:
            process.kill()
    return process.returncode, output, messages


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_control_c_ends_everything_and_leaves_nothing(tmp_path, pretend, number, temporary_folder):
    ready = tmp_path / "ready"
    body = f"""
import subprocess, signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen(["sleep", "300"])
open(sys.argv[sys.argv.index("--forward-links") + 1], "w").write("0-0\\n")
print(os.getpid(), child.pid, file=open({str(ready)!r}, "w"), flush=True)
time.sleep(300)
"""
    fake = pretend(body)
    status, output, messages = interrupted(tmp_path, fake, ready, number, temporary_folder)
    assert status > 0
    assert output == ""
    assert "Traceback" not in messages
    pids = [int(pid) for pid in ready.read_text().split()]
    assert len(pids) == 2
    assert all_gone(pids)
    assert {path.name for path in tmp_path.iterdir()} == {
        "src", "tgt", "fast_align", "ready", "temporary",
    }  # fmt: skip


def test_where_the_executable_is_found(tmp_path, monkeypatch):
    ours = find_fast_align()
    assert ours.version == OUR_VERSION
    monkeypatch.setenv("FAST_ALIGN", str(ours.path.parent))
    assert find_fast_align() == ours
    foreign = someone_elses(tmp_path / "fast_align", ours.path)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    for name in (foreign, tmp_path, "fast_align"):
        monkeypatch.setenv("FAST_ALIGN", str(name))
        assert find_fast_align() == Binary(foreign, None, (str(foreign),))


def test_a_missing_word_aligner_is_an_error(tmp_path, monkeypatch):
    monkeypatch.delenv("FAST_ALIGN", raising=False)
    monkeypatch.setattr("fast_align_wrapper.__path__", [str(tmp_path)])
    monkeypatch.setattr(sys, "path", [])
    message = "this installation has no word aligner"
    with pytest.raises(AlignerNotFoundError, match=message):
        find_fast_align()
    write_script((tmp_path / "bin").mkdir() or tmp_path / "bin" / "fast_align", "")
    assert bundled_folder() == tmp_path / "bin"
