"""Faults from outside: kills, full disks, closed pipes, children that die or hang.

Old files stay intact, no half-written file gets the final name, the next run works and cleans up.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.aligner.fake_aligners import all_gone
from tests.conftest import COMMAND, RunCli

pytestmark = pytest.mark.slow

OLD = "what was there\n"

WRITERS = {
    "train": ("align train src ref -o model", ("model",)),
    "apply": ("align apply given.model src hyp -o links", ("links",)),
    "compare": (
        "compare --ref ref hyp other=ref --metrics rep,chrf --resamples 50 -o plot.svg",
        ("plot.svg",),
    ),
    "all evidence": (
        "compare --ref ref hyp other=ref --metrics rep,chrf --sentence-level -o all.jsonl",
        ("all.jsonl",),
    ),
    "convert": ("attention convert maps.jsonl -o maps.npz", ("maps.npz",)),
    "report": (
        "report --ref ref hyp --metrics rep --resamples 0 -o out.html",
        ("out.html",),
    ),
    "omissions": ("omissions hyp --src src --model given.model --sentence-level -o found",
                  ("found",)),
}  # fmt: skip
"""Commands and the files that they write."""


@dataclass
class Place:
    """A folder with inputs and one for temporary files, in which commands run."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def temporary(self) -> Path:
        return Path(self.environment["TMPDIR"])

    def start(self, command: str, **options: Any) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(COMMAND), *command.split()], cwd=self.folder, text=True, start_new_session=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment, **options,
        )  # fmt: skip

    def run(self, command: str, **options: Any) -> tuple[int, str]:
        with self.start(command, **options) as run:
            _, messages = run.communicate(timeout=120)
        assert "Traceback" not in messages, messages
        return run.returncode, messages

    def run_here(self, run_cli: RunCli, command: str) -> tuple[int, str]:
        """The same without a new process."""
        temporary = {"TMPDIR": str(self.temporary)}
        done = run_cli(*command.split(), cwd=self.folder, env=temporary, check=False)
        return done.returncode, done.stderr

    def contents(self, names: tuple[str, ...]) -> dict[str, bytes]:
        return {name: (self.folder / name).read_bytes() for name in names}

    def put_old(self, names: tuple[str, ...]) -> None:
        for name in names:
            (self.folder / name).write_text(OLD)

    @property
    def leftovers(self) -> list[str]:
        """Our files that are left; not those with which ``tempfile`` tests a folder."""
        hidden = [path.name for path in self.folder.iterdir() if path.name.startswith(".")]
        tried = re.compile(r"[a-z0-9_]{8}")
        names = [path.name for path in self.temporary.iterdir()]
        return hidden + [name for name in names if not tried.fullmatch(name)]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of inputs, made once; each test gets a copy."""
    folder = tmp_path_factory.mktemp("inputs")
    chance = random.Random(0)

    lines = [chance.choices("abcdefghij", k=chance.randint(3, 20)) for _ in range(400)]
    for name in ("src", "ref", "hyp"):
        words = "abcdefghij" if name == "src" else "klmnopqrst"
        table = dict(zip("abcdefghij", words, strict=True))
        texts = (" ".join(table[word] for word in line) + "\n" for line in lines)
        (folder / name).write_text("".join(texts))
    with (folder / "hyp").open("a") as file:
        file.write("k k k\n")
    for name in ("src", "ref"):
        with (folder / name).open("a") as file:
            file.write("a\n" if name == "src" else "k\n")
    record = '{"attention": [[0.5, 0.5]], "source": ["a", "b"], "hypothesis": ["x"]}\n'
    (folder / "maps.jsonl").write_text(record * 3000)
    status, messages = Place(folder, dict(os.environ)).run("align train src ref -o given.model")
    assert status == 0, messages
    return folder


@pytest.fixture
def place(inputs: Path, tmp_path: Path) -> Place:
    folder, temporary = tmp_path / "folder", tmp_path / "temporary"
    shutil.copytree(inputs, folder)
    temporary.mkdir()
    return Place(folder, {**os.environ, "TMPDIR": str(temporary), "OMP_NUM_THREADS": "1"})


def children_of(parent: int) -> Iterator[int]:
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            after_name = path.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(after_name[1]) == parent:
            yield int(path.parent.name)


def wait_for_child(run: subprocess.Popen[str], name: str = "fast_align") -> int:
    """The process id of a program that a run starts, as soon as it works.

    A run asks its aligner for the version first, before it makes its folder.
    """
    end = time.monotonic() + 60
    while time.monotonic() < end:
        for child in children_of(run.pid):
            with suppress(FileNotFoundError, ProcessLookupError):
                process = Path(f"/proc/{child}")
                command = (process / "cmdline").read_bytes()  # empty once it has ended
                works = command and b"--version" not in command
                if works and (process / "comm").read_text().strip() == name:
                    return child
        time.sleep(0.002)
    raise AssertionError(f"no {name} was started")


# Two ways of writing: a folder, and an archive.
@pytest.mark.parametrize("name", ["train", "convert"])
def test_a_run_that_is_killed_while_it_writes_leaves_old_or_complete_files(place, name, run_cli):
    """The run is killed as soon as it has begun to write, if it does not end before."""
    command, names = WRITERS[name]
    status, messages = place.run_here(run_cli, command)
    assert status == 0, messages
    complete = place.contents(names)
    place.put_old(names)
    with place.start(command) as run:
        while run.poll() is None and not list(place.folder.glob(".*")):
            time.sleep(0.001)
        offspring = list(children_of(run.pid))
        run.kill()
    assert all_gone(offspring), "a child still runs"
    for file, content in place.contents(names).items():
        assert content in {OLD.encode(), complete[file]}, f"{file} is damaged"
    assert place.run_here(run_cli, command)[0] == 0
    assert place.contents(names) == complete


def slow_training(place: Place) -> str:
    """A command that trains for half a minute, because its segments are long."""
    (place.folder / "long").write_text(f"{'a b c d e f g h i j ' * 100}\n" * 500)
    return "align train long long -o model"


@pytest.mark.parametrize(
    ("name", "number"), [("train", signal.SIGINT), ("compare", signal.SIGTERM)]
)
def test_an_interrupted_run_ends_its_children_and_leaves_no_files(place, name, number):
    command, names = WRITERS[name]
    place.put_old(names)
    if name == "train":
        command = slow_training(place)
    with place.start(command) as run:
        if name == "train":
            wait_for_child(run)
        else:
            time.sleep(1)
        offspring = list(children_of(run.pid))
        run.send_signal(number)
        _, messages = run.communicate(timeout=60)
    assert "Traceback" not in messages
    if name == "train" or run.returncode != 0:  # `compare` may have ended before the signal
        # The status is that of the signal itself if it came before or after the command's code.
        assert run.returncode in {128 + number, -number}
        assert messages.count("\n") <= 3  # a warning, the line end after ^C, and the error
    assert all_gone(offspring)
    assert place.leftovers == []


@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_is_one_line_of_error(place, name, run_cli):
    """A limit on the size of files acts like a full disk, also for root."""
    command, names = WRITERS[name]
    place.put_old(names)
    with _limited_files(512):
        status, messages = place.run_here(run_cli, command)
    assert status == 1
    line = messages.splitlines()[-1]
    assert messages.count("coverage-eval: error: ") == 1
    assert "File too large" in line
    files = (*names, str(place.temporary), "given.model: cannot be unpacked")
    assert any(word in line for word in files), line
    assert OLD.encode() in place.contents(names).values()
    assert place.leftovers == []


@contextmanager
def _limited_files(size: int) -> Iterator[None]:
    """No file can become larger than this."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("name", ["train", "compare"])
def test_a_folder_that_cannot_be_written_to_is_an_error(place, name, run_cli):
    command, names = WRITERS[name]
    nowhere = "/proc"  # not even root can
    for file in names:
        command = command.replace(f" {file}", f" {nowhere}/{file}")
    status, messages = place.run_here(run_cli, command)
    assert status == 1
    assert messages.count("coverage-eval: error: ") == 1
    assert any(f"{nowhere}/{file}: cannot be written" in messages for file in names)


def test_a_closed_output_pipe_is_not_an_error(place):
    for command in ("align apply given.model src hyp", "rep hyp ref --sentence-level"):
        with place.start(command) as run:
            assert run.stdout is not None
            run.stdout.close()
            assert run.stderr is not None
            assert "rror" not in run.stderr.read()
        assert run.returncode in {0, 1}
        assert place.leftovers == []


def test_two_runs_write_one_model_and_read_another(place):
    alone = (place.folder / "given.model").read_bytes()
    runs = [place.start("align train src ref -o model") for _ in range(2)]
    runs += [place.start(f"align apply given.model src hyp -o {name}") for name in ("one", "two")]
    for run in runs:
        with run:
            _, messages = run.communicate(timeout=120)
        assert run.returncode == 0, messages
    assert (place.folder / "model").read_bytes() == alone
    assert (place.folder / "one").read_bytes() == (place.folder / "two").read_bytes()
    assert place.leftovers == []
