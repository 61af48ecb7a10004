"""What a killed process leaves behind: no processes, and nothing that the next run keeps."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from fast_align_wrapper.files import HeldFolder, held_file, remove_abandoned
from tests.aligner.fake_aligners import all_gone
from tests.faults.test_faults import children_of, inputs, place, wait_for_child

__all__ = ["inputs", "place"]


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_do_not_outlive_a_killed_run(tmp_path, method):
    """Nor do they hold its standard output: whoever reads that comes to its end."""
    program = (
        "import multiprocessing, time\n"
        "from coverage_eval.processes import started_processes\n"
        "if __name__ == '__main__':\n"
        f"    multiprocessing.set_start_method({method!r})\n"
        "    with started_processes(2) as pool:\n"
        "        list(pool.map(abs, range(2)))\n"
        "        print('ready', flush=True)\n"
        "        time.sleep(600)\n"
    )
    (tmp_path / "program.py").write_text(program)
    run = subprocess.Popen([sys.executable, tmp_path / "program.py"], stdout=subprocess.PIPE)
    with run:
        assert run.stdout is not None
        assert run.stdout.readline() == b"ready\n"
        offspring = list(children_of(run.pid))
        assert len(offspring) >= 2
        run.kill()
        assert run.stdout.read() == b""
    if method != "forkserver":  # whose server starts the workers, and ends by itself
        assert all_gone(offspring)


def test_a_killed_runs_folder_is_removed_by_the_next_run(place):
    with place.start("align train src ref -o model --iterations 10000") as run:
        wait_for_child(run)
        run.kill()
    assert len(place.leftovers) == 1
    with place.start("align train src ref -o model --iterations 10000") as run:
        wait_for_child(run)
        (in_use,) = place.leftovers
        assert place.run("align apply given.model src hyp -o links")[0] == 0
        assert place.leftovers == [in_use], "the folder of a run that is still alive"
        run.send_signal(signal.SIGTERM)
    assert place.leftovers == []


def test_a_forked_child_neither_frees_nor_removes_its_parents_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    held = HeldFolder("x-")
    (held.path / "file").write_text("")
    child = os.fork()
    if child == 0:
        held.remove()
        os._exit(0)
    os.waitpid(child, 0)
    other = HeldFolder("x-")
    assert (held.path / "file").exists()
    held.remove()
    held.remove()
    assert list(tmp_path.iterdir()) == [other.path]
    other.remove()
    (tmp_path / "x-old" / "deep").mkdir(parents=True)
    (tmp_path / "x-link").symlink_to(tmp_path / "elsewhere")
    with held_file(tmp_path, "x-", "", 0o600) as file:
        assert sorted(tmp_path.iterdir()) == sorted([file, tmp_path / "x-link"])


def test_a_folder_that_another_run_takes_for_abandoned_is_made_again(tmp_path, monkeypatch):
    """Between its making and its lock, it looks like one that a killed run has left."""
    made: list[str] = []

    def make(prefix: str) -> str:
        made.append(str(tmp_path / f"{prefix}{len(made)}"))
        Path(made[-1]).mkdir()
        if len(made) == 1:
            remove_abandoned(tmp_path, prefix)
        return made[-1]

    monkeypatch.setattr("tempfile.mkdtemp", make)
    held = HeldFolder("x-")
    assert [held.path, *tmp_path.iterdir()] == [tmp_path / "x-1"] * 2
    held.remove()


@pytest.mark.parametrize(
    "command",
    ["rep long.hyp long.ref --sentence-level -o out", "report -r long.ref long.hyp -m rep -o out"],
)
def test_a_full_folder_for_temporary_files_is_one_line(place, command):
    """Python tries again to write at its end, unless the file is closed."""
    for name in ("hyp", "ref"):
        (place.folder / f"long.{name}").write_text((place.folder / name).read_text() * 60)
    limits = (1 << 20) + 5000
    limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (limits, limits))
    status, messages = place.run(f"{command} --strict", preexec_fn=limit)
    said = f"coverage-eval: error: temporary files in {place.temporary}: File too large\n"
    assert (status, messages) == (1, said)
