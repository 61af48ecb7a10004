"""How time and memory of every command grow: at n, 2n, 4n and 8n lines of the same text.

Run by ``make bench`` or ``python tests/bench/bench_growth.py [COMMAND ...]``. Figures are of the
installed command and of the aligners it starts: seconds of processor time, peak memory of the
largest process, and what a line adds to it between the last two sizes. The exponent of time is that
of what comes on top of starting: 1 is linear.
"""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

COMMAND = Path(sys.executable).parent / "coverage-eval"
SIZES = (2000, 4000, 8000, 16000)
COMMANDS = {
    "rep": "rep hyp ref",
    "rep --sentence-level": "rep hyp ref --sentence-level -o out",
    "rep --sentence-level -f json": "rep hyp ref --sentence-level -f json -o out",
    "rep --confidence": "rep hyp ref --confidence",
    "bleu": "bleu hyp ref",
    "profile": "profile hyp --ref ref --src src",
    "compare": "compare --ref ref hyp other --metrics rep,bleu --resamples 100",
    "compare --details": "compare --ref ref hyp other --metrics rep --resamples 0 --details out",
    "compare --breakdown": "compare --ref ref hyp other --metrics rep,drop --resamples 0 "
    "--breakdown all --src src --src-ref-align links --src-hyp-align links --src-hyp-align links",
    "drop": "drop hyp ref --src src --src-ref-align links --src-hyp-align links",
    "align train": "align train src ref -o model",
    "align apply": "align apply model src hyp -o out",
    "align symmetrize": "align symmetrize links links -o out",
    "align aer": "align aer links links",
    "fertility actual": "fertility actual src links -o out",
    "attention score": "attention score maps -o out",
    "attention convert": "attention convert maps -o out.jsonl",
    "rescore": "rescore nbest --attention maps --alpha 0.2 --beta 0.2 -o out",
}


class Cost(NamedTuple):
    """Of one run: seconds of processor time, mebibytes at most."""

    seconds: float
    peak: float


def write_inputs(folder: Path, size: int) -> None:
    chance = random.Random(1)
    words = [f"w{number}" for number in range(2000)]
    with (
        (folder / "src").open("w") as src, (folder / "ref").open("w") as ref,
        (folder / "hyp").open("w") as hyp, (folder / "other").open("w") as other,
        (folder / "links").open("w") as links, (folder / "maps").open("w") as maps,
        (folder / "nbest").open("w") as nbest,
    ):  # fmt: skip
        for number in range(size):
            line = chance.choices(words, k=chance.randint(5, 25))
            src.write(" ".join(line) + "\n")
            ref.write(" ".join(word.upper() for word in line) + "\n")
            for file in (hyp, other):
                out = [word.upper() if chance.random() < 0.95 else "X" for word in line]
                file.write(" ".join(out + out[-1:] * (chance.random() < 0.1)) + "\n")
            links.write(" ".join(f"{i}-{i}" for i in range(len(line))) + "\n")
            row = [round(1 / len(line), 4)] * len(line)
            maps.write(json.dumps({"attention": [row] * 5, "source": line, "src_eos": False,
                                   "hypothesis": line[:5], "tgt_eos": False}) + "\n")  # fmt: skip
            nbest.write(f"{number} ||| {' '.join(line[:5])} ||| f= -1 ||| -1.5\n")


def run(command: str, folder: Path) -> Cost:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with subprocess.Popen(
        [str(COMMAND), *command.split()], cwd=folder, env=environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    ) as child:  # fmt: skip
        assert child.stderr is not None
        said = child.stderr.read().decode()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, said
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def exponent(seconds: list[float], start: float) -> float:
    """From the first and the last size, without what starting takes."""
    first, last = (max(value - start, 0.01) for value in (seconds[0], seconds[-1]))
    return math.log(last / first) / math.log(SIZES[-1] / SIZES[0])


def main() -> None:
    asked = sys.argv[1:] or list(COMMANDS)
    costs: dict[str, list[Cost]] = {name: [] for name in asked}
    with tempfile.TemporaryDirectory() as name:
        for size in (10, *SIZES):
            folder = Path(name) / str(size)
            folder.mkdir()
            write_inputs(folder, size)
            if any("model" in COMMANDS[key] for key in asked):
                run(COMMANDS["align train"], folder)
            for key in asked:
                costs[key].append(run(COMMANDS[key], folder))
    print(f"{'lines':<30}{'start':>13}" + "".join(f"{size:>16,}" for size in SIZES)
          + f"{'exponent':>10}{'bytes a line':>14}")  # fmt: skip
    for key, (start, *rest) in costs.items():
        grown = (rest[-1].peak - rest[-2].peak) * (1 << 20) / (SIZES[-1] - SIZES[-2])
        cells = "".join(f"{cost.seconds:8.2f} s {cost.peak:4.0f} M" for cost in rest)
        power = exponent([cost.seconds for cost in rest], start.seconds)
        print(
            f"{key:<30}{start.seconds:5.2f} s {start.peak:4.0f} M{cells}{power:10.2f}{grown:14,.0f}"
        )


if __name__ == "__main__":
    main()
