"""Fixtures for all tests: the shared corpora and golden files, and the installed command."""

from __future__ import annotations

import fcntl
import gc
import logging
import os
import re
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TypeAlias
from unittest import mock

import pytest
from hypothesis import HealthCheck, settings

# Under nohup this signal is ignored, and commands that tests start would inherit that.
signal.signal(signal.SIGHUP, signal.SIG_DFL)

# On small problems, more threads only cost processor time. NumPy reads this when it is imported.
# PyTorch's sums depend on the number of threads, and a resumed run must equal an uninterrupted one.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("COVERAGE_EVAL_SHARED", ROOT.parent / "shared"))
HAS_SHARED = (SHARED / "data").is_dir()
NO_SHARED = "no shared data"
COMMAND = Path(sys.executable).parent / "coverage-eval"

# In a script's background, Ctrl-C is ignored, and commands that tests start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

# How long a test takes depends on the machine, so there are no deadlines.
settings.register_profile(
    "full", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=50
)
settings.register_profile("quick", settings.get_profile("full"), max_examples=25)
IS_CI = os.environ.get("CI") == "true"
settings.load_profile("full" if IS_CI else "quick")


def _without_terminal() -> dict[str, str]:
    """The environment without the terminal's width, so that lines always break alike."""
    return {name: value for name, value in os.environ.items() if name != "COLUMNS"}


OWN_TARGETS = {"torch", "pyspark", "datasets", "polars", "ray"}
"""Large packages: `make test-torch` and `make test-spark` install them and run their tests."""

DEPENDENCIES = [path for path in sys.path if path.endswith("site-packages")]


def run_python(*arguments: str, cwd: Path, path: Sequence[str | Path]) -> str:
    """What Python prints if it can import only from these folders.

    Raises:
        AssertionError: It fails; the message is its standard error.
    """
    done = subprocess.run(
        [sys.executable, "-S", *arguments], cwd=cwd, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path)), "FAST_ALIGN": ""},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


RunCli: TypeAlias = Callable[..., "subprocess.CompletedProcess[str]"]
Streams: TypeAlias = tuple[IO[bytes], IO[bytes]]
Done: TypeAlias = tuple[int, bytes, bytes]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--no-skips", action="store_true", help="Fail if a test is skipped because of a package."
    )
    parser.addoption(
        "--only", metavar="PACKAGE", help="Run only the tests that cannot run without this package."
    )


def _is_elsewhere(package: str, config: pytest.Config) -> bool:
    """Whether tests of a package run in another environment, because this one lacks it."""
    has_own_target = package in OWN_TARGETS and not config.getoption("--no-skips")
    return has_own_target and find_spec(package) is None


@cache
def _needed_by(file: Path) -> list[str]:
    """The packages that all tests of a file need."""
    text = file.read_text(encoding="utf-8")
    return re.findall(r'^(?:\w+ = )?pytest\.importorskip\("(\w+)"', text, re.MULTILINE)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files of tests that all need a package of another environment."""
    if collection_path.suffix != ".py":
        return None
    only = config.getoption("--only")
    if only and f'("{only}"' not in collection_path.read_text(encoding="utf-8"):
        return True
    elsewhere = any(_is_elsewhere(package, config) for package in _needed_by(collection_path))
    return elsewhere or None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out single tests that need such a package or absent shared data, or are slow."""
    left_out = []
    only = config.getoption("--only")
    for item in items:
        packages = [name for mark in item.iter_markers("needs") for name in mark.args]
        without_texts = "shared" in getattr(item, "fixturenames", ()) and not HAS_SHARED
        run_elsewhere = only and only not in [*packages, *_needed_by(item.path)]
        if (
            without_texts
            or run_elsewhere
            or (not IS_CI and item.get_closest_marker("slow"))
            or any(_is_elsewhere(package, config) for package in packages)
        ):
            left_out.append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        gone = set(left_out)
        items[:] = [item for item in items if item not in gone]


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Say which tests are left out, and what runs them."""
    elsewhere = sorted(name for name in OWN_TARGETS if _is_elsewhere(name, config))
    lines = [] if IS_CI else ["left out: slow tests, which CI runs; set CI=true"]
    if elsewhere:
        lines.append(f"left out: tests of {', '.join(elsewhere)} (make test-torch, test-spark)")
    if not HAS_SHARED:
        lines.append(f"left out: tests of real corpora: none at {SHARED}; set COVERAGE_EVAL_SHARED")
    return lines


def pytest_configure(config: pytest.Config) -> None:
    """Keep METEOR's paraphrase index in pytest's cache rather than the user's."""
    os.environ["COVERAGE_EVAL_CACHE"] = str(config.cache.mkdir("meteor"))


def pytest_collection_finish() -> None:
    """Let the garbage collector skip what was imported: tests take 7% less time."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """With --no-skips, a skipped test is a failure, except for lack of shared data."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if not session.config.getoption("--no-skips") or reporter is None:  # None in xdist's workers
        return
    reasons = [report.longrepr[2] for report in reporter.stats.get("skipped", [])]
    if any(NO_SHARED not in reason for reason in reasons):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real corpora and golden files, which the repository does not contain."""
    if not HAS_SHARED:
        pytest.skip(f"{NO_SHARED} at {SHARED}; set COVERAGE_EVAL_SHARED")
    return SHARED


@contextmanager
def _one_at_a_time(lock: Path) -> Iterator[None]:
    """Let only one process of the tests run this block at a time."""
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def paraphrases() -> None:
    """Make METEOR's paraphrase index, once for all processes."""
    from coverage_eval.quality.meteor import METEOR
    from tests.rows import statistics_of

    with _one_at_a_time(Path(os.environ["COVERAGE_EVAL_CACHE"], "lock")):
        statistics_of(METEOR(), ["a house"], ["the home"])


def _made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """A file or folder that is made once for all processes of the tests."""
    root = factory.getbasetemp()
    root = root.parent if "PYTEST_XDIST_WORKER" in os.environ else root
    path = root / name
    with _one_at_a_time(root / f"{name}.lock"):
        if not path.exists():
            unfinished = root / f"unfinished-{name}"
            make(unfinished)
            unfinished.rename(path)
    return path


@pytest.fixture(scope="session")
def demonstration(tmp_path_factory: pytest.TempPathFactory, run_cli: RunCli) -> Path:
    """What `coverage-eval demo --folder` writes, once for all processes; copy it to change it."""

    def make(folder: Path) -> None:
        printed = run_cli("demo", "--folder", folder).stdout
        made = folder.with_name("demonstration")
        shown = printed.replace(str(folder), str(made))
        made.with_suffix(".txt").write_text(shown, encoding="utf-8")

    return _made_once(tmp_path_factory, "demonstration", make)


@pytest.fixture(scope="session")
def finder(demonstration: Path, tmp_path_factory: pytest.TempPathFactory, run_cli: RunCli) -> Path:
    """A model for omissions trained on the demonstration's texts, once for all processes."""
    train = ("align", "train", "train.de", "train.en", "--prepare-for", "omissions", "-o")
    return _made_once(
        tmp_path_factory, "finder", lambda path: run_cli(*train, path, cwd=demonstration)
    )


@contextmanager
def _fresh_process(stdin: bytes, cwd: Path | None, env: dict[str, str]) -> Iterator[Streams]:
    """Give this process the streams, folder, environment and warnings of a new one.

    Yields the files that receive standard output and standard error. They and standard input have
    the descriptors 0 to 2, so programs that the command starts inherit them.
    """
    with ExitStack() as stack:
        enter, undo = stack.enter_context, stack.callback
        read, written, said = (enter(TemporaryFile()) for _ in range(3))  # noqa: SIM115
        read.write(stdin)
        read.seek(0)
        for number, file in enumerate((read, written, said)):
            kept = os.dup(number)
            undo(os.close, kept)
            undo(os.dup2, kept, number)
            os.dup2(file.fileno(), number)
        opened = partial(open, encoding="utf-8", closefd=False)
        enter(mock.patch("sys.stdin", enter(opened(0, "r"))))
        enter(mock.patch("sys.stdout", enter(opened(1, "w"))))
        enter(mock.patch("sys.stderr", enter(opened(2, "w", errors="backslashreplace"))))
        enter(mock.patch.dict(os.environ, {**_without_terminal(), **env}, clear=True))
        enter(mock.patch("tempfile.tempdir", None))  # found from TMPDIR
        enter(mock.patch.object(logging.getLogger(), "handlers", []))  # pytest's
        if cwd is not None:
            undo(os.chdir, Path.cwd())
            os.chdir(cwd)
        enter(warnings.catch_warnings())
        warnings.resetwarnings()
        for kind in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
            warnings.simplefilter("ignore", kind)
        yield written, said


def in_process(
    arguments: list[str], stdin: bytes, cwd: Path | None, env: dict[str, str], _timeout: float
) -> Done:
    """Run the command in this process."""
    from coverage_eval.cli import main

    changed = [name for name, value in env.items() if os.environ.get(name) != value]
    too_late = [name for name in changed if name.startswith(("PYTHON", "LC_", "LANG", "OMP_"))]
    assert not too_late, f"Python reads {too_late} when it starts: use run_process"
    with _fresh_process(stdin, cwd, env) as (written, said):
        status = main(arguments)
        sys.stdout.flush()
        sys.stderr.flush()
        for file in (written, said):
            file.seek(0)
        return status, written.read(), said.read()


def _in_new_process(
    arguments: list[str], stdin: bytes, cwd: Path | None, env: dict[str, str], timeout: float
) -> Done:
    """Run the installed command as a user does."""
    done = subprocess.run(
        [str(COMMAND), *arguments], input=stdin, capture_output=True, check=False, cwd=cwd,
        env={**_without_terminal(), **env}, timeout=timeout,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def _runner(
    start: Callable[[list[str], bytes, Path | None, dict[str, str], float], Done],
) -> RunCli:
    def run(
        *arguments: object,
        stdin: str | bytes = "",
        check: bool = True,
        cwd: Path | None = None,
        env: dict[str, str] | None = None,
        timeout: float = 300,
    ) -> subprocess.CompletedProcess[str]:
        words = [str(argument) for argument in arguments]
        data = stdin.encode() if isinstance(stdin, str) else stdin
        status, output, said = start(words, data, cwd, env or {}, timeout)
        messages = said.decode()
        assert "Traceback" not in messages, messages
        if check:
            assert status == 0, messages
        return subprocess.CompletedProcess(words, status, output.decode(), messages)

    return run


@pytest.fixture(scope="session")
def run_cli() -> RunCli:
    """Run the command in this process; the result has its exit status and what it printed.

    The test fails if the command prints a traceback or, with ``check`` (the default), if its status
    is not 0. Use ``run_process`` for what needs a new process: its start, signals, closed streams,
    and variables that Python reads when it starts.
    """
    return _runner(in_process)


@pytest.fixture(scope="session")
def run_process() -> RunCli:
    """Run the installed command in a new process; otherwise like ``run_cli``."""
    return _runner(_in_new_process)
