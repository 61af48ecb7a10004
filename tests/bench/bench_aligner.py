"""The aligner on Multi30k: time against plain baselines, linearity, forced alignment, memory.

Run by ``make bench`` or ``python tests/bench/bench_aligner.py``; ``--large`` also trains on a
million pairs. It needs the shared corpus (``COVERAGE_EVAL_SHARED``).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from tests.aligner.conftest import find_folder  # noqa: E402

FLAGS = ["-d", "-o", "-v"]
BASELINE_PAIRS = 1000
Pairs = list[tuple[str, str]]


def read_pairs() -> Pairs:
    """The training pairs of Multi30k."""
    shared = Path(os.environ.get("COVERAGE_EVAL_SHARED", ROOT.parent / "shared"))
    folder = shared / "data" / "multi30k-de-en"
    if not folder.is_dir():
        sys.exit(f"bench_aligner: no corpus at {folder}; set COVERAGE_EVAL_SHARED")
    texts = [
        (folder / f"train.{language}").read_text().split("\n")[:-1] for language in ("de", "en")
    ]
    return list(zip(*texts, strict=True))


def write(path: Path, pairs: Pairs) -> Path:
    path.write_text("".join(f"{source} ||| {target}\n" for source, target in pairs))
    return path


# A small process in between, because a child's peak memory starts at that of its parent.
LAUNCHER = """
import json, resource, subprocess, sys, time
start = time.perf_counter()
status = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
wall = time.perf_counter() - start
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([status, wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss]))
"""


class Cost(NamedTuple):
    """The cost of a run: wall seconds, processor seconds, peak resident megabytes."""

    wall: float
    processor: float
    memory: float

    def __str__(self) -> str:
        return f"{self.wall:7.2f} s ({self.processor:.2f} s of processors) {self.memory:6.0f} MB"


def run(*arguments: object) -> Cost:
    """Run fast_align once."""
    command = [str(find_folder() / "fast_align"), *(str(argument) for argument in arguments)]
    done = subprocess.run(
        [sys.executable, "-S", "-c", LAUNCHER, *command], capture_output=True, check=True
    )
    status, wall, processor, memory = json.loads(done.stdout)
    if status:
        sys.exit(f"bench_aligner: fast_align failed with status {status}")
    return Cost(wall, processor, memory / (1 << 20 if sys.platform == "darwin" else 1 << 10))


def train_both(corpus: Path, *flags: object, runs: int = 3) -> Cost:
    """The cost of training both directions and symmetrising their links, fastest of some runs."""
    outputs = [
        part
        for direction in ("forward", "reverse")
        for part in (f"--{direction}-links", corpus.with_suffix(f".{direction}"))
    ]
    return min(run("-i", corpus, *FLAGS, "--both", *outputs, *flags) for _ in range(runs))


def numpy_seconds(pairs: Pairs) -> float:
    """Plain EM in one direction (no prior, no Bayes), with a dictionary of counts."""
    sentences = [(["", *source.split()], target.split()) for source, target in pairs]
    start = time.perf_counter()
    theta: dict[tuple[str, str], float] = defaultdict(lambda: 1e-9)
    for _ in range(4):
        counts: dict[tuple[str, str], float] = defaultdict(float)
        totals: dict[str, float] = defaultdict(float)
        for source, target in sentences:
            for word in target:
                values = np.array([theta[other, word] for other in source])
                for other, share in zip(source, values / values.sum(), strict=True):
                    counts[other, word] += share
                    totals[other] += share
        theta = defaultdict(float, {key: counts[key] / totals[key[0]] for key in counts})
    return time.perf_counter() - start


def perturbed(pairs: Pairs, size: int) -> Pairs:
    """The corpus repeated with every tenth word replaced, so that new word pairs keep coming."""
    chance = random.Random(1)
    words = [[word for pair in pairs for word in pair[side].split()] for side in (0, 1)]

    def other(segment: str, side: int) -> str:
        return " ".join(
            word
            if chance.random() > 0.1
            else f"{chance.choice(words[side])}{int(chance.paretovariate(0.6)) % 200 or ''}"
            for word in segment.split()
        )

    return [
        (other(pairs[n % len(pairs)][0], 0), other(pairs[n % len(pairs)][1], 1))
        for n in range(size)
    ]


def bench_training(pairs: Pairs, folder: Path) -> None:
    corpus = write(folder / "corpus", pairs)
    cost = train_both(corpus)
    single = train_both(corpus, "--threads", 1)
    baseline = numpy_seconds(pairs[:BASELINE_PAIRS]) * 2 * len(pairs) / BASELINE_PAIRS
    print(f"both directions and their links of {len(pairs)} pairs, fastest of 3:")
    print(f"  all threads  {cost}")
    print(f"  one thread   {single}   {single.wall / cost.wall:.1f} × the time")
    print(
        f"  dictionaries and NumPy {baseline:.0f} s (extrapolated from {BASELINE_PAIRS} pairs)"
        f"   {baseline / cost.wall:.0f} × the time"
    )


def bench_linearity(pairs: Pairs, folder: Path) -> None:
    print("processor time by the size of the corpus (one thread, words perturbed):")
    first = 0.0
    for times in (1, 2, 4):
        corpus = write(folder / f"times{times}", perturbed(pairs, times * len(pairs) // 2))
        cost = train_both(corpus, "--threads", 1, runs=2)
        first = first or cost.processor
        print(f"  {times} × the corpus  {cost}   {cost.processor / first:.2f} × the first")


def bench_chunks(pairs: Pairs, folder: Path) -> None:
    corpus = write(folder / "chunked", pairs)
    whole = train_both(corpus)
    chunked = train_both(corpus, "--memory", 1 << 20)
    print("index whole, and rebuilt in chunks of 1 MiB:")
    print(f"  whole   {whole}")
    print(f"  chunks  {chunked}   {chunked.processor / whole.processor:.2f} × the processors' time")


def bench_forced(pairs: Pairs, folder: Path) -> None:
    corpus = write(folder / "forced", pairs)
    saved = folder / "params"
    run("-i", corpus, *FLAGS, "-p", saved)
    options = ["-i", corpus, "-f", saved, "-d", "-T", 7.2, "-m", 1.07]
    print(f"forced alignment of {len(pairs)} pairs (asked: 100,000 a minute):")
    for name, more in (("links", []), ("posteriors too", ["--posteriors", folder / "post"])):
        cost = min(run(*options, *more) for _ in range(3))
        print(f"  {name:14} {cost}   {len(pairs) / cost.wall * 60:,.0f} pairs a minute")


def bench_large(pairs: Pairs, folder: Path) -> None:
    corpus = write(folder / "large", perturbed(pairs, 1_000_000))
    print("a million pairs (asked: less than 4 GB):")
    for name, flags in (("default", []), ("--memory 256 MiB", ["--memory", 1 << 28])):
        print(f"  {name:16} {train_both(corpus, *flags, runs=1)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true", help="also train on a million pairs")
    large = parser.parse_args().large
    pairs = read_pairs()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bench_training(pairs, folder)
        bench_linearity(pairs, folder)
        bench_chunks(pairs, folder)
        bench_forced(pairs, folder)
        if large:
            bench_large(pairs, folder)


if __name__ == "__main__":
    main()
