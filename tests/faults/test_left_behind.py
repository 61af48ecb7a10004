"""What a process that ends early leaves behind: no processes, no files."""

from __future__ import annotations

import resource
import subprocess
import sys
from functools import partial

import pytest

from tests.aligner.fake_aligners import all_gone
from tests.faults.test_faults import children_of, inputs, place

__all__ = ["inputs", "place"]
pytestmark = pytest.mark.slow


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_do_not_outlive_a_killed_run(tmp_path, method):
    """Nor do they hold its standard output: whoever reads that comes to its end."""
    program = (
        "import multiprocessing, time\n"
        "from coverage_eval.core.processes import started_processes\n"
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
