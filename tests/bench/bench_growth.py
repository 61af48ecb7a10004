"""How time and memory of every command grow: at n, 2n, 4n and 8n lines of the same text.

Run by ``make bench`` or ``python tests/bench/bench_growth.py [COMMAND ...]``; ``GROWTH_LINES`` is
n, and ``COMMAND`` the command of another build. The figures cover the command and the aligners
that it starts: processor seconds, peak memory of the largest process, and memory added per line
between the last two sizes. The exponent of time (1 is linear) does not count starting, and is
missing if the rest takes less than a tenth of a second.
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

COMMAND = Path(os.environ.get("COMMAND", Path(sys.executable).parent / "coverage-eval"))
"""The command to measure; the environment may name another build's."""
START = 50
"""Lines of a run that is so short that it only measures starting."""
SIZES = tuple(int(os.environ.get("GROWTH_LINES", "2000")) * 2**power for power in range(4))
_LINKS = "--src src --src-ref-align links --src-hyp-align links"
COMMANDS = {
    "align train": "align train src ref -o model",
    "align train --prepare-for omissions": "align train src ref --prepare-for omissions -o made",
    "align apply": "align apply model src hyp -o out",
    "align symmetrize": "align symmetrize links links -o out",
    "align aer": "align aer links links",
    "rep": "rep hyp ref",
    "rep --sentence-level": "rep hyp ref --sentence-level -o out",
    "rep --sentence-level -f csv": "rep hyp ref --sentence-level -f csv -o out",
    "rep --sentence-level -f json": "rep hyp ref --sentence-level -f json -o out",
    "rep --confidence": "rep hyp ref --confidence",
    "drop": f"drop hyp ref {_LINKS}",
    "drop --model": "drop hyp ref --src src --model model",
    "drop --sentence-level": f"drop hyp ref {_LINKS} --sentence-level -f csv -o scores.csv",
    "drop --soft": "drop hyp ref --src src --model model --soft",
    "bleu": "bleu hyp ref",
    "chrf": "chrf hyp ref",
    "meteor": "meteor hyp ref --variant exact-stem",
    "profile": "profile hyp --ref ref --src src",
    "profile, links": f"profile hyp --ref ref {_LINKS}",
    "profile --sentence-level": "profile hyp --ref ref --src src --sentence-level -f csv -o out",
    "compare": "compare --ref ref hyp other --metrics rep,bleu",
    "compare, links": f"compare --ref ref hyp other --metrics rep,bleu,drop {_LINKS} "
    "--src-hyp-align links",
    "compare --details": "compare --ref ref hyp other --metrics rep --resamples 0 --details out",
    "compare --breakdown": "compare --ref ref hyp other --metrics rep,drop --resamples 0 "
    f"--breakdown all {_LINKS} --src-hyp-align links",
    "report": f"report --ref ref hyp other --metrics rep,drop --resamples 0 {_LINKS} "
    "--src-hyp-align links -o out.html",
    "omissions": "omissions hyp --src src --model model",
    "omissions --sentence-level": "omissions hyp --ref ref --src src --model model "
    "--sentence-level -o out",
    "fertility constant": "fertility constant src -o out",
    "fertility guided": "fertility guided src --train-src src --train-links links -o out",
    "fertility actual": "fertility actual src links -o out",
    "attention score": "attention score maps -o out",
    "attention score --words": "attention score maps --words -f json -o out",
    "attention score, .npz": "attention score maps.npz -o out",
    "attention links": "attention links maps -o out",
    "attention aer": "attention aer maps golds",
    "attention convert": "attention convert maps -o out.jsonl",
    "attention convert, .npz": "attention convert maps -o maps.npz",
}
"""All commands that read a corpus."""
MADE = {
    "model": "align train",
    "maps.npz": "attention convert, .npz",
}
"""Files that commands read, and how to write them."""


NOISE = 0.1
"""Seconds besides those for starting; a shorter time cannot be measured."""


class Cost(NamedTuple):
    """Processor time (seconds) and peak memory (MiB) of one run."""

    seconds: float
    peak: float


def write_inputs(folder: Path, size: int) -> None:
    chance = random.Random(1)
    words = [f"w{number}" for number in range(2000)]
    with (
        (folder / "src").open("w") as src, (folder / "ref").open("w") as ref,
        (folder / "hyp").open("w") as hyp, (folder / "other").open("w") as other,
        (folder / "links").open("w") as links, (folder / "maps").open("w") as maps,
        (folder / "golds").open("w") as golds,
    ):  # fmt: skip
        for _ in range(size):
            line = chance.choices(words, k=chance.randint(5, 25))
            src.write(" ".join(line) + "\n")
            ref.write(" ".join(word.upper() for word in line) + "\n")
            for file in (hyp, other):
                out = [word.upper() if chance.random() < 0.95 else "X" for word in line]
                file.write(" ".join(out + out[-1:] * (chance.random() < 0.1)) + "\n")
            links.write(" ".join(f"{i}-{i}" for i in range(len(line))) + "\n")
            golds.write("0-0 1-1 4-4\n")
            row = [round(1 / len(line), 4)] * len(line)
            maps.write(json.dumps({"attention": [row] * 5, "source": line, "src_eos": False,
                                   "hypothesis": line[:5], "tgt_eos": False}) + "\n")  # fmt: skip


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


def exponent(seconds: list[float], start: float) -> str:
    """The exponent of time, without starting, from the first measurable size to the last."""
    timed = [(size, value - start) for size, value in zip(SIZES, seconds, strict=True)]
    grown = [(size, value) for size, value in timed if value > NOISE]
    if len(grown) < 2:
        return "none"
    (first, least), *_, (last, most) = grown
    return f"{math.log(most / least) / math.log(last / first):.2f}"


def main() -> None:
    asked = sys.argv[1:] or list(COMMANDS)
    costs: dict[str, list[Cost]] = {name: [] for name in asked}
    with tempfile.TemporaryDirectory() as name:
        for size in (START, *SIZES):
            folder = Path(name) / str(size)
            folder.mkdir(exist_ok=True)  # a size may equal START
            write_inputs(folder, size)
            for key in asked:
                for file in set(COMMANDS[key].split()) & set(MADE):
                    if not (folder / file).exists() and MADE[file] != key:
                        run(COMMANDS[MADE[file]], folder)
                costs[key].append(run(COMMANDS[key], folder))
    print(f"{'lines':<30}{'start':>13}" + "".join(f"{size:>16,}" for size in SIZES)
          + f"{'exponent':>10}{'bytes a line':>14}")  # fmt: skip
    for key, (start, *rest) in costs.items():
        grown = (rest[-1].peak - rest[-2].peak) * (1 << 20) / (SIZES[-1] - SIZES[-2])
        cells = "".join(f"{cost.seconds:8.2f} s {cost.peak:4.0f} M" for cost in rest)
        power = exponent([cost.seconds for cost in rest], start.seconds)
        print(
            f"{key:<30}{start.seconds:5.2f} s {start.peak:4.0f} M{cells}{power:>10}{grown:14,.0f}"
        )


if __name__ == "__main__":
    main()
