"""How processor time grows with the number of systems, of 20 segments each.

Run by ``make bench`` or ``python tests/bench/bench_systems.py``.
"""

from __future__ import annotations

import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

COMMAND = Path(sys.executable).parent / "coverage-eval"
SYSTEMS = (25, 50, 100, 200)
SEGMENTS = 20
COMMANDS = {
    "compare --ref": "compare --ref ref -m rep",
    "compare --src, without a reference": "compare --src src",
    "report --ref": "report --ref ref -m rep -o out.html",
}


def write_texts(folder: Path) -> None:
    """Write texts of 15 words, and outputs that lack a tenth of them."""
    chance = random.Random(1)
    source = [chance.choices([f"s{number}" for number in range(50)], k=15) for _ in range(SEGMENTS)]
    target = [[word.replace("s", "t") for word in line] for line in source]
    texts = {"src": source, "ref": target}
    for number in range(max(SYSTEMS)):
        texts[f"h{number}"] = [[w for w in line if chance.random() > 0.1] for line in target]
    for name, lines in texts.items():
        (folder / name).write_text("".join(f"{' '.join(line)}\n" for line in lines))


def cpu_seconds(command: str, folder: Path) -> float:
    """User and system time of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([COMMAND, *command.split()], cwd=folder, capture_output=True, check=True)
    assert done.returncode == 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print a row for each command."""
    print(f"{'CPU seconds of systems':<36}" + "".join(f"{number:>8}" for number in SYSTEMS))
    with tempfile.TemporaryDirectory() as name:
        write_texts(Path(name))
        for key, command in COMMANDS.items():
            systems = (" ".join(f"h{i}" for i in range(number)) for number in SYSTEMS)
            times = [cpu_seconds(f"{command} {files}", Path(name)) for files in systems]
            print(f"{key:<36}" + "".join(f"{seconds:8.2f}" for seconds in times))


if __name__ == "__main__":
    main()
