"""Fixtures for all tests: the shared corpora and golden files, and the installed command."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A run under nohup ignores it, and commands started by tests would, too.
signal.signal(signal.SIGHUP, signal.SIG_DFL)

# Small problems on many threads cost processor time and gain none; NumPy is imported after this.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

ROOT = Path(__file__).resolve().parent.parent
NO_SHARED = "no shared data"
COMMAND = Path(sys.executable).parent / "coverage-eval"

# Where the tests run in the background of a script, Ctrl-C is ignored, and by what they start too.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A test's time depends on the machine, and is no part of what a test proves.
settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")

# The width of somebody's terminal must not decide where lines are broken.
_WITHOUT_TERMINAL = {name: value for name, value in os.environ.items() if name != "COLUMNS"}

DEPENDENCIES = [path for path in sys.path if path.endswith("site-packages")]


def run_python(*arguments: str, cwd: Path, path: Sequence[str | Path]) -> str:
    """What Python prints with these folders of packages alone; nothing editable.

    Raises:
        AssertionError: It fails; with what it says.
    """
    done = subprocess.run(
        [sys.executable, "-S", *arguments], cwd=cwd, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path)), "FAST_ALIGN": ""},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


RunCli = Callable[..., "subprocess.CompletedProcess[str]"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--no-skips", action="store_true", help="Fail if a test is skipped for want of a package."
    )


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Where all packages are promised, a skipped test is a failure, however it was skipped."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if not session.config.getoption("--no-skips") or reporter is None:  # a process of xdist's
        return
    reasons = [report.longrepr[2] for report in reporter.stats.get("skipped", [])]
    if any(NO_SHARED not in reason for reason in reasons):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real corpora and golden files, which the repository does not contain."""
    folder = Path(os.environ.get("COVERAGE_EVAL_SHARED", ROOT.parent / "shared"))
    if not (folder / "data").is_dir():
        pytest.skip(f"{NO_SHARED} at {folder}; set COVERAGE_EVAL_SHARED")
    return folder


@pytest.fixture(scope="session")
def run_cli() -> RunCli:
    """Run the installed command as a user does: a new process, text in and out.

    ``check`` (default True) fails the test on a non-zero status; a traceback always does.
    """

    def run(
        *arguments: object,
        stdin: str | bytes = "",
        check: bool = True,
        cwd: Path | None = None,
        env: dict[str, str] | None = None,
        timeout: float = 300,
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [str(COMMAND), *(str(argument) for argument in arguments)],
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            check=False,
            cwd=cwd,
            env={**_WITHOUT_TERMINAL, **(env or {})},
            timeout=timeout,
        )
        result = subprocess.CompletedProcess(
            done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
        )
        assert "Traceback" not in result.stderr, result.stderr
        if check:
            assert result.returncode == 0, result.stderr
        return result

    return run
