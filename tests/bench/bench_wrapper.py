"""FastAlign on Multi30k: what Python adds to the compiled aligner, and its memory.

Run by ``make bench`` or ``python tests/bench/bench_wrapper.py``. It needs the shared corpus
(``COVERAGE_EVAL_SHARED``). The goal is forced alignment of 100,000 pairs a minute.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from coverage_eval.data.files import read_parallel  # noqa: E402
from fast_align_wrapper import FastAlign, format_links  # noqa: E402
from fast_align_wrapper.process import find_fast_align  # noqa: E402

COPIES = 6


def pairs(copies: int = 1) -> Iterator[tuple[str, ...]]:
    """The training text repeated, without holding it in memory."""
    shared = Path(os.environ.get("COVERAGE_EVAL_SHARED", ROOT.parent / "shared"))
    paths = [shared / "data" / "multi30k-de-en" / f"train.{side}" for side in ("de", "en")]
    if not paths[0].exists():
        sys.exit(f"bench_wrapper: no corpus at {paths[0]}; set COVERAGE_EVAL_SHARED")
    return chain.from_iterable(read_parallel(*paths) for _ in range(copies))


def timed(task: Callable[[], object]) -> tuple[float, float]:
    """Wall seconds, and processor seconds including finished children."""

    def processor() -> float:
        kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        return sum(usage.ru_utime + usage.ru_stime for usage in map(resource.getrusage, kinds))

    start, used = time.perf_counter(), processor()
    task()
    return time.perf_counter() - start, processor() - used


def megabytes() -> float:
    """Peak resident memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def bench_training(folder: Path) -> FastAlign:
    text = folder / "text"
    with text.open("w", encoding="utf-8") as file:
        file.writelines(f"{one} ||| {two}\n" for one, two in pairs())
    command = [str(find_fast_align().path), "-i", str(text), "--both", "-d", "-o", "-v"]
    for direction in ("forward", "reverse"):
        for what in ("links", "params", "full"):
            command += [f"--{direction}-{what}", str(folder / f"{direction}-{what}")]
    models: list[FastAlign] = []

    def train() -> None:
        models.append(FastAlign.train(pairs()))
        models[0].save(folder / "model")

    def join() -> None:
        with (folder / "links").open("w") as file:
            file.writelines(f"{format_links(row)}\n" for row in models[0].training_links())

    bare = timed(lambda: subprocess.run(command, check=True, stderr=subprocess.DEVNULL))
    wrapped = timed(train)
    joined = timed(join)
    print("Training of both directions, 29,000 pairs:")
    print(f"  fast_align --both             {bare[0]:6.2f} s  ({bare[1]:.2f} s of processors)")
    print(f"  FastAlign.train, save         {wrapped[0]:6.2f} s  ({wrapped[1]:.2f} s), "
          f"{wrapped[1] / bare[1]:.2f} × the processor time")  # fmt: skip
    print(f"  the text's own links, joined  {joined[0]:6.2f} s  ({joined[1]:.2f} s)")
    return models[0]


def bench_forced(model: FastAlign) -> None:
    print("Forced alignment, both directions, grow-diag-final-and:")
    for copies in (1, COPIES):
        number = 29_000 * copies
        wall, used = timed(partial(align, model, copies))
        speed = 60 * number / wall
        print(f"  {number:7,} pairs in {wall:6.2f} s ({used:.2f} s of processors): "
              f"{speed:9,.0f} pairs a minute, Python's peak {megabytes():.0f} MB")  # fmt: skip


def align(model: FastAlign, copies: int) -> None:
    """Align the repeated text."""
    aligned = sum(1 for _ in model.align(pairs(copies)))
    assert aligned == 29_000 * copies


def main() -> None:
    with tempfile.TemporaryDirectory() as name, bench_training(Path(name)) as model:
        bench_forced(model)


if __name__ == "__main__":
    main()
